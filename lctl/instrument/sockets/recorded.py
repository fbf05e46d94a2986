"""A recorded WebSocket in the place of a living one.

What came is given again, each message when its turn has come; what the program sends is looked for among
what it sent, and must be the same. A message that came when the program had sent something waits for that.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from lctl.errors import RerunStopped
from lctl.instrument.codecs.bodies import loads_or_none
from lctl.instrument.serving.differences import difference
from lctl.instrument.sockets import spelling
from lctl.instrument.sockets.life import Life
from lctl.session import border
from lctl.session.border import LinesAnswer
from lctl.session.concurrency import turns
from lctl.session.redaction.redact import Redactor


class Closed(Exception):
    """The connection has ended: the library says so in its own way."""


class _Line(NamedTuple):
    """`part` of the answer, from 1."""

    part: int
    told: dict[str, Any]


class RecordedSocket:
    """One, given again.

    Args:
        answer: its recorded life.
        life: what of it is recorded again; None where that is not.

    Attributes:
        closed: what its library said of its end, where it has ended.
    """

    def __init__(self, answer: LinesAnswer, life: Life | None, redactor: Redactor | None) -> None:
        self.answer = answer
        self.closed: Sequence[Any] | None = None
        self._life = life
        self._redactor = redactor
        self._come: list[_Line] = []  # what is still to come to the program
        self._said: list[_Line] = []  # what it has still to say
        self._waiting: set[int] = set()  # parts of what it says now, whose turn has not come
        self._blobs: list[str] = []
        self._sound: bytes | None = None
        self._is_met = False  # somebody waits for the end
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._watching: list[asyncio.Future[None]] = []
        for part, chunk in enumerate(answer.whole(), 1):
            self._sort(_Line(part, loads_or_none(chunk) or {}))

    def _sort(self, line: _Line) -> None:
        told = line.told
        if "out" in told or "closing" in told:
            self._said.append(line)
        elif "unsent" in told and self._said:
            self._said[-1].told["unsent"] = told["unsent"]
            self.answer.skip(line.part)
        elif "in" in told or "timeout" in told or "closed" in told:
            self._come.append(line)
        else:
            self._blobs += [told["blob"]] if "blob" in told else []
            self.answer.skip(line.part)

    # -- what comes ------------------------------------------------------------------------

    def receive(self) -> str | bytes:
        """The next message.

        Raises:
            TimeoutError: none came in the recording, as long as the program waited.
            Closed: the connection ended.
        """
        line = self._next()
        if line is None:
            self.answer.never()
            raise Closed
        if "closed" in line.told:
            self._meet_end(line)
            raise Closed
        self.answer.part(line.part)
        return self._received(line)

    async def receive_async(self) -> str | bytes:
        """As `receive`; it may be cancelled, and asked again."""
        line = self._next()
        if line is None:
            await self.answer.never_async()
            raise Closed
        if "closed" in line.told:
            await self._meet_end_async(line)
            raise Closed
        asked = turns.now()
        await self.answer.part_async(line.part)
        return self._received(line, asked)

    def _next(self) -> _Line | None:
        if self.closed is not None:
            raise Closed
        return self._come[0] if self._come else None

    def _received(self, line: _Line, asked: int | None = None) -> str | bytes:
        """The message of a line whose turn it is. `asked`: as of `Life.came`."""
        self._check(line.part)
        self._come.remove(line)
        if "timeout" in line.told:
            self._note(timeout=line.told["timeout"])
            raise TimeoutError(*filter(None, [line.told["timeout"]]))
        try:
            message = spelling.message_of(line.told, "in", self._sounding)
        except spelling.SoundMissing:
            raise self._stopped(
                "a message of a WebSocket has sound, which this recording does not hold ('lctl run' keeps it)"
            ) from None
        if self._life is not None:
            self._life.came(message, asked)
        return message

    def _check(self, part: int, does: str = "waits for a message of a WebSocket") -> None:
        """What the program had said by then it has said."""
        for line in self._said:
            if line.part < part:
                raise self._stopped(
                    f"the program {does}, to which it sent in the recording, before that, {_shown(line.told)}"
                )

    def _sounding(self, begins: int, size: int) -> bytes:
        if self._sound is None:
            self._sound = b"".join(map(self.answer.blob, self._blobs))
        if begins + size > len(self._sound):
            self.answer.nothing_more()
            raise spelling.SoundMissing
        return self._sound[begins : begins + size]

    # -- what the program does -------------------------------------------------------------

    def send(self, message: str | bytes) -> None:
        """Raises Closed where it met the end."""
        with self._saying(message) as line:
            self.answer.part(line.part)
        self._has_sent(line, message)

    async def send_async(self, message: str | bytes) -> None:
        with self._saying(message) as line:
            await self.answer.part_async(line.part)
        self._has_sent(line, message)

    @contextmanager
    def _saying(self, message: str | bytes) -> Iterator[_Line]:
        if self.closed is not None:
            raise Closed
        line = self._find(message)
        self._waiting.add(line.part)
        try:
            yield line
        finally:
            self._waiting.discard(line.part)

    def _find(self, message: str | bytes) -> _Line:
        """What the program says now: several tasks may say things at a time, in any order."""
        said = spelling.line_of("out", message, spelling.event_of(message), spelling.hashed)
        free = [one for one in self._said if one.part not in self._waiting and "out" in one.told]
        found = next((one for one in free if not self._differs(one.told, said)), None)
        if found is not None:
            return found
        if not free:
            self.answer.nothing_more()
            raise self._stopped(
                f"the program sends to a WebSocket more than in the recording: {_shown(said)}"
            )
        raise self._stopped(
            "the program sends to a WebSocket something else than in the recording: "
            + self._differs(free[0].told, said)
        )

    def _differs(self, recorded: dict[str, Any], said: dict[str, Any]) -> str:
        known = {name: value for name, value in recorded.items() if name != "unsent"}
        found = difference(known, said, "")
        if found and self._redactor is not None:
            found = difference(known, self._redactor.value(said), "")
        return found.lstrip(".")

    def _has_sent(self, line: _Line, message: str | bytes) -> None:
        self._said.remove(line)
        if self._life is not None:
            self._life.sends(message)
        unsent = line.told.get("unsent")
        if unsent:
            self._note(unsent=unsent)
            raise Closed(*(unsent if isinstance(unsent, list) else ()))

    def close(self) -> None:
        """The program closes it: returns when it is closed."""
        line = self._closing()
        if line is not None:
            self.answer.part(line.part)
            self._has_closed(line)
        if self._is_next_end():
            self._meet_end(self._come[0])

    async def close_async(self) -> None:
        line = self._closing()
        if line is not None:
            await self.answer.part_async(line.part)
            self._has_closed(line)
        if self._is_next_end():
            await self._meet_end_async(self._come[0])

    def _closing(self) -> _Line | None:
        if self.closed is not None:
            return None
        line = next((one for one in self._said if "closing" in one.told), None)
        if line is None and not any("closed" in one.told for one in self._come):
            self.answer.nothing_more()
            raise self._stopped("the program closes a WebSocket that it left open in the recording")
        return line

    def _has_closed(self, line: _Line) -> None:
        self._check(line.part, "closes a WebSocket")
        self._said.remove(line)
        if self._come and self._come[0].part < line.part:
            raise self._stopped(
                "the program closes a WebSocket, of which it had, in the recording, "
                f"{_shown(self._come[0].told)} before that"
            )
        self._note(closing=True)

    # -- the end ---------------------------------------------------------------------------

    def _is_next_end(self) -> bool:
        return self.closed is None and bool(self._come) and "closed" in self._come[0].told

    def _meet_end(self, line: _Line) -> None:
        """Return at the end. One waits for its turn, whoever else waits for the end waits for that one."""
        with self._lock:
            is_first, self._is_met = not self._is_met, True
        if not is_first:
            self._ended.wait()
            return
        self.answer.part(line.part)
        self._check(line.part)
        self.answer.left()
        self._end(line)

    async def _meet_end_async(self, line: _Line) -> None:
        while self.closed is None:
            if self._is_met:
                waiting = asyncio.get_running_loop().create_future()
                self._watching.append(waiting)
                await waiting
                continue
            self._is_met, asked = True, turns.now()
            try:
                await self.answer.part_async(line.part)
                self._check(line.part)
                await self.answer.left_async()
                self._end(line, asked)
            finally:  # it may be cancelled: then another one waits for it
                self._is_met = False
                self._wake()

    def _end(self, line: _Line, asked: int | None = None) -> None:
        closed: Sequence[Any] = line.told["closed"]
        self.closed = closed
        if self._life is not None:
            self._life.over(closed, asked)
        self._ended.set()

    def _wake(self) -> None:
        watching, self._watching = self._watching, []
        for one in watching:
            if not one.done():
                one.set_result(None)

    # -- inside ----------------------------------------------------------------------------

    def rests(self, rests: bool) -> None:
        if self._life is not None:
            self._life.rests(rests)

    def _note(self, **line: Any) -> None:
        if self._life is not None:
            self._life.note(**line)

    def _stopped(self, text: str) -> RerunStopped:
        player = border.player()
        return RerunStopped(text) if player is None else player.stopped(text)


def _shown(told: dict[str, Any]) -> str:
    """A line as a person is told of it."""
    for way in ("out", "in"):
        if way in told:
            said = told[way]
            kind = said.get("type") if isinstance(said, dict) else None
            return str(kind) if isinstance(kind, str) else f"{said!r:.200}"
    return "its end" if "closed" in told else str(next(iter(told), "nothing"))
