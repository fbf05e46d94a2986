"""CrewAI, recorded: `LCTLCrew` is a `Crew` whose runs are recorded, without `lctl.auto_instrument()`."""

from __future__ import annotations

from typing import Any

from lctl.errors import MissingExtra
from lctl.instrument import ensure_installed
from lctl.session import default

try:
    from crewai import Crew  # pyright: ignore[reportMissingImports]
except ImportError as error:
    raise MissingExtra("lctl.crewai", "crewai") from error


class LCTLCrew(Crew):  # pyright: ignore[reportGeneralTypeIssues]
    """A `Crew`; from the first one on, what the program does is recorded.

    Into the session that has been entered where it runs, else into the program's default one, as after
    `lctl.auto_instrument()`.
    """

    def __init__(self, **data: Any) -> None:
        ensure_installed()
        default.enable()
        super().__init__(**data)


__all__ = ["LCTLCrew"]
