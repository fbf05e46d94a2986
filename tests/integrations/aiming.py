"""A signal at a chosen place in lctl's own code: as the `n`th of its functions begins, where Python looks for
signals."""

from __future__ import annotations

import signal
import sys
import weakref
from collections.abc import Collection
from pathlib import Path
from types import FrameType

import lctl
import lctl_integrations

_OURS = tuple(str(Path(package.__file__ or "").parent) for package in (lctl, lctl_integrations))
_SERVERS = str(Path(_OURS[0]) / "testing")


class Aim:
    """For `sys.settrace`: raises SIGUSR1 in the `n`th place.

    Attributes:
        seen: how many places there were so far.
    """

    def __init__(self, n: int, spared: Collection[str] = ()) -> None:
        """
        Args:
            spared: qualified names of functions that are no places.
        """
        self.n = n
        self.seen = 0
        self._spared = spared

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(_OURS) or code.co_filename.startswith(_SERVERS):
            return
        if self.seen >= self.n > 0 or code.co_qualname in self._spared or _reaches_nobody(frame):
            return
        self.seen += 1
        if self.seen == self.n:
            sys.settrace(None)
            signal.raise_signal(signal.SIGUSR1)


def _reaches_nobody(frame: FrameType) -> bool:
    """Whether Python prints what is raised there and goes on: in finalizers, and in generators as they are
    thrown away."""
    at: FrameType | None = frame
    while at is not None:
        if at.f_code.co_name in ("__del__", "<genexpr>") or at.f_code.co_filename == weakref.__file__:
            return True
        at = at.f_back
    return False
