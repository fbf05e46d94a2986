"""Following a log while its program writes it.

The file is read as bytes appended to it, like `tail -f`, and taken apart by line. Four things happen to
such a file: a line is there in part (waited for), the closing is written (the end), it is cut back
(its program reopened it to go on), and another file takes its place (read from its start).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from lctl.analysis.run import is_live
from lctl.codec.lines import decode
from lctl.events import Event

_BLOCK = 1 << 20
_QUIET = 10  # polls without news after which it is asked whether the writer still lives


class Note(NamedTuple):
    """Something that happened to the file."""

    what: Literal["closed", "reopened", "replaced", "gone", "abandoned"]


class Follower:
    """Events of the log at `path` as they arrive. `seen` is the highest seq given so far."""

    def __init__(self, path: Path, seen: int = 0) -> None:
        self._path = path
        self._fd = os.open(path, os.O_RDONLY)
        self._id = _identity(os.fstat(self._fd))
        self._offset = 0
        self._rest = b""
        self._closed = False
        self.seen = seen

    def follow(
        self, *, pause: float = 0.1, sleep: Callable[[float], None] = time.sleep, until_closed: bool = True
    ) -> Iterator[Event | Note]:
        """Give events for ever, or until the log is closed; blocks `pause` seconds when there is none."""
        quiet = 0
        while True:
            quiet += 1
            for item in self.poll():
                quiet = 0
                yield item
                if isinstance(item, Note) and item.what == "gone":
                    return
            if self._closed and until_closed:
                return
            if quiet >= _QUIET and not self._closed and not is_live(self._path):
                yield Note("abandoned")
                return
            if quiet:
                sleep(pause)

    def poll(self) -> Iterator[Event | Note]:
        """What has arrived since the last poll."""
        yield from self._changes()
        os.lseek(self._fd, self._offset, os.SEEK_SET)
        while block := os.read(self._fd, _BLOCK):
            self._offset += len(block)
            lines = (self._rest + block).split(b"\n")
            self._rest = lines.pop()
            for line in lines:
                yield from self._line(line)
        if self._rest:
            # The comma and line feed of an event are written in front of the next one, so the newest
            # event has no line end; the closing has.
            event = _event(self._rest)
            if event is not None:
                yield from self._new(event)

    def _line(self, line: bytes) -> Iterator[Event | Note]:
        if line.startswith(b"]"):
            if not self._closed:
                self._closed = True
                yield Note("closed")
            return
        event = _event(line)
        if event is not None:
            yield from self._new(event)

    def _new(self, event: Event) -> Iterator[Event]:
        if event.seq > self.seen:
            self.seen = event.seq
            yield event

    def _changes(self) -> Iterator[Note]:
        try:
            at_path = _identity(self._path.stat())
        except FileNotFoundError:
            if os.fstat(self._fd).st_size <= self._offset:
                yield Note("gone")
            return
        if at_path != self._id:
            os.close(self._fd)
            self._fd = os.open(self._path, os.O_RDONLY)
            self._id = _identity(os.fstat(self._fd))
            self._restart(0)
            yield Note("replaced")
        elif os.fstat(self._fd).st_size < self._offset:
            was_closed = self._closed
            self._restart(self.seen if was_closed else 0)
            yield Note("reopened" if was_closed else "replaced")

    def _restart(self, seen: int) -> None:
        self._offset, self._rest, self._closed, self.seen = 0, b"", False, seen

    def close(self) -> None:
        os.close(self._fd)


def _event(line: bytes) -> Event | None:
    if not line.startswith(b'{"seq":'):
        return None
    try:
        return Event.from_dict(decode(line))
    except (ValueError, KeyError, AttributeError):
        return None


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
