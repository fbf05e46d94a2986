"""Folders that the program's own code makes, and files that it adds to, or makes where none is.

That a folder could be made tells that there was none. A rerun finds there what the recorded run has left: so
it is told again what came of it; and of files, where it writes aside, it begins with what was there before.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from lctl.instrument.ambient import filelooks, filereaders, reads
from lctl.session import border
from lctl.session.concurrency import lanes, processes
from lctl.session.sources import BEFORE, MADE

_ADDING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND

_asked: set[tuple[int, str]] = set()
processes.renewals += (_asked.clear,)


def made(given: Any, frame: FrameType, make: Callable[[], None]) -> None:
    """Make a folder for the program's code in `frame`. What came of it is None, or the name of the error."""
    path = filereaders.path_of(given)
    key = None if path is None else _key_of(path)
    if path is None or key is None:
        make()
        return
    tried: list[OSError | None] = []

    def real() -> str | None:
        try:
            make()
        except OSError as error:
            tried.append(error)
            return errno.errorcode.get(error.errno or 0, type(error).__name__)
        tried.append(None)
        return None

    told = filereaders.looked(MADE, key, frame, real)
    if not tried:
        _make_again(given, path, told, frame, make)
    elif tried[0] is not None:
        raise tried[0]


def _make_again(given: Any, path: str, told: Any, frame: FrameType, make: Callable[[], None]) -> None:
    number = getattr(errno, told, None) if isinstance(told, str) else None
    with reads.aside():
        is_there = os.path.isdir(path)  # noqa: PTH112
    if told is None and is_there:
        player = border.player()
        if player is not None and not player.anew(path, frame):
            filereaders.told_as_recorded(path)  # in which it goes on
        return
    if number is None or (number == errno.EEXIST and not is_there):
        make()
    if number is not None:
        raise OSError(number, os.strerror(number), os.fspath(given))


def begin(given: Any, frame: FrameType, real: Callable[..., Any]) -> None:
    """The program's code in `frame` opens a file to add to it, or to make it. What it was is recorded once.

    Args:
        real: opens files.
    """
    if lanes.current().is_apart:  # it does not run in a rerun
        return
    path = filereaders.path_of(given)
    key = None if path is None else _key_of(path)
    asked = id(border.player()), key or ""  # another rerun in this process begins anew
    if path is None or key is None or asked in _asked:
        return
    _asked.add(asked)
    token = lanes.enter(lanes.RUN)
    try:
        value = filereaders.looked(
            BEFORE,
            key,
            frame,
            lambda: filelooks.recorded(path, real, reads.session_here()),
            filelooks.stored_again,
        )
    finally:
        lanes.leave(token)
    player = border.player()
    if player is not None and value is not filereaders.UNKNOWN:
        player.beside(path, filelooks.kept(value), value is None, frame)


def opening_low(original: Any) -> Callable[..., Any]:
    """For `os.open`."""

    def open(_: Any, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        try:
            if dir_fd is None and flags & _ADDING and not flags & os.O_TRUNC:
                caller = sys._getframe().f_back
                frame = filereaders.own(caller, path)
                if frame is not None and not _is_temporary(caller):
                    begin(path, frame, _open)
            return original(path, flags, mode, dir_fd=dir_fd)  # type: ignore[no-any-return]
        except BaseException as error:
            error.__traceback__ = filereaders.below(error.__traceback__)
            raise

    return open


def changing(original: Any) -> Callable[..., Any]:
    """For `os.utime` and `os.truncate`: `Path.touch` makes a file where the first finds none."""

    def change(_: Any, path: Any, *args: Any, **kwargs: Any) -> None:
        try:
            if kwargs.get("dir_fd") is None:
                frame = filereaders.own(sys._getframe().f_back, path)
                if frame is not None:
                    begin(path, frame, _open)
            original(path, *args, **kwargs)
        except BaseException as error:
            error.__traceback__ = filereaders.below(error.__traceback__)
            raise

    return change


_open = open


def _is_temporary(caller: FrameType | None) -> bool:
    """It makes a temporary file, or tries whether it could, in any folder."""
    return caller is not None and caller.f_globals.get("__name__") == "tempfile"


def _key_of(path: str) -> str | None:
    """None of a temporary file, which has another name in each run."""
    key = filelooks.key_of(path)
    return None if key.startswith("tmp:") else key
