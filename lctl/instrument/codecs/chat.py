"""OpenAI chat completions, as spoken by every server that calls itself compatible."""

from __future__ import annotations

from typing import Any

from lctl.instrument.codecs.bodies import objects
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.usage import read_tokens

_NOT_PARAMS = frozenset({"messages", "model", "tools", "functions", "stream"})
#: Texts that arrive in pieces; any other string of a delta is the whole value.
PIECES = ("reasoning_content", "reasoning", "refusal")


def read_request(document: dict[str, Any], provider: str) -> ModelRequest:
    messages = document.get("messages")
    if not isinstance(messages, list):
        raise ValueError("a chat completion has a list of 'messages'")
    model = document.get("model")
    return ModelRequest(
        provider=provider,
        operation="chat.completions",
        kind="llm",
        model=model if isinstance(model, str) else None,
        messages=[as_message(message) for message in messages],
        tools=document.get("tools") or document.get("functions") or None,
        params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
        stream=bool(document.get("stream")),
    )


def as_message(value: Any) -> dict[str, Any]:
    """The message itself; what a server would refuse is wrapped, so that the call is still recorded."""
    if isinstance(value, dict) and isinstance(value.get("role"), str):
        return value
    if isinstance(value, dict):
        return {**value, "role": "unknown"}
    return {"role": "unknown", "content": value}


def read_whole(whole: dict[str, Any]) -> ModelAnswer:
    """From a complete response object."""
    choices = whole.get("choices")
    if type(choices) is list and len(choices) == 1 and type(choices[0]) is dict:  # nearly every answer
        [choice] = choices
        message, reason = choice.get("message"), choice.get("finish_reason")
        if type(message) is dict and message.get("role") and type(reason) is str:
            id, model, usage = whole.get("id"), whole.get("model"), whole.get("usage")
            counted = type(usage) is dict
            return ModelAnswer(
                id if type(id) is str else None,
                model if type(model) is str else None,
                [message],
                reason,
                [reason],
                read_tokens(usage) if counted else None,
                usage if counted else None,
            )
    answer = read_head(whole)
    choices = objects(choices)
    answer.messages = [_sampled(choice.get("message")) for choice in choices]
    _set_finish(answer, [choice.get("finish_reason") for choice in choices])
    return answer


def read_head(whole: dict[str, Any]) -> ModelAnswer:
    id, model, usage = whole.get("id"), whole.get("model"), whole.get("usage")
    answer = ModelAnswer(id if type(id) is str else None, model if type(model) is str else None)
    if type(usage) is dict:
        answer.usage = usage
        answer.tokens = read_tokens(usage)
    return answer


def _sampled(message: Any) -> dict[str, Any]:
    if not isinstance(message, dict):
        return {"role": "assistant", "content": None}  # a content filter took the message away
    return {**message, "role": message.get("role") or "assistant"}


def _set_finish(answer: ModelAnswer, reasons: list[Any]) -> None:
    answer.finish_reasons = [_text(reason) for reason in reasons]
    answer.finish_reason = answer.finish_reasons[0] if reasons else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


# -- streams -----------------------------------------------------------------------------


def read_events(events: list[dict[str, Any]], done: bool) -> ModelAnswer:
    """From the chunks of a stream, as far as they came."""
    choices: dict[int, _Choice] = {}
    head: dict[str, Any] = {}
    headed = False
    for event in events:
        if not headed or event.get("usage") or "x_groq" in event:
            read_event_head(event, head)
            headed = bool(head.get("id") and head.get("model"))
        parts = event.get("choices")
        if not isinstance(parts, list):
            continue
        for part in parts:
            if not isinstance(part, dict):
                continue
            index = part.get("index")
            index = index if isinstance(index, int) else 0
            choice = choices.get(index)
            if choice is None:
                choice = choices[index] = _Choice()
            reason = part.get("finish_reason")
            if reason:
                choice.finish = reason
            delta = part.get("delta")
            if isinstance(delta, dict):
                text = delta.get("content")
                if len(delta) == 1 and type(text) is str and choice.parts is None:  # nearly every delta
                    choice.text.append(text)
                else:
                    choice.add(delta)
    answer = read_head(head)
    ordered = [choices[index] for index in sorted(choices)]
    answer.messages = [choice.message() for choice in ordered]
    _set_finish(answer, [choice.finish for choice in ordered])
    answer.events = len(events)
    answer.complete = done or (bool(ordered) and all(choice.finish for choice in ordered))
    return answer


def read_event_head(event: dict[str, Any], head: dict[str, Any]) -> None:
    """Keep the first id and model, and the last usage; Groq puts it into a field of its own."""
    if not (head.get("id") and head.get("model")):
        for key in ("id", "model"):
            head[key] = head.get(key) or event.get(key)
    usage = event.get("usage")
    if not usage and "x_groq" in event:
        groq = event["x_groq"]
        usage = groq.get("usage") if isinstance(groq, dict) else None
    if usage:
        head["usage"] = usage


class _Choice:
    """One answer of a stream while its deltas arrive."""

    __slots__ = ("audio", "calls", "finish", "function", "other", "parts", "pieces", "text")

    def __init__(self) -> None:
        self.finish: str | None = None
        self.text: list[str] = []
        self.parts: list[Any] | None = None  # set once a delta's content is a list (Mistral)
        self.pieces: dict[str, list[str]] = {}
        self.calls: list[_Call] = []
        self.function: _Call | None = None
        self.audio: dict[str, Any] | None = None
        self.other: dict[str, Any] = {}

    def add(self, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            if value is None or key == "role":
                continue
            if key == "content":
                self._add_content(value)
            elif key in PIECES and isinstance(value, str):
                self.pieces.setdefault(key, []).append(value)
            elif key == "tool_calls":
                for call in objects(value):
                    self._add_call(call)
            elif key == "function_call" and isinstance(value, dict):
                self.function = self.function or _Call(None)
                self.function.add({"function": value})
            elif key == "audio" and isinstance(value, dict):
                self.audio = _join_audio(self.audio or {}, value)
            elif isinstance(value, list) and isinstance(self.other.get(key), list):
                self.other[key] = self.other[key] + value
            else:
                self.other[key] = value

    def _add_content(self, value: Any) -> None:
        if isinstance(value, str):
            if self.parts is None:
                self.text.append(value)
            elif value:
                _append_part(self.parts, {"type": "text", "text": value})
        elif isinstance(value, list):
            if self.parts is None:
                text = "".join(self.text)
                self.parts = [{"type": "text", "text": text}] if text else []
            for part in value:
                _append_part(self.parts, part)

    def _add_call(self, part: dict[str, Any]) -> None:
        """Servers that count calls badly tell them apart by id and name: without an index a delta that names
        something begins a call; with that of a call that has another id it does, too."""
        index, named = part.get("index"), part.get("id") or None
        inner = part.get("function") or part.get("custom")
        called = isinstance(inner, dict) and bool(inner.get("name"))
        if index is None:
            known = None if named or called or not self.calls else self.calls[-1]
        else:
            known = next((call for call in reversed(self.calls) if call.index == index), None)
            if known is not None and called and named and known.id and known.id != named:
                known = None
        if known is None:
            known = _Call(index)
            self.calls.append(known)
        known.add(part)

    def message(self) -> dict[str, Any]:
        content: Any = self.parts if self.parts is not None else ("".join(self.text) if self.text else None)
        message: dict[str, Any] = {"role": "assistant", "content": content}
        for key, pieces in self.pieces.items():
            message[key] = "".join(pieces)
        if self.calls:
            message["tool_calls"] = [call.whole() for call in _in_order(self.calls)]
        if self.function is not None:
            message["function_call"] = self.function.inner()
        if self.audio is not None:
            message["audio"] = self.audio
        for key, value in self.other.items():
            message.setdefault(key, value)
        return message


def _in_order(calls: list[_Call]) -> list[_Call]:
    """By the index that the server gives them, as SDKs do; as they came where it counts only some."""
    if any(type(call.index) is not int for call in calls):
        return calls
    return sorted(calls, key=lambda call: call.index)


class _Call:
    """One tool call of a stream while its deltas arrive."""

    __slots__ = ("arguments", "extra", "id", "index", "name", "type")

    def __init__(self, index: Any) -> None:
        self.index = index
        self.id: Any = None
        self.type: str | None = None
        self.name: Any = None
        self.arguments: list[str] = []
        self.extra: dict[str, Any] = {}

    def add(self, part: dict[str, Any]) -> None:
        self.id = self.id or part.get("id")
        self.type = self.type or part.get("type")
        for kind, text in (("function", "arguments"), ("custom", "input")):
            inner = part.get(kind)
            if not isinstance(inner, dict):
                continue
            if kind == "custom":
                self.type = "custom"
            self.name = self.name or inner.get("name")
            value = inner.get(text)
            if isinstance(value, str):
                self.arguments.append(value)
            elif value is not None:  # an object where its JSON text belongs
                self.extra[text] = value
        for key, value in part.items():  # such as Gemini's thought signatures, which must be sent back
            if key not in ("index", "id", "type", "function", "custom") and value is not None:
                self.extra[key] = value

    def inner(self) -> dict[str, Any]:
        text = "input" if self.type == "custom" else "arguments"
        return {"name": self.name, text: self.extra.pop(text, None) or "".join(self.arguments)}

    def whole(self) -> dict[str, Any]:
        kind = "custom" if self.type == "custom" else "function"
        inner = self.inner()
        return {"id": self.id, "type": self.type or kind, kind: inner, **self.extra}


def _append_part(parts: list[Any], part: Any) -> None:
    """Append a content part, or lengthen the last one where both are text (or thinking)."""
    last = parts[-1] if parts else None
    if isinstance(part, dict) and isinstance(last, dict) and part.get("type") == last.get("type"):
        if set(part) == set(last) == {"type", "text"} and isinstance(part["text"], str):
            parts[-1] = {"type": last["type"], "text": str(last["text"]) + part["text"]}
            return
        inner, known = part.get("thinking"), last.get("thinking")
        if set(part) <= {"type", "thinking"} and isinstance(inner, list) and isinstance(known, list):
            joined = list(known)
            for piece in inner:
                _append_part(joined, piece)
            parts[-1] = {**last, "thinking": joined}
            return
    parts.append(part)


def _join_audio(known: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Audio comes as base64 and transcript in pieces; the rest of it is whole."""
    for key, value in part.items():
        if key in ("data", "transcript") and isinstance(value, str):
            known[key] = known.get(key, "") + value
        elif value is not None:
            known[key] = value
    return known
