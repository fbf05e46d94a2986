"""LangChain's runs: which of them are steps, which one the running code is in. Imports langchain-core.

Callbacks tell of begin and end by run id; where the running code is, LangChain's own variable says: the
configuration that it gives to what a run runs names that run.
"""

from __future__ import annotations

import sys
from types import FrameType
from uuid import UUID

from langchain_core.runnables.config import (  # pyright: ignore[reportMissingImports]
    var_child_runnable_config,
)

from lctl.instrument.structure import Runs

#: One for all handlers: a run that two of them are told of is one step.
runs = Runs()
_STREAMING = "_transform_stream_with_config"


def _here() -> UUID | None:
    config = var_child_runnable_config.get()
    return None if config is None else getattr(config.get("callbacks"), "parent_run_id", None)


def locate() -> None:
    """Let the running code be found in the runs that callbacks told of."""
    runs.locate(_here)


def is_left_open(run_id: UUID) -> bool:
    """Whether the stream whose end LangChain is telling of had more to give: it tells of one that is left in
    its middle as of any end. (Not of asynchronous ones, whose end it tells as a `GeneratorExit`.)"""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == _STREAMING:
            inside = frame.f_locals
            told = getattr(inside.get("run_manager"), "run_id", None)
            return told == run_id and bool(getattr(inside.get("iterator"), "gi_suspended", False))
        frame = frame.f_back
    return False
