"""Files that the program's own code reads, and whether they are there.

A program that keeps its notes in a file finds them there the next time, and asks a model something else. So
what it read is recorded: the content where it is small and holds no secret, else a digest of it. A rerun
reads the files that are as they were, and gives those that are not as they were recorded. What tools read is
not asked here: a rerun has their results. Folders are as they are now.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType, TracebackType
from typing import Any

from lctl.errors import RerunStopped
from lctl.guard import guard
from lctl.instrument import settings
from lctl.instrument.ambient import callers, filelooks, reads, slots
from lctl.instrument.ambient.filelooks import OTHER
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.sources import FILE, THERE

#: What the system tells of itself is in no file.
_SYSTEMS = ("/proc/", "/sys/", "/dev/")
#: Modules of the standard library that read a file for their caller.
_READERS = (
    "bz2.py",
    "codecs.py",
    "configparser.py",
    "fileinput.py",
    "gzip.py",
    "lzma.py",
    "shutil.py",
    "tarfile.py",
)
#: Of `os` and `pathlib`: they look for folders, which are as they are now, and for loops of links.
_NOT_LOOKING = ("is_dir", "makedirs", "mkdir", "resolve")
_DEPTH = 8
_READING = frozenset("rbtU")
_PLACE = "a file that the program reads"
#: Stands for: not asked.
_UNKNOWN: Any = object()


def install() -> None:
    slots.replace_builtin(io, "open", _opening)
    slots.replace(builtins, "open", io.open)
    _replace_stat()
    for name, make in (
        ("exists", _finding),
        ("isfile", _finding),
        ("getsize", _measuring(lambda size, _: size)),
        ("getmtime", _measuring(lambda _, at: at // 10**9 + 1e-9 * (at % 10**9))),
    ):
        original = getattr(os.path, name)
        slots.replace(os.path, name, slots.like(make(original), original))


def _replace_stat() -> None:
    original = os.stat
    slots.replace_builtin(os, "stat", _stating)
    for able in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
        if original in able:
            able.add(os.stat)
            slots.on_undo(partial(able.discard, os.stat))


class _NotToTell(Exception):
    """What is there is no file, and is as it is now."""


def _own(frame: FrameType | None) -> FrameType | None:
    """The program's own code for which `frame` reads a file; None where a library does, or a tool."""
    if not (settings.files and reads.active()) or lanes.current().tool is not None:
        return None
    for _ in range(_DEPTH):
        if frame is None:
            return None
        file = frame.f_code.co_filename
        reads_for_its_caller = file.endswith(_READERS) and callers.is_standard(file)
        if not reads_for_its_caller and callers.kind_of(file) != callers.BETWEEN:
            break
        if frame.f_code.co_name in _NOT_LOOKING:
            return None
        frame = frame.f_back
    return callers.own(frame)


def _path(given: Any) -> str | None:
    """Where that is; None of what is no path, or none that is asked for."""
    if not isinstance(given, str | bytes | os.PathLike):
        return None
    path = os.fsdecode(given)
    return None if not path or "\0" in path or path.startswith(_SYSTEMS) else path


# -- contents ----------------------------------------------------------------------------------


def _opening(original: Any) -> Callable[..., Any]:
    def open(
        _: Any,
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        value = _UNKNOWN
        try:
            if opener is None and type(mode) is str and _READING.issuperset(mode):
                frame = _own(sys._getframe().f_back)
                if frame is not None:
                    value = _content(original, file, mode, frame)
            if value is _UNKNOWN:
                return original(file, mode, buffering, encoding, errors, newline, closefd, opener)
            if value is None:
                return original("")  # which is nowhere
            return filelooks.opened(original, value, file, mode, buffering, encoding, errors, newline)
        except BaseException as error:
            if value is None and isinstance(error, FileNotFoundError):
                error.filename = file
            error.__traceback__ = _below(error.__traceback__)
            raise

    return open


def _content(original: Callable[..., Any], file: Any, mode: str, frame: FrameType) -> Any:
    """What the program is to read there: bytes, None where nothing is to be, _UNKNOWN of what is there."""
    path = _path(file)
    if path is None or (mode == "rb" and _is_code(path)):
        return _UNKNOWN
    is_real = False

    def real() -> Any:
        nonlocal is_real
        is_real = True
        return filelooks.recorded(path, original, reads.session_here())

    def again(value: Any) -> Any:
        content, session = filelooks.kept(value), reads.session_here()
        if content is not None and session is not None:
            filelooks.store(content, session)
        return value

    value = _looked(FILE, path, frame, real, again)
    if is_real or value is _UNKNOWN or filelooks.is_as(value, path, original):
        return _UNKNOWN
    content = None if value is None else filelooks.kept(value)
    if value is not None and content is None:
        return _UNKNOWN
    _told_as_recorded(path)
    return content


def _is_code(path: str) -> bool:
    """Whether it is what the interpreter reads to print a traceback, for whoever has it printed."""
    if not path.endswith(".py"):
        return False
    return any(getattr(module, "__file__", None) == path for module in list(sys.modules.values()))


# -- whether they are there --------------------------------------------------------------------


def _there(given: Any, frame: FrameType) -> Any:
    """What the program is to find there: `[size, ns]` of a file, and of when it was written, None of nothing;
    _UNKNOWN: what is there."""
    path = _path(given)
    return _UNKNOWN if path is None else _looked(THERE, path, frame, lambda: filelooks.found(path))


def _is_now(given: Any, value: Any) -> bool:
    """Whether that is what is there now, or something that is as it is now."""
    if value is _UNKNOWN:
        return True
    now = filelooks.found(os.fsdecode(given))
    if now in (value, OTHER):  # a folder of that name is there, whoever made it
        return True
    if value is None or now is None or value[0] != now[0]:  # when it was written says little
        _told_as_recorded(os.fsdecode(given))
    return False


def _finding(original: Callable[[Any], bool]) -> Callable[..., Any]:
    def find(path: Any) -> bool:
        frame = _own(sys._getframe().f_back)
        value = _UNKNOWN if frame is None else _there(path, frame)
        if value is _UNKNOWN or border.player() is None or _is_now(path, value):
            return original(path)
        return value is not None

    return find


def _measuring(get: Callable[[int, int], Any]) -> Callable[..., Any]:
    def make(original: Callable[[Any], Any]) -> Callable[..., Any]:
        def measure(filename: Any) -> Any:
            frame = _own(sys._getframe().f_back)
            value = _UNKNOWN if frame is None else _there(filename, frame)
            try:
                if value is _UNKNOWN or border.player() is None or _is_now(filename, value):
                    return original(filename)
                if value is None:
                    return original("")
            except BaseException as error:
                if value is None and isinstance(error, FileNotFoundError):
                    error.filename = filename
                error.__traceback__ = _below(error.__traceback__)
                raise
            return get(*value)

        return measure

    return make


def _stating(original: Any) -> Callable[..., Any]:
    def stat(_: Any, path: Any, *, dir_fd: Any = None, follow_symlinks: bool = True) -> Any:
        value = _UNKNOWN
        try:
            if dir_fd is None and follow_symlinks:
                frame = _own(sys._getframe().f_back)
                value = _UNKNOWN if frame is None else _there(path, frame)
            if value is _UNKNOWN or border.player() is None or _is_now(path, value):
                return original(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
            if value is None:
                return original("")
            return filelooks.stat_of(*value)
        except BaseException as error:
            if value is None and isinstance(error, FileNotFoundError):
                error.filename = path
            error.__traceback__ = _below(error.__traceback__)
            raise

    return stat


# -- both --------------------------------------------------------------------------------------


def _looked(
    source: str,
    path: str,
    frame: FrameType,
    real: Callable[[], Any],
    again: Callable[[Any], Any] = lambda value: value,
) -> Any:
    def asked() -> Any:
        value = real()
        if value == OTHER:
            raise _NotToTell
        return value

    try:
        guard.rehearse(_PLACE)
        return reads.read(source, filelooks.key_of(path), frame, asked, None, again)
    except _NotToTell:
        return _UNKNOWN
    except RerunStopped:
        raise
    except Exception as error:
        reads.failed(_PLACE, error)
        return _UNKNOWN


def _below(trace: TracebackType | None) -> TracebackType | None:
    """Without our own lines, which have the error from the system."""
    while trace is not None and callers.is_lctl(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def _told_as_recorded(path: str) -> None:
    player = border.player()
    if player is not None:
        player.as_recorded(path)
