"""Messages of any provider's dialect as the GenAI conventions have them: a role and parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lctl.spans.media import media_of
from lctl.state.messages import images_of, reasoning_of, text_of, tool_calls_of, tool_results_of
from lctl.values import text

Data = Mapping[str, Any]
Part = dict[str, Any]

_ROLES = {"model": "assistant", "function": "tool", "human": "user", "ai": "assistant"}
#: A provider's reason for stopping -> the conventions' word for it in a message.
_REASONS = {
    "stop": "stop", "end_turn": "stop", "stop_sequence": "stop", "completed": "stop", "STOP": "stop",
    "length": "length", "max_tokens": "length", "max_output_tokens": "length", "MAX_TOKENS": "length",
    "incomplete": "length", "content_filter": "content_filter", "refusal": "content_filter",
    "SAFETY": "content_filter", "tool_calls": "tool_call", "tool_use": "tool_call",
    "function_call": "tool_call", "requires_action": "tool_call",
}  # fmt: skip
#: The conventions' reason of a message that was not told to its end: left, cancelled, failed.
BROKEN = "error"
_WORDS = frozenset({"text", "output_text", "input_text", "summary_text", "refusal"})


def input_message(data: Data) -> dict[str, Any]:
    """A message that a model read."""
    role = str(data.get("role") or "user")
    message: dict[str, Any] = {"role": _ROLES.get(role, role), "parts": list(parts_of(data))}
    if isinstance(data.get("name"), str):
        message["name"] = data["name"]
    return message


def output_message(data: Data, finish_reason: object = None) -> dict[str, Any]:
    """A message that a model gave."""
    reason = _REASONS.get(finish_reason, finish_reason) if isinstance(finish_reason, str) else None
    return {**input_message({"role": "assistant", **data}), "finish_reason": reason or "stop"}


def parts_of(data: Data) -> Iterator[Part]:
    """What the message holds, in its order."""
    if data.get("role") in ("tool", "function"):
        yield from _results(data)
        return
    for piece in _pieces(data):
        found = list(_parts(piece))
        if found:
            yield from found
        else:
            yield from _kept(piece)


def tool_definitions(definitions: Iterable[Any]) -> list[dict[str, Any]]:
    """Tool definitions of any dialect: {type, name, description, parameters}."""
    return [made for one in definitions if isinstance(one, Mapping) for made in _definition(one)]


def _pieces(data: Data) -> Iterator[Data]:
    """The message cut into messages of one part each, so that their order stays."""
    role = data.get("role")
    thought = {key: data[key] for key in ("reasoning_content", "reasoning", "thinking") if data.get(key)}
    if thought:
        yield {"role": role, **thought}
    content = data.get("content")
    if isinstance(content, list):
        for part in content:
            yield {"role": role, "content": [part]}
    elif content not in (None, ""):
        yield {"role": role, "content": content}
    elif "role" not in data:
        yield data
    parts = data.get("parts")
    for part in parts if isinstance(parts, list) else ():
        yield {"role": role, "parts": [part]}
    rest = {key: data[key] for key in ("refusal", "tool_calls", "function_call") if data.get(key)}
    if rest:
        yield {"role": role, **rest}


def _parts(piece: Data) -> Iterator[Part]:
    thought = reasoning_of(piece)
    if thought:
        yield {"type": "reasoning", "content": thought}
    words = text_of(piece)
    if words:
        yield {"type": "text", "content": words}
    results = tool_results_of(piece)
    yield from _results(piece)
    if not results:
        yield from map(_image, images_of(piece))
    for call in tool_calls_of(piece):
        name, id = call["name"], call["id"]
        yield {
            "type": "tool_call",
            "id": id if isinstance(id, str) else None,
            "name": name if isinstance(name, str) else "",
            "arguments": call["arguments"],
        }


def _results(data: Data) -> Iterator[Part]:
    for result in tool_results_of(data):
        id = result["call_id"]
        part = {
            "type": "tool_call_response",
            "id": id if isinstance(id, str) else None,
            "response": result["output"],
        }
        if result["is_error"]:
            part["is_error"] = True
        yield part


def _image(image: Data) -> Part:
    media, url = image.get("media_type"), image.get("url")
    said: Part = {"mime_type": media, "modality": "image"}
    if isinstance(url, str) and url.startswith("data:"):
        return {"type": "blob", **said, "content": url.partition(",")[2]}
    if isinstance(url, str) and "://" in url:
        return {"type": "uri", **said, "uri": url}
    # Kept aside by its hash: what it is in the log is the file's id here.
    return {"type": "file", **said, "file_id": str(image.get("blob") or url or "")}


def _kept(piece: Data) -> Iterator[Part]:
    """Parts of a kind nobody here knows, as they are: the conventions let a part be of any type."""
    held = piece.get("content") or piece.get("parts")
    for part in held if isinstance(held, list) else [held]:
        if not isinstance(part, Mapping):
            continue
        type = text(part.get("type"))
        if type in _WORDS or type in ("reasoning", "thinking"):
            continue  # it says nothing
        media = media_of(part)
        if media is not None:
            yield media
            continue
        yield {**part, "type": type or next(iter(part), "unknown")}


def _definition(one: Data) -> Iterator[dict[str, Any]]:
    declared = one.get("functionDeclarations") or one.get("function_declarations")
    if isinstance(declared, list):
        yield from tool_definitions(
            {"type": "function", **each} for each in declared if isinstance(each, Mapping)
        )
        return
    held = one.get("function")
    inner: Data = held if isinstance(held, Mapping) else one
    kind = one.get("type")
    name = inner.get("name") or kind
    if not isinstance(name, str):
        return
    parameters = inner.get("parameters", inner.get("input_schema", inner.get("parametersJsonSchema")))
    is_function = kind in (None, "function", "custom") or parameters is not None
    made = {"type": "function" if is_function or not isinstance(kind, str) else kind, "name": name}
    for key, value in (("description", inner.get("description")), ("parameters", parameters)):
        if value is not None:
            made[key] = value
    yield made
