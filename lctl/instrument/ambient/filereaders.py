"""Who reads a file or a folder, and what a recording or a rerun has of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from types import FrameType, TracebackType
from typing import Any

from lctl.errors import RerunStopped
from lctl.guard import guard
from lctl.instrument import settings
from lctl.instrument.ambient import callers, reads, slots
from lctl.instrument.ambient.filelooks import OTHER, TEMPORARY, key_of
from lctl.session import actinglibraries, border
from lctl.session.concurrency import carrying, lanes
from lctl.session.ownpackages import installed_as

#: What the system tells of itself is in no file.
_SYSTEMS = ("/proc/", "/sys/", "/dev/")
#: Modules of the standard library that read a file for their caller.
_READERS = (
    "bz2.py",
    "codecs.py",
    "configparser.py",
    os.path.join("dbm", "__init__.py"),  # noqa: PTH118
    os.path.join("dbm", "dumb.py"),  # noqa: PTH118
    "fileinput.py",
    "glob.py",
    "gzip.py",
    "lzma.py",
    os.path.join("pathlib", "_abc.py"),  # noqa: PTH118
    "shelve.py",
    "shutil.py",
    "tarfile.py",
    "zipfile.py",
    os.path.join("zipfile", "__init__.py"),  # noqa: PTH118
)
#: Installed packages that read a file for their caller: data and documents, and what they have kept of them.
_READING = frozenset(("docx", "joblib", "numpy", "openpyxl", "pandas", "PIL", "pptx", "pypdf"))
#: Of `pathlib`: they look for what they are to make, and for loops of links. (What `os.makedirs` finds
#: decides which folders it makes.) Of `shutil`: what they look at they copy; and of `dbm`: the first bytes.
_NOT_LOOKING = ("mkdir", "resolve", "_samefile", "_stat", "copystat", "whichdb")
_DEPTH = 24
_PLACE = "a file that the program reads"
#: Stands for: not asked, it is as it is now.
UNKNOWN: Any = object()


def replace_of_system(name: str, make: Callable[[Any], Callable[..., Any]]) -> None:
    """Replace a function of `os` that sets of it name for what it can do."""
    original = getattr(os, name)
    slots.replace_builtin(os, name, make)
    for able in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
        if original in able:
            able.add(getattr(os, name))
            slots.on_undo(partial(able.discard, getattr(os, name)))


class _NotToTell(Exception):
    """It is as it is now."""


def own(frame: FrameType | None, given: Any = None, *, makes: bool = False) -> FrameType | None:
    """The program's own code for which `frame` reads a file, or that of a library that works with models;
    None where another library does, or a tool.

    Args:
        given: the file. A temporary one that a library has made for itself has another name each time.
        makes: it makes a folder, and does not look for what it makes.
    """
    if not (settings.files and reads.active()):
        return None
    by_library = False
    for _ in range(_DEPTH):
        if frame is None or (frame := carrying.asked(frame)) is None:
            return None
        file = frame.f_code.co_filename
        kind = callers.kind_of(file)
        if kind == callers.LIBRARY:
            package = installed_as(file)
            if not (package in _READING or (package is None and file.endswith(_READERS))):
                return frame if _acts(file, given) else None
            if package is None and not callers.is_standard(file):
                return None
            by_library = by_library or package is not None
        elif kind != callers.BETWEEN:
            break
        if not makes and frame.f_code.co_name in _NOT_LOOKING:
            return None
        frame = frame.f_back
    found = callers.own(frame)
    if found is None or installed_as(found.f_code.co_filename) is not None:
        return None
    if by_library and (path := path_of(given)) is not None and key_of(path).startswith(TEMPORARY):
        return None
    return None if lanes.current().tool is not None else found


def _acts(file: str, given: Any) -> bool:
    """Whether code in `file` reads that as the program would. What was installed is no data of its own."""
    if not actinglibraries.is_one(file) or lanes.current().tool is not None:
        return False
    path = path_of(given)
    if path is None or key_of(path).startswith(TEMPORARY):
        return False
    path = os.path.abspath(path)  # noqa: PTH100
    return not callers.is_standard(path) and installed_as(path) is None


def path_of(given: Any) -> str | None:
    """Where that is; None of what is no path, or none that is asked for."""
    if not isinstance(given, str | bytes | os.PathLike):
        return None
    path = os.fsdecode(given)
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return None  # the system is not asked for such a one
    return None if not path or "\0" in path or path.startswith(_SYSTEMS) else path


def looked(
    source: str,
    key: str,
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
        return reads.read(source, key, frame, asked, None, again)
    except _NotToTell:
        return UNKNOWN
    except RerunStopped:
        raise
    except Exception as error:
        reads.failed(_PLACE, error)
        return UNKNOWN


def below(trace: TracebackType | None) -> TracebackType | None:
    """Without our own lines, which have the error from the system."""
    while trace is not None and callers.is_lctl(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def told_as_recorded(path: str) -> None:
    player = border.player()
    if player is not None:
        player.as_recorded(path)
