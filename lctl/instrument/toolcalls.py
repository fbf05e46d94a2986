"""Tool calls that no decorator reports: asked for in one answer, answered in a later prompt."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import orjson

#: Runs that are remembered until a result tells which call they were.
_RUNS = 64
#: Characters of an output that does not occur by chance.
_TELLING = 8


class Asked(NamedTuple):
    """A tool call in a sampled message."""

    id: str
    tool: str
    input: Any


class Result(NamedTuple):
    """A tool's result in a prompt."""

    call_id: str
    output: Any
    failed: bool


def asked_in(message: dict[str, Any]) -> list[Asked]:
    """The calls a sampled message asks its caller to make, without those the provider makes itself."""
    asked: list[Asked] = []
    if type(message.get("content")) is str and not (
        message.get("tool_calls") or message.get("function_call")
    ):
        return asked
    for call in _dicts(message.get("tool_calls")):
        kind = "custom" if isinstance(call.get("custom"), dict) else "function"
        inner = call.get(kind)
        if isinstance(inner, dict):
            _add(asked, call.get("id"), inner.get("name"), inner.get("arguments", inner.get("input")))
    for part in _dicts(message.get("content")):
        item = str(part.get("type"))
        if item == "tool_use":
            _add(asked, part.get("id"), part.get("name"), part.get("input"))
        elif item in ("function_call", "custom_tool_call"):
            _add(asked, part.get("call_id"), part.get("name"), part.get("arguments", part.get("input")))
        elif item.endswith("_call") and "call_id" in part:
            action = part.get("action", part.get("operation"))
            _add(asked, part["call_id"], item.removesuffix("_call"), action)
    function = message.get("function_call")
    if isinstance(function, dict):  # the legacy form has no id: its name is all there is
        _add(asked, _legacy_id(function.get("name")), function.get("name"), function.get("arguments"))
    return asked


def results_in(message: dict[str, Any]) -> list[Result]:
    """The tool results a prompt message carries, in any dialect."""
    role = message.get("role")
    if role == "tool":
        call_id = message.get("tool_call_id")
        return [Result(call_id, message.get("content"), False)] if isinstance(call_id, str) else []
    if role == "function":
        return [Result(_legacy_id(message.get("name")), message.get("content"), False)]
    return [
        Result(part["tool_use_id"], part.get("content"), bool(part.get("is_error")))
        for part in _dicts(message.get("content"))
        if part.get("type") == "tool_result" and isinstance(part.get("tool_use_id"), str)
    ]


def _add(asked: list[Asked], id: Any, tool: Any, arguments: Any) -> None:
    if isinstance(id, str) and isinstance(tool, str):
        asked.append(Asked(id, tool, _value(arguments)))


def _legacy_id(name: Any) -> str:
    return f"function:{name}"


def _value(arguments: Any) -> Any:
    if isinstance(arguments, str):
        try:
            return orjson.loads(arguments)
        except orjson.JSONDecodeError:
            return arguments
    return arguments


def _asks_for(asked: Any, given: Any) -> bool:
    """A model leaves out what has a default; whoever reports the run does not."""
    if isinstance(asked, dict) and isinstance(given, dict):
        return all(name in given and given[name] == value for name, value in asked.items())
    return bool(asked == given)


def _says(result: Any, output: Any) -> bool:
    """Whether a tool's result, as it was sent to the model, is that output."""
    if result == output or _text(result) == _text(output):
        return True
    return isinstance(result, str) and _value(result) == output and output is not None


def _text(value: Any) -> str:
    """A result's text: of blocks of text, theirs."""
    if isinstance(value, str):
        return value
    texts = [part["text"] for part in _dicts(value) if isinstance(part.get("text"), str)]
    if texts:
        return "".join(texts)
    return "" if value is None else str(value)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class _Ran(NamedTuple):
    input: Any
    output: Any


class _Open:
    __slots__ = ("asked", "at_ns", "settled")

    def __init__(self, asked: Asked, at_ns: int, settled: bool) -> None:
        self.asked = asked
        self.at_ns = at_ns
        self.settled = settled


class ToolCalls:
    """The calls sampled in this chain, and which of them have an event.

    Some servers number calls from 0 in every answer: a call id belongs to the answer that used it last.
    """

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._settled: list[str] = []  # forgotten at the next answer, so that inputs are not kept for good
        self._reported: set[str] = set()  # reported before the answer that asked was complete
        self._runs: deque[_Ran] = deque(maxlen=_RUNS)  # reported, and no open call found for them yet

    def ask(self, message: dict[str, Any], at_ns: int) -> None:
        if self._settled:
            for id in self._settled:
                self._open.pop(id, None)
            self._settled.clear()
        for asked in asked_in(message):
            early = asked.id in self._reported
            self._reported.discard(asked.id)
            self._open[asked.id] = _Open(asked, at_ns, early)

    def report(self, call_id: str) -> None:
        known = self._open.get(call_id)
        if known is None:
            self._reported.add(call_id)
        else:
            known.settled = True
            self._settled.append(call_id)

    def report_run(self, tool: str, input: Any, output: Any = None) -> None:
        """A run of `tool` was reported by someone who knows no call id: the oldest open call asks for it.

        Where none of that name does, the model may know the tool by another: the result that is sent for
        the call tells (see `answer`).
        """
        for id, known in self._open.items():
            if not known.settled and known.asked.tool == tool and _asks_for(known.asked.input, input):
                self.report(id)
                return
        if self._open:
            self._runs.append(_Ran(input, output))

    def _take_run(self, asked: Asked, result: Result) -> bool:
        """Whether a reported run is this call: it gave what is sent as its result, or was given what the
        call asks for and gave something that is in the result."""
        for run in self._runs:
            same = _says(result.output, run.output)
            fits = bool(asked.input) and _asks_for(asked.input, run.input)
            if (same and (fits or len(_text(run.output)) >= _TELLING)) or (
                fits
                and not result.failed
                and len(_text(run.output)) > 1
                and _text(run.output) in _text(result.output)
            ):
                self._runs.remove(run)
                return True
        return False

    def answer(self, result: Result, at_ns: int) -> dict[str, Any] | None:
        """Payload of the derived `tool_call`; None where the call is unknown or has its event already."""
        known = self._open.get(result.call_id)
        if known is None or known.settled:
            return None
        known.settled = True
        self._settled.append(result.call_id)
        if self._runs and self._take_run(known.asked, result):
            return None
        return {
            "tool": known.asked.tool,
            "input": known.asked.input,
            "error" if result.failed else "output": result.output,
            "duration_ms": round((at_ns - known.at_ns) / 1e6, 3),
            "call_id": result.call_id,
            "derived": True,
        }

    def reopen(self, call_id: str) -> None:
        """The event of `answer` was not written after all."""
        known = self._open.get(call_id)
        if known is not None:
            known.settled = False
            self._settled.remove(call_id)
