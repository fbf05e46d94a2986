"""mcp: tool calls of clients; in a rerun no server is started or reached.

Every request of a client goes through `ClientSession.send_request`, whatever the transport. A tool call
is recorded under the tool's own name, in every recording; what else a client asks (`initialize`,
`tools/list`, resources, prompts) as `mcp <method>`, where the recording is for running again. Beneath that
nothing is recorded, and in a rerun the transports lead nowhere: no process, no connection.
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
from lctl.session.tools import call_tool_async
from lctl_integrations import mcp_nowhere
from lctl_integrations.mcp_nowhere import nowhere

_GREETING = "mcp initialize"
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
    return _answered(call, wrapped, session, args, kwargs)


async def _answered(
    call: tuple[str, dict[str, Any]],
    wrapped: Any,
    session: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    sent = False

    async def send() -> Any:
        nonlocal sent
        sent = True
        await mcp_nowhere.greet(session)
        return await _silently(wrapped, args, kwargs)

    answer = await call_tool_async(*call, send, shown=_shown)
    if call[0] == _GREETING and not sent:
        mcp_nowhere.greeted(session, lambda: _silently(wrapped, args, kwargs))
    if sent or call[0].startswith("mcp "):
        return answer
    return _typed(answer, args[1] if len(args) > 1 else kwargs.get("result_type"))


def _shown(answer: Any) -> Any:
    """What the event says: a tool that failed says so in its result."""
    if getattr(answer, "isError", getattr(answer, "is_error", False)) is not True:
        return answer
    texts = [text for part in answer.content if isinstance(text := getattr(part, "text", None), str)]
    return Failure("ToolError", "\n".join(texts))


def _typed(answer: Any, kind: Any) -> Any:
    """A result that no server gave (an edit's, a dry run's), as the client's caller takes it.

    Args:
        kind: a model or, in version 2, a TypeAdapter.
    """
    if hasattr(answer, "model_dump"):
        return answer
    with guard("an MCP result"):
        validate = getattr(kind, "model_validate", None) or kind.validate_python
        if isinstance(answer, Mapping) and "content" in answer:
            return validate(answer)
        text = answer if isinstance(answer, str) else orjson.dumps(answer).decode()
        # Of a result that is no failure a client checks whether it has what the tool promises.
        dry = isinstance(answer, Mapping) and answer.get("dry_run") is True
        return validate({"content": [{"type": "text", "text": text}], "isError": dry})
    return answer


def _notified(wrapped: Any, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if border.player() is not None:
        mcp_nowhere.added(session, lambda: _silently(wrapped, args, kwargs))
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
            return nowhere(lambda: _reported(wrapped(*args, **kwargs)), gives_id)
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
