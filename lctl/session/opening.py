"""Where a session's log is written: as the program says, or where a rerun puts it.

A rerun runs the program's own `LCTLSession(path=...)` again, which must not go on with the recording.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lctl.clock import Clock
from lctl.record.journal import Durability, JournalStore
from lctl.session import naming

#: Asked first: `(chain, durability)` to the store of a session that is being opened. None outside reruns.
redirect: Callable[[dict[str, Any], Durability], JournalStore] | None = None

#: Whether logs say which others are of the same process; `lctl run` turns it on.
together = False

_first: tuple[int, str] | None = None  # process, chain id of its first session
_count = 0


def store(
    chain: dict[str, Any], path: str | Path | None, durability: Durability, clock: Clock, *, adopt: bool
) -> JournalStore:
    """The store of a session that is being opened."""
    if redirect is not None:
        return redirect(chain, durability)
    if together:
        _tie(chain)
    if path is None:
        name = str(chain.get("name") or chain["id"])
        return naming.new_store(naming.default_path(name, clock), chain, durability)
    return JournalStore(path, chain, durability=durability, adopt=adopt)


def child_store(path: Path, chain: dict[str, Any], durability: Durability) -> JournalStore:
    """The store of a forked child."""
    if redirect is not None:
        return redirect(chain, durability)
    return naming.new_store(path, chain, durability)


def _tie(chain: dict[str, Any]) -> None:
    """The second and later sessions of a process name the first: a rerun of it needs their logs, too."""
    global _first, _count
    pid = os.getpid()
    if _first is None or _first[0] != pid:
        _first, _count = (pid, str(chain["id"])), 1
        return
    _count += 1
    chain["with"] = {"id": _first[1], "n": _count}
