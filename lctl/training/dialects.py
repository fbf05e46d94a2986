"""Messages of every dialect as chat messages, the form most trainers read; what that form has no room for
is counted.

Chat messages here have `role` (system, user, assistant, tool), `content` (text, or a list of text and
image parts), `tool_calls` (arguments as text), `tool_call_id`, `name`, and `reasoning_content`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import lctl.state.messages as dialects
from lctl.training.contents import packed
from lctl.training.definitions import functions
from lctl.training.pairing import pair
from lctl.values import items, text

Data = Mapping[str, Any]

_ROLES = {"developer": "system", "model": "assistant", "human": "user", "ai": "assistant", "function": "tool"}
_TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
_THOUGHTS = frozenset({"thinking", "reasoning", "redacted_thinking", "reasoning_text", "thought"})
#: Calls that the provider itself carried out: nobody will answer them in a tool message.
_SERVERS = frozenset({"server_tool_use", "mcp_tool_use", "mcp_call"})
_CALLS = frozenset({"tool_use", "function_call", "custom_tool_call"})
_RESULTS = frozenset({"tool_result", "function_call_output", "custom_tool_call_output"})
#: What Google's own tools did.
_EXECUTED = frozenset({"executableCode", "codeExecutionResult"})
#: Where parts without a type hold what they are.
_HOLDERS = ("inlineData", "fileData", "image", "document", "video", "audio", "guardContent")
_EXTRAS = ("cache_control", "citations", "annotations", "audio")


class Chat:
    """Makes chat messages and tool definitions, and counts in `lost` what they leave out."""

    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()

    def conversation(self, said: Iterable[Data]) -> list[list[dict[str, Any]]]:
        """What each of the messages becomes. Tool results name the calls that they answer."""
        made = [self.messages(data) for data in said]
        pair(one for several in made for one in several)
        return made

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
        # Ollama's do not say of what type they are.
        self.lost["image"] += len(items(data.get("images")))
        parts = [part for part in _parts(data) if not _is_result(part)]
        if parts or not made:
            content = self._content(parts)
            named = {"name": data["name"]} if isinstance(data.get("name"), str) else {}
            made.append({"role": role, "content": content, **named})
        return made

    def tools(self, definitions: object) -> list[dict[str, Any]]:
        """Tool definitions of any dialect, as functions."""
        return functions(definitions, self.lost)

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
        elif any(map(_is_thought, _parts(data))):
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
                held = _held(part)
                if words or (isinstance(part, Mapping) and text(part.get("type")) in _TEXTS):
                    texts.append(words)
                elif held is not None:
                    texts.append(as_text(held))
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
            if isinstance(part, Mapping) and "cachePoint" in part:
                continue
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
        if "cachePoint" in part:
            self.lost["cache_control"] += 1
        if dialects.cited(part):
            self.lost["citations"] += 1
        kind = text(part.get("type"))
        if _by_bedrock(part):
            self.lost["server tool"] += 1
        elif kind in _SERVERS or kind.endswith(("_tool_result", "_call_output")):
            if kind not in _RESULTS:
                self.lost["server tool"] += 1
        elif (kind.endswith("_call") and kind not in _CALLS) or not _EXECUTED.isdisjoint(part):
            self.lost["server tool"] += 1


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
        google, bedrock = part.get("functionCall"), part.get("toolUse")
        if isinstance(google, Mapping):
            found.append((google.get("id"), google.get("name"), google.get("args")))
        elif isinstance(bedrock, Mapping) and not _by_bedrock(part):
            found.append((bedrock.get("toolUseId"), bedrock.get("name"), bedrock.get("input")))
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
    if not isinstance(part, Mapping):
        return False
    return text(part.get("type")) in _RESULTS or "functionResponse" in part or "toolResult" in part


def _by_bedrock(part: Data) -> bool:
    """A call that Bedrock itself carried out."""
    called = part.get("toolUse")
    return isinstance(called, Mapping) and called.get("type") in _SERVERS


def _held(part: Any) -> Any:
    """What a tool gave that is no text: JSON of Bedrock's, a document of Cohere's. None of any other."""
    if not isinstance(part, Mapping):
        return None
    document = part.get("document")
    return document.get("data") if isinstance(document, Mapping) else part.get("json")


def _is_thought(part: Any) -> bool:
    if not isinstance(part, Mapping):
        return False
    return text(part.get("type")) in _THOUGHTS or "reasoningContent" in part


def _kind(part: Any) -> str:
    """What a part is; of Google's and Bedrock's, which have no type, the key that holds it."""
    if not isinstance(part, Mapping):
        return "part of no known form"
    return str(part.get("type") or next((key for key in _HOLDERS if key in part), "part of no known form"))
