"""Which files a rerun reads that were written since the recording began: their contents are not on the tape.

A program that keeps answers in a file finds them there the next time, and asks for nothing. All that can be
known of it is which files it opened and when they were last written; where a rerun was not exact, that is
the likely reason.
"""

from __future__ import annotations

import os
from datetime import datetime
from types import FrameType
from typing import Any

from lctl.instrument.ambient import nativestores
from lctl.rerun.callers import caller
from lctl.rerun.guarding.effects import absolute

#: Audit events of opening a file or a database.
OPENING = ("open", "sqlite3.connect", nativestores.OPENS)
#: Of that many files it is asked who opens them.
_MANY = 10_000
#: What the system tells of itself is in no file.
_SYSTEMS = ("/proc/", "/sys/", "/dev/")
#: Code is not what a program keeps, and neither are recordings.
_NONE_OF = (".py", ".pyc", ".so", ".lctl.json", ".lock")


class FilesRead:
    """Of one process. Safe from several threads."""

    def __init__(self) -> None:
        self._opened: dict[str, bool] = {}  # by the program or its libraries
        self._recorded: dict[str, None] = {}

    def note(self, given: Any, frame: FrameType | None) -> None:
        """A file is about to be opened."""
        if not isinstance(given, str | bytes | os.PathLike):
            return
        path = os.fsdecode(given)
        if path.endswith(_NONE_OF) or len(self._opened) >= _MANY:
            return
        path = absolute(path)
        if path not in self._opened and not path.startswith(_SYSTEMS):
            self._opened[path] = caller(frame) is not None

    def as_recorded(self, given: str) -> None:
        """The program is given that file as the recording has it."""
        self._recorded[absolute(given)] = None

    @property
    def recorded(self) -> tuple[str, ...]:
        """Those, in the order of the first time of each."""
        return tuple(self._recorded)

    def written_since(self, moment: str, scratch: str = "") -> tuple[str, ...]:
        """Those of the opened files that are there and were written since `moment`, as timestamps say it;
        what this rerun itself keeps below `scratch` left out."""
        try:
            since = datetime.fromisoformat(moment).timestamp()
        except ValueError:
            return ()
        found = []
        for path, is_programs in list(self._opened.items()):
            if not is_programs or path in self._recorded or (scratch and path.startswith(scratch)):
                continue
            try:
                if os.path.isfile(path) and os.stat(path).st_mtime >= since:  # noqa: PTH113, PTH116
                    found.append(path)
            except OSError:
                pass
        return tuple(found)
