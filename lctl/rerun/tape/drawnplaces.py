"""Temporary folders and files of this run, in the place of those that a test had when it was recorded.

pytest numbers its folders anew in each run, `tempfile` draws names, and another machine keeps both elsewhere;
a test that names one in a prompt asks another thing each time. Only what was made in this run stands for the
recorded one, and always for the same.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable
from json import dumps
from typing import Any

_EVENTS = ("tempfile.mkdtemp", "tempfile.mkstemp")
#: What `tempfile` draws of a name.
_DRAWN = 8
_LETTERS = re.compile(r"[a-z0-9_]*")
#: Where a folder is, as texts say it.
_ABSOLUTE = r"(?:[A-Za-z]:)?[/\\][^\s\"'<>|]*?"
_IN_NAMES = r"[^\s\"'/\\]"
#: Of the newest names so many are known.
_KNOWN = 10_000

_watching: list[DrawnPlaces] = []
_hooked = False


class DrawnPlaces:
    """What was made so far, and which recorded place each stands for. Safe from several threads.

    Args:
        base: where pytest keeps the folders of this run; None where it has made none.
    """

    def __init__(self, base: Callable[[], str | None]) -> None:
        self._base = base
        self._names: dict[str, str] = {}  # of a file or folder -> where it is
        self._recorded: dict[str, str] = {}
        self._said: dict[str, str] = {}  # the other way round
        self._lock = threading.Lock()

    def begin(self) -> None:
        global _hooked
        _watching.append(self)
        if not _hooked:
            _hooked = True
            sys.addaudithook(_hook)

    def end(self) -> None:
        if self in _watching:
            _watching.remove(self)

    def drew(self, path: str) -> None:
        with self._lock:
            if len(self._names) < _KNOWN:
                folder, name = _split(path)
                self._names[name] = folder

    def learn(self, recorded: str, now: str) -> str:
        """`now` with the recorded places in the place of those of this run, as far as `recorded` has such."""
        known = self._places(now)
        if not known:
            return now
        pattern, order = "", []
        for n, part in enumerate(re.split(f"({'|'.join(map(re.escape, known))})", now)):
            if n % 2 == 0:
                pattern += re.escape(part)
            else:
                order.append(part)
                pattern += f"({known[part]})"
        found = re.fullmatch(pattern, recorded, re.DOTALL)
        pairs = [] if found is None else list(zip(order, found.groups(), strict=True))
        return recorded if found is not None and self._keep(pairs) else now

    def as_recorded(self, said: bytes) -> bytes:
        """`said` with the recorded places in the place of those that stand for them."""
        for now in sorted(self._recorded, key=len, reverse=True):
            recorded = self._recorded[now]
            for there, here in {(recorded, now), (dumps(recorded)[1:-1], dumps(now)[1:-1])}:
                said = said.replace(here.encode(), there.encode())
        return said

    # -- inside ----------------------------------------------------------------------------

    def _places(self, now: str) -> dict[str, str]:
        """Those that `now` names, with a pattern of what each can be in the recording; the longest first."""
        base, root = self._base(), tempfile.gettempdir()
        found = {base: _ABSOLUTE} if base and base in now else {}
        with self._lock:
            names = [(name, folder) for name, folder in self._names.items() if name in now]
        for name, folder in names:
            alike = f"{_IN_NAMES}{{{len(name)}}}"
            found[name] = alike
            if folder == root:
                found[f"{folder}/{name}"] = f"{_ABSOLUTE}/{alike}"
        return {place: found[place] for place in sorted(found, key=len, reverse=True)}

    def _keep(self, pairs: list[tuple[str, str]]) -> bool:
        """Each place for one recorded place, and the other way round, in all that was said so far."""
        with self._lock:
            here, there = dict(self._recorded), dict(self._said)
            for now, recorded in pairs:
                name = _split(now)[1]
                if name in self._names and not _is_drawn(_split(recorded)[1], name):
                    return False
                if here.setdefault(now, recorded) != recorded or there.setdefault(recorded, now) != now:
                    return False
            self._recorded, self._said = here, there
        return True


def _split(path: str) -> tuple[str, str]:
    """Folder and name, as the text has them."""
    return os.path.split(path)


def _is_drawn(recorded: str, now: str) -> bool:
    """Whether two names differ in no more than what `tempfile` draws."""
    differing = [n for n, (old, new) in enumerate(zip(recorded, now, strict=True)) if old != new]
    if not differing:
        return True
    first, last = differing[0], differing[-1] + 1
    return last - first <= _DRAWN and _LETTERS.fullmatch(recorded[first:last]) is not None


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _watching and event in _EVENTS and isinstance(args[0], str):
        for places in list(_watching):
            places.drew(args[0])
