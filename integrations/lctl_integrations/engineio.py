"""python-engineio: the ids of sessions (Socket.IO's too: Chainlit, NiceGUI), which clients say again.

A server draws them, and what its clients say next names them: in a rerun, where the recorded clients speak
again, they are the recorded ones.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from lctl.instrument.ambient import reads
from lctl.instrument.patches import PatchSet
from lctl.session.sources import NAMED

_KEY = "engineio.generate_id"


class EngineIO:
    """python-engineio 4."""

    name = "python-engineio"
    supported = ">=4,<5"
    modules = ("engineio.base_server",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if hasattr(getattr(module, "BaseServer", None), "generate_id"):
            patches.wrap(module, "BaseServer.generate_id", _id)


def _id(wrapped: Any, server: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return reads.read(NAMED, _KEY, sys._getframe(1), lambda: wrapped(*args, **kwargs))


__all__ = ["EngineIO"]
