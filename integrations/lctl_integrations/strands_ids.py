"""The ids that Strands' Gemini model gives tool calls to which the API gave none.

They go into the next request. They are no `uuid`, which would be the same in a rerun: they are tokens of
`secrets`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from lctl.instrument.ambient import reads
from lctl.instrument.patches import PatchSet
from lctl.session.sources import NAMED

MODULE = "strands.models.gemini"


def patch(module: ModuleType, patches: PatchSet) -> None:
    """`secrets`, as the module has it: wrapped for all, and read for this one."""
    if hasattr(getattr(module, "secrets", None), "token_urlsafe"):
        patches.wrap(module, "secrets.token_urlsafe", _token)


def _token(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    frame = sys._getframe(1)
    if frame.f_globals.get("__name__") != MODULE:
        return wrapped(*args, **kwargs)
    return reads.read(NAMED, MODULE, frame, lambda: wrapped(*args, **kwargs), always=True)
