"""A call of a tool, and the two ways to end that are told by a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from lctl.session.faithful import Given
from lctl.session.faithful.owners import Owner
from lctl.session.tooling.receiving import Incoming


class ToolCall(NamedTuple):
    """A call about to be made.

    Attributes:
        input: a copy of the arguments by name: the tool may change them.
        given: the arguments themselves.
        owner: the object whose method it is.
        incoming: what comes from outside while it is under way, beside its result.
        wraps: makes of a result that a fork puts in its place the value that the function would give, where
            that is a framework's wrapping of it; None where it is the result itself.
        agent: its body is an agent, which runs in a rerun, too (see `border.Player.gives_agent`).
        mcp: of a framework's tool that is one of an MCP server: the server's name for it.
        values: the arguments, and the objects beside them that it can change.
    """

    tool: str
    input: dict[str, Any]
    call_id: str | None
    given: Given | None = None
    owner: Owner | None = None
    incoming: Incoming | None = None
    wraps: Callable[[Any], Any] | None = None
    agent: bool = False
    mcp: str | None = None
    values: tuple[Any, ...] = ()

    def roots(self) -> list[Any]:
        """What ways to what others wait for begin at (`signalling`)."""
        value, scope = (None, None) if self.owner is None else self.owner.roots[:2]
        return [value, scope, list(self.values)]


class Failure(NamedTuple):
    """What `shown` gives of a value by which a framework tells that the tool failed."""

    type: str
    message: str


class Pause(NamedTuple):
    """What `shown` gives of a value by which a framework tells that the tool is to be gone on with later."""

    waits: Any
