"""Files that the program's own code reads, and whether they are there.

A program that keeps its notes in a file finds them there the next time, and asks a model something else. So
what it read is recorded: the content where it is small and holds no secret. A rerun reads the files that are
as they were, and gives those that are not as they were recorded. What tools read is not asked here: a rerun
has their results. Folders are `lctl.instrument.ambient.folders`'s.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from lctl.instrument.ambient import filelooks, filereaders, filewrites, folders, reads, slots
from lctl.instrument.ambient.filelooks import OTHER
from lctl.instrument.ambient.filereaders import UNKNOWN
from lctl.session import border
from lctl.session.sources import FILE, THERE

_READING = frozenset("rbtU")


def install() -> None:
    slots.replace_builtin(io, "open", _opening)
    slots.replace(builtins, "open", io.open)
    filereaders.replace_of_system("stat", _stating)
    filereaders.replace_of_system("open", filewrites.opening_low)
    for name in ("truncate", "utime"):
        filereaders.replace_of_system(name, filewrites.changing)
    for name, make in (
        ("exists", _finding),
        ("isfile", _finding),
        ("isdir", _finding_folder),
        ("getsize", _measuring(lambda size, _: size)),
        ("getmtime", _measuring(lambda _, at: at // 10**9 + 1e-9 * (at % 10**9))),
    ):
        original = getattr(os.path, name)
        slots.replace(os.path, name, slots.like(make(original), original))


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
        value = UNKNOWN
        try:
            if opener is None and type(mode) is str and "w" not in mode:
                frame = filereaders.own(sys._getframe().f_back, file)
                if frame is not None and _READING.issuperset(mode):
                    value = _content(original, file, mode, frame)
                elif frame is not None:
                    filewrites.begin(file, frame, original)
            if value is UNKNOWN:
                return original(file, mode, buffering, encoding, errors, newline, closefd, opener)
            if value is None:
                return original("")  # which is nowhere
            return filelooks.opened(original, value, file, mode, buffering, encoding, errors, newline)
        except BaseException as error:
            if value is None and isinstance(error, FileNotFoundError):
                error.filename = os.fspath(file)
            error.__traceback__ = filereaders.below(error.__traceback__)
            raise

    return open


def _content(original: Callable[..., Any], file: Any, mode: str, frame: FrameType) -> Any:
    """What the program is to read there: bytes, None where nothing is to be, UNKNOWN of what is there."""
    path = filereaders.path_of(file)
    if path is None or (mode == "rb" and _is_code(path)):
        return UNKNOWN
    is_real = False

    def real() -> Any:
        nonlocal is_real
        is_real = True
        return filelooks.recorded(path, original, reads.session_here())

    value = filereaders.looked(FILE, filelooks.key_of(path), frame, real, filelooks.stored_again)
    is_known = value is None or isinstance(value, dict)
    if is_real or not is_known or filelooks.is_as(value, path, original):
        return UNKNOWN
    content = None if value is None else filelooks.kept(value)
    if value is not None and content is None:
        return UNKNOWN
    filereaders.told_as_recorded(path)
    return content


def _is_code(path: str) -> bool:
    """Whether it is what the interpreter reads to print a traceback, for whoever has it printed."""
    if not path.endswith(".py"):
        return False
    return any(getattr(module, "__file__", None) == path for module in list(sys.modules.values()))


# -- whether they are there --------------------------------------------------------------------


def _there(given: Any, frame: FrameType) -> Any:
    """What the program is to find there: `[size, ns]` of a file, and of when it was written, None of nothing;
    UNKNOWN: what is there."""
    path = filereaders.path_of(given)
    value = (
        UNKNOWN
        if path is None
        else filereaders.looked(THERE, filelooks.key_of(path), frame, lambda: filelooks.found(path))
    )
    return value if value is None or filelooks.is_found(value) else UNKNOWN


def _is_now(given: Any, value: Any) -> bool:
    """Whether that is what is there now, or something that is as it is now."""
    if value is UNKNOWN:
        return True
    now = filelooks.found(os.fsdecode(given))
    if now == value or (now == OTHER and value is not None):
        return True
    if now == OTHER:
        folders.note_absent(os.fsdecode(given))
    if value is None or now is None or value[0] != now[0]:  # when it was written says little
        filereaders.told_as_recorded(os.fsdecode(given))
    return False


def _finding(original: Callable[[Any], bool]) -> Callable[..., Any]:
    def find(path: Any) -> bool:
        frame = filereaders.own(sys._getframe().f_back, path)
        value = UNKNOWN if frame is None else _there(path, frame)
        if value is UNKNOWN or border.player() is None or _is_now(path, value):
            return original(path)
        return value is not None

    return find


def _finding_folder(original: Callable[[Any], bool]) -> Callable[..., Any]:
    def find(s: Any) -> bool:
        frame = filereaders.own(sys._getframe().f_back, s)
        value = UNKNOWN if frame is None else _there(s, frame)
        if value is UNKNOWN or border.player() is None or _is_now(s, value):
            return original(s)
        return False

    return find


def _measuring(get: Callable[[int, int], Any]) -> Callable[..., Any]:
    def make(original: Callable[[Any], Any]) -> Callable[..., Any]:
        def measure(filename: Any) -> Any:
            frame = filereaders.own(sys._getframe().f_back, filename)
            value = UNKNOWN if frame is None else _there(filename, frame)
            try:
                if value is UNKNOWN or border.player() is None or _is_now(filename, value):
                    return original(filename)
                if value is None:
                    return original("")
            except BaseException as error:
                if value is None and isinstance(error, FileNotFoundError):
                    error.filename = os.fspath(filename)
                error.__traceback__ = filereaders.below(error.__traceback__)
                raise
            return get(*value)

        return measure

    return make


def _stating(original: Any) -> Callable[..., Any]:
    def stat(_: Any, path: Any, *, dir_fd: Any = None, follow_symlinks: bool = True) -> Any:
        value = UNKNOWN
        try:
            if dir_fd is None and follow_symlinks:
                frame = filereaders.own(sys._getframe().f_back, path)
                value = UNKNOWN if frame is None else _there(path, frame)
            if value is UNKNOWN or border.player() is None or _is_now(path, value):
                return original(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
            if value is None:
                return original("")
            return filelooks.stat_of(path, original, *value)
        except BaseException as error:
            if value is None and isinstance(error, FileNotFoundError):
                error.filename = os.fspath(path)
            error.__traceback__ = filereaders.below(error.__traceback__)
            raise

    return stat
