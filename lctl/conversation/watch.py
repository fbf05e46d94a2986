"""Which views show what: an event costs nothing for the views that do not show its message."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from typing import TYPE_CHECKING

from lctl.conversation.following import Follow, Following
from lctl.conversation.forest import ROOT, UNKNOWN, Forest

if TYPE_CHECKING:
    from lctl.conversation.tree import Tree

Shown = dict[int, Following | set[Following]]


_MAKING = threading.Lock()


def watch_of(forest: Forest) -> Watch:
    """The one watch of a forest."""
    with _MAKING:
        views = forest.news.views
        if views is None:
            views = forest.news.views = Watch(forest)
        return views


class Watch:
    """The views of one forest.

    One lock guards all of them: a view changes under it, and an event is told under it, so that a view
    that opens or goes to another branch while a writer appends misses nothing.

    Attributes:
        dropped: views that nobody holds any more; let go at the next event.
    """

    def __init__(self, forest: Forest) -> None:
        self.lock = threading.RLock()
        self.dropped: deque[Following] = deque()
        self._forest = forest
        self._shown: Shown = {}
        self._conversations: dict[str, set[Following]] = {}
        #: An id, or the number of a parent, -> the views that go to a message of that id, or below it.
        self._awaited: dict[str | int, list[Following]] = {}
        self._leaves: dict[Following, int] = {}
        self._empty: dict[str, set[Following]] = {}  # conversation -> views that show nothing yet
        self._count = itertools.count(len(forest.ids) + 1)

    def open(
        self,
        tree: Tree,
        conversation: str,
        limit: int | None,
        follow: Follow,
        selections: list[tuple[int, str]],
    ) -> Following:
        with self.lock:
            self.sweep()
            route = Following(tree, conversation, limit, follow, self._show, self._hide)
            route.open(selections)
            self._conversations.setdefault(conversation, set()).add(route)
            self.settle(route)
            self._forest.news.watch = self.heard
            return route

    def close(self, route: Following) -> None:
        with self.lock:
            if route not in self._leaves:
                return
            self._hide(route, route.way)
            self._unwatch(self._leaves.pop(route), route)
            for table in (self._conversations, self._empty):
                routes = table.get(route.conversation, set())
                routes.discard(route)
                if not routes:
                    table.pop(route.conversation, None)
            self.forget(route)
            route.listeners.clear()
            if not self._leaves:
                self._forest.news.watch = None

    def fresh(self) -> str:
        """An id that no message of the tree has, nor one that is awaited."""
        while True:
            id = f"v{next(self._count)}"
            if id not in self._forest.numbers and id not in self._forest.aliases:
                return id

    def sweep(self) -> None:
        while self.dropped:
            self.close(self.dropped.popleft())

    # -- who shows what ----------------------------------------------------------------------

    def settle(self, route: Following) -> None:
        """Its leaf is watched also where it is not shown; after every change of a route."""
        before = self._leaves.get(route, ROOT)
        if before == route.leaf and route in self._leaves:
            return
        empty = self._empty.setdefault(route.conversation, set())
        if route.leaf < 0:
            empty.add(route)
        else:
            empty.discard(route)
        if not empty:
            del self._empty[route.conversation]
        if before >= 0 and before not in route.places:
            self._unwatch(before, route)
        self._leaves[route] = route.leaf
        if route.leaf >= 0 and route.leaf not in route.places:
            self._watch(route.leaf, route)

    def _show(self, route: Following, numbers: list[int]) -> None:
        for number in numbers:
            self._watch(number, route)

    def _hide(self, route: Following, numbers: list[int]) -> None:
        for number in numbers:
            self._unwatch(number, route)

    def _watch(self, number: int, route: Following) -> None:
        there = self._shown.get(number)
        if there is None:
            self._shown[number] = route
        elif isinstance(there, set):
            there.add(route)
        elif there is not route:
            self._shown[number] = {there, route}

    def _unwatch(self, number: int, route: Following) -> None:
        there = self._shown.get(number)
        if there is route:
            del self._shown[number]
        elif isinstance(there, set):
            there.discard(route)
            if not there:
                del self._shown[number]

    def _showing(self, number: int) -> list[Following]:
        if number == ROOT:
            return []
        there = self._shown.get(number)
        if there is None:
            return []
        return list(there) if isinstance(there, set) else [there]

    # -- awaiting ----------------------------------------------------------------------------

    def expect(self, key: str | int, route: Following) -> None:
        """The view goes to the message of that id, or the next one below that parent, when it comes."""
        self._awaited.setdefault(key, []).append(route)

    def forget(self, route: Following) -> None:
        """It goes nowhere by itself any more."""
        for key in [key for key, routes in self._awaited.items() if route in routes]:
            self._awaited[key].remove(route)
            if not self._awaited[key]:
                del self._awaited[key]

    # -- events ------------------------------------------------------------------------------

    def heard(self, kind: str, number: int, moved: list[int]) -> None:
        """An event is folded whole: it made, changed or named message `number`, and moved some."""
        forest = self._forest
        parent = forest.parents[number]
        with self.lock:
            if self.dropped:
                self.sweep()
            if not moved and not self._awaited and not self._empty and (parent != ROOT or kind != "message"):
                there = self._shown.get(parent if kind == "message" else number)
                if there is None:
                    return
            affected = self._tell(kind, number, parent, moved)
        for route in affected:
            route.deliver()

    def _tell(self, kind: str, number: int, parent: int, moved: list[int]) -> list[Following]:
        forest = self._forest
        affected: dict[Following, None] = {}
        for other in moved:
            for route in self._showing(other):
                if other in route.places:
                    route.moved(other)
                    affected[route] = None
        if kind == "message":
            for key in (forest.ids[number], parent) if self._awaited else ():
                for route in self._awaited.pop(key, ()):
                    route.arrived(number)
                    affected[route] = None
            for route in list(self._empty.get(forest.conversations.get(number, "main"), ())):
                if route.leaf < 0:
                    route.begin(number)
                    affected[route] = None
            for route in self._below(number, parent):
                route.came(number, parent)
                affected[route] = None
        if kind == "update" or (kind == "message" and forest.seqs[number] != forest.seq):
            for route in self._showing(number):
                if number in route.places:
                    route.changed(number, forest.seq)
                    affected[route] = None
        for other in moved:
            parent = forest.parents[other]
            before = forest.moves.at(other, forest.seq - 1, UNKNOWN)
            attached = other in forest.moves and before == UNKNOWN
            for route in self._below(other, parent):
                if other in route.places:
                    continue
                if attached or parent == route.leaf:
                    route.came(other, parent)
                else:
                    route.beside(parent)
                affected[route] = None
        for route in affected:
            self.settle(route)
        return list(affected)

    def _below(self, number: int, parent: int) -> list[Following]:
        """The views that show what a message came below."""
        if parent == ROOT:
            return list(self._conversations.get(self._forest.conversations.get(number, "main"), ()))
        return self._showing(parent)
