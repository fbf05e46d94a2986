"""One command: when it ran, and what the program got of it."""

from __future__ import annotations

import base64
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from lctl.instrument import waitedreads
from lctl.instrument.ambient import places, reads
from lctl.instrument.ambient.commands import lines
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.concurrency.comings import Coming
from lctl.session.sources import COMMAND

if TYPE_CHECKING:
    from lctl.session import LCTLSession

#: Bytes of output, of both streams, up to which they are kept. A command that said more cannot be served.
MOST_KEPT = 4 << 20
STREAMS: tuple[str, ...] = ("stdout", "stderr")
#: Pieces of which it is kept when they came.
_MOST_PIECES = 2000


#: Those of each session that the program has started, and not heard the end of.
_open: WeakKeyDictionary[LCTLSession, list[Command]] = WeakKeyDictionary()


def closing(session: LCTLSession) -> None:
    """Called as a session closes: nobody will hear of their ends."""
    for command in _open.pop(session, ()):
        command.outlives()


def after_fork() -> None:
    """In the child: what runs is its parent's."""
    for one in [command for commands in _open.values() for command in commands]:
        one.forget()


class Command:
    """An `ambient` event when the program knows of its end, as everything is before which it waited.

    Attributes:
        key: its line.
        said: by stream that the program reads (`stdout`, `stderr`), what has come: nothing of what was too
            much to be kept, of which the sizes are known.
        late: of each wait for it that ran out of time, how much of each of them had come by then, and the
            seconds that the program was told it had waited.
        pid: the system's number of it, if the program is given that.
        polls: how often the program asked whether it had ended, and it had not.
        served: what a recording has of it.
        is_read_past: `communicate` is reading its streams.
        told_as: how the program is told of its end: by an exit `code`, or as `wait` has it, by a `status`.
    """

    told_as = "code"

    def __init__(self, key: str, frame: FrameType) -> None:
        self.lane = lanes.current()
        self._session = reads.session_here()
        self.key = lines.key_of(key, self._session)
        self._place = places.name(frame.f_code.co_filename, frame.f_lineno)
        self.said: dict[str, list[bytes]] = {}
        self._sizes = dict.fromkeys(STREAMS, 0)
        self.late: list[list[Any]] = []
        self.polls = 0
        self.pid: int | None = None
        self.served: border.Command | None = None
        self._code: int | None = None
        self._inside = 0
        self._pieces: list[list[Any]] = []
        self._is_over = False
        self.is_read_past = False
        if self._session is not None:
            self._moment = self._session.under_way.begin()
            self._moment.rests = True  # the program goes on meanwhile
            _open.setdefault(self._session, []).append(self)

    # -- as it was recorded ------------------------------------------------------------------

    def serve(self, recorded: border.Command | None) -> None:
        self.served = recorded
        if recorded is not None:
            self.key, self.pid = recorded.data["key"], recorded.data.get("pid")

    @property
    def recorded_code(self) -> int:
        """Its exit code, as the program is given it."""
        return int(self._recorded(self.told_as))

    @property
    def recorded_seconds(self) -> float:
        """How long it ran."""
        return float(self._recorded("duration_ms") or 0.0) / 1000

    @property
    def is_asked(self) -> bool:
        """Whether the program is about to hear of its end."""
        return self._inside > 0

    @property
    def is_failure(self) -> bool:
        """Whether it could not be started."""
        return self._recorded("error") is not None

    def recorded(self, stream: str) -> bytes:
        """What it said there."""
        return decoded(self._recorded(stream))

    def is_late(self) -> bool:
        """Whether the next wait for it runs out of time; then so much of its streams has come."""
        return len(self.late) < len(self._recorded("late") or ())

    def recorded_late(self) -> list[Any]:
        found: list[Any] = self._recorded("late")[len(self.late)]
        return found

    def is_polled(self) -> bool:
        """Whether it has not ended when it is asked the next time."""
        return self.polls < int(self._recorded("polls") or 0)

    def await_end(self) -> None:
        """Return when it ended in the recording.

        Raises:
            OSError: it could not be started then.
        """
        if self.served is not None:
            self.served.await_end()
            self._raise()

    async def await_end_async(self) -> None:
        """As `await_end`."""
        if self.served is not None:
            await self.served.await_part(0)
            self._raise()

    async def recorded_pieces(self) -> AsyncIterator[tuple[int, int]]:
        """As `came`: of which stream a piece was, and how many bytes, each when it came."""
        assert self.served is not None
        pieces: list[list[Any]] = self._recorded("pieces") or []
        for part, (*_, fd, size) in enumerate(pieces, 1):
            await self.served.await_part(part)
            yield fd, size

    def _raise(self) -> None:
        error = self._recorded("error")
        if error is not None:
            file = error["file"]
            raise OSError(error["errno"], error["message"], *([] if file is None else [file]))

    def _recorded(self, name: str) -> Any:
        assert self.served is not None
        value = self.served.data["value"]
        return value[name] if name in value else self.served.data.get(name)

    # -- what the program gets ---------------------------------------------------------------

    @contextmanager
    def inside(self, process: Any, *, past: bool = False) -> Iterator[None]:
        """The program waits for its end, or asks whether that has come. `past`: the streams are read there,
        past what keeps their pieces."""
        self._inside += 1
        was, self.is_read_past = self.is_read_past, self.is_read_past or past
        try:
            yield
        except BaseException as error:
            if type(error).__name__ == "TimeoutExpired" and self._inside == 1:
                self.take(process)
                self.late.append([*self._sizes.values(), getattr(error, "timeout", None)])
            raise
        finally:
            self._inside -= 1
            self.is_read_past = was

    def keep(self, stream: str, data: bytes) -> None:
        """It has said that."""
        self._sizes[stream] += len(data)
        if sum(self._sizes.values()) <= MOST_KEPT:
            self.said.setdefault(stream, []).append(data)
        else:
            self.said.clear()

    def came(self, fd: int, data: bytes) -> None:
        """A piece of a stream (1 or 2) reached the event loop of this thread; none: its end, or (0) that of
        the process."""
        if data:
            self.keep(STREAMS[fd - 1], data)
        session = self._session
        if session is None or self.served is not None or (data and len(self._pieces) >= _MOST_PIECES):
            return
        try:
            coming = Coming.now(session.under_way.since(self._moment), at_once=False)
            self._pieces.append([*coming, fd, len(data)])
        except Exception as error:
            reads.failed("a command that the program runs", error)

    def exited(self, code: int) -> None:
        """Its end reached the event loop of this thread, which may hear from its streams yet."""
        self._code = code
        self.came(0, b"")

    def ended(self, code: int) -> None:
        """The program is told that it has."""
        self._code = code
        self._write()

    def outlives(self) -> None:
        """The program does not wait for its end, or ends first."""
        self._write()

    def failed(self, error: BaseException) -> None:
        """It was not started."""
        is_systems = type(error).__module__ == "builtins"  # and no refusal of a rerun's
        if isinstance(error, OSError) and error.errno is not None and is_systems:
            file = None if error.filename is None else os.fsdecode(error.filename)
            self._tell({"error": {"errno": error.errno, "message": error.strerror, "file": file}})
        elif not self._is_over and self._session is not None:
            self.forget()
            self._session.under_way.end(self._moment)

    def forget(self) -> None:
        """Nobody is told of it any more."""
        self._is_over = True
        left = None if self._session is None else _open.get(self._session)
        if left is not None and self in left:
            left.remove(self)

    def take(self, process: Any) -> None:
        """What `communicate` has read past the streams."""
        read = process.__dict__.get("_fileobj2output") or {}
        for stream in STREAMS:
            file = getattr(process, stream, None)
            if file is not None and read.get(file):
                self.said.pop(stream, None)
                self._sizes[stream] = 0
                for piece in read[file]:
                    self.keep(stream, bytes(piece))

    def _write(self) -> None:
        value: dict[str, Any] = {self.told_as: self._code}
        if sum(self._sizes.values()) > MOST_KEPT:
            value["size"] = [*self._sizes.values()]
        else:
            value |= {stream: encoded(b"".join(pieces)) for stream, pieces in self.said.items()}
        self._tell(value)

    def _tell(self, value: dict[str, Any]) -> None:
        session = self._session
        if self._is_over or session is None:
            return
        self.forget()
        try:
            data: dict[str, Any] = {"source": COMMAND, "key": self.key, "value": value, "place": self._place}
            pieces = self._pieces if self.served is None else self._recorded("pieces")
            told = {"pid": self.pid, "late": self.late, "polls": self.polls, "pieces": pieces}
            data |= {name: one for name, one in told.items() if one}
            waitedreads.write(session, self._moment, data, cancelled=False, always=True)
        except Exception as error:
            reads.failed("a command that the program runs", error)


def encoded(said: bytes) -> str | dict[str, str]:
    """As an event holds it."""
    try:
        return said.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(said).decode()}


def decoded(said: Any) -> bytes:
    if isinstance(said, str):
        return said.encode()
    return base64.b64decode(said["base64"]) if isinstance(said, dict) else b""
