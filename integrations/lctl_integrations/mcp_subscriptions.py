"""mcp 2: what a client asks to be told of, while it listens (`subscriptions/listen`).

The request is answered when it ends; that the server has taken it up is told by a message. That is recorded
as something that was read, and in a rerun the client goes on at once. What it is told later is a message like
any (`mcp_messages`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import step_aside
from lctl.session import border
from lctl.session.default import get_session
from lctl_integrations import mcp_reads

#: Where the function is, and by which name.
MODULES = {"mcp.client.subscriptions": "listen", "mcp.client.client": "_listen"}
#: What the server says when it has taken up a request.
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_LISTEN = "subscriptions/listen"

#: What the server has promised in the recording, for the request that is about to be made.
_promised: ContextVar[dict[str, Any] | None] = ContextVar("lctl_promise_of_mcp", default=None)
#: Ids of requests that a rerun has answered: no server need hear of them.
_answered: set[Any] = set()


def patch(module: ModuleType, patches: PatchSet) -> None:
    patches.wrap(module, MODULES[module.__name__], _listened)


def registered(wrapped: Any, session: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (request_id); gives what waits for the server's word."""
    route, promised = wrapped(*args, **kwargs), _promised.get()
    if promised is not None:
        with guard("an MCP subscription"):
            from mcp.types import SubscriptionFilter

            route.set_acked(SubscriptionFilter.model_validate(promised))
            _answered.add(args[0] if args else kwargs["request_id"])
    return route


def is_answered(message: Any) -> bool:
    """Whether it is a request that a rerun has answered."""
    said = getattr(message, "message", message)
    return getattr(said, "method", None) == _LISTEN and said.id in _answered


def _listened(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    made = wrapped(*args, **kwargs)
    is_ours = getattr(wrapped, "_self_wrapper", None) is _listened  # the name in another module
    if is_ours or (get_session() is None and border.player() is None):
        return made
    return _taken_up(made)


@asynccontextmanager
async def _taken_up(made: AbstractAsyncContextManager[Any]) -> AsyncIterator[Any]:
    subscription: Any = None
    async with AsyncExitStack() as stack:

        async def send() -> Any:
            nonlocal subscription
            subscription = await stack.enter_async_context(made)
            return subscription.honored.model_dump(by_alias=True, mode="json", exclude_none=True)

        try:
            promised = await mcp_reads.read(_LISTEN, {}, dict, send)
        except BaseException as error:
            step_aside(error)
            raise
        if subscription is None:
            token = _promised.set(promised)
            try:
                subscription = await stack.enter_async_context(made)
            finally:
                _promised.reset(token)
        yield subscription
