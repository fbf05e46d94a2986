"""Folders that a library makes for itself, where nothing was: a rerun has them made, and takes them away.

Only what came into them by the rerun: another program may have begun to use them meanwhile. A fork leaves
them: what is live behind the tape goes on with them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from lctl.session.ownpackages import installed_as

if TYPE_CHECKING:
    from lctl.rerun.callers import Caller
    from lctl.rerun.guarding.effects import Effect

_MAKING = "making the folder"


class Adopted:
    """Those of one rerun or fork. `stay`: what is made is there afterwards."""

    def __init__(self, *, stay: bool) -> None:
        self._stay = stay
        self._folders: list[str] = []
        self._written: dict[str, None] = {}  # in them, and they themselves

    def take(self, effect: Effect, by: Caller) -> bool:
        """Whether it is such a folder that is about to be made. Not so where the program's own code has the
        library make it."""
        if not effect.told.startswith(_MAKING) or installed_as(by.frame.f_code.co_filename) is None:
            return False
        if os.path.lexists(effect.target):
            return False
        if not os.path.isdir(os.path.dirname(effect.target)):  # noqa: PTH112, PTH120
            return True  # nothing is made: `mkdir(parents=True)` is told so, and makes that one first
        self._folders.append(effect.target)
        self._written[effect.target] = None
        return True

    def holds(self, path: str) -> bool:
        """Whether `path`, which is about to be written, is one of them, or in one."""
        found = any(path == folder or path.startswith(folder + os.sep) for folder in self._folders)
        if found:
            self._written[path] = None
        return found

    def remove(self) -> None:
        """Folders that hold anything else stay."""
        written = [] if self._stay else sorted(self._written, key=len, reverse=True)
        self._folders.clear()
        self._written.clear()
        for path in written:
            is_folder = os.path.isdir(path) and not os.path.islink(path)  # noqa: PTH112, PTH114
            with suppress(OSError):  # the library has removed it itself, or others have put something there
                (os.rmdir if is_folder else os.unlink)(path)
