"""mcp: what a server says while it works for a call: progress, log lines, questions to the client.

Such messages are kept with the call they come in, and in a rerun come to the client's session again, by its
own stream, so that it calls what the program has given it. What comes while no call is under way is kept with
the next one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context, copy_context
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

from lctl.guard import guard
from lctl.instrument import suppress
from lctl.session import hooks
from lctl.session.concurrency import lanes
from lctl.session.tooling.receiving import Incoming
from lctl_integrations import mcp_servers
from lctl_integrations.mcp_subscriptions import ACKNOWLEDGED

#: Messages between two calls that are kept.
_EARLY = 1000

#: Messages that no call has kept (yet), or that were too many for one, by their method.
dropped: dict[str, int] = {}


class Told(NamedTuple):
    """A recorded message, on its way to the session of a rerun.

    Attributes:
        context: of whom it is said to.
    """

    message: Any
    context: Context


class Exchange(NamedTuple):
    """A request that is under way."""

    incoming: Incoming
    session: Any
    progress: Any


class _Passing:
    """A stream of a session, with another behind it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)


class Listening(_Passing):
    """The stream that a session reads its server's messages from.

    What the program does about one is its own: it is not silenced where the transport is, and it is in the
    lane of the session, not of the request that version 2 takes the context of.

    Args:
        gives_context: in a rerun: sessions find there the context in which a message was sent.
        sender: in a rerun: where messages of the tape are put.
    """

    def __init__(self, stream: Any, gives_context: bool = False, sender: Any = None) -> None:
        super().__init__(stream)
        self._gives_context = gives_context
        self._sender = sender
        self._early: deque[Any] = deque()
        self.last_context: Context | None = None
        self.exchanges: list[Exchange] = []

    def __aiter__(self) -> Listening:
        return self

    async def __anext__(self) -> Any:
        return self._passed(await self._stream.__anext__())

    async def receive(self) -> Any:
        return self._passed(await self._stream.receive())

    async def tell(self, message: Any) -> None:
        """Return when the session has taken it, or takes no more."""
        import anyio

        if self._sender is None:
            return
        told = Told(message, copy_context())
        try:
            try:
                self._sender.send_nowait(told)  # what waits has it in the next turn, as of a transport
            except anyio.WouldBlock:
                await self._sender.send(told)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass

    def begin(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        for content in self._early:
            dropped[content["method"]] -= 1
        exchange.incoming.early(self._early)
        self._early.clear()

    def _passed(self, item: Any) -> Any:
        if isinstance(item, Told):
            self.last_context = _own(item.context) if self._gives_context else None
            return item.message
        context = getattr(self._stream, "last_context", None)
        self.last_context = None if context is None else _own(context)
        with guard("an MCP message"):
            self._note(item)
        return item

    def _note(self, item: Any) -> None:
        message: Any = getattr(item, "message", None)
        said: Any = getattr(message, "root", message)  # version 1 wraps it in a union
        if message is None or not hasattr(said, "method") or said.method == ACKNOWLEDGED:
            return
        content = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        if self.exchanges and self._of(content).note(content):
            return
        dropped[said.method] = dropped.get(said.method, 0) + 1
        if not self.exchanges and len(self._early) < _EARLY:
            self._early.append(content)

    def _of(self, content: Mapping[str, Any]) -> Incoming:
        """The request that a message is of; of what names none, the oldest."""
        token = token_of(content)
        for exchange in self.exchanges if token is not None else ():
            if exchange.progress is not None and _awaited(exchange.session, token) == exchange.progress:
                return exchange.incoming
        return self.exchanges[0].incoming


class Speaking(_Passing):
    """The stream that a session writes to. Sending is none of the program's doing, in whosever context."""

    async def send(self, item: Any) -> None:
        mcp_servers.bring(item)
        token = suppress.silence(suppress.REPORTED)
        try:
            await self._stream.send(item)
        finally:
            suppress.end_silence(token)


def heard(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments that a session is made with, its streams such as these. (Of its transport the program may
    have had the function before that was wrapped.)"""
    dispatcher: Any = kwargs.get("dispatcher")
    if dispatcher is not None:  # version 2's `Client` has given it the streams
        if hasattr(dispatcher, "_read_stream"):
            dispatcher._read_stream = _listening(dispatcher._read_stream)
            dispatcher._write_stream = Speaking(dispatcher._write_stream)
        return args, kwargs
    kwargs = dict(kwargs)
    given = list(args)
    for n, (name, kind) in enumerate((("read_stream", _listening), ("write_stream", Speaking))):
        if len(given) > n:
            given[n] = kind(given[n])
        elif kwargs.get(name) is not None:
            kwargs[name] = kind(kwargs[name])
    return tuple(given), kwargs


def _listening(stream: Any) -> Listening:
    return stream if isinstance(stream, Listening) else Listening(stream)


def stream_of(session: Any) -> Listening | None:
    """Of a session over one of the transports that are known; None of any other."""
    stream = getattr(session, "_read_stream", None)
    if stream is None:
        stream = getattr(getattr(session, "_dispatcher", None), "_read_stream", None)
    return stream if isinstance(stream, Listening) else None


@contextmanager
def under_way(exchange: Exchange) -> Iterator[None]:
    """A request is really sent."""
    stream = stream_of(exchange.session)
    if stream is None:
        yield
        return
    stream.begin(exchange)
    try:
        yield
    finally:
        stream.exchanges.remove(exchange)


class Telling:
    """Says to a session what its server said while it worked for one request, which is served.

    Args:
        progress: the program's callback of that request.
    """

    def __init__(self, session: Any, progress: Any) -> None:
        self._session = session
        self._progress = progress
        self._awaited: dict[Any, Any] = {}  # tokens under which the session has the callback

    async def give(self, content: Mapping[str, Any]) -> None:
        stream = stream_of(self._session)
        if stream is None:
            return
        token = token_of(content)
        if token is not None and self._progress is not None and token not in self._awaited:
            with guard("an MCP request's progress"):
                self._awaited[token] = _await(self._session, token, self._progress)
        await stream.tell(_message(content))

    def end(self) -> None:
        with guard("an MCP request's progress"):
            for token, mine in self._awaited.items():
                found = _callbacks(self._session)
                if found.get(token) is mine:
                    del found[token]


def token_of(content: Mapping[str, Any]) -> Any:
    """By which a message about progress says whose it is."""
    if content.get("method") != "notifications/progress":
        return None
    return (content.get("params") or {}).get("progressToken")


def _callbacks(session: Any) -> dict[Any, Any]:
    """What a session knows of requests that wait, by token."""
    found = getattr(session, "_progress_callbacks", None)  # version 1: the callbacks themselves
    known: dict[Any, Any] = session._dispatcher._pending if found is None else found
    return known


def _awaited(session: Any, token: Any) -> Any:
    found = _callbacks(session).get(token)
    return getattr(found, "on_progress", found)


def _await(session: Any, token: Any, progress: Any) -> Any:
    known = _callbacks(session)
    if hasattr(session, "_progress_callbacks"):
        return known.setdefault(token, progress)
    nobody = SimpleNamespace(send_nowait=lambda outcome: None)  # it has its answer
    return known.setdefault(token, SimpleNamespace(on_progress=progress, send=nobody))


def _message(content: Mapping[str, Any]) -> Any:
    from mcp import types
    from mcp.shared.message import SessionMessage

    adapter: Any = getattr(types, "jsonrpc_message_adapter", None)
    if adapter is not None:
        return SessionMessage(adapter.validate_python(content, by_name=False))
    of_1: Any = types.JSONRPCMessage
    return SessionMessage(of_1.model_validate(content))


def _own(context: Context) -> Context:
    """That context, in the lane of the running task and no more silent than it."""
    made = context.copy()
    made.run(lanes.enter, lanes.current())
    made.run(suppress.silence, suppress.silenced())
    return made


def _report() -> dict[str, Any]:
    lost = {method: count for method, count in dropped.items() if count}
    return {"messages_dropped": lost} if lost else {}


hooks.reports.append(_report)
