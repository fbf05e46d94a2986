"""How a view's path follows a tree that grows, and what the view tells of it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from lctl.conversation.forest import ROOT
from lctl.conversation.node import data_of
from lctl.conversation.route import Change, Route
from lctl.conversation.tracing import climb, whole
from lctl.errors import UsageError
from lctl.guard import guard
from lctl.state.messages import tool_calls_of, tool_results_of

if TYPE_CHECKING:
    from lctl.conversation.tree import Tree

Follow = Literal["own", "latest", "pinned"]
Kind = Literal["path", "update", "turn", "history"]
Listener = Callable[[Any], object]


class Turn(NamedTuple):
    """A turn that is shown began or ended.

    Attributes:
        id: its `turn_id`; without one the id of the user's message that began it.
        state: "start", or the final status of the answer: complete, aborted, error.
        message_id: the message that began or ended it.
    """

    id: str
    state: str
    message_id: str


class Following(Route):
    """A route that `Watch` tells of events, under its lock; listeners are called after, by `deliver`."""

    def __init__(
        self,
        tree: Tree,
        conversation: str,
        limit: int | None,
        follow: Follow,
        show: Callable[[Following, list[int]], None] | None = None,
        hide: Callable[[Following, list[int]], None] | None = None,
    ) -> None:
        super().__init__(tree, conversation, limit)
        self.follow = follow
        self.listeners: dict[str, list[Listener]] = {}
        self._show, self._hide = show, hide
        self._news: deque[tuple[str, Any]] = deque()
        self._delivering = threading.Lock()

    def show(self, numbers: list[int]) -> None:
        if self._show is not None:
            self._show(self, numbers)

    def hide(self, numbers: list[int]) -> None:
        if self._hide is not None:
            self._hide(self, numbers)

    # -- what happens ------------------------------------------------------------------------

    def came(self, number: int, parent: int) -> None:
        """A message has come below `parent`, which is shown or the leaf (ROOT: as another first message)."""
        if number in self.places or number == self.leaf:
            return
        if parent == self.leaf:
            if self.follow != "pinned":
                self.tell_path(self.extend(self.descend(parent)), True)
        elif self.follow == "latest":
            self.tell_path(self.select(number), True)
        else:
            self.beside(parent)

    def begin(self, number: int) -> None:
        """The first message of an empty view has come."""
        way = [number, *self.descend(number)]
        self.page(way[-1], None if self.limit is None else max(self.limit, len(way)))
        self.tell_path(self.change(0, [], self.way), True)

    def beside(self, parent: int) -> None:
        """The alternatives below `parent` are others than before, or in another order."""
        shown = self.way[0] if parent == ROOT and self.way else -1
        if parent in self.places:
            shown = self.after(parent)
        elif shown >= 0 and self.forest.parents[shown] != ROOT:
            shown = -1
        if shown >= 0:
            self.tell("update", self.forest.ids[shown])

    def arrived(self, number: int) -> None:
        """A message this view waits for has come."""
        if self.leaf < 0:
            self.begin(number)
            return
        if self.forest.parents[number] == self.leaf:
            self.tell_path(self.extend([number, *self.descend(number)]), True)
            return
        try:
            self.tell_path(self.select(number), True)
        except UsageError:
            pass  # it came in another conversation

    def changed(self, number: int, seq: int) -> None:
        """A shown message says something else, or has ended."""
        self.tell("update", self.forest.ids[number])
        if "turn" in self.listeners and self.forest.statuses.since(number) == seq:
            self._turn(number)

    def moved(self, number: int) -> None:
        """A shown message has another parent. The view stays at its leaf."""
        parent = self.forest.parents[number]
        index = self.places[number] - self.base
        if index == 0:
            self._top_moved()
        elif self.way[index - 1] != parent:
            self._walk_again()

    def _top_moved(self) -> None:
        """There is something above the first message now."""
        top = self.way[0]
        above = (climb(self.tree, top, None) if self.limit is None else whole(self.tree, [top]))[:-1]
        if any(number in self.places for number in above):
            return  # a circle
        if above:
            self.precede(above)
            self.tell("history", [self.forest.ids[n] for n in above])

    def _walk_again(self) -> None:
        before = self.way[:]
        way = climb(self.tree, self.leaf, None if self.limit is None else len(before))
        if self.limit is not None:
            way = whole(self.tree, way)
        keep = 0
        while keep < min(len(way), len(before)) and way[keep] == before[keep]:
            keep += 1
        if keep == len(way) == len(before):
            return
        gone, added = before[keep:], way[keep:]
        for number in gone:
            self.places.pop(number, None)
        del self.way[keep:]
        stay = set(added)
        self.hide([number for number in gone if number not in stay])
        self.enter(added)
        self.tell_path(self.change(keep, gone, added), False)

    # -- telling -----------------------------------------------------------------------------

    def on(self, kind: Kind, listener: Listener) -> Callable[[], None]:
        if kind not in get_args(Kind):
            raise UsageError(f"there is no event {kind!r}; a view tells of {', '.join(get_args(Kind))}")
        listeners = self.listeners.setdefault(kind, [])
        listeners.append(listener)

        def stop() -> None:
            if listener in listeners:
                listeners.remove(listener)

        return stop

    def tell(self, kind: Kind, what: Any) -> None:
        """Keep for `deliver`."""
        if self.listeners.get(kind):
            self._news.append((kind, what))

    def tell_path(self, change: Change | None, live: bool) -> None:
        """`live`: its messages came just now, so that turns may have begun or ended."""
        if change is None:
            return
        self.tell("path", change)
        if live and "turn" in self.listeners:
            for id in change.added:
                self._turn(self.forest.numbers[id])

    def _turn(self, number: int) -> None:
        seq = self.tree.seq
        role, status = self.forest.role_at(number, seq), self.forest.status_at(number, seq)
        data = data_of(self.tree, number)
        if role == "user" and not tool_results_of(data):
            state = "start"
        elif role == "assistant" and status != "streaming" and not tool_calls_of(data):
            state = status
        else:
            return
        self.tell("turn", Turn(self._turn_id(number), state, self.forest.ids[number]))

    def _turn_id(self, number: int) -> str:
        seq = self.tree.seq
        at = number
        named: Any = None
        for at in self.forest.up(number, seq):
            named = self.forest.placed_by(at).get("turn_id")
            if named is not None or self.forest.role_at(at, seq) == "user":
                break
        return str(named) if named is not None else self.forest.ids[at]

    def deliver(self) -> None:
        """Call the listeners for what was told, in order.

        Whoever finds another thread, or a call further out, at it leaves it to that one.
        """
        while self._news:
            if not self._delivering.acquire(blocking=False):
                return
            try:
                while self._news:
                    kind, what = self._news.popleft()
                    for listener in list(self.listeners.get(kind, ())):
                        if listener in self.listeners.get(kind, ()):  # not ended by one before it
                            with guard("what a view's listener does"):
                                listener(what)
            finally:
                self._delivering.release()
