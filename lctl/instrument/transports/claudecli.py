"""The Claude Agent SDK's process: a command line that speaks lines of JSON, both ways.

One exchange is the life of one process. Its chunks are lines `{"in": message}` of what came from it,
`{"out": message}` of what it was told, in the order in which they passed, and at its end `{"exit": code}`, or
`{"left": true}` where the program left it alive. In a rerun no process starts:
`claudetape` has what comes of it then.

What the messages mean is told to a `Listener`, recording or not.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import orjson

from lctl.clock import monotonic_ns
from lctl.guard import guard
from lctl.instrument import serving, suppress, wire
from lctl.instrument.attempts import Attempt
from lctl.instrument.codecs.bodies import loads_or_none
from lctl.instrument.patches import PatchSet
from lctl.instrument.serving.errors import revive
from lctl.instrument.transports import claudeown
from lctl.instrument.transports.claudetape import RecordedProcess, RequestIds
from lctl.session.border import Answer

HTTP = "claude-agent-sdk"
URL = "process://claude"
_HEAD = [("content-type", "application/x-ndjson")]


class Listener(Protocol):
    """Who is told of each message, in order. Its failures are ours: they never reach the program."""

    def sent(self, message: dict[str, Any]) -> None: ...
    def received(self, message: dict[str, Any]) -> None: ...
    def ended(self, error: BaseException | None) -> None: ...


_lines: WeakKeyDictionary[Any, Line] = WeakKeyDictionary()


def patch(module: Any, patches: PatchSet, listen: Callable[[Any], Listener | None]) -> None:
    """Wrap the transport class of `claude_agent_sdk._internal.transport.subprocess_cli`, or what takes one of
    the program's own (`claudeown.MODULES`).

    Args:
        listen: gives the listener of a transport that is about to connect; None: nobody listens.
    """
    around = _around(listen)
    if module.__name__ in claudeown.MODULES:
        claudeown.patch(module, patches, around)
        return
    for name, one in around.items():
        patches.wrap(module, f"SubprocessCLITransport.{name}", one)


def _around(listen: Callable[[Any], Listener | None]) -> dict[str, claudeown.Around]:
    async def connect(wrapped: Any, transport: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if _is_connected(transport) or suppress.silenced() is suppress.REPORTED:
            return await wrapped(*args, **kwargs)
        line = Line(transport)
        _lines[transport] = line
        await line.connect(wrapped)
        with guard("a Claude process"):
            guard.rehearse("a Claude process")
            line.listener = listen(transport)
        return None

    return {
        "connect": connect,
        "write": _write,
        "read_messages": _read,
        "end_input": _end_input,
        "close": _close,
    }


def line_of(transport: Any) -> Line | None:
    """What is known of a connected transport."""
    return _lines.get(transport)


def _is_connected(transport: Any) -> bool:
    line = _lines.get(transport)
    return bool(transport.__dict__.get("_process")) or (line is not None and line.open)


async def _write(wrapped: Any, transport: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    line = _lines.get(transport)
    if line is None:
        return await wrapped(*args, **kwargs)
    data = args[0] if args else kwargs["data"]
    message = loads_or_none(data.encode("utf-8", "replace"))
    if line.served is None:
        line.sent(message)
        await wrapped(*args, **kwargs)
    elif isinstance(message, dict):
        await line.served.say(message)
    return None


def _read(wrapped: Any, transport: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    line = _lines.get(transport)
    return wrapped(*args, **kwargs) if line is None else line.read(wrapped)


async def _end_input(wrapped: Any, transport: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return await wrapped(*args, **kwargs)


async def _close(wrapped: Any, transport: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    line = _lines.pop(transport, None)
    if line is not None:
        await line.until_left()
        line.closed()  # first: how long a process takes to go is no part of the recording
    return await wrapped(*args, **kwargs)


class Line:
    """One process, or its recording.

    Attributes:
        listener: who is told of its messages.
        served: the recorded life that is given; None: there is a process.
        open: it has begun and not ended.
    """

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._attempt: Attempt | None = None
        self._over = False  # nothing comes from it any more
        self._left = False  # while it lived
        self._ids = RequestIds()
        self.listener: Listener | None = None
        self.served: RecordedProcess | None = None
        self.open = False

    async def connect(self, wrapped: Any) -> None:
        """Start the process, or take its place."""
        body = self._command()
        player = serving.player_here()
        if player is not None:
            passage = serving.cross(player, HTTP, wire.SPAWN, URL, {}, body, editable=False)
            await serving.ready_async(passage)
            self._attempt = serving.begin(passage, HTTP, (), body)
            if passage.answer is not None:
                self.served = RecordedProcess(passage.answer, self._ids, self)
        else:
            seen = wire.recognise(wire.SPAWN, URL, {})
            self._attempt = None if seen is None else wire.begin(seen, HTTP, (), body)
        try:
            if self.served is None:
                await self._start(wrapped)
            else:
                await self._take_place(self.served.answer)
        except BaseException as error:
            if self._attempt is not None:
                self._attempt.failed(error)
            raise
        if self._attempt is not None:
            self._attempt.answered(200, _HEAD)
        self.open = True

    async def _start(self, wrapped: Any) -> None:
        token = suppress.silence(suppress.REPORTED)
        try:
            await wrapped()
        finally:
            suppress.end_silence(token)

    async def _take_place(self, answer: Answer) -> None:
        await answer.wait_async()
        if answer.status is None:
            assert answer.error is not None
            raise revive(answer.error)
        self._transport._ready = True

    def _command(self) -> bytes | None:
        """What the process is started with, without where its program lies."""
        with guard("a Claude process"):
            transport = self._transport
            if hasattr(type(transport), "named"):
                return orjson.dumps({"transport": transport.named()})
            path, transport._cli_path = transport._cli_path, "claude"
            try:
                return orjson.dumps({"command": transport._build_command()[1:]})
            finally:
                transport._cli_path = path
        return None

    # -- both ways -------------------------------------------------------------------------

    def sent(self, message: Any) -> None:
        """The program says something."""
        if isinstance(message, dict):
            self.keep({"out": self._ids.lasting(message)})
            self.tell("sent", message)

    async def read(self, wrapped: Any) -> AsyncIterator[dict[str, Any]]:
        messages: Any = wrapped() if self.served is None else self.served.messages()
        failure: BaseException | None = None
        try:
            async with aclosing(messages):
                async for message in messages:
                    self.keep({"in": self._ids.lasting(message)})
                    self.tell("received", message)
                    yield message
            self._over = True
        except Exception as error:
            failure, self._over = error, True
            code = getattr(error, "exit_code", None)
            if isinstance(code, int):
                self.keep({"exit": code})
            elif self._attempt is not None:
                self._attempt.failed(error)
            raise
        finally:
            try:
                await self.until_left()
            finally:
                self._end(failure)

    async def until_left(self) -> None:
        """In a rerun: return when the program left the process in the recording, if it did."""
        if self.open and self.served is not None and not self._over:
            await self.served.answer.left_async()

    def _end(self, error: BaseException | None) -> None:
        if self.open:
            self.open = False
            self._leave()
            if self.listener is not None:
                with guard("the end of a Claude process"):
                    guard.rehearse("the end of a Claude process")
                    self.listener.ended(error)
            if self._attempt is None:
                return
            if self._left and (self.served is None or getattr(self.served.answer, "closed_early", False)):
                self._attempt.closed()
            else:
                self._attempt.end()

    def _leave(self) -> None:
        """The program goes while the process lives."""
        if self._over:
            return
        self._over = True
        if self.served is not None:
            self.served.read_on()
        self._left = True
        self.keep({"left": True})

    def closed(self) -> None:
        """Whether this or the end of `read` comes first is the SDK's tasks' business: both say the same."""
        if self.open:
            self._leave()
        self._end(None)
        if self._attempt is not None:
            self._attempt.closed()

    def keep(self, line: dict[str, Any]) -> None:
        """Record a line of what passes."""
        if self._attempt is not None:
            with guard("a message of a Claude process"):
                self._attempt.chunks.append((monotonic_ns(), orjson.dumps(line) + b"\n"))

    def tell(self, what: str, message: dict[str, Any]) -> None:
        """Tell the listener."""
        if self.listener is not None:
            with guard(f"a message {what} by the Claude Agent SDK"):
                guard.rehearse(f"a message {what} by the Claude Agent SDK")
                getattr(self.listener, what)(message)
