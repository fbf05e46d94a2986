"""What a message says, whatever dialect it is in.

The data of a `message` event is the provider's own message. These functions read OpenAI chat and
Responses, Anthropic and Google ones, by their shapes; nothing in them raises on a message of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lctl import values

Data = Mapping[str, Any]

#: Types of a part whose `text` is what the message says.
_TEXT = frozenset({"text", "output_text", "input_text", "summary_text"})
#: Whose `transcript` is.
_SPOKEN = frozenset({"input_audio", "output_audio", "audio"})
_REASONING = frozenset({"thinking", "reasoning", "reasoning_text", "redacted_thinking", "thought"})
_CALLS = frozenset(
    {"tool_use", "server_tool_use", "mcp_tool_use", "function_call", "custom_tool_call", "mcp_call"}
)
_RESULTS = frozenset({"tool_result", "function_call_output", "custom_tool_call_output"})
_IMAGES = frozenset(
    {"image", "image_url", "input_image", "image_file", "computer_screenshot", "image_generation_call"}
)
#: Items of the Responses API and steps of the Interactions API that have parts of their own.
WORDED = frozenset({"message", "model_output"})
#: Google's SDKs write base64 for addresses; who reads images wants the other.
_PLAIN = str.maketrans("-_", "+/")
#: Where a part, or what it points to, has the image.
_PLACES = ("data", "url", "fileUri", "uri", "image_url", "result")


def content_of(data: Data) -> Any:
    """What a message says, as its provider has it: `content`; Google's have `parts` in its place."""
    content = data.get("content")
    return data.get("parts") if content is None else content


def text_of(data: Data) -> str:
    """The words of a message, parts joined by nothing; "" if it has none. A refusal is words too."""
    said = [_words(part) for part in _parts(data)]
    refusal = data.get("refusal")
    if isinstance(refusal, str):
        said.append(refusal)
    return "".join(said)


def reasoning_of(data: Data) -> str:
    """What the model thought, as far as the provider shows it; parts are paragraphs."""
    thought = [_first_text(data, ("reasoning_content", "reasoning", "thinking", "tool_plan"))]
    for part in _parts(data):
        if isinstance(part, Mapping) and (_kind(part) in _REASONING or part.get("thought") is True):
            thought.append(
                _first_text(part, ("thinking", "text", "reasoning")) or _texts(part.get("summary"))
            )
            thought.append(_texts(part.get("content")))
            thought.append(_texts(_list(part.get("thinking"))))  # Mistral's
        elif isinstance(part, Mapping) and isinstance(part.get("reasoningContent"), Mapping):
            thought.append(_texts([part["reasoningContent"].get("reasoningText")]))
    return "\n\n".join(one for one in thought if one)


def tool_calls_of(data: Data) -> list[dict[str, Any]]:
    """Tools the message asks for: {id, name, arguments}. Arguments given as JSON text are decoded; text
    that is no JSON stays text."""
    calls = written_calls_of(data)
    for call in calls:
        call["arguments"] = _decoded(call["arguments"])
    return calls


def written_calls_of(data: Data) -> list[dict[str, Any]]:
    """As `tool_calls_of`, with the arguments as they stand in the message."""
    calls = [_chat_call(call) for call in _list(data.get("tool_calls"))]
    legacy = data.get("function_call")
    if isinstance(legacy, Mapping):
        calls.append(_call(None, legacy.get("name"), legacy.get("arguments")))
    for part in _parts(data):
        if not isinstance(part, Mapping):
            continue
        if _kind(part) in _CALLS:
            arguments = part["input"] if "input" in part else part.get("arguments")
            calls.append(_call(part.get("call_id") or part.get("id"), part.get("name"), arguments))
        elif isinstance(part.get("functionCall"), Mapping):
            google = part["functionCall"]
            calls.append(_call(google.get("id"), google.get("name"), google.get("args")))
        elif isinstance(part.get("toolUse"), Mapping):
            bedrock = part["toolUse"]
            calls.append(_call(bedrock.get("toolUseId"), bedrock.get("name"), bedrock.get("input")))
    return calls


def tool_results_of(data: Data) -> list[dict[str, Any]]:
    """Results of tools the message brings: {call_id, output, is_error}. Output is as the provider takes it:
    text, or a list of parts."""
    results = []
    if data.get("role") in ("tool", "function"):
        call_id = data.get("tool_call_id") or data.get("name") or data.get("tool_name")
        results.append(_result(call_id, data.get("content"), data.get("is_error")))
    for part in _parts(data):
        if not isinstance(part, Mapping):
            continue
        kind = _kind(part)
        if kind in _RESULTS or kind.endswith("_tool_result"):
            output = part["output"] if "output" in part else part.get("content")
            failed = part.get("is_error") or _is_error(part.get("content"))
            results.append(_result(part.get("call_id") or part.get("tool_use_id"), output, failed))
        elif isinstance(part.get("functionResponse"), Mapping):
            google = part["functionResponse"]
            response = google.get("response")
            failed = isinstance(response, Mapping) and set(response) == {"error"}
            results.append(_result(google.get("id") or google.get("name"), response, failed))
        elif isinstance(part.get("toolResult"), Mapping):
            bedrock = part["toolResult"]
            failed = bedrock.get("status") == "error"
            results.append(_result(bedrock.get("toolUseId"), bedrock.get("content"), failed))
    return results


def images_of(data: Data) -> list[dict[str, Any]]:
    """Images in the message: {media_type, url} or {media_type, blob}. `blob` is the hash of a `blob` event;
    a url may be a data: url. What is not known is None."""
    return [_image(part) for part in _all_parts(data) if _is_image(part)]


def _parts(data: Data) -> Iterator[Any]:
    """Parts of the content; text content is one part; a message that is itself an item is its own part."""
    content = data.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, Mapping) and _is_worded(part):
                yield from _parts(part)
            else:
                yield part
    elif isinstance(content, Mapping):
        yield content
    elif "role" not in data:
        yield data
    for part in _list(data.get("parts")):
        yield part


def _all_parts(data: Data) -> Iterator[Mapping[str, Any]]:
    """Parts, and the parts of tool results among them."""
    for part in _parts(data):
        if isinstance(part, Mapping):
            yield part
            for inner in (*_list(part.get("content")), *_list(part.get("output"))):
                if isinstance(inner, Mapping):
                    yield inner


def _is_worded(part: Mapping[str, Any]) -> bool:
    return "content" in part and ("type" not in part or _kind(part) in WORDED)


def _kind(part: Mapping[str, Any]) -> str:
    kind = part.get("type")
    return kind if isinstance(kind, str) else ""


def _words(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or part.get("thought") is True:
        return ""
    if _kind(part) in _TEXT or "type" not in part:
        text = part.get("text")
        return text if isinstance(text, str) else "".join(_words(one) for one in cited(part))
    said = part.get("transcript") if _kind(part) in _SPOKEN else part.get("refusal")
    return said if isinstance(said, str) else ""


def cited(part: Data) -> list[Any]:
    """The parts that Bedrock has together with what they are cited from."""
    held = part.get("citationsContent")
    return _list(held.get("content")) if isinstance(held, Mapping) else []


def _texts(items: Any) -> str:
    """Texts of a list of parts, as paragraphs."""
    if isinstance(items, str):
        return items
    return "\n\n".join(
        item["text"]
        for item in _list(items)
        if isinstance(item, Mapping) and isinstance(item.get("text"), str)
    )


def _first_text(data: Data, keys: tuple[str, ...]) -> str:
    return next((value for key in keys if isinstance(value := data.get(key), str) and value), "")


def _chat_call(call: Any) -> dict[str, Any]:
    if not isinstance(call, Mapping):
        return _call(None, None, call)
    inner = call.get("function") or call.get("custom") or {}
    if not isinstance(inner, Mapping):
        inner = {}
    arguments = inner["input"] if "input" in inner else inner.get("arguments")
    return _call(call.get("id"), inner.get("name"), arguments)


def _call(id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    return {"id": id, "name": name, "arguments": arguments}


def _decoded(arguments: Any) -> Any:
    if isinstance(arguments, str) and arguments[:1] in "{[":
        try:
            return values.loads(arguments)
        except ValueError:
            pass  # arguments cut short by a token limit, or not meant as JSON
    return arguments


def _result(call_id: Any, output: Any, is_error: Any) -> dict[str, Any]:
    return {"call_id": call_id, "output": output, "is_error": bool(is_error)}


def _is_error(content: Any) -> bool:
    """Server tools report a failure as a content of type `..._error`."""
    kind = content.get("type") if isinstance(content, Mapping) else None
    return isinstance(kind, str) and kind.endswith("_error")


def _is_image(part: Mapping[str, Any]) -> bool:
    if _kind(part) in _IMAGES:
        return True
    media = part.get("inlineData") or part.get("fileData")
    if isinstance(media, Mapping):
        return str(media.get("mimeType") or media.get("mime_type")).startswith("image/")
    return _bedrock_image(part) is not None


def _image(part: Mapping[str, Any]) -> dict[str, Any]:
    google = part.get("inlineData") or part.get("fileData")
    for place in (part.get("source"), part.get("image_url"), google, _bedrock_image(part), part):
        if isinstance(place, str):
            return {"media_type": _media_type(place), "url": place}
        if not isinstance(place, Mapping):
            continue
        media = place.get("media_type") or place.get("mimeType") or place.get("mime_type")
        held = next((place[key] for key in _PLACES if place.get(key)), None)
        for named in (held, place):
            if isinstance(named, Mapping) and "$blob" in named:
                media = media or _media_type(str(named.get("prefix", "")))
                return {"media_type": media, "blob": named["$blob"]}
        if isinstance(held, str):
            in_base64 = "data" in place
            if in_base64 and place is google:
                held = held.translate(_PLAIN)
            url = held if not in_base64 else f"data:{media or ''};base64,{held}"
            return {"media_type": media or _media_type(url), "url": url}
    return {"media_type": None, "url": part.get("file_id")}


def _bedrock_image(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """Bedrock's image as others have theirs; None of any other part."""
    held = part.get("image")
    source = held.get("source") if isinstance(held, Mapping) else None
    if not isinstance(held, Mapping) or not isinstance(source, Mapping):
        return None
    said = {"media_type": f"image/{held.get('format')}"}
    place = source.get("s3Location")
    if isinstance(place, Mapping):
        return {**said, "uri": place.get("uri")}
    return {**said, "data": source.get("bytes")}


def _media_type(url: str) -> str | None:
    return url[5:].split(";")[0].split(",")[0] or None if url.startswith("data:") else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
