"""Calls of model APIs that a program or a batch kept: answers as they came, alone or beside their requests.

An answer may be the row itself, or stand in it (`response`, `response_body`, `result`, as OpenAI's and
Anthropic's batches have it); so may the request. Rows of a batch's input give their requests to the rows of
its output that have the same `custom_id`.
"""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

from lctl.errors import NotImportable
from lctl.importing import otlp
from lctl.importing.answers import Answer, Messages, answer_of
from lctl.importing.chunks import is_chunk, with_answers
from lctl.importing.draft import Draft
from lctl.importing.requests import messages_in
from lctl.importing.source import Row, Source
from lctl.importing.times import stamp
from lctl.importing.values import dicts, items, mapping, text, without
from lctl.spans import conventions as names
from lctl.spans.messages import value_of
from lctl.spans.span import Span, nanoseconds

#: Where a row has its answer, and where that is inside of it.
_ANSWERS = ("response", "response_body", "responseBody", "completion", "result", "output")
#: Of these, where an API's error may stand.
_REFUSALS = ("response", "response_body", "responseBody", "result")
_INSIDE = ("body", "message", "response")
_REQUESTS = ("request", "request_body", "requestBody", "body", "params", "kwargs", "input")
#: Keys of a request that are no parameters of the model's work.
_SAID = (
    "model", "messages", "input", "prompt", "system", "instructions", "contents", "systemInstruction",
    "system_instruction", "tools", "previous_response_id",
)  # fmt: skip


class _Exchange(NamedTuple):
    """A row that holds a call: what was asked, what came of it, what else stands there."""

    request: dict[str, Any]
    answer: Answer | None
    error: dict[str, Any]
    about: dict[str, Any]
    times: tuple[int, int]
    where: str


def sees(source: Source) -> str:
    first = source.rows[:3]
    if any("role" in row.value and answer_of(row.value) is None for row in first):
        return ""  # messages, some of them as an API gave them
    if first and is_chunk(first[0].value):
        return "chunks of streamed answers"
    rows = source.rows if first and "custom_id" in first[0].value else first
    if not any(_holds_answer(row.value) for row in rows):
        return ""
    return "results of a batch (custom_id)" if rows is not first else "answers of a model's API"


def read(source: Source, draft: Draft) -> None:
    asked = {
        row.value["custom_id"]: request
        for row in source.rows
        if isinstance(row.value.get("custom_id"), str) and (request := _request(row.value))
    }
    found = []
    waiting = dict.fromkeys(asked)
    for row in with_answers(source.rows):
        exchange = _exchange(row, asked)
        name = row.value.get("custom_id")
        if exchange is not None:
            found.append(exchange)
            if exchange.answer is not None and not prompt_of(exchange.request):
                draft.lose("what the model was asked: the file holds the answer alone", row.where)
            waiting.pop(name, None) if isinstance(name, str) else None
        elif text(name) not in asked:
            draft.lose("row without an answer of a model's API", row.where)
    if not found:
        raise NotImportable(f"{source.name}: no answers of a model's API")
    if waiting:
        draft.lose("request without a result", ", ".join(list(waiting)[:5]), len(waiting))
    talks: dict[str, Messages] = {}
    otlp.fill([_span(exchange, talks) for exchange in found], draft, source.name)


def _exchange(row: Row, asked: dict[str, dict[str, Any]]) -> _Exchange | None:
    value = row.value
    answer = _answer(value)
    error = _error(value) if answer is None or not answer.messages else {}
    name = value.get("custom_id")
    request = _request(value) or (asked.get(name, {}) if isinstance(name, str) else {})
    if answer is None and request and isinstance(value.get("response"), dict | str) and not error:
        said = messages_in(value["response"], "assistant")  # only what was said
        answer = Answer(said, [], {}, "", "") if said else None
    if answer is None and not error:
        return None
    about = {} if answer_of(value) else without(value, *_ANSWERS, *_REQUESTS, *_SAID, "error")
    return _Exchange(request, answer, error, about, _times(value, answer), row.where)


def _holds_answer(value: dict[str, Any]) -> bool:
    """Whether a row is a call's. A stored call of the Responses API that has its own input is a list of
    messages, too."""
    if dicts(value.get("input")) and answer_of(value):
        return False
    asked = any(value.get(key) for key in ("request", "request_body", "requestBody"))
    is_call = "custom_id" in value or asked or bool(text(value.get("error_str")))
    return _answer(value) is not None or (is_call and bool(_error(value)))


def _answer(value: dict[str, Any]) -> Answer | None:
    if found := answer_of(value):
        return found
    for held in (mapping(value_of(value.get(key))) for key in _ANSWERS):
        for one in (held, *(mapping(value_of(held.get(key))) for key in _INSIDE)):
            if found := answer_of(one):
                return found
    return None


def _error(value: dict[str, Any]) -> dict[str, Any]:
    """What a call failed with: `type` and `message`; {} where it did not."""
    answers = [held for key in _REFUSALS if (held := mapping(value_of(value.get(key))))]
    ended = text(answers[0].get("type")) if answers else ""  # of Anthropic's batches
    if text(value.get("error_str")):  # of LiteLLM
        kind = text(mapping(value.get("error_information")).get("error_class"))
        return {"type": kind, "message": value["error_str"]}
    inside = [one for held in answers for one in (mapping(held.get("body")).get("error"), held.get("error"))]
    for one in (value.get("error"), *inside):
        inner = mapping(mapping(one).get("error")) or mapping(one)
        if inner or (isinstance(one, str) and one):
            kind = text(inner.get("type")) or text(inner.get("code")) or ended
            return {"type": kind, "message": text(inner.get("message")) or text(one) or kind or "error"}
    is_over = ended in ("canceled", "expired", "errored")
    return {"type": ended, "message": f"the request {ended} in its batch"} if is_over else {}


def _request(value: dict[str, Any]) -> dict[str, Any]:
    """What the model was asked, as its API takes it; {} where the row does not say."""
    for one in (mapping(value_of(value.get(key))) for key in _REQUESTS):
        for held in (one, mapping(value_of(one.get("body")))):
            if prompt_of(held):
                return held
    if not dicts(value.get("messages")):
        return {}
    return {key: value[key] for key in (*_SAID, "temperature", "max_tokens") if key in value} | mapping(
        value.get("model_parameters")
    )


def prompt_of(request: dict[str, Any]) -> Messages:
    """The messages of a request, whichever API takes it; [] where it has none."""
    contents = request.get("contents")
    if contents:
        system = request.get("systemInstruction") or request.get("system_instruction")
        parts = items(mapping(system).get("parts")) or ([{"text": system}] if isinstance(system, str) else [])
        listed = dicts(contents) or [{"parts": [{"text": text(contents)}]}]
        said = [{**one, "role": text(one.get("role")) or "user"} for one in listed]
        return [{"role": "system", "parts": parts}, *said] if parts else said
    if isinstance(request.get("prompt"), str):
        return [{"role": "user", "content": request["prompt"]}]
    if not any(key in request for key in ("messages", "input")):
        return []
    given = {key: request[key] for key in ("messages", "input", "system", "instructions") if request.get(key)}
    return messages_in(given, "user") or []


def _times(value: dict[str, Any], answer: Answer | None) -> tuple[int, int]:
    """When it began and ended, as the row says (LiteLLM, logs of one's own), else as the answer does."""
    begun, ended = (
        next((at for key in keys if (at := nanoseconds(stamp(value.get(key))))), 0)
        for keys in (
            ("startTime", "start_time", "started_at", "request_created_at"),
            ("endTime", "end_time", "ended_at", "response_created_at", "timestamp"),
        )
    )
    if ended or answer is None:
        return begun, ended or begun
    return begun or answer.start_ns, max(answer.end_ns, begun)


def _own_id(id: str) -> str:
    """The provider's id of a response, which LiteLLM hides in its own; requests go on from the provider's."""
    head, _, hidden = id.partition("_")
    try:
        told = base64.b64decode(hidden + "=" * (-len(hidden) % 4), validate=True).decode()
    except ValueError:
        return id
    return told.partition("response_id:")[2] or id if head == "resp" and told.startswith("litellm:") else id


def told(request: dict[str, Any], answer: Answer | None, read: Messages) -> dict[str, Any]:
    """Attributes of a model's span: what the call read (`read`), how it was asked, what it gave."""
    said: dict[str, Any] = {
        "openinference.span.kind": "LLM",
        names.REQUEST_MODEL: text(request.get("model")),
        names.MESSAGES: (read, answer.messages if answer else []),
        "llm.invocation_parameters": without(request, *_SAID),
    }
    if answer is not None:
        said |= {names.RESPONSE_MODEL: answer.model, names.RESPONSE_ID: answer.id, **answer.counts}
        said[names.PROVIDER] = answer.provider
        said[names.FINISH_REASONS] = [one for one in answer.reasons if one]
    for n, tool in enumerate(dicts(request.get("tools"))):
        said[f"llm.tools.{n}.tool.json_schema"] = tool
    return said


def _span(exchange: _Exchange, talks: dict[str, Messages]) -> Span:
    """The call as a span of a model: the tree of what was said is made of these."""
    request, answer, error = exchange.request, exchange.answer, exchange.error
    read = prompt_of(request)
    before = talks.get(text(request.get("previous_response_id")), [])
    if before:  # instructions are given anew with each call
        read = [*before, *(one for one in read if one.get("role") != "system")]
    said = told(request, answer, read) | {
        names.ERROR_TYPE: error.get("type", ""),
        "llm.cost.total": exchange.about.get("response_cost") or "",  # LiteLLM
        "row": exchange.about,
    }
    if answer is not None:
        talks[_own_id(answer.id)] = [*read, *answer.messages]
        said[names.PROVIDER] = answer.provider or text(exchange.about.get("custom_llm_provider"))
    return Span(
        "", "", "", text(exchange.about.get("custom_id")), *exchange.times,
        {key: one for key, one in said.items() if one not in ("", {}, [])},
        error=error.get("message", ""), scope="",
    )  # fmt: skip
