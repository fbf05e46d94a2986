"""mcp: the streams of a client in a rerun. Nobody is at their other end, until something must be sent.

What is on the tape is served before it would be sent. What is not (a fork goes on, a tool is to run again)
opens the transport that the program has named. Its server has not been greeted then, as the greeting was
served: that is said once more.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

from lctl.instrument import suppress
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane
from lctl_integrations.mcp_messages import Listening
from lctl_integrations.mcp_subscriptions import is_answered

Send = Callable[[], Awaitable[Any]]


@asynccontextmanager
async def nowhere(
    opened: Callable[[], AbstractAsyncContextManager[Any]], gives_id: bool, gives_context: bool
) -> AsyncIterator[Any]:
    """Streams like those of a transport.

    Args:
        opened: opens the transport itself.
        gives_id: it gives a third thing.
        gives_context: see `Listening`.
    """
    import anyio

    incoming, from_server = anyio.create_memory_object_stream[Any](0)
    to_server, outgoing = anyio.create_memory_object_stream[Any](math.inf)
    async with incoming, from_server, to_server, outgoing, anyio.create_task_group() as group:
        token = suppress.silence(suppress.REPORTED)  # the task is none of the program's
        try:
            group.start_soon(_carry, opened, outgoing, incoming)
        finally:
            suppress.end_silence(token)
        heard = Listening(from_server, gives_context, incoming)
        yield (heard, to_server, lambda: None) if gives_id else (heard, to_server)
        group.cancel_scope.cancel()


async def _carry(
    opened: Callable[[], AbstractAsyncContextManager[Any]], outgoing: Any, incoming: Any
) -> None:
    """What is said before the first request is said to nobody."""
    import anyio

    answered: list[Any] = []
    async for message in outgoing:
        if is_answered(message):
            answered.append(message)
        elif _is_request(message):
            break
    else:
        return
    if _live is not None:
        lanes.enter(_live)  # for good: the task is this connection's own
    async with opened() as streams, anyio.create_task_group() as group:
        group.start_soon(_pass_on, streams[0], incoming)
        for said in (message, *answered):
            await streams[1].send(said)
        await _pass_on(outgoing, streams[1])


async def _pass_on(source: Any, target: Any) -> None:
    async for message in source:
        await target.send(message)


def _is_request(message: Any) -> bool:
    said = getattr(message, "message", message)
    said = getattr(said, "root", said)  # version 1 wraps it in a union
    return hasattr(said, "method") and hasattr(said, "id")


# -- greeting ------------------------------------------------------------------------------


class Greeting:
    """What a session has said to greet a server that does not hear it.

    Attributes:
        said: sends each of it: the request, then the notification.
    """

    def __init__(self) -> None:
        import anyio

        self.said: list[Send] = []
        self.lock = anyio.Lock()


#: The lane of who has sent something last: it has left the tape, so a connection may be opened for it.
_live: Lane | None = None

_greetings: WeakKeyDictionary[Any, Greeting] = WeakKeyDictionary()


def greeted(session: Any, send: Send) -> None:
    """A request was served by which a session greets its server."""
    _greetings[session] = greeting = Greeting()
    greeting.said.append(send)


def added(session: Any, send: Send) -> None:
    """What a session tells its server when it was greeted."""
    greeting = _greetings.get(session)
    if greeting is not None:
        greeting.said.append(send)


async def greet(session: Any) -> None:
    """Something is about to be sent: greet the server, if it was not."""
    global _live
    _live = lanes.current()
    greeting = _greetings.get(session)
    if greeting is None:
        return
    async with greeting.lock:
        while greeting.said:
            await greeting.said.pop(0)()
    _greetings.pop(session, None)
