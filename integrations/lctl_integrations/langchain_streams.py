"""Streams of LangChain's chains that are left in their middle: LangChain tells of these as of any end.

(Not of asynchronous ones, whose end it tells as a `GeneratorExit`.)
"""

from __future__ import annotations

import sys
from types import FrameType
from uuid import UUID

_STREAMING = "_transform_stream_with_config"


def is_left(run_id: UUID) -> bool:
    """Whether the stream whose end LangChain is telling of had more to give."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == _STREAMING:
            inside = frame.f_locals
            told = getattr(inside.get("run_manager"), "run_id", None)
            return told == run_id and bool(getattr(inside.get("iterator"), "gi_suspended", False))
        frame = frame.f_back
    return False
