"""What Logfire's own instrumentation writes otherwise than the conventions: a streamed answer as a log of its
own, messages as data of the request, names as templates, spans that have only begun."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from lctl.importing.usages import counts_of
from lctl.importing.values import dicts, mapping, text
from lctl.spans import conventions as names
from lctl.spans.messages import messages_of, value_of
from lctl.spans.span import Span

_TYPE = "logfire.span_type"
_USAGE = "gen_ai.usage.raw"
_STREAMED = "streaming response from "
_NOBODY = "0" * 16


def whole(spans: Iterable[Span]) -> list[Span]:
    """The spans, those of Logfire each whole and once; all others as they are."""
    every = list(spans)
    if not any(_TYPE in span.attributes for span in every):
        return every
    ended = {(span.trace_id, span.span_id) for span in every if not _is_pending(span)}
    found: list[Span] = []
    asked: dict[tuple[Any, ...], Span] = {}  # calls without an answer so far, by what they asked
    for span in every:
        if _is_pending(span):
            if (span.trace_id, span.parent_id) not in ended:
                found.append(_begun(span))
            continue
        one = _named(_counted(_with_messages(span)))
        key = (
            one.parent_id,
            one.scope,
            text(one.attributes.get(names.REQUEST_MODEL)),
            str(messages_of(one)[0]),
        )
        if span.name.startswith(_STREAMED) and span.attributes.get(_TYPE) == "log" and key in asked:
            call = asked.pop(key)
            name = call.attributes.get(_TYPE)
            call.attributes = {**call.attributes, **one.attributes, _TYPE: name}
            call.end_ns = max(call.end_ns, span.end_ns)
            continue
        if not messages_of(one)[1] and not one.error:
            asked[key] = one
        found.append(one)
    return found


def _is_pending(span: Span) -> bool:
    return span.attributes.get(_TYPE) == "pending_span"


def _begun(span: Span) -> Span:
    """The span that another one says has begun: what is left of one whose program was killed."""
    above = text(span.attributes.get("logfire.pending_parent_id"))
    return _named(replace(span, span_id=span.parent_id, parent_id="" if above == _NOBODY else above))


def _named(span: Span) -> Span:
    """With its name filled in: Logfire's name of a span is a template."""
    filled = text(span.attributes.get("logfire.msg"))
    is_template = "{" in text(span.attributes.get("logfire.msg_template"))
    return replace(span, name=filled) if filled and is_template else span


def _counted(span: Span) -> Span:
    """With what the provider counted and only its own usage tells: of the output, how much was thought."""
    usage = mapping(value_of(span.attributes.get(_USAGE)))
    return replace(span, attributes={**counts_of(usage), **span.attributes}) if usage else span


def _with_messages(span: Span) -> Span:
    """A call's messages, which its earlier versions have only as they were sent and received."""
    asked = mapping(value_of(span.attributes.get("request_data")))
    read = dicts(asked.get("messages"))
    if not read or any(messages_of(span)):
        return span
    if asked.get("system"):
        read = [{"role": "system", "content": asked["system"]}, *read]
    got = mapping(value_of(span.attributes.get("response_data")))
    words = got.get("combined_chunk_content")
    answer = mapping(got.get("message")) or ({"role": "assistant", "content": words} if words else {})
    answer = {key: value for key, value in answer.items() if value is not None}
    said = {
        **counts_of(mapping(got.get("usage"))),
        names.REQUEST_MODEL: text(asked.get("model")),
        names.MESSAGES: (read, [answer] if answer else []),
    }
    for n, tool in enumerate(dicts(asked.get("tools"))):
        said[f"llm.tools.{n}.tool.json_schema"] = tool
    rest = {
        key: value for key, value in span.attributes.items() if key not in ("request_data", "response_data")
    }
    return replace(span, attributes={**{key: one for key, one in said.items() if one != ""}, **rest})
