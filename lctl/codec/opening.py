"""Open a log in whatever form it comes.

The form is told from the bytes, never from the name: a journal, one JSON document (pretty or not), JSON
Lines with or without a header, YAML, each perhaps in gzip or zstd, with a byte order mark or not.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from pathlib import Path
from typing import Any

from lctl import elsewhere
from lctl.codec import compression, forms
from lctl.codec.bytesource import Bytes, FileBytes, MemoryBytes
from lctl.codec.continued import continued
from lctl.codec.journal import beside
from lctl.codec.log import Log
from lctl.errors import LogError, LogNotFound, NotALog, UsageError

Source = str | os.PathLike[str] | bytes


def open_log(source: Source) -> Log:
    """The log at a path, at a store's address, on standard input ("-"), or in bytes.

    What can be read is read: see `Log.recovered` for a missing end, `Log.problems` for the rest.

    Raises:
        LogNotFound: no such file.
        NotALog: the bytes are not a log.
        UnsupportedVersion: it is a log of a version not read here.
        MissingExtra: YAML or zstd, without the extra installed.
        LogError: it cannot be read (permission, a directory, too large in this form).
    """
    if elsewhere.is_elsewhere(source) and elsewhere.opens is not None:
        log: Log = elsewhere.opens(str(source))
        return log
    data, path, name = _bytes(source)
    cut = ""
    for _ in range(3):  # an archive of an archive, and no further
        head = data.read(0, 16)
        if not compression.is_compressed(head):
            break
        inside, damage = compression.unpack(data, name)
        data, cut = MemoryBytes(inside), cut or damage
    read = forms.read(data, path=path, name=name, cut=cut)
    return _with_streams(read, path) if read.open and path is not None else read


def _with_streams(log: Log, path: str) -> Log:
    """An unclosed log, with what came of the streams that its program left open when it died."""
    streams = beside(path)
    if elsewhere.revives is None or not os.path.exists(streams):  # noqa: PTH110  (a path may be text)
        return log
    lines = elsewhere.revives(streams, log.last_seq, log.lines, False)
    return continued(log, lines) if lines else log


def _bytes(source: Source) -> tuple[Bytes, str | None, str]:
    if isinstance(source, bytes | bytearray | memoryview):
        return MemoryBytes(bytes(source)), None, "<bytes>"
    if not isinstance(source, str | os.PathLike):
        raise UsageError(f"a log is opened by path, '-' or bytes, not by {type(source).__name__}")
    path = os.fspath(source)
    if path == "-":
        return MemoryBytes(_drain(sys.stdin.buffer, "standard input")), "-", "standard input"
    return _file(path), path, path


def _file(path: str) -> Bytes:
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
        status = os.fstat(fd)
    except FileNotFoundError:
        raise LogNotFound(f"{path}: no such file; 'lctl ls' lists the recordings here") from None
    except (IsADirectoryError, NotADirectoryError):
        raise LogError(f"{path}: not a file") from None
    except PermissionError:
        if Path(path).is_dir():  # how Windows says it
            raise LogError(f"{path}: a directory, not a log; 'lctl ls {path}' lists the logs in it") from None
        raise LogError(f"{path}: no permission to read it; check its owner and mode") from None
    except (OSError, ValueError) as error:
        raise LogError(f"{path}: cannot be read ({error})") from None
    if stat.S_ISDIR(status.st_mode):
        os.close(fd)
        raise LogError(f"{path}: a directory, not a log; 'lctl ls {path}' lists the logs in it")
    if stat.S_ISREG(status.st_mode):
        return FileBytes(fd, status.st_size)
    with io.FileIO(fd) as stream:  # a pipe or a device
        return MemoryBytes(_drain(stream, path))


def _drain(stream: Any, name: str) -> bytes:
    """Everything in the stream; what begins with NULs is given up at once (/dev/zero never ends)."""
    parts: list[bytes] = []
    size = 0
    while block := stream.read(1 << 20):
        parts.append(block)
        size += len(block)
        if len(parts) == 1 and not block.strip(b"\0"):
            raise NotALog(f"{name}: not a log: it begins with NUL bytes")
        if size > compression.LIMIT:
            raise LogError(
                f"{name}: more than {compression.LIMIT >> 30} GiB; save it to a file first, "
                "logs on disk are read at any size"
            )
    return b"".join(parts)
