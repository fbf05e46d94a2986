"""The Claude Agent SDK's process: a command line that speaks lines of JSON, both ways.

One exchange is the life of one process. Its chunks are lines `{"in": message}` of what came from it,
`{"out": message}` of what it was told, in the order in which they passed, and at its end `{"exit": code}`, or
`{"left": true}` where the program left it alive. In a rerun no process starts: what came is given again, each
message when its turn has come and the program has said what the recording had it say by then. Request ids,
which the SDK makes up anew in every run, are translated.

What the messages mean is told to a `Listener`, recording or not.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from contextvars import Context, copy_context
from time import monotonic_ns
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import orjson

from lctl.errors import RerunStopped
from lctl.guard import guard
from lctl.instrument import serving, suppress, wire
from lctl.instrument.attempts import Attempt
from lctl.instrument.codecs.bodies import loads_or_none
from lctl.instrument.patches import PatchSet
from lctl.instrument.serving.errors import revive
from lctl.session import border
from lctl.session.border import Answer

HTTP = "claude-agent-sdk"
URL = "process://claude"
_HEAD = [("content-type", "application/x-ndjson")]
#: Seconds of the program's own time in which it must say what it said in the recording.
_PATIENCE = 60.0


class Listener(Protocol):
    """Who is told of each message, in order. Its failures are ours: they never reach the program."""

    def sent(self, message: dict[str, Any]) -> None: ...
    def received(self, message: dict[str, Any]) -> None: ...
    def ended(self, error: BaseException | None) -> None: ...


_lines: WeakKeyDictionary[Any, Line] = WeakKeyDictionary()


def patch(module: Any, patches: PatchSet, listen: Callable[[Any], Listener | None]) -> None:
    """Wrap the transport class of `claude_agent_sdk._internal.transport.subprocess_cli`.

    Args:
        listen: gives the listener of a transport that is about to connect; None: nobody listens.
    """

    async def connect(wrapped: Any, transport: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if _is_connected(transport):
            return await wrapped(*args, **kwargs)
        line = Line(transport)
        _lines[transport] = line
        await line.connect(wrapped)
        with guard("a Claude process"):
            guard.rehearse("a Claude process")
            line.listener = listen(transport)
        return None

    patches.wrap(module, "SubprocessCLITransport.connect", connect)
    patches.wrap(module, "SubprocessCLITransport.write", _write)
    patches.wrap(module, "SubprocessCLITransport.read_messages", _read)
    patches.wrap(module, "SubprocessCLITransport.end_input", _end_input)
    patches.wrap(module, "SubprocessCLITransport.close", _close)


def line_of(transport: Any) -> Line | None:
    """What is known of a connected transport."""
    return _lines.get(transport)


def _is_connected(transport: Any) -> bool:
    line = _lines.get(transport)
    return bool(getattr(transport, "_process", None)) or (line is not None and line.open)


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
        await line.say(message)
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
        self._saying: list[_Saying] = []  # in a rerun: not met in the recording yet
        self._news: Any = None  # an event of anyio's: somebody waits for the program to say something
        self._over = False  # nothing comes from it any more
        self._passed = 0  # in a rerun: of the recorded lines
        self._ids: dict[str, str] = {}  # the SDK's request ids -> as they are kept
        self.listener: Listener | None = None
        self.served: Answer | None = None
        self.open = False

    async def connect(self, wrapped: Any) -> None:
        """Start the process, or take its place."""
        body = self._command()
        player = serving.player_here()
        if player is not None:
            passage = serving.cross(player, HTTP, wire.SPAWN, URL, {}, body, editable=False)
            await serving.ready_async(passage)
            self._attempt = serving.begin(passage, HTTP, (), body)
            self.served = passage.answer
        else:
            seen = wire.recognise(wire.SPAWN, URL, {})
            self._attempt = None if seen is None else wire.begin(seen, HTTP, (), body)
        try:
            if self.served is None:
                await self._start(wrapped)
            else:
                await self._take_place(self.served)
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
            self._keep({"out": self._named(message)})
            self._tell("sent", message)

    async def say(self, message: dict[str, Any]) -> None:
        """The program says something to a recording: returns where it was said there."""
        import anyio  # the SDK's own

        saying = _Saying(message, self._named(message), anyio.Event(), copy_context())
        self._saying.append(saying)
        if self._news is not None:
            self._news.set()
        await saying.said.wait()

    async def read(self, wrapped: Any) -> AsyncIterator[dict[str, Any]]:
        messages: Any = wrapped() if self.served is None else self._recorded(self.served)
        failure: BaseException | None = None
        try:
            async with aclosing(messages):
                async for message in messages:
                    self._keep({"in": self._named(message)})
                    self._tell("received", message)
                    yield message
            self._over = True
        except Exception as error:
            failure, self._over = error, True
            code = getattr(error, "exit_code", None)
            if isinstance(code, int):
                self._keep({"exit": code})
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
            await self.served.left_async()

    def _end(self, error: BaseException | None) -> None:
        if self.open:
            self.open = False
            self._leave()
            if self.listener is not None:
                with guard("the end of a Claude process"):
                    guard.rehearse("the end of a Claude process")
                    self.listener.ended(error)
            if self._attempt is not None:
                self._attempt.end()

    def _leave(self) -> None:
        """The program goes while the process lives."""
        if self._over:
            return
        self._over = True
        if self.served is not None:
            self._read_on(self.served)
        self._keep({"left": True})

    def closed(self) -> None:
        if self.open:
            self._leave()
        if self._attempt is not None:
            self._attempt.closed()
        self._end(None)

    def _keep(self, line: dict[str, Any]) -> None:
        if self._attempt is not None:
            with guard("a message of a Claude process"):
                self._attempt.chunks.append((monotonic_ns(), orjson.dumps(line) + b"\n"))

    def _tell(self, what: str, message: dict[str, Any]) -> None:
        if self.listener is not None:
            with guard(f"a message {what} by the Claude Agent SDK"):
                guard.rehearse(f"a message {what} by the Claude Agent SDK")
                getattr(self.listener, what)(message)

    # -- the recording ---------------------------------------------------------------------

    async def _recorded(self, answer: Answer) -> AsyncIterator[dict[str, Any]]:
        import anyio  # the SDK's own

        rest, code = b"", None
        async for chunk in answer.chunks_async():
            *lines, rest = (rest + chunk).split(b"\n")
            for told in filter(None, map(loads_or_none, lines)):
                if "out" in told:
                    await self._said(told["out"])
                elif "left" in told:
                    await anyio.sleep_forever()
                self._passed += 1
                if "in" in told:
                    yield self._translated(told["in"])
                elif "exit" in told:
                    code = told["exit"]
        if code is not None:
            raise self._exit(code)
        if answer.error is not None:
            raise revive(answer.error)

    def _read_on(self, answer: Answer) -> None:
        """The SDK reads ahead of the program: what had come of it when the program left came all the same."""
        with guard("a message of a Claude process"):
            lines = b"".join(answer.whole()).split(b"\n")
            for told in [*filter(None, map(loads_or_none, lines))][self._passed :]:
                if "out" in told:
                    found = next(
                        (one for one in self._saying if _kind(one.named) == _kind(told["out"])), None
                    )
                    if found is None:
                        return
                    self._saying.remove(found)
                    found.context.run(self.sent, found.message)
                    found.said.set()
                elif "in" in told:
                    self._keep(told)
                    self._tell("received", self._translated(told["in"]))

    def _exit(self, code: int) -> BaseException:
        error = sys.modules["claude_agent_sdk._errors"].ProcessError
        text = f"Command failed with exit code {code}"
        made: BaseException = error(text, exit_code=code, stderr="Check stderr output for details")
        return made

    async def _said(self, recorded: dict[str, Any]) -> None:
        """Return when the program has said what it said at this place of the recording.

        Raises:
            RerunStopped: it said something else, or nothing.
        """
        import anyio

        kind = _kind(recorded)
        while True:
            found = next((one for one in self._saying if _kind(one.named) == kind), None)
            if found is not None:
                break
            self._news = anyio.Event()
            try:
                with anyio.fail_after(_PATIENCE):
                    await self._news.wait()
            except TimeoutError:
                raise self._stopped(f"the program did not tell Claude what it told it: {kind[0]}") from None
        self._saying.remove(found)
        difference = _difference(recorded, found.named, kind[0])
        if difference:
            raise self._stopped(f"the program told Claude something else than in the recording: {difference}")
        # Here and now, where the recording has it, as if its sender told it.
        found.context.run(self.sent, found.message)
        found.said.set()

    def _stopped(self, text: str) -> RerunStopped:
        player = border.player()
        return RerunStopped(text) if player is None else player.stopped(text)

    def _named(self, message: dict[str, Any]) -> dict[str, Any]:
        """The message with a lasting id in place of the SDK's own, which is made up anew in every run."""
        if message.get("type") == "control_request" and str(message.get("request_id")).startswith("req_"):
            id = str(message["request_id"])
            return {**message, "request_id": self._ids.setdefault(id, f"sdk_{len(self._ids) + 1}")}
        response = message.get("response")
        if message.get("type") == "control_response" and isinstance(response, dict):
            id = str(response.get("request_id"))
            return {**message, "response": {**response, "request_id": self._ids.get(id, id)}}
        return message

    def _translated(self, message: dict[str, Any]) -> dict[str, Any]:
        """The other way round."""
        response = message.get("response")
        if message.get("type") != "control_response" or not isinstance(response, dict):
            return message
        kept = str(response.get("request_id"))
        id = next((own for own, known in self._ids.items() if known == kept), kept)
        return {**message, "response": {**response, "request_id": id}}


class _Saying(NamedTuple):
    """Something the program says in a rerun; `named` has lasting ids, `said` is set where it is its turn."""

    message: dict[str, Any]
    named: dict[str, Any]
    said: Any
    context: Context


def _kind(message: dict[str, Any]) -> tuple[str, str]:
    """What of several messages said at the same time one is: parallel answers come in any order."""
    kind = str(message.get("type"))
    for key in ("response", "request"):
        inner = message.get(key)
        if isinstance(inner, dict):
            return kind, str(inner.get("request_id") or inner.get("subtype") or "")
    return kind, ""


def _difference(recorded: Any, said: Any, where: str) -> str:
    """The first place at which two values differ; "" where they are equal."""
    if isinstance(recorded, dict) and isinstance(said, dict):
        for key in [*recorded, *(key for key in said if key not in recorded)]:
            found = _difference(recorded.get(key), said.get(key), f"{where}.{key}")
            if found:
                return found
        return ""
    if isinstance(recorded, list) and isinstance(said, list) and len(recorded) == len(said):
        pairs = enumerate(zip(recorded, said, strict=True))
        return next((found for n, (a, b) in pairs if (found := _difference(a, b, f"{where}[{n}]"))), "")
    return "" if recorded == said else f"{where}: {recorded!r:.200}, now {said!r:.200}"
