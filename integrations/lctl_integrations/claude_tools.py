"""claude-agent-sdk: the program's own tools, which servers in this process run for Claude's.

A call is known where the process's message arrives. Its body runs in a task of the server (mcp 1 starts one
for each request; version 2 runs it in the context of who sent it), which is made part of the call there, so
that what the body reads, asks and records is the tool's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import orjson

from lctl.guard import guard
from lctl.instrument.patches import PatchSet, Wrapper
from lctl.instrument.structure import Failure, Runs, call_tool_async
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane
from lctl.session.runs import context
from lctl_integrations.claude_chains import mapping
from lctl_integrations.claude_turns import Turns

_TOOL = "a tool of the Claude Agent SDK"
_BRIDGE = "claude_agent_sdk._internal.sdk_mcp_bridge"
_SERVER = "mcp.server.lowlevel.server"
#: Where a server in this process is spoken to, and where it runs a request.
SERVERS = (_BRIDGE, _SERVER)

#: The calls of one connection that are on their way to its server, by the id of their request.
_Calls = dict[Any, tuple[context.Frame | None, Lane]]
_calls_of: WeakKeyDictionary[Any, _Calls] = WeakKeyDictionary()
#: Those of the connection that the running code serves.
_served: ContextVar[_Calls | None] = ContextVar("lctl_claude_calls", default=None)


def patch(module: ModuleType, patches: PatchSet) -> None:
    """Wrap the two ends of a connection to a server in this process."""
    if not hasattr(getattr(sys.modules.get(_SERVER), "Server", None), "_handle_request"):
        return  # mcp 2
    if module.__name__ == _SERVER:
        patches.wrap(module, "Server._handle_request", _handled)
    else:
        patches.wrap(module, "_Session.__init__", _connected)
        patches.wrap(module, "_Session.submit", _submitted)


def _connected(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The server's tasks are started in here, and what they start knows its connection."""
    calls: _Calls = {}
    _calls_of[connection] = calls
    token = _served.set(calls)
    try:
        return wrapped(*args, **kwargs)
    finally:
        _served.reset(token)


def _submitted(wrapped: Any, connection: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with guard(_TOOL):
        message = mapping(args[0] if args else kwargs.get("message"))
        calls = _calls_of.get(connection)
        if calls is not None and message.get("method") == "tools/call":
            calls[message.get("id")] = context.raw(), lanes.current()
    return wrapped(*args, **kwargs)


async def _handled(wrapped: Any, server: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    calls = _served.get()
    place = None
    if calls:
        with guard(_TOOL):
            place = calls.pop((args[0] if args else kwargs["message"]).request_id, None)
    if place is None:
        return await wrapped(*args, **kwargs)
    frame, lane = place
    context.set_current(frame)  # the task is the request's own
    token = lanes.enter(lane)
    try:
        return await wrapped(*args, **kwargs)
    finally:
        lanes.leave(token)


def wrapper(runs: Runs, turns_of: Callable[[Any], Turns | None]) -> Wrapper:
    """Of the method of the SDK that is given each message to one of the program's servers.

    Args:
        turns_of: who listens to a query's process.
    """

    async def requested(wrapped: Any, query: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = None
        turns = turns_of(query)
        if turns is not None or border.player() is not None:
            with guard(_TOOL):
                guard.rehearse(_TOOL)
                server = args[0] if args else kwargs["server_name"]
                message = mapping(args[1] if len(args) > 1 else kwargs.get("message"))
                call = _tool(turns, server, message)
        if call is None:
            return await wrapped(*args, **kwargs)
        name, given, call_id, id = call

        async def run() -> Any:
            answer = mapping(await wrapped(*args, **kwargs))
            return {key: value for key, value in answer.items() if key != "id"}

        with runs.within(turns.place_of(call_id) if turns is not None else None):
            made = await call_tool_async(name, given, run, call_id=call_id, shown=_shown, wraps=_wrapped)
        return {**made, "id": id}

    return requested


def _tool(
    turns: Turns | None, server: str, message: dict[str, Any]
) -> tuple[str, dict[str, Any], str | None, Any] | None:
    if message.get("method") != "tools/call":
        return None
    params = mapping(message.get("params"))
    name, given = f"mcp__{server}__{params.get('name')}", mapping(params.get("arguments"))
    said = mapping(params.get("_meta")).get("claudecode/toolUseId")
    call_id = turns.own_tool(name, given, said) if turns is not None else said
    return name, given, call_id, message.get("id")


def _shown(answer: Any) -> Any:
    """What the event says: the result, without the protocol around it."""
    answer = mapping(answer)
    failure, result = answer.get("error"), mapping(answer.get("result"))
    if failure is not None:
        return Failure("ProtocolError", str(mapping(failure).get("message", failure)))
    said = result.get("content", answer.get("result"))
    return Failure("ToolError", _text(said)) if result.get("isError") else said


def _wrapped(value: Any) -> dict[str, Any]:
    """An answer of the protocol with that result."""
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        result = value
    elif isinstance(value, list) and all(isinstance(part, dict) and "type" in part for part in value):
        result = {"content": value}
    else:
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        result = {"content": [{"type": "text", "text": text}]}
    return {"jsonrpc": "2.0", "result": {"isError": False, **result}}


def _text(content: Any) -> str:
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "\n".join(str(part["text"]) for part in parts if "text" in part) or str(content)
