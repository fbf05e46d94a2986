"""One line about any event: `code-analyzer: fact_added F1 (confidence: 0.85)`.

Safe on anything a log may hold: a field of the wrong type is left out, an unknown type shows its data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from lctl.analysis.asked import ASKED, COMMAND
from lctl.analysis.log import model_of, number, text, tokens_of
from lctl.analysis.messagewords import names_of_calls, words_of
from lctl.analysis.wording import compact, count, plain, quoted, seconds
from lctl.events import Event
from lctl.state.messages import content_of
from lctl.values import mapping

#: Where libraries are.
_LIBRARY = re.compile(
    r"(site|dist)-packages[/\\]|[/\\]lib[/\\]python3[.\d]*[/\\]|[/\\]python3\d*[/\\]lib[/\\]|^<frozen ",
    re.IGNORECASE,
)

Data = Mapping[str, Any]
_WORDS = 60


def describe(event: Event) -> str:
    """`agent: what happened`."""
    agent = plain(event.agent, 40)
    return f"{agent}: {summary(event)}" if agent else summary(event)


def summary(event: Event) -> str:
    """What happened, without who."""
    said = _SUMMARIES.get(event.type)
    if said is None:
        return f"{plain(event.type, 40)}{_paren(plain(dict(event.data), _WORDS) if event.data else '')}"
    return f"{event.type}{said(event.data)}"


def _step_start(data: Data) -> str:
    model = model_of(data)
    name = text(data.get("tool")) or text(data.get("intent")) or text(data.get("kind"))
    return _paren(plain(name, _WORDS)) + (f" {plain(model, 40)}" if model else "")


def _step_end(data: Data) -> str:
    parts = [plain(text(data.get("outcome")), _WORDS), _ms(data.get("duration_ms"))]
    tokens = tokens_of(data)
    if tokens is not None:
        parts.append(_counted(tokens.total, "token"))
    return _paren(*parts)


def _fact(data: Data) -> str:
    confidence = number(data.get("confidence"))
    id = data.get("id")
    named = f" {plain(id, 40)}" if isinstance(id, str | int) else ""
    return named + _paren("" if confidence is None else f"confidence: {confidence:.2f}")


def _tool_call(data: Data) -> str:
    failed = data.get("error")
    outcome = "" if failed is None or failed is False else "failed"
    return f" {plain(text(data.get('tool')) or '?', 40)}{_paren(_ms(data.get('duration_ms')), outcome)}"


def _error(data: Data) -> str:
    kind = "/".join(plain(text(data.get(key)), 40) for key in ("category", "type") if text(data.get(key)))
    message = plain(text(data.get("message")), 80)
    context = mapping(data.get("context"))
    return (
        f" {kind}" * bool(kind)
        + f": {message}" * bool(message)
        + _paren(plain(text(context.get("request")), _WORDS), _raised_at(context))
    )


def _raised_at(context: Data) -> str:
    """`agent.py:14`, the last place in the program's own files that an exception passed: who reads it looks
    there, and not into the library that raised, which is kept as the very last."""
    places = context.get("traceback")
    if not isinstance(places, list) or not places:
        return ""
    is_library = len(places) > 1 and _LIBRARY.search(text(places[-1])) is not None
    place = text(places[-2 if is_library else -1]).rpartition(" in ")[0]
    return plain(place.replace("\\", "/").rpartition("/")[2], 60)


def _checkpoint(data: Data) -> str:
    return _paren(plain(text(data.get("state_hash")), 16))


def _message(data: Data) -> str:
    if not text(data.get("role")) and text(data.get("message_id")):
        return _more_of(data)
    role = plain(text(data.get("role")) or "?", 20)
    words = words_of(content_of(data)) or text(data.get("refusal"))
    calls = ", ".join(names_of_calls(data))
    shown = f" {quoted(words, _WORDS)}" if words else ""
    copied = text(data.get("copy_of"))
    if copied and not words:  # on another path: what it says is in that one
        shown = f" as {plain(copied, 40)}"
    status = text(data.get("status"))
    return (
        f" {role}{shown}"
        + (f" -> {plain(calls, _WORDS)}" if calls else "")
        + _paren(plain(status, 20) if status not in ("", "complete") else "")
    )


def _more_of(data: Data) -> str:
    """An event that goes on with a message that an earlier one has begun."""
    words, status = words_of(content_of(data)), text(data.get("status"))
    words = words or text(data.get("refusal"))
    how = "completes" if status == "complete" else "of"
    return (
        f" {how} {plain(text(data.get('message_id')), 40)}"
        + (f" {quoted(words, _WORDS)}" if words else "")
        + _paren(plain(status, 20) if status not in ("", "complete") else "")
    )


def _exchange(data: Data) -> str:
    method = plain(text(data.get("method")), 10)
    try:
        url = urlsplit(text(data.get("url")))
        where = plain(f"{url.hostname or ''}{url.path}", 80)
    except ValueError:
        where = plain(text(data.get("url")), 80)
    status = data.get("status")
    failure = data.get("error")
    result = str(status) if type(status) is int else ""
    if isinstance(failure, dict):
        result = " ".join(filter(None, (result, plain(text(failure.get("type")), 40))))
    attempt = data.get("attempt")
    again = f"attempt {attempt}" if type(attempt) is int and attempt > 1 else ""
    return "".join(f" {part}" for part in (method, where, result) if part) + _paren(
        again, _ms(data.get("duration_ms"))
    )


def _stream_start(data: Data) -> str:
    return _paren(plain(text(data.get("message_id")), 40))


def _stream_chunk(data: Data) -> str:
    index = data.get("index")
    at = f" {index}" if type(index) is int else ""
    return f"{at} {quoted(text(data.get('content')), _WORDS)}"


def _stream_end(data: Data) -> str:
    chunks, tokens = number(data.get("total_chunks")), number(data.get("total_tokens"))
    return _paren(
        "" if chunks is None else _counted(chunks, "chunk"),
        _counted(tokens, "token") if tokens else "",  # 0: its chunks told of none
        _ms(data.get("duration_ms")),
    )


def _handoff(data: Data) -> str:
    ends = [plain(text(data.get(key)) or text(data.get(f"{key}_agent")), 40) for key in ("from", "to")]
    return f" {ends[0]} -> {ends[1]}".rstrip()


def _fact_read(data: Data) -> str:
    facts = data.get("facts", data.get("ids", data.get("id")))
    names = facts if isinstance(facts, list) else [] if facts is None else [facts]
    named = ", ".join(name if isinstance(name, str) else compact(name) for name in names)
    return f" {plain(named, _WORDS)}".rstrip()


def _model_routing(data: Data) -> str:
    decision = plain(text(data.get("decision")), 40)
    return f" {decision}".rstrip() + _paren(plain(text(data.get("reason")), _WORDS))


def _contract(data: Data) -> str:
    named = " ".join(filter(None, (plain(text(data.get(key)), 40) for key in ("contract", "direction"))))
    return f" {named}".rstrip() + _paren(plain(text(data.get("status")), 20))


def _assessment(data: Data) -> str:
    confidence = number(data.get("confidence"))
    said = "" if confidence is None else f"confidence: {confidence:.2f}"
    return f" {plain(text(data.get('id')), 40)}".rstrip() + _paren(said)


def _gate(data: Data) -> str:
    confidence = number(data.get("confidence"))
    said = "" if confidence is None else f"confidence: {confidence:.2f}"
    named = " ".join(filter(None, (plain(text(data.get(key)), 40) for key in ("id", "decision"))))
    return f" {named}".rstrip() + _paren(said)


def _blob(data: Data) -> str:
    size = number(data.get("size"))
    kind = plain(text(data.get("media_type")), 40)
    return f" {plain(text(data.get('hash')), 20)}" + _paren(
        kind, "" if size is None else f"{count(size)} bytes"
    )


def _ambient(data: Data) -> str:
    name = next((text(data.get(key)) for key in ("source", "kind", "name") if text(data.get(key))), "")
    key = text(data.get("key"))
    if name == "cell":
        code = text(data.get("value")).strip()
        return f" {name} {plain(key, 20)}".rstrip() + f" {quoted(code, _WORDS)}"
    if name in ("prompt", "stdin"):
        return f" {name}{_told(data.get('value'))}"
    if name == "keys":
        return f" {name} {plain(key, 20)}{_pressed(mapping(data.get('value')))}".rstrip()
    if name == "websocket":
        said = mapping(data.get("value"))
        return f" {name} {plain(key, _WORDS)} {plain(text(said.get('kind')), 20)}{_told(said.get('data'))}"
    if name == COMMAND:
        return f" {name} {quoted(key, _WORDS)}" + _paren(_of_command(mapping(data.get("value"))))
    if name in ("before", "database", "file", "listing", "made", "there"):
        return f" {name} {plain(key, _WORDS)}" + _paren(_of_file(data.get("value")))
    if name in ASKED:
        return f" {name} {plain(key, _WORDS)}".rstrip()
    return f" {plain(name, 40)}".rstrip()


def _of_file(value: Any) -> str:
    """What was found where the program looked for a file."""
    if value is None:
        return "nothing there"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return f"{count(len(value))} names"
    size = number(value[0] if isinstance(value, list) and value else mapping(value).get("size"))
    return "" if size is None else f"{count(size)} bytes"


def _of_command(value: Data) -> str:
    """How it ended."""
    if "error" in value:
        return text(mapping(value.get("error")).get("message"))
    code, status = value.get("code"), value.get("status")
    if isinstance(status, int):  # as `wait` has it: a signal's number in its low byte
        code = status >> 8 if status & 0xFF == 0 else -(status & 0x7F)
    return f"exit {code}" if isinstance(code, int) else "not waited for"


def _pressed(value: Data) -> str:
    """What was typed at a program that draws a whole screen."""
    given = mapping(value.get("given"))
    said = [text(given.get(name)) for name in ("text", "character", "key") if text(given.get(name))]
    pairs = value.get("keys") or value.get("flushed")
    if isinstance(pairs, list):
        said = ["".join(_pair(pair) for pair in pairs)]
    shown = next((word for word in said if word.isprintable()), "")
    return f" {quoted(shown, _WORDS)}" if shown.strip() else f" {plain(text(value.get('type')), 40)}"


def _pair(pair: Any) -> str:
    """A key's name, and what it sends."""
    name, data = ([text(one) for one in pair] + ["", ""])[:2] if isinstance(pair, list) else ("", "")
    return data if data.isprintable() else f"<{name}>"


def _told(value: Any) -> str:
    """What somebody typed or sent, if it is no bytes; else how he ended it."""
    if isinstance(value, str):
        return f" {quoted(value, _WORDS)}" if value.strip() else ""
    if isinstance(value, Mapping):
        raised = text(mapping(value.get("$raised")).get("class")).rpartition(":")[2]
        return f" {plain(raised, 40)}".rstrip()
    return "" if value is None else f" {plain(value, _WORDS)}"


def _output(data: Data) -> str:
    """What a program printed, by its beginning."""
    size, words = number(data.get("size")), text(data.get("text"))
    who = "libraries" if text(data.get("by")) == "libraries" else ""
    return (
        f" {plain(text(data.get('stream')), 20)}".rstrip()
        + (f" {quoted(words, _WORDS)}" if words.strip() else "")
        + _paren(who, "" if size is None else _counted(size, "byte"))
    )


def _named(*keys: str) -> Callable[[Data], str]:
    def said(data: Data) -> str:
        return "".join(f" {plain(text(data.get(key)), 40)}" for key in keys if text(data.get(key)))

    return said


def _paren(*parts: str) -> str:
    shown = ", ".join(part for part in parts if part)
    return f" ({shown})" if shown else ""


def _counted(n: float, what: str) -> str:
    return f"{count(n)} {what}{'' if n == 1 else 's'}"


def _ms(value: object) -> str:
    duration = number(value)
    return "" if duration is None else seconds(duration)


_SUMMARIES: dict[str, Callable[[Data], str]] = {
    "step_start": _step_start,
    "step_end": _step_end,
    "fact_added": _fact,
    "fact_modified": _fact,
    "tool_call": _tool_call,
    "error": _error,
    "checkpoint": _checkpoint,
    "stream_start": _stream_start,
    "stream_chunk": _stream_chunk,
    "stream_end": _stream_end,
    "message": _message,
    "message_alias": _named("alias", "message_id"),
    "session_start": _named("session_id"),
    "session_end": _named("session_id", "status"),
    "view_select": _named("view", "message_id"),
    "handoff": _handoff,
    "fact_read": _fact_read,
    "model_routing": _model_routing,
    "contract_validation": _contract,
    "assessment": _assessment,
    "gate": _gate,
    "exchange": _exchange,
    "ambient": _ambient,
    "output": _output,
    "blob": _blob,
}
