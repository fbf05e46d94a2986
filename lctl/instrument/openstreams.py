"""Answers while they are streamed, in a file beside the log: who is killed loses nothing that had come.

A message is one event, written when it is whole. Until then the pieces are appended here, each before
the program gets it. The file holds frames, `<kind> <stream> <size>\\n<bytes>\\n`:

    B  a stream begins: JSON, what its message needs (agent, step, parent, url, headers)
    C  the next bytes of its body, content-encoding undone
    R  all its bytes so far, in place of those before
    E  its message is in the log

It is emptied whenever no stream is open. No secret comes into it: each piece is looked at with what stands
before it, and the rest of a long word is kept back until the word has ended. Once a text holds a secret, what
there is of the stream is written anew without; what comes of it into the log is redacted as all is.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from lctl.clock import monotonic_ns
from lctl.codec.journal import beside
from lctl.guard import guard
from lctl.instrument import concealment, encodings
from lctl.instrument.codecs.sse import deltas, only_delta
from lctl.record.descriptors import BINARY, open_apart
from lctl.record.writerlock import take

if TYPE_CHECKING:
    from lctl.instrument.attempts import Attempt
    from lctl.session.redact import Redactor

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | BINARY | getattr(os, "O_CLOEXEC", 0)
#: Bytes of the file beyond which no further stream is kept.
_FULL = 64 << 20
#: Characters that are looked at with what comes after them; of a word, before its end is waited for; of one
#: that is not waited for any longer.
_LOOK, _LONG, _ENDLESS = 256, 8, 8192
#: What no secret has in it: a word ends there.
_BETWEEN = re.compile(r"[^\w./+=%@:~-]")
#: `in` finds a number in bytes five times as fast as bytes of one.
_QUOTE, _BACKSLASH = b'"\\'
#: A stream with a secret is written anew at each of so many pieces, then only when it has grown by a quarter.
_EACH = 64
_FRAME = re.compile(rb"([A-Z]) (\d+) (\d+)\n")


class OpenStreams:
    """The streams of one log that have not ended."""

    def __init__(self, path: str, redactor: Redactor | None) -> None:
        """
        Args:
            path: of the log, absolute.
        """
        self._path = beside(path)
        self.redactor = redactor
        self._fd: int | None = None
        self._count = 0
        self._open: set[int] = set()
        self._size = 0
        self._pid = os.getpid()
        self._lock = threading.RLock()  # a finaliser may end a stream in the middle of a write

    def begin(self, attempt: Attempt, head: dict[str, Any]) -> Pieces | None:
        """Keep what comes of this answer from now on; None where it cannot be."""
        with self._lock:
            if self._fd is None and not self._make():
                return None
            if self._size > _FULL:
                return None
            self._count += 1
            self._open.add(self._count)
            self._write(b"B", self._count, orjson.dumps(head))
            return Pieces(self, self._count, attempt)

    def _make(self) -> bool:
        try:
            fd = open_apart(self._path, _FLAGS, 0o600)
        except OSError:
            return False
        if not take(fd):
            os.close(fd)
            return False
        os.ftruncate(fd, 0)
        self._fd = fd
        return True

    def add(self, stream: int, data: bytes) -> None:
        """The next bytes of a stream."""
        frame = b"C %d %d\n%b\n" % (stream, len(data), data)
        with self._lock:
            if self._fd is not None:
                self._size += os.write(self._fd, frame)

    def replace(self, stream: int, data: bytes) -> None:
        """All bytes of a stream so far, in place of those that are there."""
        with self._lock:
            fd = self._fd
            if fd is None:
                return
            held = os.pread(fd, os.fstat(fd).st_size, 0)
            kept = [
                _frame(kind, number, inside)
                for kind, number, inside in frames(held)
                if number != stream or kind == b"B"
            ]
            os.ftruncate(fd, 0)
            self._size = os.write(fd, b"".join([*kept, _frame(b"R", stream, data)]))

    def _write(self, kind: bytes, stream: int, data: bytes) -> None:
        if self._fd is not None:
            self._size += os.write(self._fd, _frame(kind, stream, data))

    def end(self, stream: int) -> None:
        """Its message is in the log."""
        with self._lock:
            if stream not in self._open or self._fd is None:
                return
            self._open.discard(stream)
            if self._open:
                self._write(b"E", stream, b"")
            else:
                os.ftruncate(self._fd, 0)
                self._size = 0

    def close(self) -> None:
        """The log is closed: nothing is left of them."""
        with self._lock:
            fd, self._fd = self._fd, None
            if fd is None or self._pid != os.getpid():  # in a forked child: the file is its parent's
                return
            try:
                os.unlink(self._path)  # noqa: PTH108
            except OSError:
                pass
            os.close(fd)

    def __del__(self) -> None:
        if self._fd is not None:
            os.close(self._fd)


def _frame(kind: bytes, stream: int, data: bytes) -> bytes:
    return b"%b %d %d\n%b\n" % (kind, stream, len(data), data)


def frames(held: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """(kind, stream, bytes) of each whole frame."""
    at = 0
    while (found := _FRAME.match(held, at)) is not None:
        start, size = found.end(), int(found[3])
        at = start + size + 1
        if at > len(held):
            return
        yield found[1], int(found[2]), held[start : start + size]


class Pieces(list[tuple[int, bytes]]):
    """`Attempt.chunks` of an answer that is kept as it comes."""

    def __init__(self, streams: OpenStreams, number: int, attempt: Attempt) -> None:
        super().__init__(attempt.chunks)
        redactor = streams.redactor
        self._add = partial(streams.add, number)
        self._suspects = _never if redactor is None else redactor.suspicion
        self._streams = streams
        self._number = number
        self._attempt = attempt
        self._decode: Callable[[bytes], bytes] | None = None
        self._ended = False
        # Bedrock's frames hold their text in base64: nobody can look at it for secrets.
        self._sealed = "amazon" in attempt.headers.get("content-type", "")
        self._unsure: list[bytes] = []  # pieces that end in a long word, or in the middle of an event
        self._around = b"", b""  # what the last event of one text has before and after it
        self._is_plain = False  # the next chunk begins an event, and is as it was sent
        self._word = 0  # characters of the last word said
        self._cut = b""  # of an event that has not ended
        self._text = ""  # the end of what was said
        self._secret = False
        self._due = 0  # how many pieces there are when it is written anew
        try:
            for _, chunk in self:
                self._keep(chunk)
        except Exception as error:
            self._failed(error)

    def append(self, piece: tuple[int, bytes]) -> None:
        list.append(self, piece)
        if self._ended:
            return
        chunk = piece[1]
        try:
            # Nearly every chunk is one event and says one text more: the shortest way for it.
            before, after = self._around
            least = len(before) + len(after)
            if (
                before
                and self._is_plain
                and len(chunk) >= least
                and chunk.startswith(before)
                and chunk.endswith(after)
                and _QUOTE not in (text := chunk[len(before) : -len(after)])
                and _BACKSLASH not in text
            ):
                self._weigh(chunk, text.decode("utf-8", "replace"))
            else:
                self._keep(chunk)
        except Exception as error:
            self._failed(error)
        self[-1] = monotonic_ns(), chunk  # writing lets other threads run; the program goes on now

    def end(self) -> None:
        """What the answer said is in the log."""
        self._ended = True
        self._streams.end(self._number)

    def _failed(self, error: Exception) -> None:
        self._ended = True
        if guard.policy == "raise":
            raise error
        guard.failed("an open stream", error)

    def _keep(self, chunk: bytes) -> None:
        if self._decode is None:
            self._decode = encodings.decoder(self._attempt.headers.get("content-encoding", ""))
        data = self._decode(chunk)
        if self._streams.redactor is None:
            self._add(data)
        elif self._sealed:
            self._ended = True
        else:
            self._read(data)

    def _read(self, data: bytes) -> None:
        whole = data.endswith(b"\n")
        if self._cut or not whole:
            self._cut += data
            if whole or len(self._cut) >= _ENDLESS:
                said, self._cut = deltas(self._cut), b""
                self._weigh(data, said)
            else:
                self._unsure.append(data)  # in the middle of an event
        else:
            self._weigh(data, self._said(data))
        self._is_plain = not self._cut and self._decode is bytes

    def _weigh(self, data: bytes, said: str) -> None:
        """Write what is sure to hold no secret, or part of one."""
        if said.endswith(" "):
            word = 0
        elif said.isalnum():
            word = self._word + len(said)
        else:
            ends = [found.end() for found in _BETWEEN.finditer(said)]
            word = len(said) - ends[-1] if ends else self._word + len(said)
        self._word = word
        self._text = text = (self._text + said)[-_LOOK - word :]
        if _LONG <= word < _ENDLESS:
            self._unsure.append(data)
            return
        if not self._secret:
            seen = text.encode("utf-8", "replace")
            lowered = text.lower() if text.isascii() else seen.lower().decode("latin-1")
            self._secret = self._suspects(seen, lowered) and self._is_secret(text)
        if self._secret:
            self._unsure = []
            self._conceal()
            return
        if self._unsure:
            for piece in self._unsure:
                self._add(piece)
            self._unsure = []
        self._add(data)

    def _said(self, event: bytes) -> str:
        """`deltas(event)`; what stands around the text, if there is one, is looked for in the next events."""
        place = only_delta(event)
        if place is None:
            return deltas(event)
        start, end = place
        self._around = event[:start], event[end:]
        return event[start:end].decode("utf-8", "replace")

    def _is_secret(self, text: str) -> bool:
        redactor = self._streams.redactor
        return redactor is not None and redactor.text(text) != text

    def _conceal(self) -> None:
        redactor, count = self._streams.redactor, len(self) - len(self._unsure)
        if redactor is None or count < self._due:
            return
        self._due = count + 1 if count < _EACH else count * 5 // 4
        decode = encodings.decoder(self._attempt.headers.get("content-encoding", ""))
        chunks = [decode(chunk) for _, chunk in self[:count]]
        self._streams.replace(self._number, b"".join(concealment.conceal(redactor, chunks)))


def _never(line: bytes, lowered: str) -> bool:
    return False
