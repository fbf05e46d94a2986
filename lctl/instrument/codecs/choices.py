"""The choices of a streamed chat completion, each put together from the deltas that arrive."""

from __future__ import annotations

from typing import Any

from lctl.instrument.codecs.bodies import objects

#: Texts that arrive in pieces; any other string of a delta is the whole value.
PIECES = ("reasoning_content", "reasoning", "refusal")


class Choice:
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
            elif key == "reasoning_details" and isinstance(value, list):
                self.other[key] = _join_details(self.other.get(key) or [], value)
            elif isinstance(value, list) and isinstance(self.other.get(key), list):
                self.other[key] = self.other[key] + value
            else:
                self.other[key] = value

    def _add_content(self, value: Any) -> None:
        if isinstance(value, str):
            if self.parts is None:
                self.text.append(value)
            elif value:
                append_part(self.parts, {"type": "text", "text": value})
        elif isinstance(value, list):
            if self.parts is None:
                text = "".join(self.text)
                self.parts = [{"type": "text", "text": text}] if text else []
            for part in value:
                append_part(self.parts, part)

    def _add_call(self, part: dict[str, Any]) -> None:
        """Servers that count calls badly tell them apart by id and name: without an index a delta that names
        something begins a call; with that of a call that has another id, or arguments and another name, it
        does, too."""
        index, named = part.get("index"), part.get("id") or None
        inner = part.get("function") or part.get("custom")
        name = inner.get("name") if isinstance(inner, dict) else None
        if index is None:
            known = None if named or name or not self.calls else self.calls[-1]
        else:
            known = next((call for call in reversed(self.calls) if call.index == index), None)
            if known is not None and name and known.is_another(named, name):
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
            self.name = _more_of_a_name(self.name, inner.get("name"))
            value = inner.get(text)
            if isinstance(value, str):
                self.arguments.append(value)
            elif value is not None:  # an object where its JSON text belongs
                self.extra[text] = value
        for key, value in part.items():  # such as Gemini's thought signatures, which must be sent back
            if key not in ("index", "id", "type", "function", "custom") and value is not None:
                self.extra[key] = value

    def is_another(self, id: Any, name: Any) -> bool:
        """Whether a delta with this name, under the same index, begins another call."""
        if id:
            return bool(self.id) and self.id != id
        return any(self.arguments) and name != self.name

    def inner(self) -> dict[str, Any]:
        text = "input" if self.type == "custom" else "arguments"
        return {"name": self.name, text: self.extra.pop(text, None) or "".join(self.arguments)}

    def whole(self) -> dict[str, Any]:
        kind = "custom" if self.type == "custom" else "function"
        inner = self.inner()
        return {"id": self.id, "type": self.type or kind, kind: inner, **self.extra}


def _more_of_a_name(known: Any, more: Any) -> Any:
    """Names come whole, and some servers repeat them; a few send them in pieces, which SDKs join."""
    if not known or not more:
        return known or more
    if not isinstance(known, str) or not isinstance(more, str):
        return known
    return more if more.startswith(known) else known + more


def append_part(parts: list[Any], part: Any) -> None:
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
                append_part(joined, piece)
            parts[-1] = {**last, "thinking": joined}
            return
    parts.append(part)


def _join_details(known: list[Any], pieces: list[Any]) -> list[Any]:
    """OpenRouter's thoughts: pieces of one have its index and type."""
    joined = list(known)
    for piece in pieces:
        last = joined[-1] if joined else None
        if last is None or not _is_more_of(last, piece):
            joined.append(piece)
            continue
        whole = {**last, **{key: value for key, value in piece.items() if value is not None}}
        for key in ("text", "summary", "data"):
            if isinstance(piece.get(key), str) and isinstance(last.get(key), str):
                whole[key] = last[key] + piece[key]
        joined[-1] = whole
    return joined


def _is_more_of(last: Any, piece: Any) -> bool:
    if not isinstance(last, dict) or not isinstance(piece, dict) or piece.get("index") is None:
        return False
    return all(last.get(key) == piece.get(key) for key in ("index", "type"))


def _join_audio(known: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Audio comes as base64 and transcript in pieces; the rest of it is whole."""
    for key, value in part.items():
        if key in ("data", "transcript") and isinstance(value, str):
            known[key] = known.get(key, "") + value
        elif value is not None:
            known[key] = value
    return known
