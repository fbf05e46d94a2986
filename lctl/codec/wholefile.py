"""Files that are written whole, or stay as they were."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lctl.codec.lines import decode
from lctl.errors import LogError, UsageError

#: Characters of a name that the name of its unfinished file has: with more it may be too long.
_NAME = 60


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """What is written takes the place of a file when the block has ended, and only then.

    A link is followed; a file that is there keeps its mode, and its other names (hard links). What is no file
    (a pipe, a terminal, `/dev/null`) is written into.

    Raises:
        LogError: it cannot be written.
    """
    try:
        there = path.stat() if path.exists() else None
        if there is not None and not stat.S_ISREG(there.st_mode):
            with path.open("wb") as file:
                yield file
            return
        target = path.resolve()
        part = target.with_name(f".{target.name[:_NAME]}.{os.getpid()}.part")
        try:
            with part.open("wb") as file:
                if there is not None:
                    part.chmod(stat.S_IMODE(there.st_mode))
                yield file
            _put(part, target, there)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise LogError(f"{path}: cannot be written ({(error.strerror or str(error)).lower()})") from None


def spare(path: Path, *read: str | os.PathLike[str], chain: str = "") -> Path:
    """The path, where writing it costs nothing that is recorded.

    Args:
        read: names of what the new file is made of; "+" behind one is a run with all that it started.
        chain: id of the log that is written; "" for what is no log. An earlier copy of it makes way.

    Raises:
        UsageError: it is one of these under whatever name, a database, or another recording.
    """
    given = [os.fspath(one) for one in read]
    names = [*given, *(one.removesuffix("+") for one in given)]
    if any(_is_same(path, name) for name in names):
        raise UsageError(f"{path}: is what is read here, and would be lost; write to another file")
    if path.is_file() and path.stat().st_size and _beginning(path).startswith(_DATABASE):
        raise UsageError(f"{path}: is a database, and would be lost; write to another file")
    recorded = _recorded(path) if path.is_file() else None
    if recorded is not None and recorded != (chain or None):
        run = f"the recording {recorded}" if recorded else "a recording"
        raise UsageError(
            f"{path}: holds {run}, which would be lost; write to another file, or remove it first"
        )
    return path


_DATABASE = b"SQLite format 3\0"
#: How a log begins that lctl writes, and how the name of its chain is in there.
_LOG = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"lctl"\s*:\s*"')
_CHAIN = re.compile(rb'"chain"\s*:\s*\{\s*"id"\s*:\s*"((?:[^"\\]|\\.)*)"\s*(?:,\s*"(\w+)")?')
_HEAD = 4096


def _is_same(path: Path, name: str) -> bool:
    try:
        return path.samefile(name)
    except (OSError, ValueError):  # one of them is no file
        return False


def _recorded(path: Path) -> str | None:
    """Id of the run that is recorded in a file, "" where it does not say; None where it holds none. What was
    imported is none: it can be had again."""
    head = _beginning(path)
    if not _LOG.match(head):
        return None
    found = _CHAIN.search(head)
    if found is None:
        return ""
    if found[2] == b"imported":
        return None
    return str(decode(b'"' + found[1] + b'"'))


def _beginning(path: Path) -> bytes:
    """The first bytes of a file, of what is in it where it is compressed with gzip."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if head.startswith(b"\x1f\x8b"):
            with gzip.open(path) as packed:
                return packed.read(_HEAD)
        return head
    except (OSError, EOFError, zlib.error):  # it will be said by who writes
        return b""


def _put(part: Path, target: Path, there: os.stat_result | None) -> None:
    if there is None or there.st_nlink == 1:
        part.replace(target)
        return
    with part.open("rb") as made, target.open("wb") as file:
        shutil.copyfileobj(made, file)


__all__ = ["spare", "writing"]
