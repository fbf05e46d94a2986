"""Time-travel debugging for AI agents.

    import lctl
    lctl.auto_instrument()

records every model call, tool call and step of this program into one `.lctl.json` file.
Importing this module loads nothing else: each name is fetched when first used.
"""

from __future__ import annotations

from lctl._version import __version__

TYPE_CHECKING = False  # typing costs 10 ms to import
if TYPE_CHECKING:
    from typing import Any

    from lctl.analysis.whatif import what_if
    from lctl.chain import Chain, load
    from lctl.events import Event, EventType
    from lctl.instrument import auto_instrument, uninstrument
    from lctl.replay import ReplayEngine
    from lctl.rerun.block import rerun
    from lctl.rerun.replaying import replay
    from lctl.run.forking import fork
    from lctl.session import LCTLSession, Redactor, Session, export, get_session, tool, traced, traced_step
    from lctl.session.messagegraph.graph import MessageGraph
    from lctl.state.model import State
    from lctl.training.exporting import export_training

_HOMES = {
    "Chain": "lctl.chain",
    "Event": "lctl.events",
    "EventType": "lctl.events",
    "LCTLSession": "lctl.session",
    "MessageGraph": "lctl.session.messagegraph.graph",
    "Redactor": "lctl.session",
    "ReplayEngine": "lctl.replay",
    "Session": "lctl.session",
    "State": "lctl.state.model",
    "auto_instrument": "lctl.instrument",
    "export": "lctl.session",
    "export_training": "lctl.training.exporting",
    "fork": "lctl.run.forking",
    "get_session": "lctl.session",
    "load": "lctl.chain",
    "replay": "lctl.replay",
    "rerun": "lctl.rerun",
    "tool": "lctl.session",
    "traced": "lctl.session",
    "traced_step": "lctl.session",
    "uninstrument": "lctl.instrument",
    "what_if": "lctl.analysis.whatif",
}

__all__ = [
    "Chain",
    "Event",
    "EventType",
    "LCTLSession",
    "MessageGraph",
    "Redactor",
    "ReplayEngine",
    "Session",
    "State",
    "__version__",
    "auto_instrument",
    "export",
    "export_training",
    "fork",
    "get_session",
    "load",
    "replay",
    "rerun",
    "tool",
    "traced",
    "traced_step",
    "uninstrument",
    "what_if",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if name == "faithful":
        from importlib import import_module

        return import_module("lctl.faithful")
    if home is None:
        raise AttributeError(f"module 'lctl' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    if home == "lctl.session":
        _instrument_sessions()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _instrument_sessions() -> None:
    """Entering a session taken from here patches what is installed (the session floor cannot reach up)."""
    from lctl.session import hooks

    if _ensure_installed not in hooks.on_enter:
        hooks.on_enter.append(_ensure_installed)
        from lctl.instrument import program_header

        if program_header not in hooks.headers:
            hooks.headers.append(program_header)


def _ensure_installed(session: LCTLSession) -> None:
    from lctl.instrument import ensure_installed

    ensure_installed()
