"""What a model's span says of the messages it read and gave, by whichever convention it keeps."""

from __future__ import annotations

import re
from typing import Any

from lctl.codec.lines import decode
from lctl.spans import aisdk
from lctl.spans import conventions as names
from lctl.spans.media import part_of
from lctl.spans.parts import BROKEN
from lctl.spans.span import Span
from lctl.spans.turns import are_items, has_turns_in_pieces, joined, of_items, with_ids_of_calls
from lctl.spans.values import as_json, dicts, function_call, items, mapping, text

Messages = list[dict[str, Any]]
_INSTRUCTING = ("system", "developer")
_INDEXED = re.compile(
    r"(?:llm\.(input|output)_messages|gen_ai\.(prompt|completion))\.(\d+)\.(?:message\.)?(.+)"
)
_CALLS = re.compile(r"tool_calls\.(\d+)\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)")
_PARTS = re.compile(r"contents\.(\d+)\.message_content\.(.+)")
_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")


def messages_of(span: Span) -> tuple[Messages, Messages]:
    """(read, given) by a call; both empty where content was not traced."""
    read, gave = _told(span)
    if names.SEQ in span.attributes or not (has_turns_in_pieces(read) or has_turns_in_pieces(gave)):
        return read, gave
    in_items = _is_of_items(span)
    # Several answers are alternatives, unless they are items of one.
    return joined(read, in_items=in_items), joined(gave, in_items=True) if in_items else gave


def _is_of_items(span: Span) -> bool:
    """Whether the call is one of the Responses API, each item of which is told as a message."""
    if span.name.startswith("Responses API with"):  # Logfire's
        return True
    asked, got = (mapping(value_of(span.attributes.get(f"{side}.value"))) for side in ("input", "output"))
    return got.get("object") == "response" or ("input" in asked and "messages" not in asked)


def _told(span: Span) -> tuple[Messages, Messages]:
    said = span.attributes
    if names.MESSAGES in said:
        read, gave = said[names.MESSAGES]
        return read, gave
    if names.INPUT_MESSAGES in said or names.OUTPUT_MESSAGES in said:
        return _conventional(said)
    if "ai.prompt.messages" in said:
        calls = dicts(value_of(said.get("ai.response.toolCalls")))
        return aisdk.read(dicts(value_of(said["ai.prompt.messages"]))), aisdk.gave(said, calls)
    held: dict[str, dict[int, dict[str, Any]]] = {"in": {}, "out": {}}
    for key, value in said.items():
        match = _INDEXED.fullmatch(key)
        if match is not None:
            side = "in" if match[1] == "input" or match[2] == "prompt" else "out"
            held[side].setdefault(int(match[3]), {})[match[4]] = value
    if held["in"] or held["out"]:
        return (
            with_ids_of_calls([_flat(held["in"][n], "user") for n in sorted(held["in"])]),
            [_flat(held["out"][n], "assistant") for n in sorted(held["out"])],
        )
    return _of_events(span)


def is_broken(span: Span) -> bool:
    """Whether what it gave is said not to be whole."""
    given = dicts(value_of(span.attributes.get(names.OUTPUT_MESSAGES)))
    return any(one.get("finish_reason") == BROKEN for one in given)


def _conventional(said: dict[str, Any]) -> tuple[Messages, Messages]:
    system = _parted({"role": "system", "parts": value_of(said.get(names.SYSTEM_INSTRUCTIONS))})
    read = _listed_messages(said.get(names.INPUT_MESSAGES), "user")
    if names.SYSTEM_INSTRUCTIONS not in said and not any(one.get("role") in _INSTRUCTING for one in read):
        # Laminar tells those of the Responses API under the older names alone.
        role = text(said.get("gen_ai.prompt.0.role"))
        content = said.get("gen_ai.prompt.0.content") if role in _INSTRUCTING else None
        system = [{"role": role, "content": _listed(content)}]
    # Some tell the instructions in both places.
    first = [one for one in system if one.get("content") and one not in read[:1]]
    read = first + read
    if "fc_" in str(said.get(names.INPUT_MESSAGES)):
        read = with_ids_of_calls(read)
    return read, _listed_messages(said.get(names.OUTPUT_MESSAGES), "assistant")


def _listed_messages(value: Any, role: str) -> Messages:
    """Messages in parts, or as the provider has them: Laminar writes what it asked and answered (choices,
    items). `role`: of one that names none."""
    told = [mapping(one.get("message")) or one for one in dicts(value_of(value))]
    if are_items(told):
        return of_items(told)
    return [{"role": role, **message} for one in told for message in _parted(one)]


def _parted(message: dict[str, Any]) -> Messages:
    """A message of the GenAI conventions in OpenAI's form; each tool's response one of its own."""
    parts = dicts(message.get("parts"))
    role = text(message.get("role")) or "user"
    if "parts" not in message:
        return [message]
    results = [_result(part) for part in parts if part.get("type") == "tool_call_response"]
    calls = [
        function_call(text(part.get("id")), text(part.get("name")), part.get("arguments", {}))
        for part in parts
        if part.get("type") == "tool_call"
    ]
    rest = [part for part in parts if part.get("type") not in ("tool_call", "tool_call_response")]
    if results and not calls and not rest:
        return results
    said: dict[str, Any] = {"role": role, "content": _content(rest)}
    if isinstance(message.get("name"), str):
        said["name"] = message["name"]
    if calls:
        said["tool_calls"] = calls
    return [*results, said]


def _result(part: dict[str, Any]) -> dict[str, Any]:
    response = part.get("response", part.get("result"))
    content = response if isinstance(response, list) and dicts(response) else as_json(response)
    said = {"role": "tool", "tool_call_id": text(part.get("id")), "content": content}
    return {**said, "is_error": True} if part.get("is_error") is True else said


def _content(parts: Messages) -> Any:
    if not parts:
        return None
    if all(part.get("type") == "text" for part in parts):
        return "".join(text(part.get("content")) or text(part.get("text")) for part in parts)
    return [_part_of(part) for part in parts]


def _part_of(part: dict[str, Any]) -> dict[str, Any]:
    match part.get("type"):
        case "text" if "content" in part:
            return {"type": "text", "text": part["content"]}
        case "reasoning" | "thinking" if "content" in part:
            return {"type": "thinking", "thinking": _thought(part["content"])}
        case "blob" if part.get("modality") == "image":
            url = f"data:{part.get('mime_type') or 'image/*'};base64,{part.get('content')}"
            return {"type": "image_url", "image_url": {"url": url}}
        case "uri" if part.get("modality") == "image":
            return {"type": "image_url", "image_url": {"url": part.get("uri")}}
        case "blob":
            return part_of(part) or part
    return part


def _thought(content: Any) -> Any:
    """A thought's text; OpenLLMetry has the parts of its summary, as JSON."""
    parts = dicts(value_of(content))
    return "\n".join(text(part.get("text")) for part in parts) if parts else content


def _flat(fields: dict[str, Any], role: str) -> dict[str, Any]:
    """A message whose fields are attributes of their own."""
    content = _listed(fields.get("content"))
    message: dict[str, Any] = {"role": text(fields.get("role")) or role, "content": content}
    calls: dict[int, dict[str, Any]] = {}
    parts: dict[int, dict[str, Any]] = {}
    for key, value in fields.items():
        if match := _CALLS.fullmatch(key):
            calls.setdefault(int(match[1]), {})[match[2]] = value
        elif match := _PARTS.fullmatch(key):
            parts.setdefault(int(match[1]), {})[match[2]] = value
    if parts and not message["content"]:
        ordered = [_part(parts[n]) for n in sorted(parts) if not _is_bare(parts[n], bool(calls))]
        only = len(ordered) == 1 and ordered[0].get("type") == "text"
        message["content"] = ordered[0].get("text") if only else ordered or None
    if calls:
        message["tool_calls"] = [
            function_call(text(one.get("id")), text(one.get("name")), one.get("arguments", ""))
            for _, one in sorted(calls.items())
        ]
    elif fields.get("function_call_name"):
        arguments = as_json(fields.get("function_call_arguments_json", ""))
        message["function_call"] = {"name": fields["function_call_name"], "arguments": arguments}
    if fields.get("tool_call_id"):
        message["tool_call_id"] = text(fields["tool_call_id"])
    return message


def _listed(content: Any) -> Any:
    """Content that was a list of parts, which OpenLLMetry wrote as JSON; any other as it is."""
    parts = items(value_of(content)) if isinstance(content, str) and content.startswith("[") else []
    return parts if parts and all(isinstance(mapping(one).get("type"), str) for one in parts) else content


def _is_bare(fields: dict[str, Any], has_calls: bool) -> bool:
    """Whether a part says only that there was one: a thought, or a call, which stands elsewhere."""
    kinds = ("reasoning", *(("tool_use", "tool_call", "function_call") if has_calls else ()))
    return fields.keys() == {"type"} and fields["type"] in kinds


def _part(fields: dict[str, Any]) -> dict[str, Any]:
    if "image.image.url" in fields:
        return {"type": "image_url", "image_url": {"url": fields["image.image.url"]}}
    return fields


def _of_events(span: Span) -> tuple[Messages, Messages]:
    """Messages as events of the span, as the conventions had it until 2025: marks (Strands, OpenLLMetry),
    or a list of them in an attribute (Pydantic AI, Logfire)."""
    told = [(mark.name, mark.attributes) for mark in span.marks]
    told += [(text(one.get("event.name")), one) for one in dicts(value_of(span.attributes.get("events")))]
    read: Messages = []
    given: Messages = []
    for name, event in told:
        match = _EVENT.fullmatch(name)
        if match is not None:
            read.append(_of_event(event, text(event.get("role")) or match[1]))
        elif name == "gen_ai.choice":
            inner = value_of(event.get("message"))
            said = mapping(inner) or {
                **event,
                "content": inner if inner is not None else event.get("content"),
            }
            given.append(_of_event(said, "assistant"))
    return read, given


def _of_event(event: dict[str, Any], role: str) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": text(event.get("role")) or role,
        "content": value_of(event.get("content")),
    }
    calls = dicts(value_of(event.get("tool_calls")))
    if calls:
        message["tool_calls"] = calls
    blocks = dicts(message["content"])
    if role == "tool" and blocks and all("toolResult" in block for block in blocks):
        message["role"] = "user"  # as Bedrock has it, whose blocks these are (Strands)
    elif role == "tool" and event.get("id"):
        message["tool_call_id"] = text(event["id"])
    return message


def value_of(value: Any) -> Any:
    """What JSON text says; any other value as it is."""
    if (isinstance(value, str) and value[:1] in ("{", "[", '"')) or value in ("true", "false", "null"):
        try:
            return decode(value.encode())
        except ValueError:
            return value
    return value


def json_of(value: Any) -> Any:
    """What lctl wrote as JSON; any other value as it is."""
    if isinstance(value, str):
        try:
            return decode(value.encode())
        except ValueError:
            return value
    return value
