"""Where in the user's code the program stands."""

from __future__ import annotations

import os
import sys
import sysconfig
from functools import lru_cache
from linecache import getline
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from lctl.session.ownpackages import installed_as

_LCTL = str(Path(__file__).resolve().parent.parent)
#: A program like any other, though it comes with us.
_DEMO = str(Path(_LCTL) / "demo") + os.sep
_LIBRARIES = tuple(
    {
        str(Path(path).resolve())
        for name in ("stdlib", "platstdlib", "purelib", "platlib")
        if (path := sysconfig.get_path(name))
    }
)


class Line(NamedTuple):
    """One line of the user's program that is being executed."""

    file: str
    line: int
    function: str
    text: str

    def __str__(self) -> str:
        where = f"{shown(self.file)}:{self.line}"
        return where if self.function == "<module>" else f"{where} in {self.function}"


def stack(frame: FrameType | None = None) -> list[Line]:
    """The user's own lines that led here, outermost first."""
    found: list[Line] = []
    at = frame or sys._getframe(1)
    while at is not None:
        if is_users(at.f_code.co_filename):
            name, line = at.f_code.co_filename, at.f_lineno
            found.append(Line(name, line, at.f_code.co_name, getline(name, line).strip()))
        at = at.f_back  # type: ignore[assignment]
    found.reverse()
    return found


def users_frame(frame: FrameType | None = None) -> FrameType | None:
    """The innermost frame of the user's own code."""
    at = frame or sys._getframe(1)
    while at is not None and not is_users(at.f_code.co_filename):
        at = at.f_back  # type: ignore[assignment]
    return at


@lru_cache(maxsize=4096)
def is_users(file: str) -> bool:
    """Whether a file is neither Python's, nor an installed package's, nor lctl's."""
    if file.startswith("<"):
        return file == "<stdin>" or file == "<string>"
    path = str(Path(file).resolve())
    if path.startswith((_LCTL + "/", _LCTL + "\\")):
        return path.startswith(_DEMO)
    if "lctl_integrations" in path:
        return False
    if "site-packages" in path or "dist-packages" in path:
        return installed_as(path) is None
    return not path.startswith(_LIBRARIES)


def shown(file: str) -> str:
    """Relative to the working directory where it is below it."""
    try:
        return str(Path(file).resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return file
