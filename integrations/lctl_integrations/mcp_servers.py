"""mcp: servers in the program's own process.

What a server of version 1 does for a request it does in a task of its own. It is a part of the client's call,
which a rerun serves as a whole: whose call it is, the request brings along as long as it stays in memory.
Version 2 hands on the context itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lctl.guard import guard
from lctl.instrument.patches import PatchSet
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane
from lctl.session.runs import context

MODULE = "mcp.server.lowlevel.server"


class Asker(NamedTuple):
    """Who asks: the metadata of a request, which no transport to another process takes along."""

    lane: Lane
    frame: context.Frame | None


def patch(module: Any, patches: PatchSet) -> None:
    if "RequestResponder" in vars(module):  # of version 1
        patches.wrap(module, "Server._handle_message", _handled)


def bring(item: Any) -> None:
    """Have what is sent say who asks, if it is a request of version 1 that says nothing else."""
    with guard("an MCP request"):
        said = getattr(getattr(item, "message", None), "root", None)
        if hasattr(said, "method") and hasattr(said, "id") and item.metadata is None:
            item.metadata = Asker(lanes.current(), context.raw())


async def _handled(wrapped: Any, server: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (message, session, lifespan_context, raise_exceptions)."""
    asker = getattr(args[0] if args else kwargs.get("message"), "message_metadata", None)
    if not isinstance(asker, Asker):
        return await wrapped(*args, **kwargs)
    frame, lane = context.enter(asker.frame), lanes.enter(asker.lane)
    try:
        return await wrapped(*args, **kwargs)
    finally:
        lanes.leave(lane)
        context.leave(frame)
