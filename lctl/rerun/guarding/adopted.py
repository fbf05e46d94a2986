"""Folders that a library makes for itself, where nothing was: a rerun has them made, and takes them away.

A fork leaves them: what is live behind the tape goes on with them.
"""

from __future__ import annotations

import os
import shutil
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
        self._paths: list[str] = []

    def take(self, effect: Effect, by: Caller) -> bool:
        """Whether it is such a folder that is about to be made. Not so where the program's own code has the
        library make it."""
        if not effect.told.startswith(_MAKING) or installed_as(by.frame.f_code.co_filename) is None:
            return False
        if os.path.lexists(effect.target) or not os.path.isdir(os.path.dirname(effect.target)):  # noqa: PTH112, PTH120
            return False
        self._paths.append(effect.target)
        return True

    def holds(self, path: str) -> bool:
        """Whether `path` is one of them, or in one."""
        return any(path == taken or path.startswith(taken + os.sep) for taken in self._paths)

    def remove(self) -> None:
        while self._paths:
            path = self._paths.pop()
            if not self._stay:
                shutil.rmtree(path, ignore_errors=True)
