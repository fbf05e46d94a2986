"""Lists of messages with `role` and `content`: one, many, in JSON or JSON Lines, of OpenAI or Anthropic.

They do not say who made an assistant's message, but where an answer was put into the list as the API gave it,
with its `usage`: that one a model gave.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lctl.importing.draft import Call, Draft
from lctl.importing.rowshapes import Place, Reader, conversation_name, read_rows
from lctl.importing.source import Row, Source
from lctl.importing.trained import judge, mark, tools_of, trains
from lctl.importing.usages import counts_of
from lctl.importing.values import dicts, mapping, text, tokens, whole, without
from lctl.spans import conventions as names

#: What an answer has beside what was said: it is told by its call.
_OF_ANSWERS = ("id", "type", "model", "usage", "stop_reason", "stop_sequence", "finish_reason")
#: What Cline keeps beside what was said.
_CLINE = frozenset({"ts", "modelInfo", "metrics"})
_COUNTS = {
    "input": names.INPUT_TOKENS,
    "output": names.OUTPUT_TOKENS,
    "cache_read": names.CACHE_READ,
    "cache_write": names.CACHE_WRITE,
    "reasoning": names.REASONING,
}


#: Where a row has its messages.
_KEYS = ("messages", "conversations", "conversation", "input", "history")


class _List(NamedTuple):
    """The messages of one conversation.

    Attributes:
        where: its place in the source.
        around: what stands beside the messages; `key`: where these are in it.
    """

    where: str
    messages: list[dict[str, Any]]
    around: dict[str, Any]


def sees(source: Source) -> str:
    found = next(iter(_lists(source)), None) or next(filter(None, map(_in_row, source.rows)), None)
    if found is None or 2 * sum(map(_is_message, found.messages)) < len(found.messages):
        return ""
    if source.is_lines and _is_message(source.rows[0].value):
        return "lines of JSON with role and content"
    if isinstance(source.document, list) and _is_message((source.document or [None])[0]):
        return "a list of messages with role and content"
    return "lists of messages with role and content"


def read(source: Source, draft: Draft) -> None:
    found = _lists(source)
    for n, one in enumerate(found, 1):
        _conversation(draft, one, Place(None if len(found) == 1 else n, trains=False))
    if not found:
        wanted = "no list of messages with role and content"
        read_rows(source, draft, "messagelists", "row without messages", wanted)


def reader(row: Row) -> Reader | None:
    """What reads a row that has a list of messages; None of any other."""
    found = _in_row(row)
    return None if found is None else lambda draft, place: _conversation(draft, found, place)


def _lists(source: Source) -> list[_List]:
    """The conversations of a source that is not one of rows with messages in each."""
    told = source.document
    if isinstance(told, list) and told and _is_message(told[0]):
        return [_List("message", dicts(told), {})]
    if isinstance(told, list) and told and isinstance(told[0], list):
        return [_List(f"item {n}", dicts(one), {}) for n, one in enumerate(told, 1) if dicts(one)]
    if source.is_lines and _is_message(source.rows[0].value):
        return [_List("message", [row.value for row in source.rows], {})]
    return []


def _in_row(row: Row) -> _List | None:
    value = _batched(row.value)
    for key in _KEYS:
        listed = dicts(value.get(key))
        if listed and _is_message(listed[0]):
            return _List(row.where, listed, {"key": key, **value})
    return None


def _batched(value: dict[str, Any]) -> dict[str, Any]:
    """The request that a row of a batch's input holds (OpenAI, Anthropic); of others the row itself."""
    held = mapping(value.get("body")) or mapping(value.get("params"))
    name = text(value.get("custom_id"))
    return {**held, "id": name} if held and name else value


def _conversation(draft: Draft, found: _List, at_place: Place) -> None:
    where, messages, around = found
    name = text(around.get("conversation_id")) or text(around.get("id"))
    conversation = conversation_name(draft, at_place, name)
    prefix = "" if conversation is None else f"{conversation}/"
    parent: str | None = None
    about: dict[str, Any] = without(around, "key", text(around.get("key")), "system")
    system = around.get("system")
    if around.get("key") == "input":  # a call of the Responses API: what it gave goes on
        messages = [*messages, *dicts(around.get("output"))]
        system = system or around.get("instructions")
        about = without(about, "instructions") if isinstance(system, str | list) else about
        about = without(about, "output") if dicts(around.get("output")) else about
    if isinstance(system, str | list) and system:
        messages = [{"role": "system", "content": system}, *messages]
    of_cline = any("modelInfo" in message for message in messages)
    trained, tools, model = (
        trains(messages, around, at_place.trains),
        tools_of(around),
        text(around.get("model")),
    )
    for count, message in enumerate(messages, 1):
        alone = conversation is None and where == "message"
        place = f"message {count}" if alone else f"{where}, message {count}"
        if not _is_message(message):
            draft.lose("item that is no message (no role)", place)
            continue
        id = f"{prefix}m{count}"
        details: dict[str, Any] = {"conversation": about} if parent is None and about else {}
        if parent is None and name:
            details["id"] = name
        call, at = _call(message), _time(message)
        if call is not None:
            message = without(message, *_OF_ANSWERS) | {"content": message.get("content")}
        elif of_cline:
            call = _of_cline(draft, message, place)
            message = {key: one for key, one in message.items() if key not in _CLINE}
        said = draft.add(
            id, message, parent, at=at, agent=text(message.get("agent")), call=call,
            conversation=conversation, details=details, where=place,
        )  # fmt: skip
        if call is None and trained[count - 1]:
            mark(draft, said, tools, model)
        parent = id
    if parent is not None and any(trained):
        judge(draft, parent, around)


def _call(message: dict[str, Any]) -> Call | None:
    """The call that gave a message, where it stands as an API gave it, with usage."""
    counts = counts_of(mapping(message.get("usage")))
    if message.get("role") != "assistant" or not counts:
        return None
    return Call(
        model=text(message.get("model")) or None,
        provider="anthropic" if message.get("type") == "message" else None,
        tokens=tokens(**{key: counts.get(name) for key, name in _COUNTS.items()}),
        finish_reason=text(message.get("stop_reason")) or text(message.get("finish_reason")) or None,
        response_id=text(message.get("id")) or None,
    )


def _of_cline(draft: Draft, message: dict[str, Any], place: str) -> Call | None:
    """The call that gave a message, as Cline keeps it beside what was said."""
    about = mapping(message.get("modelInfo"))
    if message.get("role") != "assistant" or not text(about.get("modelId")):
        return None
    used = mapping(mapping(message.get("metrics")).get("tokens"))
    cached = whole(used.get("cached"))  # beside the prompt
    if cached:
        draft.lose("which tokens were read from a cache: Cline tells those read and written as one", place)
    counted = tokens(input=whole(used.get("prompt")) + cached, output=used.get("completion"))
    provider = text(about.get("providerId")) or None
    return Call(model=text(about["modelId"]), provider=provider, tokens=counted if used else None)


def _time(message: dict[str, Any]) -> Any:
    return (
        message.get("timestamp")
        or message.get("created_at")
        or message.get("ts")
        or mapping(message.get("metadata")).get("timestamp")
    )


def _is_message(value: object) -> bool:
    """A message, or an item of the Responses API."""
    if not isinstance(value, dict):
        return False
    if not isinstance(value.get("role"), str):
        return isinstance(value.get("type"), str) and any(key in value for key in ("call_id", "summary"))
    return any(
        key in value for key in ("content", "tool_calls", "function_call", "parts", "refusal", "audio")
    )
