"""The lines that hooks left of a session, in the order in which they were written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lctl.codec.lines import decode
from lctl.errors import UsageError
from lctl.importing.values import mapping, text

#: In the folder of runs.
FOLDER = "claude"
_SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class HookLine:
    """One event of Claude Code, as its hook was told.

    Attributes:
        line: its number in the spool, from 1.
        at: nanoseconds since the epoch.
        hook: what Claude Code said: `session_id`, `hook_event_name`, and what belongs to the event.
    """

    line: int
    at: int
    hook: dict[str, Any]

    @property
    def event(self) -> str:
        return text(self.hook.get("hook_event_name"))

    def text(self, key: str) -> str:
        return text(self.hook.get(key))


@dataclass(slots=True)
class Spool:
    """A session's spool. `broken` are the numbers of lines that could not be read."""

    path: Path
    lines: list[HookLine] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Spool:
        """Raises UsageError where there is no such spool."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise UsageError(f"{path}: no hook of this session was recorded") from None
        spool = cls(path)
        whole, _, _rest = data.rpartition(b"\n")  # what follows is being written
        for n, line in enumerate(whole.split(b"\n") if whole else (), 1):
            if not line.strip():
                continue
            told = _decoded(line)
            hook = told.get("hook")
            if isinstance(hook, dict):
                at = told.get("at")
                spool.lines.append(HookLine(n, at if isinstance(at, int) else 0, hook))
            else:
                spool.broken.append(n)
        return spool

    @property
    def session(self) -> str:
        """The id of the session; the file's name where no line says one."""
        return self.last("session_id") or self.path.stem

    @property
    def transcript(self) -> Path | None:
        """The session's own file; None where it is not there (any more)."""
        for line in reversed(self.lines):
            told = line.text("transcript_path")
            if told:
                path = Path(told).expanduser()
                return path if path.is_file() else None
        return None

    def last(self, key: str) -> str:
        """The newest non-empty text under a key."""
        return next((found for line in reversed(self.lines) if (found := line.text(key))), "")


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        return mapping(decode(line))
    except ValueError:
        return {}


def spools(runs: Path) -> Iterator[Path]:
    """The spools in a folder of runs, oldest first."""
    folder = runs / FOLDER
    if folder.is_dir():
        yield from sorted(folder.glob(f"*{_SUFFIX}"), key=os.path.getmtime)


def place(runs: Path, session: str) -> Path:
    return runs / FOLDER / f"{session}{_SUFFIX}"
