"""mcp: what a client asks beside tool calls, where only models and tools are recorded.

A rerun has no server, so what that says of itself must be on the tape. It is no tool call there, but
something that the program read: an `ambient` event, with the answer as it came by the wire. One that is there
already is referred to: a client may ask for the list of tools before each turn.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from hashlib import sha256
from typing import Any
from weakref import WeakKeyDictionary

import orjson

from lctl.errors import RerunStopped
from lctl.guard import guard
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.default import get_session

SOURCE = "mcp"

#: Parameters that say what is asked for.
_NAMES = ("name", "uri", "cursor", "level")

#: asyncio's and trio's.
_CANCELLATIONS = frozenset({"CancelledError", "Cancelled"})

#: By the session it is recorded in: the answers that have been written there, by digest, in which process.
_known: WeakKeyDictionary[Any, tuple[int, dict[str, Any]]] = WeakKeyDictionary()
#: The answers that a rerun has given, by digest.
_given: dict[str, Any] = {}


async def read(method: str, params: Mapping[str, Any], kind: Any, send: Callable[[], Awaitable[Any]]) -> Any:
    """What the server answers, recorded; or what the recording has in its place.

    Args:
        kind: of the answer: a model, in version 2 a TypeAdapter, or `dict` of one that is left as it came.
    """
    key = " ".join([method, *(str(params[name]) for name in _NAMES if name in params)])
    player, lane = border.player(), lanes.current()
    number = lane.number(f"ambient:{SOURCE}")
    served = None if player is None else player.ambient(SOURCE, key, lane, number)
    reading = _Reading(key)
    if player is not None and served is not None:
        try:
            await player.read_async(SOURCE, lane, number)
        finally:
            reading.over(served[0])
        return _again(served[0], kind)
    try:
        answer = await send()
    except BaseException as error:
        said: Any = getattr(error, "error", None)
        if hasattr(said, "model_dump"):
            reading.over({"error": said.model_dump(mode="json", exclude_unset=True)})
        elif type(error).__name__ in _CANCELLATIONS:
            reading.over(None, cancelled=True)
        else:
            reading.left()
        raise
    with guard("an MCP answer"):
        said = answer if kind is dict else answer.model_dump(by_alias=True, mode="json", exclude_unset=True)
        reading.over(_short(said))
    return answer


class _Reading:
    """One request: an `ambient` event when it is over."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._session = get_session()
        if self._session is not None:
            self._moment = self._session.under_way.begin()

    def left(self) -> None:
        """Nothing is known of what came of it."""
        if self._session is not None:
            self._session.under_way.end(self._moment)

    def over(self, value: Any, cancelled: bool = False) -> None:
        session = self._session
        if session is None:
            return
        with guard("an MCP answer"):
            self.left()
            data = {"source": SOURCE, "key": self._key, "value": value}
            data |= session.under_way.fields(self._moment, False)
            data["duration_ms"] = session.under_way.since(self._moment)
            if cancelled:
                data["cancelled"] = True
            frame = session.frame()
            ended_ns = session.under_way.end_of(self._moment, data["duration_ms"])
            returning = session.returns.begin(ended_ns=ended_ns)
            seq = session.emit("ambient", data, agent=frame.agent, step=frame.step)
            session.returns.end(returning, seq)


def _short(result: Any) -> dict[str, Any]:
    """The answer, or which earlier one of this recording it is."""
    session = get_session()
    if session is None:
        return {"result": result}
    process, known = _known.get(session, (0, {}))
    if process != os.getpid():  # a forked child has a log of its own
        known = {}
        _known[session] = os.getpid(), known
    digest = _digest(result)
    if digest in known:
        return {"as": digest}
    known[digest] = True
    return {"result": result}


def _digest(result: Any) -> str:
    return sha256(orjson.dumps(result, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def _again(value: Mapping[str, Any], kind: Any) -> Any:
    if "error" in value:
        raise _error(value["error"])
    if "as" in value:
        result = _given.get(value["as"])
        if result is None:
            raise RerunStopped("an answer of an MCP server is as another one, which this rerun has not given")
    else:
        result = value["result"]
        _given[_digest(result)] = result
    if kind is dict:
        return deepcopy(result)
    if hasattr(kind, "validate_python"):
        return kind.validate_python(result, by_name=False)
    return kind.model_validate(result)


def _error(data: Mapping[str, Any]) -> Exception:
    from mcp import types
    from mcp.shared import exceptions

    made: Any = getattr(exceptions, "MCPError", None)
    if made is not None:
        return made(data["code"], data["message"], data.get("data"))  # type: ignore[no-any-return]
    of_1: Any = vars(exceptions)["McpError"]
    return of_1(types.ErrorData(**data))  # type: ignore[no-any-return]
