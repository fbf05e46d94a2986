"""A recorded Claude process in the place of a living one.

What came from it is given again, each message when its turn has come and the program has said what the
recording had it say by then.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextvars import Context, copy_context
from typing import Any, NamedTuple, Protocol

from lctl.errors import RerunStopped
from lctl.guard import guard
from lctl.instrument.codecs.bodies import loads_or_none
from lctl.instrument.serving.differences import difference
from lctl.instrument.serving.errors import revive
from lctl.session import border
from lctl.session.border import Answer

#: Seconds of the program's own time in which it must say what it said in the recording.
_PATIENCE = 60.0


class RequestIds:
    """The SDK's request ids, which it makes up anew in every run, and as they are kept."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}  # the SDK's -> the lasting one

    def lasting(self, message: dict[str, Any]) -> dict[str, Any]:
        """The message with a lasting id in place of the SDK's own, which is made up anew in every run."""
        if message.get("type") == "control_request" and str(message.get("request_id")).startswith("req_"):
            id = str(message["request_id"])
            return {**message, "request_id": self._known.setdefault(id, f"sdk_{len(self._known) + 1}")}
        response = message.get("response")
        if message.get("type") == "control_response" and isinstance(response, dict):
            id = str(response.get("request_id"))
            return {**message, "response": {**response, "request_id": self._known.get(id, id)}}
        return message

    def own(self, message: dict[str, Any]) -> dict[str, Any]:
        """The other way round."""
        response = message.get("response")
        if message.get("type") != "control_response" or not isinstance(response, dict):
            return message
        kept = str(response.get("request_id"))
        id = next((own for own, known in self._known.items() if known == kept), kept)
        return {**message, "response": {**response, "request_id": id}}


class Told(Protocol):
    """Who is told of what passes, as of a living process."""

    def sent(self, message: Any) -> None: ...
    def keep(self, line: dict[str, Any]) -> None: ...
    def tell(self, what: str, message: dict[str, Any]) -> None: ...


class RecordedProcess:
    """One, given again.

    Args:
        answer: its recorded life.
    """

    def __init__(self, answer: Answer, ids: RequestIds, line: Told) -> None:
        self.answer = answer
        self._ids = ids
        self._line = line
        self._saying: list[_Saying] = []  # not met in the recording yet
        self._news: Any = None  # an event of anyio's: somebody waits for the program to say something
        self._passed = 0  # of the recorded lines

    async def say(self, message: dict[str, Any]) -> None:
        """The program says something: returns where it was said in the recording."""
        import anyio  # the SDK's own

        saying = _Saying(message, self._ids.lasting(message), anyio.Event(), copy_context())
        self._saying.append(saying)
        if self._news is not None:
            self._news.set()
        await saying.said.wait()

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """What came from it, each message when the program has said what it had said by then."""
        import anyio  # the SDK's own

        rest, code = b"", None
        async for chunk in self.answer.chunks_async():
            *lines, rest = (rest + chunk).split(b"\n")
            for told in filter(None, map(loads_or_none, lines)):
                if "out" in told:
                    await self._said(told["out"])
                elif "left" in told:
                    await anyio.sleep_forever()
                self._passed += 1
                if "in" in told:
                    yield self._ids.own(told["in"])
                elif "exit" in told:
                    code = told["exit"]
        if code is not None:
            raise self._exit(code)
        if self.answer.error is not None:
            raise revive(self.answer.error)

    def read_on(self) -> None:
        """The SDK reads ahead of the program: what had come of it when the program left came all the same."""
        with guard("a message of a Claude process"):
            lines = b"".join(self.answer.whole()).split(b"\n")
            for told in [*filter(None, map(loads_or_none, lines))][self._passed :]:
                if "out" in told:
                    found = next(
                        (one for one in self._saying if _kind(one.named) == _kind(told["out"])), None
                    )
                    if found is None:
                        return
                    self._saying.remove(found)
                    found.context.run(self._line.sent, found.message)
                    found.said.set()
                elif "in" in told:
                    self._line.keep(told)
                    self._line.tell("received", self._ids.own(told["in"]))

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
        other = difference(recorded, found.named, kind[0])
        if other:
            raise self._stopped(f"the program told Claude something else than in the recording: {other}")
        # Here and now, where the recording has it, as if its sender told it.
        found.context.run(self._line.sent, found.message)
        found.said.set()

    def _stopped(self, text: str) -> RerunStopped:
        player = border.player()
        return RerunStopped(text) if player is None else player.stopped(text)


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
