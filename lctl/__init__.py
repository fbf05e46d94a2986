"""Time-travel debugging for AI agents.

    import lctl
    lctl.auto_instrument()

records every model call, tool call and step of this program into one `.lctl.json` file.
Importing this module loads nothing else: each name is fetched when first used.

PYTEST_DONT_REWRITE: under `lctl run` it is loaded before pytest, which would warn of that.
"""

from __future__ import annotations

import os

from lctl._version import __version__
from lctl.elsewhere import fill as _open_elsewhere
from lctl.elsewhere import fill_streams as _revive_elsewhere

TYPE_CHECKING = False  # typing costs 10 ms to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from lctl.analysis.whatif import what_if
    from lctl.chain import Chain, load
    from lctl.errors import ContractViolated, FactBlocked, LctlError, QueryError, ToolInDoubt
    from lctl.events import Event, EventType
    from lctl.instrument import auto_instrument, uninstrument
    from lctl.replay import ReplayEngine
    from lctl.rerun.block import rerun
    from lctl.rerun.replaying import replay
    from lctl.run.forking import fork
    from lctl.session import LCTLSession, Redactor, Session, export, get_session, tool
    from lctl.session.messagegraph.graph import MessageGraph
    from lctl.session.runs.traced import traced, traced_step
    from lctl.state.model import State
    from lctl.training.exporting import export_training

_HOMES = {
    "Chain": "lctl.chain",
    "ContractViolated": "lctl.errors",
    "Event": "lctl.events",
    "EventType": "lctl.events",
    "FactBlocked": "lctl.errors",
    "LCTLSession": "lctl.session",
    "LctlError": "lctl.errors",
    "MessageGraph": "lctl.session.messagegraph.graph",
    "QueryError": "lctl.errors",
    "Redactor": "lctl.session",
    "ReplayEngine": "lctl.replay",
    "Session": "lctl.session",
    "State": "lctl.state.model",
    "ToolInDoubt": "lctl.errors",
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
    "ContractViolated",
    "Event",
    "EventType",
    "FactBlocked",
    "LCTLSession",
    "LctlError",
    "MessageGraph",
    "QueryError",
    "Redactor",
    "ReplayEngine",
    "Session",
    "State",
    "ToolInDoubt",
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
    if name in ("distributed", "errors", "faithful", "otel"):
        from importlib import import_module

        return import_module(f"lctl.{name}")
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


def _open_stored(address: str) -> Any:
    """The log at a store's address (stores are a floor above what opens files)."""
    from lctl.stores.opening import open_log

    return open_log(address)


def _revive(streams: str, last_seq: int, lines: Callable[[int], Iterator[bytes]], ended: bool) -> list[bytes]:
    """What came of streams that a killed program left open (codecs are a floor above what opens files)."""
    from lctl.instrument.unfinished import revived

    return revived(streams, last_seq, lines, ended)


_open_elsewhere(_open_stored)
_revive_elsewhere(_revive)


def _ensure_installed(session: LCTLSession) -> None:
    from lctl.instrument import ensure_installed

    ensure_installed()


if os.environ.get("LCTL_OTEL"):
    from lctl.otel import setting

    setting.arm()
