"""Where a rerun stands when it is stopped."""

from __future__ import annotations

import sys
from types import FrameType

from lctl.rerun.places import stack


def standing(frame: FrameType | None = None) -> tuple[str, ...]:
    """The user's own lines that led here, outermost first."""
    return tuple(
        f"{line}:  {line.text}" if line.text else str(line) for line in stack(frame or sys._getframe(1))
    )
