"""AutoGen, recorded: `enable_lctl()` patches all agents and teams, without `lctl.auto_instrument()`."""

from __future__ import annotations

from importlib.util import find_spec

from lctl.errors import MissingExtra
from lctl.instrument import ensure_installed
from lctl.session import default


def enable_lctl() -> None:
    """Record every agent, team, tool and model call of AutoGen from here on, and what else the program does.

    Into the session that has been entered where they run, else into the program's default one, as after
    `lctl.auto_instrument()`. May be called before or after agents are made, and again.

    Raises:
        MissingExtra: neither autogen-agentchat nor autogen-core is installed.
    """
    if find_spec("autogen_agentchat") is None and find_spec("autogen_core") is None:
        raise MissingExtra("lctl.autogen", "autogen")
    ensure_installed()
    default.enable()


__all__ = ["enable_lctl"]
