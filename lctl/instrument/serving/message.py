"""A recorded response as `http.client` reads one: its own response class, on a socket that is the tape.

What is read is HTTP written anew: the recorded head, then each piece of the body as one chunk, as it is
asked for. So piece boundaries, `read1`, `readline` and the rest are the library's own doing.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from http.client import HTTPResponse
from typing import Any

from lctl.instrument.serving import encoded, encoding_of, pairs, reason_of
from lctl.session.border import Answer, RecordedError

Revive = Callable[[], BaseException]

_INCOMPLETE = re.compile(r"IncompleteRead\((\d+) bytes read(?:, (\d+) more expected)?\)")


class Socket:
    """Stands where a connection's socket would, for one response."""

    def __init__(self, answer: Answer, revive: Revive) -> None:
        self._answer = answer
        self._revive = revive
        self.framed = False  # the body has a framing that its head does not tell

    def makefile(self, mode: str = "rb", *args: Any, **kwargs: Any) -> io.BufferedReader:
        return io.BufferedReader(_Pieces(self._bytes()))

    def _bytes(self) -> Iterator[bytes]:
        answer = self._answer
        head, self.framed = _head(answer)
        yield head
        chunked = (self.framed and _short_of(answer) is None) or b"\r\ntransfer-encoding:" in head.lower()
        encoding = encoding_of(answer)
        for piece in encoded(answer.chunks(), encoding) if encoding else answer.chunks():
            if piece:
                yield b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece
        if answer.error is not None:
            if _incomplete(answer.error) is not None or answer.error.type == "InvalidChunkLength":
                return  # its reader finds the body too short, and says how much it had
            raise self._revive()
        if chunked:
            yield b"0\r\n\r\n"

    def sendall(self, data: Any) -> None:
        pass

    def settimeout(self, seconds: float | None) -> None:
        pass

    def shutdown(self, how: int) -> None:
        pass

    def close(self) -> None:
        pass


class _Pieces(io.RawIOBase):
    """Reads one piece at a time, none before it is asked for."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        size = min(len(self._rest), len(buffer))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def _incomplete(error: RecordedError | None) -> re.Match[str] | None:
    """What http.client said of a body that ended too soon, if that is what happened."""
    while error is not None:
        if error.type == "IncompleteRead" and error.module == "http.client":
            return _INCOMPLETE.search(error.message)
        error = error.cause
    return None


def _short_of(answer: Answer) -> int | None:
    """The length that was said of a body, of which a part is missing."""
    found = _incomplete(answer.error)
    return None if found is None or found[2] is None else int(found[1]) + int(found[2])


def _head(answer: Answer) -> tuple[bytes, bool]:
    """Status line and headers; and whether the body is framed though they do not say so."""
    status = answer.status or 0
    lines = [f"HTTP/1.1 {status} {reason_of(answer)}"]
    framed = status not in (204, 304)
    for name, value in pairs(answer):
        if name.lower() in ("content-length", "transfer-encoding"):
            framed = False
        lines.append(f"{name}: {value}".replace("\r", " ").replace("\n", " "))
    encoding = encoding_of(answer)
    if encoding:
        lines.append(f"content-encoding: {encoding}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace"), framed


def received(answer: Answer, method: str, url: str, revive: Revive) -> HTTPResponse:
    """The response, its head read."""
    socket: Any = Socket(answer, revive)
    response = HTTPResponse(socket, method=method, url=url)
    response.begin()
    frame(socket, response, answer)
    return response


def frame(socket: Socket, response: Any, answer: Answer) -> None:
    """Tell a response that has read its head how its body is framed."""
    if not socket.framed or response.length == 0:
        return
    length = _short_of(answer)
    if length is not None:
        response.chunked, response.length = False, length
    else:
        response.chunked, response.chunk_left, response.length = True, None, None
    response.will_close = False
