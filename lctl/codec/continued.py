"""What streams that were never ended had brought, as the last events of a log whose program is gone.

While an answer is streamed its pieces are kept beside the log (`.<name>.streams`), as a message is one
event and comes when it is whole. A program that is killed leaves that file: who reads the log finds in
it the messages as far as they came, and who goes on with the log takes them into it.
"""

from __future__ import annotations

from collections.abc import Iterator

from lctl.codec.eventfile import event_of
from lctl.codec.log import Events, Lines, Log, Problem, Recovery
from lctl.events import Event


def continued(log: Log, lines: list[bytes]) -> Log:
    """The log with these events after its own."""
    source = log.source = Continued(log.source, lines)
    count = len(lines)
    words = "a stream was cut" if count == 1 else f"{count} streams were cut"
    log.recovered = Recovery(len(source), f"its program ended abruptly, {words}")
    return log


class Continued:
    """Events of a log, and lines that go on from them."""

    def __init__(self, base: Events, lines: list[bytes]) -> None:
        self._base = base
        self._lines = lines
        self._from = base.last_seq + 1  # seq of the first of `lines`

    def __len__(self) -> int:
        return len(self._base) + len(self._lines)

    @property
    def first_seq(self) -> int:
        return self._base.first_seq or self._from

    @property
    def last_seq(self) -> int:
        return self._from + len(self._lines) - 1

    @property
    def problems(self) -> list[Problem]:
        return self._base.problems

    @property
    def tail(self) -> None:
        return None

    def line_of(self, seq: int) -> int | None:
        return self._base.line_of(seq)

    def events(self, start: int, stop: int | None) -> Iterator[Event]:
        yield from self._base.events(start, stop)
        for line in self._more(start, stop):
            event = event_of(line)
            if event is not None:
                yield event

    def lines(self, start: int, stop: int | None) -> Iterator[bytes]:
        yield from self._base.lines(start, stop)
        yield from self._more(start, stop)

    def _more(self, start: int, stop: int | None) -> list[bytes]:
        return self._lines[max(0, start - self._from) : None if stop is None else max(0, stop - self._from)]

    def stored(self) -> Iterator[bytes]:
        return self._base.stored()

    def buffer(self) -> Lines | None:
        return None
