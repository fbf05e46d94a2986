"""mcp: what a client asks beside tool calls, where only models and tools are recorded.

A rerun has no server, so what that says of itself must be on the tape. It is no tool call there, but
something that the program read: an `ambient` event, with the answer as it came by the wire. One that is there
already is referred to: a client may ask for the list of tools before each turn.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from functools import partial
from hashlib import sha256
from typing import Any
from weakref import WeakKeyDictionary

import orjson

from lctl.errors import RerunStopped
from lctl.instrument import waitedreads
from lctl.session.default import get_session
from lctl.session.sources import MCP

#: Parameters that say what is asked for.
_NAMES = ("name", "uri", "cursor", "level")

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

    def encode(answer: Any) -> Any:
        return _short(
            answer if kind is dict else answer.model_dump(by_alias=True, mode="json", exclude_unset=True)
        )

    return await waitedreads.read(MCP, key, send, encode, _failed, partial(_again, kind=kind))


def _failed(error: BaseException) -> dict[str, Any] | None:
    said: Any = getattr(error, "error", None)
    return (
        {"error": said.model_dump(mode="json", exclude_unset=True)} if hasattr(said, "model_dump") else None
    )


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
