"""What Python's own library does to the world for itself, whoever calls it: a rerun lets it."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lctl.rerun.callers import Caller
    from lctl.rerun.guarding.effects import Effect


def is_pythons_own(effect: Effect, by: Caller) -> bool:
    """What the standard library does for itself: socket pairs; the pipes and forks of multiprocessing, its
    server's socket, its shared memory (a file that has no name any more once it is open); asking the system
    its name. Listening on this machine alone reaches nobody (urllib3 tries it for IPv6)."""
    if effect.kind == "subprocess" and (by.passes("platform") or by.passes("ctypes") or by.passes("uuid")):
        return True
    if effect.kind == "network":
        if effect.told.startswith("listening") and effect.target in ("127.0.0.1", "::1", "localhost"):
            return True
        return by.innermost == "socketpair" or (
            (effect.target.startswith("/") or effect.target.startswith("\0")) and by.passes("multiprocessing")
        )
    if effect.target == "fork":
        return by.passes("multiprocessing")
    if effect.kind == "write":
        return by.passes("multiprocessing/heap") or by.passes("multiprocessing/forkserver")
    return effect.target.startswith("uname ") and platform.__file__ in by.files
