"""The ids that litellm gives tool calls to which the API gave none (Ollama's, Google's).

They go into the next request, and frameworks put results in their order (smolagents): with others a recording
by `auto_instrument()` does not run again. `lctl run` has them anyway, as all ids of known libraries.
"""

from __future__ import annotations

import sys
from types import FrameType, ModuleType
from typing import Any

from lctl.instrument.ambient import reads
from lctl.instrument.patches import PatchSet
from lctl.session.sources import NAMED

MODULES = (
    "litellm.llms.ollama.chat.transformation",
    "litellm.llms.ollama.completion.transformation",
    "litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini",
    "litellm.types.utils",
)


def patch(module: ModuleType, patches: PatchSet) -> None:
    """`uuid4`, as the modules have it (of fastuuid): wrapped for all, and read for these."""
    if hasattr(getattr(module, "uuid", None), "uuid4"):
        patches.wrap(module, "uuid.uuid4", _drawn)


def _drawn(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("lctl."):
        frame = frame.f_back  # who tells a rerun which ids are drawn may be on top
    if frame is None or reads.active() or not _is_of_call(frame):
        return wrapped(*args, **kwargs)
    made = frame.f_globals["uuid"].UUID
    key = str(frame.f_globals["__name__"])
    return reads.read(NAMED, key, frame, lambda: wrapped(*args, **kwargs), str, made, always=True)


def _is_of_call(frame: FrameType) -> bool:
    """Not of an answer, nor of a piece of a stream, which have ids too."""
    module, here = frame.f_globals.get("__name__"), frame.f_locals
    if module == "litellm.types.utils":
        return frame.f_code.co_name == "__init__" and "function" in here
    return module in MODULES and "delta" not in here  # which is there when the piece is given its own
