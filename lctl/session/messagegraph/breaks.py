"""Where the context of one call does not go on from the context of the call before."""

from __future__ import annotations

from dataclasses import dataclass

from lctl.session.messagegraph.differing import Change, kind_of
from lctl.session.messagegraph.lineage import Lineage
from lctl.session.messagegraph.route import Route, id_of


@dataclass(frozen=True, slots=True)
class Break:
    """A context that was left, so that what was sampled in it trains on its own.

    Attributes:
        reason: edit, insert, delete, compaction, regenerate, tool_retry, fork (cut back, then gone on
            with something else), tools_changed, model_changed or reasoning_stripped.
        index: place of the first message that differs; of a changed model or tool set, the length.
        left: id of the last message of the context that was left.
    """

    reason: str
    index: int
    left: str


class Breaks:
    """Keeps the breaks of one graph. Changes between two calls are one break, or none if undone."""

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self.found: list[Break] = []
        self.routes: list[Route] = []  # the path left, of each
        self._left: Route | None = None  # since the last call, before the first change that left it
        self._why: tuple[int, str] = (0, "")  # the change nearest to the root since then: place, kind
        self._called: Route | None = None

    def copy(self) -> Breaks:
        made = Breaks(self._lineage)
        made.found, made.routes = self.found[:], self.routes[:]
        made._left, made._called, made._why = self._left, self._called, self._why
        return made

    def rewind(self, route: Route) -> None:
        """Be on a path that was left, as if what came after that had not been."""
        self._left = self._called = None
        for number, left in enumerate(self.routes):
            if left.length == route.length and left.common(route) == route.length:
                del self.found[number:], self.routes[number:]
                return

    def leaving(self, route: Route, change: Change) -> None:
        """The path is about to change."""
        if self._left is None:
            if route.last_of(self._lineage.sampled, change.start) < 0:
                return
            self._left = route.copy()
        elif change.start > self._why[0]:
            return
        self._why = (change.start, kind_of(change, route.length) or "fork")

    def going_on(self, length: int) -> None:
        """The path of that length is about to get longer: `leaving` where nothing is left."""
        if self._left is not None and length <= self._why[0]:
            self._why = (length, "fork")

    def pending(self, route: Route) -> tuple[Break, Route] | None:
        """The break that the next call from here would make; None while it would go on from the last."""
        if self._left is None:
            return None
        return self._between(self._left, route)

    def called(self, route: Route, model: str | None, tools: str | None) -> None:
        """A model call is made with this path as its prompt."""
        made = self.pending(route) or self._unread(route)
        if made is not None and made[0].index == route.length and made[0].reason == "delete":
            # What was cut off is not followed by anything: the call goes another way from there.
            made = Break("fork", made[0].index, made[0].left), made[1]
        if made is None:
            made = self._other_call(route, model, tools)
        if made is not None:
            self.found.append(made[0])
            self.routes.append(made[1])
        self._left = None
        self._called = route.copy()

    def _unread(self, route: Route) -> tuple[Break, Route] | None:
        """What the last call gave is not in the context now."""
        if self._called is None:
            return None
        replies = self._lineage.replies.get(self._called.tip)
        if not replies:
            return None
        length = self._called.length
        if route.length > length and route.common(self._called) == length:
            base, offset = route.at(length)
            if offset == 0 and base in replies:
                return None
        left = self._called.copy()
        left.add(replies[-1], 0)
        return self._between(left, route)

    def _between(self, left: Route, route: Route) -> tuple[Break, Route] | None:
        shared = left.common(route)
        if shared > left.last_of(self._lineage.sampled):
            return None
        return Break(self._reason(left, route, shared), shared, left.tip or ""), left

    def _reason(self, left: Route, route: Route, shared: int) -> str:
        lineage = self._lineage
        gone = id_of(left.at(shared))
        if shared == route.length:
            return "regenerate" if gone in lineage.sampled else "delete"
        base, _ = route.at(shared)
        if base in lineage.sampled:
            return "regenerate"
        made = lineage.reasons.get(base)
        if made == "edit" and lineage.replaced.get(base, gone) != gone:
            made = None  # of a message that was not there
        if made == "reasoning_stripped":
            return made
        place, kind = self._why if self._left is not None else (-1, "")
        if place == shared and kind != "fork":
            return kind
        if base in lineage.answers and lineage.answers[base] == lineage.answers.get(gone):
            return "tool_retry"
        return made or ("fork" if place in (shared, -1) else "edit")

    def _other_call(self, route: Route, model: str | None, tools: str | None) -> tuple[Break, Route] | None:
        """The context goes on, with another model or other tools than any call in it had."""
        lineage = self._lineage
        own = [lineage.sampled[id] for id in route.own(route.length) if id in lineage.sampled]
        before = [reply for reply in own if reply.model is not None]  # of one read from a log it is not known
        if not before or any((reply.model, reply.tools) == (model, tools) for reply in before):
            return None
        reason = "model_changed" if before[-1].model != model else "tools_changed"
        return Break(reason, route.length, route.tip or ""), route.copy()
