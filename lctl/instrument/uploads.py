"""Bodies of requests that are known only when they have been sent: files, iterators, single pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from lctl.session.runs.wrappedruns import step_aside

if TYPE_CHECKING:
    from lctl.instrument.attempts import Attempt

#: Bytes of a body that are kept, of an answer and of a request. A longer answer cannot be served.
MOST_KEPT = 16 << 20
_LAST_CHUNK = b"0\r\n\r\n"


def teed(body: Any, kept: list[bytes], encoding: str) -> Iterator[bytes]:
    """An upload that is a file or an iterator, as an iterator of the same bytes that also keeps them.

    Args:
        encoding: in which the library sends text.
    """
    try:
        for piece in _pieces(body):
            data = piece.encode(encoding) if isinstance(piece, str) else piece
            if len(kept) * 16384 < MOST_KEPT:
                kept.append(bytes(data))
            yield data
    except BaseException as error:
        step_aside(error)
        raise


def _pieces(body: Any) -> Iterable[Any]:
    """No generator: it would stand in the traceback of what the body raises."""
    read = getattr(body, "read", None)
    return body if read is None else iter(partial(read, 16384), type(read(0))())


class Upload:
    """A request whose body is known when it has been sent: it begins to be recorded then, before its answer
    is asked for. Nothing of it is read ahead: a library may try a connection again as long as nothing was.

    Args:
        begin: given the body, or None where it is not known, begins the attempt.
        length: how many bytes it has, if that was said; else it ends where it ends.
        is_framed: its chunks are written by the program.

    Attributes:
        attempt: once it has begun.
    """

    attempt: Attempt | None = None

    def __init__(
        self,
        begin: Callable[[bytes | None], Attempt | None],
        length: int | None = None,
        is_framed: bool = False,
    ) -> None:
        self._begin = begin
        self._length = length
        self._is_framed = is_framed
        self._kept = bytearray()
        self._size = 0
        self._is_read = False
        self._has_begun = False

    def add(self, data: Any) -> None:
        """A piece is about to be sent. Ahead of the last one it begins."""
        piece = bytes(data)
        self._size += len(piece)
        if self._size <= MOST_KEPT:
            self._kept += piece
        self._begin_if_complete()

    def passing(self, body: Any, encoding: str) -> Iterator[bytes]:
        """A file or an iterator as the iterator of the same bytes, which are added as they are sent."""
        try:
            for piece in _pieces(body):
                data = piece.encode(encoding) if isinstance(piece, str) else piece
                self.add(data)
                yield data
        except BaseException as error:
            step_aside(error)
            raise
        self._is_read = True
        self._begin_if_complete()

    def _begin_if_complete(self) -> None:
        if self.is_complete:
            self.begin()

    @property
    def is_complete(self) -> bool:
        if self._is_framed:
            return self._kept.endswith(_LAST_CHUNK) and unframed(bytes(self._kept))[1]
        return self._is_read if self._length is None else self._size >= self._length

    @property
    def body(self) -> bytes | None:
        """What was sent so far; None where that is too much."""
        if self._size > MOST_KEPT:
            return None
        return unframed(bytes(self._kept))[0] if self._is_framed else bytes(self._kept)

    def begin(self) -> Attempt | None:
        """It is over, as far as it came."""
        if not self._has_begun:
            self._has_begun = True
            self.attempt = self._begin(self.body)
        return self.attempt

    def failed(self, error: BaseException) -> None:
        """Sending it raised."""
        if not self._has_begun:
            self._has_begun = True
            self.attempt = self._begin(self.body if self.is_complete else None)
        if self.attempt is not None:
            self.attempt.failed(error)


def unframed(data: bytes) -> tuple[bytes, bool]:
    """A body written in chunks without their frames, and whether its last chunk is there."""
    body: list[bytes] = []
    at = 0
    while (end := data.find(b"\r\n", at)) >= 0:
        try:
            size = int(data[at:end].partition(b";")[0], 16)
        except ValueError:
            break
        if size == 0:
            return b"".join(body), True
        body.append(data[end + 2 : end + 2 + size])
        at = end + size + 4
    return b"".join(body), False


__all__ = ["MOST_KEPT", "Upload", "teed", "unframed"]
