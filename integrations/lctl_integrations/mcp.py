"""mcp: tool calls of clients; in a rerun no server is started or reached.

Every request of a client goes through `ClientSession.send_request`, whatever the transport. A tool call
is recorded under the tool's own name, in every recording; what else a client asks (`initialize`,
`tools/list`, resources, prompts) as `mcp <method>`, where the recording is for running again. Beneath that
nothing is recorded, and in a rerun the transports lead nowhere: no process, no connection.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import ModuleType
from typing import Any

from lctl.distributed.carriers import inject
from lctl.guard import guard
from lctl.instrument import settings, suppress
from lctl.instrument.patches import PatchSet
from lctl.session import border
from lctl.session.default import get_session
from lctl.session.tools import call_tool_async

#: Functions that open a transport, by module; both versions' names.
_TRANSPORTS = {
    "mcp.client.stdio": ("stdio_client",),
    "mcp.client.sse": ("sse_client",),
    "mcp.client.streamable_http": ("streamable_http_client", "streamablehttp_client"),
}
#: Those that give a third thing: a function that tells the session's id.
_WITH_ID = "streamablehttp_client"
_OWN_ID = "streamable_http_client"


class MCP:
    """mcp 1.10 to 2."""

    name = "mcp"
    supported = ">=1.10,<3"
    modules = ("mcp.client.session", *_TRANSPORTS)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "mcp.client.session":
            patches.wrap(module, "ClientSession.send_request", _requested)
            # Version 2 sends each message in the context of whoever gave it.
            patches.wrap(module, "ClientSession.send_notification", _notified)
            return
        for function in _TRANSPORTS[module.__name__]:
            if hasattr(module, function):
                patches.wrap(module, function, _opened(function, _gives_id(module, function)))


def _gives_id(module: ModuleType, function: str) -> bool:
    """Version 1 gives a third thing with a stream over HTTP, version 2 does not."""
    return function == _WITH_ID or (function == _OWN_ID and hasattr(module, _WITH_ID))


def _requested(wrapped: Any, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    call = _call(args, kwargs)
    if border.player() is None:
        _tell(args, kwargs)
    if call is None:
        return wrapped(*args, **kwargs)
    return call_tool_async(*call, lambda: _silently(wrapped, args, kwargs))


def _notified(wrapped: Any, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _silently(wrapped, args, kwargs)


def _call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The tool's name and input; None of what is not recorded."""
    if get_session() is None and border.player() is None:
        return None
    with guard("an MCP request"):
        request = args[0] if args else kwargs["request"]
        data = request.model_dump(by_alias=True, mode="json", exclude_none=True)
        method, params = data["method"], data.get("params") or {}
        if method == "tools/call":
            return params["name"], params.get("arguments") or {}
        if settings.full:
            return f"mcp {method}", {key: value for key, value in params.items() if key != "_meta"}
    return None


def _tell(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Put the trace context into the `_meta` of a tool call, as MCP has it, beside what is there."""
    with guard("an MCP request's trace context"):
        request = args[0] if args else kwargs["request"]
        request = getattr(request, "root", request)  # version 1 wraps it in a union
        params = getattr(request, "params", None)
        if getattr(request, "method", "") != "tools/call" or params is None:
            return
        meta = params.meta
        known = dict(meta) if isinstance(meta, dict) else dict(getattr(meta, "model_extra", None) or {})
        told = inject(known)
        if not told or told == meta:
            return
        if meta is None or isinstance(meta, dict):
            said = {**params.model_dump(by_alias=True, exclude_none=True), "_meta": told}
            params.meta = type(params).model_validate(said).meta
        else:
            for name, value in told.items():
                setattr(meta, name, value)


async def _silently(wrapped: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    token = suppress.silence(suppress.REPORTED)
    try:
        return await wrapped(*args, **kwargs)
    finally:
        suppress.end_silence(token)


def _opened(function: str, gives_id: bool) -> Callable[..., Any]:
    def wrapper(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if border.player() is not None and settings.full:
            return _nowhere(gives_id)
        return _reported(wrapped(*args, **kwargs))

    return wrapper


@asynccontextmanager
async def _reported(transport: AbstractAsyncContextManager[Any]) -> AsyncIterator[Any]:
    """The transport, whose own traffic and tasks are no part of the recording."""
    token = suppress.silence(suppress.REPORTED)
    try:
        streams = await transport.__aenter__()
    finally:
        suppress.end_silence(token)
    try:
        yield streams
    except BaseException as error:
        if not await _left(transport, error):
            raise
    else:
        await _left(transport, None)


async def _left(transport: AbstractAsyncContextManager[Any], error: BaseException | None) -> bool | None:
    token = suppress.silence(suppress.REPORTED)
    try:
        kind, trace = (None, None) if error is None else (type(error), error.__traceback__)
        return await transport.__aexit__(kind, error, trace)
    finally:
        suppress.end_silence(token)


@asynccontextmanager
async def _nowhere(gives_id: bool) -> AsyncIterator[Any]:
    """Streams with nobody at their other end: what is asked for is served before it would be sent."""
    import anyio

    incoming, from_server = anyio.create_memory_object_stream[Any](0)
    to_server, outgoing = anyio.create_memory_object_stream[Any](math.inf)
    async with incoming, from_server, to_server, outgoing:
        yield (from_server, to_server, lambda: None) if gives_id else (from_server, to_server)
