"""Tool calls and their results in the messages of any dialect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from lctl import values
from lctl.instrument.nameless import BY_NAME


class Asked(NamedTuple):
    """A tool call in a sampled message."""

    id: str
    tool: str
    input: Any


class Result(NamedTuple):
    """A tool's result in a prompt; of a call without an id, `call_id` names the tool (see `Nameless`)."""

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
    named: dict[Any, int] = {}  # Ollama's calls have no id
    for call in _dicts(message.get("tool_calls")):
        kind = "custom" if isinstance(call.get("custom"), dict) else "function"
        inner = call.get(kind)
        if isinstance(inner, dict):
            named[inner.get("name")] = n = named.get(inner.get("name"), 0) + 1
            _add(
                asked,
                call.get("id") or _legacy_id(inner.get("name"), n),
                inner.get("name"),
                inner.get("arguments", inner.get("input")),
            )
    for part in _dicts(message.get("content")):
        item = str(part.get("type"))
        if item == "tool_use":
            _add(asked, part.get("id"), part.get("name"), part.get("input"))
        elif item in ("function_call", "custom_tool_call"):
            given = part.get("arguments", part.get("input"))
            _add(asked, part.get("call_id") or part.get("id"), part.get("name"), given)
        elif item.endswith("_call") and "call_id" in part:
            action = part.get("action", part.get("operation"))
            _add(asked, part["call_id"], item.removesuffix("_call"), action)
        elif isinstance(part.get("toolUse"), dict):  # Bedrock's
            use = part["toolUse"]
            _add(asked, use.get("toolUseId"), use.get("name"), use.get("input"))
    for n, call in _google(message, "functionCall"):
        _add(
            asked, call.get("id") or _legacy_id(call.get("name"), n), call.get("name"), call.get("args") or {}
        )
    function = message.get("function_call")
    if isinstance(function, dict):  # the legacy form has no id: its name is all there is
        _add(asked, _legacy_id(function.get("name")), function.get("name"), function.get("arguments"))
    return asked


def results_in(message: dict[str, Any]) -> list[Result]:
    """The tool results a prompt message carries, in any dialect."""
    role = message.get("role")
    if role == "tool":
        call_id = message.get("tool_call_id")
        name = message.get("tool_name", message.get("name"))
        if call_id is None and isinstance(name, str):
            call_id = _legacy_id(name)
        failed = message.get("is_error") is True
        return [Result(call_id, message.get("content"), failed)] if isinstance(call_id, str) else []
    if role == "function":
        return [Result(_legacy_id(message.get("name")), message.get("content"), False)]
    found = [
        Result(part["tool_use_id"], part.get("content"), bool(part.get("is_error")))
        for part in _dicts(message.get("content"))
        if part.get("type") == "tool_result" and isinstance(part.get("tool_use_id"), str)
    ]
    if not found:
        found = [
            _bedrock(part["toolResult"]) for part in _dicts(message.get("content")) if "toolResult" in part
        ]
    for _, given in _google(message, "functionResponse"):
        response = given.get("response")
        failed = isinstance(response, dict) and set(response) == {"error"}
        found.append(Result(given.get("id") or _legacy_id(given.get("name")), response, failed))
    return found


def _bedrock(given: Any) -> Result:
    given = given if isinstance(given, dict) else {}
    return Result(str(given.get("toolUseId")), given.get("content"), given.get("status") == "error")


def _google(message: dict[str, Any], key: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Google's calls or results, each with how many of its name came until it: they may have no id."""
    counts: dict[Any, int] = {}
    for part in _dicts(message.get("parts")):
        one = part.get(key)
        if isinstance(one, dict):
            counts[one.get("name")] = counts.get(one.get("name"), 0) + 1
            yield counts[one.get("name")], one


def _add(asked: list[Asked], id: Any, tool: Any, arguments: Any) -> None:
    if isinstance(id, str) and isinstance(tool, str):
        asked.append(Asked(id, tool, value_of(arguments)))


def _legacy_id(name: Any, number: int = 1) -> str:
    return f"{BY_NAME}{name}" if number == 1 else f"{BY_NAME}{name}#{number}"


def value_of(arguments: Any) -> Any:
    if isinstance(arguments, str):
        try:
            return values.loads(arguments)
        except ValueError:
            return arguments
    return arguments


def result_text(value: Any) -> str:
    """A result's text: of blocks of text, theirs."""
    if isinstance(value, str):
        return value
    texts = [part["text"] for part in _dicts(value) if isinstance(part.get("text"), str)]
    if texts:
        return "".join(texts)
    return "" if value is None else str(value)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
