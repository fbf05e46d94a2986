"""Messages of every dialect as chat messages, the form most trainers read; what that form has no room for
is counted.

Chat messages here have `role` (system, user, assistant, tool), `content` (text, or a list of text and
image parts), `tool_calls` (arguments as text), `tool_call_id`, `name`, and `reasoning_content`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import lctl.state.messages as dialects
from lctl.training.contents import packed
from lctl.values import dicts, items, text

Data = Mapping[str, Any]

_ROLES = {"developer": "system", "model": "assistant", "human": "user", "ai": "assistant", "function": "tool"}
_TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
_THOUGHTS = frozenset({"thinking", "reasoning", "redacted_thinking", "reasoning_text", "thought"})
#: Calls that the provider itself carried out: nobody will answer them in a tool message.
_SERVERS = frozenset({"server_tool_use", "mcp_tool_use", "mcp_call"})
_CALLS = frozenset({"tool_use", "function_call", "custom_tool_call"})
_RESULTS = frozenset({"tool_result", "function_call_output", "custom_tool_call_output"})
_EXTRAS = ("cache_control", "citations", "annotations", "audio")


class Chat:
    """Makes chat messages and tool definitions, and counts in `lost` what they leave out."""

    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()

    def messages(self, data: Data) -> list[dict[str, Any]]:
        """One message of any dialect; an assistant's always becomes exactly one.

        Results of several tools in one message become a tool message each, before what else it says.
        """
        role = str(data.get("role") or "assistant")
        role = _ROLES.get(role, role)
        if role == "assistant":
            return [self._assistant(data)]
        if role == "tool":
            return [self._result(result) for result in self._results(data)]
        made = [self._result(result) for result in self._results(data)]
        parts = [part for part in _parts(data) if not _is_result(part)]
        if parts or not made:
            content = self._content(parts)
            named = {"name": data["name"]} if isinstance(data.get("name"), str) else {}
            made.append({"role": role, "content": content, **named})
        return made

    def tools(self, definitions: object) -> list[dict[str, Any]]:
        """Tool definitions of any dialect, as functions."""
        made: list[dict[str, Any]] = []
        for definition in items(definitions):
            made += self._tool(definition)
        return made

    # -- messages ----------------------------------------------------------------------------

    def _assistant(self, data: Data) -> dict[str, Any]:
        for part in _parts(data):
            self._note(part)
        words = dialects.text_of(data)
        message: dict[str, Any] = {"role": "assistant", "content": words}
        calls = list(_calls(data))
        if calls:
            message["content"] = words or None
            message["tool_calls"] = calls
        reasoning = dialects.reasoning_of(data)
        if reasoning:
            message["reasoning_content"] = reasoning
        elif any(isinstance(part, Mapping) and text(part.get("type")) in _THOUGHTS for part in _parts(data)):
            self.lost["encrypted reasoning"] += 1
        if isinstance(data.get("name"), str):
            message["name"] = data["name"]
        if isinstance(data.get("audio"), Mapping):
            self.lost["audio"] += 1
        return message

    def _results(self, data: Data) -> list[dict[str, Any]]:
        return dialects.tool_results_of(data)

    def _result(self, result: Data) -> dict[str, Any]:
        if result.get("is_error"):
            self.lost["is_error of a tool result"] += 1
        call_id = result.get("call_id")
        return {
            "role": "tool",
            "tool_call_id": str(call_id or ""),
            "content": self._output(result.get("output")),
        }

    def _output(self, output: Any) -> str:
        if isinstance(output, list):
            texts = []
            for part in output:
                words = dialects.text_of({"role": "user", "content": [part]})
                if words or (isinstance(part, Mapping) and text(part.get("type")) in _TEXTS):
                    texts.append(words)
                else:
                    self.lost[f"{_kind(part)} in a tool result"] += 1
            return "\n".join(texts)
        return as_text(output)

    def _content(self, parts: list[Any]) -> Any:
        made: list[dict[str, Any]] = []
        for part in parts:
            if isinstance(part, str):
                made.append({"type": "text", "text": part})
                continue
            self._note(part)
            images = dialects.images_of({"role": "user", "content": [part]})
            words = dialects.text_of({"role": "user", "content": [part]})
            if images and isinstance(images[0].get("url"), str):
                made.append({"type": "image_url", "image_url": {"url": images[0]["url"]}})
            elif words or (isinstance(part, Mapping) and text(part.get("type")) in _TEXTS):
                made.append({"type": "text", "text": words})
            else:
                self.lost[_kind(part)] += 1
        if all(part["type"] == "text" for part in made):
            return "\n".join(part["text"] for part in made)
        return made

    def _note(self, part: Any) -> None:
        """Count what a part holds that has no place in a chat message."""
        if not isinstance(part, Mapping):
            return
        for key in _EXTRAS:
            if part.get(key):
                self.lost[key] += 1
        kind = text(part.get("type"))
        if kind in _SERVERS or kind.endswith(("_tool_result", "_call_output")):
            if kind not in _RESULTS:
                self.lost["server tool"] += 1
        elif kind.endswith("_call") and kind not in _CALLS:
            self.lost["server tool"] += 1

    # -- tools -------------------------------------------------------------------------------

    def _tool(self, definition: Any) -> Iterator[dict[str, Any]]:
        if not isinstance(definition, Mapping):
            self.lost["tool"] += 1
            return
        inner = definition.get("function")
        if isinstance(inner, Mapping):
            yield _function(inner, inner.get("parameters"))
            return
        declared = definition.get("functionDeclarations") or definition.get("function_declarations")
        if isinstance(declared, list):
            for one in dicts(declared):
                yield _function(one, one.get("parameters"))
        elif "input_schema" in definition and definition.get("type", "custom") == "custom":
            yield _function(definition, definition["input_schema"])
        elif definition.get("type", "function") == "function" and "name" in definition:
            yield _function(definition, definition.get("parameters"))
        else:
            self.lost[f"tool {definition.get('type') or 'of no known form'}"] += 1


def as_text(value: Any) -> str:
    """Text as it is; anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else packed(value).decode()


def flat(content: Any) -> str:
    """The text of a chat message's content."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part.get("type") == "text")
    return content or ""


def _function(said: Data, parameters: Any) -> dict[str, Any]:
    function = {key: said[key] for key in ("name", "description", "strict") if said.get(key) is not None}
    known = isinstance(parameters, Mapping)
    function["parameters"] = dict(parameters) if known else {"type": "object", "properties": {}}
    return {"type": "function", "function": function}


def _calls(data: Data) -> Iterator[dict[str, Any]]:
    """Tool calls for the program to carry out; arguments given as text stay to the letter what they were."""
    found: list[tuple[Any, Any, Any]] = []
    calls = data.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        inner = call.get("function") or call.get("custom") if isinstance(call, Mapping) else None
        if isinstance(inner, Mapping):
            found.append((call.get("id"), inner.get("name"), _arguments(inner)))
    legacy = data.get("function_call")
    if isinstance(legacy, Mapping):
        found.append((None, legacy.get("name"), legacy.get("arguments")))
    for part in _parts(data):
        if not isinstance(part, Mapping):
            continue
        google = part.get("functionCall")
        if isinstance(google, Mapping):
            found.append((google.get("id"), google.get("name"), google.get("args")))
        elif text(part.get("type")) in _CALLS:
            found.append((part.get("call_id") or part.get("id"), part.get("name"), _arguments(part)))
    for place, (id, name, arguments) in enumerate(found):
        function = {"name": str(name or ""), "arguments": as_text(arguments) or "{}"}
        yield {"id": str(id or name or f"call_{place}"), "type": "function", "function": function}


def _arguments(call: Data) -> Any:
    if "input" not in call:
        return call.get("arguments")
    written = call["input"]
    return {"input": written} if isinstance(written, str) else written


def _parts(data: Data) -> list[Any]:
    content = data.get("content")
    if isinstance(content, str):
        found: list[Any] = [content]
    elif isinstance(content, list):
        found = []
        for part in content:
            whole = isinstance(part, Mapping) and text(part.get("type")) in dialects.WORDED
            found += _parts(part) if whole else [part]
    else:
        found = [content] if isinstance(content, Mapping) else []
    more = data.get("parts")
    return found + (more if isinstance(more, list) else [])


def _is_result(part: Any) -> bool:
    return isinstance(part, Mapping) and (text(part.get("type")) in _RESULTS or "functionResponse" in part)


def _kind(part: Any) -> str:
    kind = part.get("type") if isinstance(part, Mapping) else None
    return str(kind or "part of no known form")
