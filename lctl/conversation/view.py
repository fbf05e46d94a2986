"""`View`: one path through a tree, for a chat window or a model (seed 002).

A view has its own selections; what others do on the same tree does not touch them. A selection names a
message, never a place among siblings, so that a late sibling shifts nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, get_args

from lctl.conversation import drafts
from lctl.conversation.following import Follow, Following, Kind, Listener, Turn
from lctl.conversation.items import ungroup
from lctl.conversation.node import Node
from lctl.conversation.repair import Repair, complete
from lctl.conversation.route import Change
from lctl.conversation.watch import Watch, watch_of
from lctl.conversation.writing import Writing
from lctl.errors import UsageError

if TYPE_CHECKING:
    from lctl.conversation.tree import Tree

__all__ = ["Change", "Follow", "Siblings", "Turn", "View"]


@dataclass(frozen=True, slots=True)
class Siblings:
    """The alternatives at one place, in order, and which of them the asked one is (from 0)."""

    ids: list[str]
    index: int
    count: int

    def __iter__(self) -> Iterator[Any]:
        return iter((self.ids, self.index, self.count))


class View(Writing):
    """A linear view of one conversation. Made by `Tree.view`; may be used by several threads.

        v = session.tree.view(limit=50)
        v.on("path", redraw)
        v.send("hi")

    A view that is closed, or that nobody holds and nobody listens to, costs nothing.
    """

    def __init__(
        self, tree: Tree, conversation: str, *, limit: int | None, follow: Follow, name: str, live: bool
    ) -> None:
        if limit is not None and limit < 0:
            raise UsageError(f"limit is how many messages are shown, not {limit}")
        if follow not in get_args(Follow):
            raise UsageError(f"follow is one of {', '.join(get_args(Follow))}, not {follow!r}")
        self._closed = False
        self._watch: Watch | None = None
        self._tree = tree
        self.conversation = conversation
        self.name = name
        self.follow = follow
        selections = list(tree.forest.selections.get(name, ()))
        if live:
            self._watch = watch_of(tree.forest)
            self._lock = self._watch.lock
            self._route = self._watch.open(tree, conversation, limit, follow, selections)
        else:
            self._lock = threading.RLock()
            self._route = Following(tree, conversation, limit, follow)
            self._route.open(selections)

    # -- what it shows -----------------------------------------------------------------------

    @property
    def tree(self) -> Tree:
        return self._tree

    @property
    def nodes(self) -> list[Node]:
        """The messages that are shown: the page, and the older ones that were loaded."""
        with self._open() as route:
            way = route.way[:]
        return [Node(self._tree, number) for number in way]

    @property
    def path(self) -> list[Node]:
        """All messages from the root to the leaf, those withheld included.

        Raises:
            BrokenChain: a message on the way is not in the log.
        """
        leaf = self.leaf
        return [] if leaf is None else leaf.path

    @property
    def leaf(self) -> Node | None:
        """The last message; None of an empty conversation."""
        with self._open() as route:
            number = route.leaf
        return Node(self._tree, number) if number >= 0 else None

    @property
    def depth(self) -> int:
        """User and assistant messages of the path, those withheld included."""
        leaf = self.leaf
        return 0 if leaf is None else leaf.depth

    def messages(self, include_partial: bool = False, repair: Repair | None = None) -> list[dict[str, Any]]:
        """The whole path as a model may read it, whatever page is shown: finished messages, each tool call
        with its result right after it; of the Responses API its items. They are the caller's own.

        Args:
            include_partial: also messages that are streamed, were aborted or failed.
            repair: of a tool call without a result: "truncate" ends before the message that asks for it,
                "synthesize" puts a result in its place that says it is missing.

        Raises:
            UsageError: a tool call has no result, or a result no call, and `repair` is None; the log does
                not hold all of a message's content.
            BrokenChain: a message on the way is not in the log.
        """
        with self._open() as route:
            number, tree = route.leaf, self._tree.at(self._tree.seq)
        nodes = [Node(tree, n) for n in tree.way(number)] if number >= 0 else []
        return ungroup(complete(nodes, repair, include_partial))

    def siblings(self, id: str) -> Siblings:
        """The alternatives at the place of a message, itself among them."""
        with self._open():
            number, tree = self._number(id), self._tree
            around = tree.forest.siblings_at(number, tree.seq)
        return Siblings([tree.forest.ids[n] for n in around], around.index(number), len(around))

    def versions(self, id: str) -> list[Node]:
        """A message and what it was edited or regenerated into or from, in order."""
        with self._open():
            return Node(self._tree, self._number(id)).versions

    # -- going elsewhere ---------------------------------------------------------------------

    def select(self, id: str, durable: bool = False) -> Change | None:
        """Show the branch of a message, and below it what was shown there last; None if it is shown.

        Where the branch leaves the path above the page, the page begins at the fork (or higher, if the
        branch is shorter than `limit`).

        Args:
            durable: also write it to the log, for the next view of this name.

        Raises:
            UsageError: there is no such message in this conversation.
        """
        with self._open() as route:
            number = self._number(id)
            change = route.select(number)
            route.tell_path(change, False)
            self._settle(forget=True)
        if durable:
            id = self._tree.forest.ids[number]
            drafts.record(self._tree, "view_select", {"view": self.name, "message_id": id})
        route.deliver()
        return change

    def next(self, id: str) -> Change | None:
        """Select the alternative after a message; after the last one nothing happens."""
        return self._step(id, 1)

    def previous(self, id: str) -> Change | None:
        """Select the alternative before a message; before the first one nothing happens."""
        return self._step(id, -1)

    def _step(self, id: str, step: int) -> Change | None:
        around = self.siblings(id)
        return self.select(around.ids[max(0, min(around.count - 1, around.index + step))])

    # -- paging ------------------------------------------------------------------------------

    @property
    def has_older(self) -> bool:
        """Whether `load_older` would find something."""
        with self._open() as route:
            return route.has_older

    def load_older(self, count: int) -> list[Node]:
        """Show `count` older messages, more where a tool call would be parted from its results."""
        with self._open() as route:
            above = route.older(count)
            route.precede(above)
            if above:
                route.tell("history", [self._tree.forest.ids[n] for n in above])
            self._settle()
        route.deliver()
        return [Node(self._tree, number) for number in above]

    # -- events ------------------------------------------------------------------------------

    def on(self, kind: Kind, listener: Listener) -> Callable[[], None]:
        """Call `listener` when something that is shown changes; gives what ends it.

        It is called in the thread that made the change, after it; an error in it is reported and stops
        nothing. Kinds, and what the listener is given:

        - "path": a `Change`; other messages are shown.
        - "update": an id; the message says more, has ended, or its alternatives are others.
        - "turn": a `Turn`; one began or ended.
        - "history": the ids of older messages that are shown now, before the others.
        """
        with self._open() as route:
            return route.on(kind, listener)

    # -- its end -----------------------------------------------------------------------------

    def close(self) -> None:
        """No more events; using the view after that raises UsageError."""
        with self._lock:
            self._closed = True
            self._route.listeners.clear()
            if self._watch is not None:
                self._watch.close(self._route)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Without the lock: this may run anywhere. A view that somebody listens to goes on.
        route = getattr(self, "_route", None)
        if route is not None and self._watch is not None and not any(route.listeners.values()):
            self._watch.dropped.append(route)

    def __len__(self) -> int:
        """How many messages are shown."""
        with self._open() as route:
            return len(route.way)

    def __repr__(self) -> str:
        if self._closed:
            return "<View, closed>"
        nodes = self.nodes
        ids = ["..."] * (len(nodes) > 4 or self.has_older) + [node.id for node in nodes[-4:]]
        return f"<View of {self.conversation}: {' > '.join(ids) or 'empty'}>"

    # -- inside ------------------------------------------------------------------------------

    @contextmanager
    def _open(self) -> Iterator[Following]:
        with self._lock:
            if self._closed:
                raise UsageError("this view is closed; tree.view() makes another one")
            yield self._route

    def _number(self, id: str) -> int:
        number = self._tree.forest.find(id, self._tree.seq)
        if number < 0:
            raise UsageError(f"there is no message {id} in this tree")
        return number

    def _settle(self, forget: bool = False) -> None:
        """After a change of the route; `forget`: what was awaited is not gone to any more."""
        if self._watch is not None:
            if forget:
                self._watch.forget(self._route)
            self._watch.settle(self._route)
