"""One call over all that an HTTP client does for a request: redirects, and the turns of its authentication.

The transports of httpx and httpx2 see each request that leaves; `Client.send`, above, is asked once. Where an
SDK's call is open, that is the one.
"""

from __future__ import annotations

from contextvars import Token
from typing import Any, TypeAlias

from lctl.instrument import calls, codecs, wire
from lctl.instrument.attempts import never_raises
from lctl.session.runs.wrappedruns import step_aside

_Opened: TypeAlias = "tuple[calls.Call, Token[calls.Call | None]]"


def send(wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The wrapper for `Client.send(request, ...)`."""
    opened = _open(args, kwargs)
    try:
        try:
            result = wrapped(*args, **kwargs)
        finally:
            if opened is not None:
                calls.leave(opened[1])
        if opened is not None:
            opened[0].returned()
    except BaseException as error:  # perhaps of a signal handler, which came while that was left
        if opened is not None:
            opened[0].raised(error)
        step_aside(error)
        raise
    return result


async def send_async(wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The wrapper for `AsyncClient.send(request, ...)`."""
    opened = _open(args, kwargs)
    try:
        try:
            result = await wrapped(*args, **kwargs)
        finally:
            if opened is not None:
                calls.leave(opened[1])
        if opened is not None:
            opened[0].returned()
    except BaseException as error:  # perhaps of a signal handler, which came while that was left
        if opened is not None:
            opened[0].raised(error)
        step_aside(error)
        raise
    return result


@never_raises("the start of a model call")
def _open(args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Opened | None:
    """Open a call, where none of an SDK's is open: what is sent within another `send`, by its hooks or its
    transport, is a call of its own. None for what is no model call: an application in this process may answer
    it, and ask models."""
    request = args[0] if args else kwargs.get("request")
    call = calls.current_call()
    if request is None or request.method != "POST" or (call is not None and call.sdk):
        return None
    url = str(request.url)
    return None if codecs.find("POST", url, request.headers) is None else wire.open_call_here(url)


__all__ = ["send", "send_async"]
