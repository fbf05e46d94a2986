"""A tool call that is seen once more a layer below: by another framework, by the client of an MCP server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lctl.session.concurrency import lanes
from lctl.session.runs.wrappedruns import Run
from lctl.session.tooling.toolcalls import Failure


class Beneath:
    """A framework's call of an MCP server's tool, as the client makes it.

    Attributes:
        name: the server's for the tool; frameworks put their own name for the server before it.
        failure: the server said so in its last answer, which frameworks give on as any other.
    """

    __slots__ = ("failure", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.failure: Failure | None = None


def is_reported(name: str, input: Mapping[str, Any]) -> bool:
    lane = lanes.current()
    if lane.input is None or (lane.tool != name and (lane.beneath is None or lane.beneath.name != name)):
        return False
    # A layer below knows what a call left to its defaults.
    return all(key in input and input[key] == value for key, value in lane.input.items())


def run_beneath(shown: Callable[[Any], Any] | None) -> Run | None:
    """A run of a reported call, where only this layer is told whether it failed; `shown` tells it."""
    beneath = lanes.current().beneath
    return None if beneath is None or shown is None else _RunBeneath(beneath, shown)


class _RunBeneath(Run):
    def __init__(self, beneath: Beneath, shown: Callable[[Any], Any]) -> None:
        self._beneath, self._shown = beneath, shown

    def returned(self, value: Any) -> None:
        failure = self._shown(value)
        self._beneath.failure = failure if isinstance(failure, Failure) else None
