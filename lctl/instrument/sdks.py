"""What integrations of model SDKs share: the wrappers that open a logical call above the SDK's retries.

The call begins when the SDK's request function is entered and ends when it has returned or raised and
the body has ended. What passes on the wire meanwhile is this call's attempts (`calls.Call`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from lctl.guard import guard
from lctl.instrument import calls, codecs, wire
from lctl.instrument.attempts import never_raises
from lctl.instrument.callevents import is_cancellation
from lctl.instrument.calls import leave
from lctl.instrument.patches import Wrapper
from lctl.instrument.received import text_of
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.runs import wrappedruns
from lctl.trust import taxonomy

#: What an integration knows of a call before anything was sent: (method, url), or None.
Describe = Callable[[Any, tuple[Any, ...], dict[str, Any]], tuple[str, str] | None]


def logical_call(describe: Describe) -> Wrapper:
    """The wrapper for a synchronous request function, called once per logical call.

    Args:
        describe: asked only when the SDK raised before it sent anything, to tell whether it was a
            model call that failed.
    """

    def request(wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        opened = wire.open_call_here()
        if opened is None:
            return wrapped(*args, **kwargs)
        call, token = opened
        call.sdk = getattr(wrapped, "__module__", None) or ""
        try:
            try:
                result = wrapped(*args, **kwargs)
            finally:
                leave(token)
            call.returned()
        except BaseException as error:  # perhaps of a signal handler, which came while that was left
            wrappedruns.step_aside(error)
            _raised(call, error, describe, client, args, kwargs)
            raise
        return result

    return request


def logical_call_async(describe: Describe) -> Wrapper:
    """The wrapper for a coroutine function."""

    async def awaited(wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if getattr(client, "_platform", client) is None:
            _know_platform(wrapped, client)
        opened = wire.open_call_here()
        if opened is None:
            return await wrapped(*args, **kwargs)
        call, token = opened
        call.sdk = getattr(wrapped, "__module__", None) or ""
        try:
            try:
                result = await wrapped(*args, **kwargs)
            finally:
                leave(token)
            call.returned()
        except BaseException as error:  # perhaps of a signal handler, which came while that was left
            wrappedruns.step_aside(error)
            _raised(call, error, describe, client, args, kwargs)
            raise
        return result

    return awaited


@never_raises("the platform of a client")
def _know_platform(request: Any, client: Any) -> None:
    """An asynchronous client asks for the platform in a thread before its first request, so that call begins
    some turns of the loop later than others: another number in each run. And which call is the first may
    differ in a rerun: those that a served tool made are not made again. So it is known before."""
    client._platform = sys.modules[request.__module__].get_platform()


def retry_delay(wrapped: Any, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The wrapper for what says in how many seconds a request is made again. There is chance in it; a rerun
    asks again when the recording did, for answers to other calls came before and after."""
    delay = wrapped(*args, **kwargs)
    player = border.player()
    if player is not None:
        with guard("when a request is made again"):
            again = player.again_ms(lanes.current())
            return delay if again is None else again / 1000
    return delay


def _raised(
    call: calls.Call,
    error: BaseException,
    describe: Describe,
    client: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    if call.attempts == 0 and call.step is None:
        _refused(call, error, describe, client, args, kwargs)
    else:
        call.raised(error)


@never_raises("a call that was never sent")
def _refused(
    call: calls.Call,
    error: BaseException,
    describe: Describe,
    client: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """The SDK raised and sent nothing: a bad argument, no key. An `error` event says so, no step."""
    if is_cancellation(error) or not isinstance(error, Exception) or call.saw_other_traffic:
        return
    described = describe(client, args, kwargs)
    if described is None or codecs.find(*described, {}) is None:
        return
    data = {
        "category": "input_error",
        "type": "invalid_format",
        "message": text_of(error),
        "recoverable": False,
        "suggested_action": "fix_request",
        "context": {"exception": taxonomy.name_of(error), "url": described[1], "sent": False},
    }
    call.session.emit("error", data)
