"""marimo: nothing; a rerun writes no log lines of marimo's into the user's home.

Its notebooks are scripts, and run as such.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet
from lctl.session import border


class Marimo:
    """marimo 0.14 and later."""

    name = "marimo"
    supported = ">=0.14,<1"
    modules = ("marimo._utils.xdg",)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        patches.wrap(module, "marimo_log_dir", _aside)


def _aside(wrapped: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    made, player = wrapped(*args, **kwargs), border.player()
    place = None if player is None else player.aside(str(made))
    return made if place is None else Path(place)


__all__ = ["Marimo"]
