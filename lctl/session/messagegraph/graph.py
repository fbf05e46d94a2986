"""`MessageGraph`: the list itself, what it records, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast
from weakref import ref

from lctl.conversation.items import group, is_item
from lctl.errors import UsageError
from lctl.guard import guard
from lctl.record.recorder import Draft
from lctl.session.messagegraph.appending import append_message
from lctl.session.messagegraph.branching import Branching
from lctl.session.messagegraph.breaks import Breaks
from lctl.session.messagegraph.calling import Calling
from lctl.session.messagegraph.differing import Change, compare
from lctl.session.messagegraph.lineage import Lineage
from lctl.session.messagegraph.listing import Listing
from lctl.session.messagegraph.message import Message, key_of
from lctl.session.messagegraph.planning import Place, Plan, Planner
from lctl.session.messagegraph.reading import Reading
from lctl.session.messagegraph.registry import Graphs
from lctl.session.messagegraph.route import Route

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession

_GUARDED = guard("a change of a message graph")


class MessageGraph(Branching, Reading, Calling, Listing):
    """The messages of a conversation: a list of dicts, every context of which is kept in the log.

        history = lctl.MessageGraph()
        history.append({"role": "user", "content": "2+2?"})
        reply = client.chat.completions.create(model=model, messages=history)
        history.append(reply.choices[0].message)
        history[0]["content"] = "3+3?"          # recorded; what the model read before stays what it was

    Args:
        session: records the changes; by default the one the running code is in when the first message is
            appended (`lctl.get_session()`). While there is none it is a list and nothing more.
        conversation: id of its messages' conversation in the log.
        messages: what it begins with.

    Raises:
        UsageError: `session` is none: messages, perhaps.
    """

    def __init__(
        self,
        session: LCTLSession | None = None,
        conversation: str | None = None,
        messages: Iterable[Any] = (),
    ) -> None:
        from lctl.session import session as sessions

        if session is not None and not isinstance(session, sessions.LCTLSession):
            raise UsageError(
                f"MessageGraph({session!r:.80}): what comes first is the session that records; "
                "messages are given as messages=[...]"
            )
        super().__init__()
        self._begin(session, {} if conversation is None else {"conversation_id": conversation}, {})
        if messages:
            self.extend(messages)

    def _begin(
        self, session: LCTLSession | None, fields: dict[str, Any], root_fields: dict[str, Any]
    ) -> None:
        self.session = session
        self.reference: ref[MessageGraph] = ref(self)
        self.graphs: Graphs | None = None
        self._fields = fields
        self._root_fields = root_fields
        #: The system prompt that calls give apart from their messages; it stands above them on the path.
        self._lead: dict[str, Any] | None = None
        self._loose = False  # has items of the Responses API, several of which may be one message
        self._batches = 0
        self._behind = True  # the path may not be what the list says
        self._forget()

    def _forget(self) -> None:
        self.lineage = Lineage(self._fields)
        self.route = Route()
        self.keys: list[bytes] = []
        #: How many messages of the path are as they were when the wire capture looked.
        self.kept = 0
        #: What the wire capture keeps of the path.
        self.wire: list[Any] = []
        self._breaks = Breaks(self.lineage)

    # -- messages of its own -----------------------------------------------------------------------

    def owned(self, message: Message) -> bool:
        return message.home is self.reference

    def made(self, message: dict[str, Any], at: int) -> Message:
        self._loose = self._loose or is_item(message)
        return Message(message, self.reference, at)

    def edited(self, message: Message) -> None:
        """One of its messages says something else now."""
        at = self.place_of(message)
        if at < 0:
            message.refresh()
            return
        self._loose = self._loose or is_item(message)
        if message.refresh():
            self.changed(at, at + 1, 1)

    # -- recording -----------------------------------------------------------------------------------

    def changed(self, first: int, stop: int, count: int) -> None:
        if self._batches or self._behind or self._loose:
            self._record(None)
        else:
            self._record((first, stop, count))

    def rearranged(self) -> None:
        self._record(None)

    @contextmanager
    def edit(self) -> Iterator[MessageGraph]:
        """`with history.edit():` what is changed inside is recorded at the end, as one change."""
        self._batches += 1
        try:
            yield self
        finally:
            self._batches -= 1
            if not self._batches:
                self._record(None)

    def _record(self, where: tuple[int, int, int] | None) -> None:
        if self._batches:
            self._behind = True
            return
        with _GUARDED:
            session = self.bind()
            if session is None or session.closed:
                self._behind = True
                return
            planned: list[Plan] = []

            def build(first: int) -> list[Draft]:
                frame = session.frame()
                planned.append(self.plan(first, (frame.agent, frame.step), where))
                return planned[0].drafts

            stored = 0
            try:
                stored = session.emit_many(build)
            finally:
                if not stored and planned and planned[0].drafts:
                    self.take_back(planned[0])

    def bind(self) -> LCTLSession | None:
        """Its session, which is the running code's if it had none."""
        if self.session is None:
            from lctl.session.default import get_session

            self.session = get_session()
        session = self.session
        if session is not None and session.graphs is not self.graphs:
            if self.graphs is not None:  # a forked child goes on in a log of its own
                self._forget()
            self.graphs = session.graphs
            self.graphs.used = True
            self._behind = True
            if session.found and not self.lineage.known:
                self._find(session)
        return session

    def _find(self, session: LCTLSession) -> None:
        """What it says may be in the log that the session goes on with."""
        from lctl.session.messagegraph import loading

        with guard("the messages that the log held"):
            loading.load_found(session, self.lineage, self._fields.get("conversation_id", "main"))

    def plan(self, first: int, place: Place, where: tuple[int, int, int] | None = None) -> Plan:
        """The drafts that put the path where the list is, the first of which gets seq `first`.

        Under the recorder's lock. Whoever asks calls `take_back` where they were not stored.

        Args:
            place: agent and step of the events.
            where: what has changed, as `changed` is told; None: anything.
        """
        plan = Plan(first, place)
        try:
            self._plan(plan, where)
        except BaseException:
            self.take_back(plan)
            self._behind = True
            raise
        return plan

    def _plan(self, plan: Plan, where: tuple[int, int, int] | None) -> None:
        messages = None
        if where is None or self._behind or not self._follows(*where):
            for message in self.own():
                if message.is_touched():
                    message.refresh()
            messages = self._messages()
            keys = [key_of(message) for message in messages] if self._loose else [m.key for m in messages]
            if self._lead is not None:
                messages.insert(0, self._lead)
                keys.insert(0, key_of(self._lead))
            change = compare(self.keys, 0, len(self.keys), keys)
        else:
            at, stop, count = where
            above = self._lead is not None
            if count == 1 and at == stop == len(self.keys) - above == self.route.length - above:
                self._append(at, plan)
                return
            added = [item.key for item in cast("list[Message]", self[at : at + count])]
            change = compare(self.keys, at + above, stop + above, added)
        if change.pieces or change.start < self.route.length:
            self._apply(change, plan, messages)
        self._behind = False

    def _follows(self, first: int, stop: int, count: int) -> bool:
        """Whether that change makes the list of what is on the path; threads may have changed it at once."""
        return len(self.keys) - (stop - first) + count == len(self) + (self._lead is not None)

    def _append(self, at: int, plan: Plan) -> None:
        """`_plan` of one message at the end of the list."""
        message = cast("Message", list.__getitem__(self, at))
        route, keys, length = self.route, self.keys, self.route.length
        self._breaks.going_on(length)

        def back() -> None:
            route.cut(length)
            del keys[length:]
            self._behind = True
            self.unfollow()

        plan.undo.append(back)
        graphs = self.graphs
        blobs = graphs.blobs if graphs is not None else set()
        append_message(message, message.key, self.lineage, route, keys, self._root_fields, blobs, plan)
        if graphs is not None:
            graphs.changed[id(self)] = self.reference

    def _apply(self, change: Change, plan: Plan, messages: list[Any] | None) -> None:
        self._breaks.leaving(self.route, change)
        before = self.route.copy() if change.start < self.route.length else self.route.length
        keys = self.keys[:] if isinstance(before, Route) else before
        above = self._lead is not None

        def message_at(index: int) -> Any:
            if messages is not None:
                return messages[index]
            return list.__getitem__(self, index - above)

        planner = Planner(
            self.lineage,
            self.route,
            self.keys,
            message_at,
            self._root_fields,
            self.graphs.blobs if self.graphs is not None else set(),
        )

        def back() -> None:
            if isinstance(before, Route) and isinstance(keys, list):
                self.route, self.keys = before, keys
            elif isinstance(before, int):
                self.route.cut(before)
                del self.keys[before:]
            self._behind = True
            self.unfollow()

        plan.undo.append(back)
        planner.apply(change, plan)
        self.kept = min(self.kept, change.start)
        if self.graphs is not None:
            self.graphs.changed[id(self)] = self.reference

    def unfollow(self) -> None:
        """The wire capture has forgotten its path."""
        self.kept = 0
        if self.graphs is not None:
            self.graphs.changed[id(self)] = self.reference

    def take_back(self, plan: Plan) -> None:
        """The drafts of a plan were not stored: nothing may refer to them."""
        for undo in reversed(plan.undo):
            undo()

    def _messages(self) -> list[Any]:
        items = [*self.own()]
        self._loose = self._loose and any(map(is_item, items))
        return list(group(items)[0]) if self._loose else items
