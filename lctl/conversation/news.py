"""What an event does to messages, told when it is folded whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lctl.conversation.watch import Watch

#: Kind (message, update, alias), message id, seq.
Listener = Callable[[str, str, int], None]
#: Kind, number, and the numbers that the event attached or gave another place.
Watcher = Callable[[str, int, list[int]], None]


class News:
    """Gathered while an event is folded, then told: to the views at once, to listeners in order.

    Attributes:
        views: who shows what; made with the first view.
        watch: of the views, which need numbers and are told first; None while there are none.
        moved: by the event at hand: attached, or given another parent or place among its siblings.
    """

    __slots__ = ("_told", "_under_way", "_waiting", "listeners", "moved", "views", "watch")

    def __init__(self) -> None:
        self.listeners: list[Listener] = []
        self.watch: Watcher | None = None
        self.views: Watch | None = None
        self.moved: list[int] = []
        self._told: list[tuple[str, int]] = []
        self._waiting: deque[tuple[str, str, int]] = deque()
        self._under_way = False

    def __reduce__(self) -> tuple[type[News], tuple[()]]:
        return News, ()  # who listens stays in this process

    def tell(self, kind: str, number: int) -> None:
        self._told.append((kind, number))

    def publish(self, ids: list[str], seq: int) -> None:
        """Tell what event `seq` did.

        A listener may write: what that leads to is folded at once, and told after what it was told of.
        """
        told, moved = self._told, self.moved
        if moved:
            self.moved = []
        if not told:
            return
        self._told = []
        if self.listeners:
            self._waiting += [(kind, ids[number], seq) for kind, number in told]
        if self.watch is not None:
            for kind, number in told:
                self.watch(kind, number, moved)
        if self._under_way or not self._waiting:
            return
        self._under_way = True
        try:
            while self._waiting:
                news = self._waiting.popleft()
                for listener in list(self.listeners):
                    listener(*news)
        finally:
            self._under_way = False
