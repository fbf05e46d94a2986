"""Codes by which a fork that was prepared, and shown, may be run."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import NamedTuple

#: Seconds a prepared fork may be confirmed in.
_VALID = 600.0
_MOST = 20


class Ready(NamedTuple):
    """A command that may be run once."""

    argv: list[str]
    output: Path
    left: str  # key of the recording
    until: float


class Confirmations:
    """Codes of prepared forks; each is good once, and for a while."""

    def __init__(self) -> None:
        self._ready: dict[str, Ready] = {}

    def add(self, argv: list[str], output: Path, left: str) -> str:
        now = time.monotonic()
        self._ready = {code: one for code, one in self._ready.items() if one.until > now}
        while len(self._ready) >= _MOST:
            self._ready.pop(next(iter(self._ready)))
        code = secrets.token_urlsafe(18)
        self._ready[code] = Ready(argv, output, left, now + _VALID)
        return code

    def take(self, code: str) -> Ready | None:
        found = self._ready.pop(code, None)
        return found if found is not None and found.until > time.monotonic() else None
