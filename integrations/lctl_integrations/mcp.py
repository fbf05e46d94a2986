"""mcp: tool calls of clients; in a rerun no server is started or reached.

Every request of a client goes through `ClientSession.send_request`, whatever the transport, but version 2's
question what the server is (`send_discover`). A tool call
is recorded under the tool's own name, in every recording; what else a client asks (`initialize`,
`tools/list`, resources, prompts) as `mcp <method>`, where all is recorded for running again, and elsewhere as
something that was read (`mcp_reads`). Beneath that nothing is recorded, and in a rerun the transports lead
nowhere: no process, no connection.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import ModuleType
from typing import Any

import orjson

from lctl.distributed.carriers import inject
from lctl.guard import guard
from lctl.instrument import settings, suppress
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Failure
from lctl.session import border
from lctl.session.default import get_session
from lctl.session.tooling.receiving import Incoming
from lctl.session.tooling.tools import call_tool_async
from lctl_integrations import mcp_names, mcp_nowhere, mcp_reads, mcp_servers, mcp_subscriptions
from lctl_integrations.mcp_messages import Exchange, Telling, heard, under_way
from lctl_integrations.mcp_nowhere import nowhere

_GREETING = "initialize"
#: What version 2 asks in its place; a server that knows it is not greeted.
_DISCOVERY = "server/discover"
#: Functions that open a transport, by module; both versions' names.
_TRANSPORTS = {
    "mcp.client.stdio": ("stdio_client",),
    "mcp.client.sse": ("sse_client",),
    "mcp.client.websocket": ("websocket_client",),
    "mcp.client.streamable_http": ("streamable_http_client", "streamablehttp_client"),
}
#: Those that give a third thing: a function that tells the session's id.
_WITH_ID = "streamablehttp_client"
_OWN_ID = "streamable_http_client"
#: Where a transport of version 2 has it, its stream says in which context each message was sent.
_CONTEXT = "create_context_streams"


class MCP:
    """mcp 1.10 to 2."""

    name = "mcp"
    supported = ">=1.10,<3"
    modules = ("mcp.client.session", mcp_servers.MODULE, *mcp_subscriptions.MODULES, *_TRANSPORTS)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == mcp_servers.MODULE:
            mcp_servers.patch(module, patches)
            return
        if module.__name__ in mcp_subscriptions.MODULES:
            mcp_subscriptions.patch(module, patches)
            return
        if module.__name__ == "mcp.client.session":
            patches.wrap(module, "ClientSession.__init__", _made)
            patches.wrap(module, "ClientSession.send_request", _requested)
            # Version 2 sends each message in the context of whoever gave it.
            patches.wrap(module, "ClientSession.send_notification", _notified)
            if hasattr(module.ClientSession, "send_discover"):
                patches.wrap(module, "ClientSession.send_discover", _discovered)
            if hasattr(module.ClientSession, "_register_listen_route"):
                patches.wrap(module, "ClientSession._register_listen_route", mcp_subscriptions.registered)
            return
        for function in _TRANSPORTS[module.__name__]:
            if hasattr(module, function):
                patches.wrap(
                    module, function, _opened(_gives_id(module, function), hasattr(module, _CONTEXT))
                )


def _gives_id(module: ModuleType, function: str) -> bool:
    """Version 1 gives a third thing with a stream over HTTP, version 2 does not."""
    return function == _WITH_ID or (function == _OWN_ID and hasattr(module, _WITH_ID))


def _made(wrapped: Any, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = args, kwargs
    with guard("an MCP session's streams"):
        given = heard(args, kwargs)
    return wrapped(*given[0], **given[1])


def _requested(wrapped: Any, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    request = _request(args, kwargs)
    if border.player() is None:
        _tell(args, kwargs)
    if request is None:
        return wrapped(*args, **kwargs)
    return _answered(request, wrapped, session, args, kwargs)


async def _answered(
    request: tuple[str, dict[str, Any]],
    wrapped: Any,
    session: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    method, params = request
    is_tool = method == "tools/call"
    kind = args[1] if len(args) > 1 else kwargs.get("result_type")
    progress = args[4] if len(args) > 4 else kwargs.get("progress_callback")
    telling = Telling(session, progress)
    incoming = Incoming(telling.give)
    sent = False

    async def send() -> Any:
        nonlocal sent
        sent = True
        await mcp_nowhere.greet(session)
        if not (is_tool or settings.full):
            return await _silently(wrapped, args, kwargs)
        with under_way(Exchange(incoming, session, progress)):
            return await _silently(wrapped, args, kwargs)

    try:
        if is_tool:
            name, call_id = mcp_names.of_call(params["name"])
            said = params.get("arguments") or {}
            answer = await call_tool_async(name, said, send, call_id=call_id, shown=_shown, incoming=incoming)
        elif settings.full:
            said = {key: value for key, value in params.items() if key != "_meta"}
            answer = await call_tool_async(f"mcp {method}", said, send, shown=_shown, incoming=incoming)
        else:
            answer = await mcp_reads.read(method, params, kind, send)
    finally:
        telling.end()
    if method == _GREETING and not sent:
        mcp_nowhere.greeted(session, lambda: _silently(wrapped, args, kwargs))
    if not is_tool or sent or hasattr(answer, "model_dump"):
        return answer
    return _typed(answer, kind, await _promised(session, params["name"]))


async def _discovered(wrapped: Any, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if get_session() is None and border.player() is None:
        return await wrapped(*args, **kwargs)

    async def send() -> Any:
        await mcp_nowhere.greet(session)
        return await _silently(wrapped, args, kwargs)

    said = {"version": args[0] if args else kwargs["version"]}
    if settings.full:
        return await call_tool_async(f"mcp {_DISCOVERY}", said, send)
    return await mcp_reads.read(_DISCOVERY, said, dict, send)


def _shown(answer: Any) -> Any:
    """What the event says: a tool that failed says so in its result."""
    failed = getattr(answer, "is_error", None)
    if failed is None:  # version 1; asking version 2 for that name is warned of where FastMCP is there
        failed = getattr(answer, "isError", False)
    if failed is not True:
        return answer
    texts = [text for part in answer.content if isinstance(text := getattr(part, "text", None), str)]
    return Failure("ToolError", "\n".join(texts))


async def _promised(session: Any, name: str) -> Any:
    """The schema of what that tool gives beside texts: the client checks results by it, and asks for it."""
    known = getattr(session, "_tool_output_schemas", {})
    if name not in known:
        await session.list_tools()
    return known.get(name)


def _typed(answer: Any, kind: Any, schema: Any) -> Any:
    """A result that no server gave (an edit's, a dry run's), as the client's caller takes it.

    Args:
        kind: a model or, in version 2, a TypeAdapter.
        schema: see `_promised`.
    """
    with guard("an MCP result"):
        validate = getattr(kind, "model_validate", None) or kind.validate_python
        if isinstance(answer, Mapping) and "content" in answer:
            return validate(answer)
        text = answer if isinstance(answer, str) else orjson.dumps(answer).decode()
        # Of a result that is no failure a client checks whether it has what the tool promises.
        dry = isinstance(answer, Mapping) and answer.get("dry_run") is True
        said = {"content": [{"type": "text", "text": text}], "isError": dry}
        return validate(said if schema is None or dry else {**said, **_structured(answer, schema)})
    return answer


def _structured(answer: Any, schema: Any) -> dict[str, Any]:
    """A value that is no object stands in one under the only name that the schema has: servers wrap it so."""
    names = list(schema.get("properties") or ())
    if not isinstance(answer, Mapping) and len(names) == 1:
        answer = {names[0]: answer}
    return {"structuredContent": answer} if isinstance(answer, Mapping) else {}


def _notified(wrapped: Any, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if border.player() is not None:
        mcp_nowhere.added(session, lambda: _silently(wrapped, args, kwargs))
    return _silently(wrapped, args, kwargs)


def _request(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Method and parameters; None of what is not recorded."""
    if get_session() is None and border.player() is None:
        return None
    with guard("an MCP request"):
        request = args[0] if args else kwargs["request"]
        data = request.model_dump(by_alias=True, mode="json", exclude_none=True)
        return data["method"], data.get("params") or {}
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


def _opened(gives_id: bool, gives_context: bool) -> Callable[..., Any]:
    def wrapper(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if border.player() is not None:
            return nowhere(lambda: _reported(wrapped(*args, **kwargs)), gives_id, gives_context)
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
