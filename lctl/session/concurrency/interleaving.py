"""In which order the lanes of a program write to one stream: kept, and followed in a rerun.

Threads that print at once fall out in another order each time. What a lane writes before its turn has come
waits here and holds nobody up: its writer goes on, and the text is written when those before it have written.
A lane that does not write what it had written is passed over after a while.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from threading import get_native_id
from typing import Any, NamedTuple

from lctl.clock import monotonic

#: Turns that are kept of one stream. Of more, none.
_TURNS = 20_000
#: Seconds a text waits for those before it.
_PATIENCE = 3.0


class Turn(NamedTuple):
    """What one lane wrote before another one did: how many texts, and characters of them."""

    lane: str
    texts: int
    size: int


class Order:
    """Of one stream that is recorded."""

    def __init__(self) -> None:
        self._turns: list[list[Any]] = []
        self._thread = 0
        self._is_one_thread = True
        self._whole = True

    def note(self, lane: str, size: int) -> None:
        if not size:
            return  # `print("")` writes an empty text, too: no turn is made of that
        turns, thread = self._turns, get_native_id()  # Python's own number is the next thread's, too
        if thread != self._thread:
            self._is_one_thread = not self._thread
            self._thread = thread
        if turns and turns[-1][0] == lane:
            turns[-1][1] += 1
            turns[-1][2] += size
        elif self._whole:
            turns.append([lane, 1, size])
            if len(turns) > _TURNS:
                self._whole = False
                turns.clear()

    def told(self) -> list[list[Any]] | None:
        """For the event; None where one thread wrote all, whose order comes by itself."""
        return None if self._is_one_thread or not self._whole else [list(turn) for turn in self._turns]


class Following:
    """Of one stream in a rerun.

    Args:
        turns: as recorded.
        write: a text, past those who watch.

    Attributes:
        position: characters written by then in the recording.
    """

    def __init__(self, turns: Sequence[Turn], write: Callable[[str], object]) -> None:
        self.turns = turns
        self._order = [turn for turn in turns if turn.size]
        self.position = 0
        self._write = write
        self._now = 0
        self._done = 0  # texts of the turn
        self._end = self._order[0].size if self._order else 0
        self._left = Counter(turn.lane for turn in self._order)
        self._held: defaultdict[str, deque[str]] = defaultdict(deque)
        self._since: float | None = None  # the oldest text that is held

    @property
    def is_over(self) -> bool:
        return self._now >= len(self._order)

    def take(self, lane: str, text: str) -> None:
        """A lane writes."""
        if not text or not self._left[lane]:
            self._write(text)  # more than it wrote when it was recorded
            return
        self._held[lane].append(text)
        self.go_on()
        if self._since is not None and monotonic() - self._since > _PATIENCE:
            self.pass_over()

    def served(self, size: int) -> None:
        """The text of a call that is served was written, at its position: also that of the calls in it, which
        had turns of their own."""
        goal = self.position + size
        while not self.is_over and self._end <= goal:
            self._next()
        self.position = max(self.position, goal)

    def go_on(self) -> None:
        """Write what waits, as far as it has its turn."""
        while not self.is_over:
            held = self._held.get(self._order[self._now].lane)
            if not held:
                break
            text = held.popleft()
            self._since = None
            self._write(text)
            self._done += 1
            self._step(len(text))
        if self._since is None and any(self._held.values()):
            self._since = monotonic()

    def pass_over(self) -> None:
        """Whose turn it is does not write: go on with the next who has something to write."""
        while any(self._held.values()):
            while not self.is_over and not self._held.get(self._order[self._now].lane):
                self._next()
            if self.is_over:
                break
            self.go_on()
        for held in self._held.values():
            while held:
                self._write(held.popleft())
        self._since = None

    def _step(self, size: int) -> None:
        self.position += size
        turn = self._order[self._now] if not self.is_over else None
        if turn is not None and (self._done >= turn.texts or self.position >= self._end):
            self._next()

    def _next(self) -> None:
        self._left[self._order[self._now].lane] -= 1
        self._now += 1
        self._done = 0
        self.position = self._end
        if not self.is_over:
            self._end += self._order[self._now].size


def turns_of(told: Any) -> Sequence[Turn]:
    """Of an `output` event's `lanes`; none where it is no such list."""
    if not isinstance(told, list):
        return ()
    found = [Turn(*one) for one in told if _is_turn(one)]
    return found if len(found) == len(told) else ()


def _is_turn(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != len(_KINDS):
        return False
    return all(isinstance(part, kind) for part, kind in zip(value, _KINDS, strict=True))


_KINDS = (str, int, int)
