"""What the program reads of a command's streams itself, piece by piece, is kept as it passes."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from lctl.instrument.ambient.commands.command import Command


def tee(process: Any, command: Command) -> None:
    """`process` has just been started for `command`."""
    process.__dict__["_lctl_command"] = command
    command.pid = process.pid
    for stream in ("stdout", "stderr"):
        file = getattr(process, stream, None)
        if file is not None:
            command.said.setdefault(stream, [])
            setattr(process, stream, _teed(file, partial(command.keep, stream)))


def _teed(file: Any, keep: Callable[[bytes], None]) -> Any:
    if isinstance(file, io.TextIOWrapper):
        encoding, errors = file.encoding, file.errors
        return io.TextIOWrapper(_teed(file.detach(), keep), encoding=encoding, errors=errors)
    if type(file) is io.BufferedReader:
        return io.BufferedReader(_Tee(file.detach(), keep))
    return _Tee(file, keep) if isinstance(file, io.FileIO) else file


def drain(process: Any) -> None:
    """The command has ended: what the program has yet to read of its streams is kept, too."""
    for stream in ("stdout", "stderr"):
        raw = getattr(process, stream, None)
        while raw is not None and not isinstance(raw, _Tee):
            raw = None if getattr(raw, "closed", True) else getattr(raw, "buffer", getattr(raw, "raw", None))
        if raw is not None and not raw.closed:
            raw.drain()


class _Tee(io.RawIOBase):
    def __init__(self, raw: Any, keep: Callable[[bytes], None]) -> None:
        self._raw = raw
        self._keep = keep
        self._ahead = b""

    def drain(self) -> None:
        """Read what is there. Somebody else may have the stream, too, and say more: that is waited for by
        whoever reads it."""
        descriptor, pieces = self._raw.fileno(), []
        was = os.get_blocking(descriptor)
        os.set_blocking(descriptor, False)
        try:
            while piece := os.read(descriptor, 1 << 16):
                pieces.append(piece)
        except BlockingIOError:
            pass
        finally:
            os.set_blocking(descriptor, was)
        self._ahead += b"".join(pieces)
        for piece in pieces:
            self._keep(piece)

    def readinto(self, buffer: Any, /) -> int | None:
        if self._ahead:
            view = memoryview(buffer)
            part = self._ahead[: len(view)]
            view[: len(part)] = part
            self._ahead = self._ahead[len(part) :]
            return len(part)
        many: int | None = self._raw.readinto(buffer)
        if many:
            self._keep(bytes(memoryview(buffer)[:many]))
        return many

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def isatty(self) -> bool:
        return bool(self._raw.isatty())

    @property
    def name(self) -> Any:
        return self._raw.name

    @property
    def mode(self) -> Any:
        return self._raw.mode

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._raw.close()
