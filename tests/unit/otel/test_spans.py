"""A log as spans: what each step, call and tool becomes under the GenAI conventions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lctl.codec import Log
from lctl.spans import Folding, Span, spans_of
from lctl.spans import conventions as names
from lctl.spans.otlp import binary, document, from_binary, pieces
from lctl.spans.parts import input_message, output_message, tool_definitions
from tests.unit.otel.logs import chain, record

TEXT = {"type": "string"}
MAYBE = {"type": ["string", "null"]}


def part(type: str, required: list[str], **fields: Any) -> dict[str, Any]:
    return {"properties": {"type": {"const": type}, **fields}, "required": ["type", *required]}


#: The structure that the conventions document for a message, part type by part type.
PARTS = {
    "text": part("text", ["content"], content=TEXT),
    "reasoning": part("reasoning", ["content"], content=TEXT),
    "tool_call": part("tool_call", ["name"], id=MAYBE, name=TEXT),
    "tool_call_response": part("tool_call_response", ["response"], id=MAYBE),
    "blob": part("blob", ["modality", "content"], modality=TEXT, content=TEXT, mime_type=MAYBE),
    "uri": part("uri", ["modality", "uri"], modality=TEXT, uri=TEXT, mime_type=MAYBE),
    "file": part("file", ["modality", "file_id"], modality=TEXT, file_id=TEXT, mime_type=MAYBE),
}
MESSAGE: dict[str, Any] = {
    "type": "object",
    "required": ["role", "parts"],
    "properties": {
        "role": TEXT,
        "name": MAYBE,
        "finish_reason": MAYBE,
        "parts": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["type"],
                "properties": {"type": {"type": "string", "minLength": 1}},
                "allOf": [
                    {"if": {"properties": {"type": {"const": type}}}, "then": rule}
                    for type, rule in PARTS.items()
                ],
            },
        },
    },
}
VALID = Draft202012Validator(MESSAGE)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return record(tmp_path / "run.lctl.json")


def named(spans: list[Span], name: str) -> Span:
    return next(span for span in spans if span.name == name)


def test_every_step_and_tool_is_a_span_in_its_place(log: Log) -> None:
    """One trace: the chain around it, agents, calls and tools nested as they ran."""
    spans = spans_of(log)
    ids = {span.span_id: span.name for span in spans}
    assert {span.trace_id for span in spans} == {spans[0].trace_id}
    assert sorted((span.name, ids.get(span.parent_id, "")) for span in spans) == [
        ("chat gpt-4o", "invoke_agent planner"),
        ("chat gpt-4o", "invoke_agent planner"),
        ("execute_tool add", "invoke_agent planner"),
        ("execute_tool look_up", "invoke_agent checker"),
        ("invoke_agent checker", "invoke_workflow run-1"),
        ("invoke_agent planner", "invoke_workflow run-1"),
        ("invoke_workflow run-1", ""),
    ]


def test_a_file_of_spans_is_their_document(log: Log) -> None:
    """Written span by span, as it is told by the whole; a name may hold what stands between."""
    about = {"service.name": '"spans":[]'}
    assert json.loads(b"".join(pieces(spans_of(log), about))) == document(spans_of(log), about)
    assert json.loads(b"".join(pieces([]))) == document([])


def test_a_prompt_is_told_as_it_was_at_each_call() -> None:
    """A message that each call reads again may have come in pieces, or have been the copy of another."""
    text = [{"type": "stream_chunk", "data": {"message_id": "m1", "content": word}} for word in ("Hel", "lo")]
    call = {"type": "step_start", "data": {"kind": "llm", "model": "m", "prompt": "m1"}}
    spans = spans_of(
        chain(
            {"type": "stream_start", "data": {"message_id": "m1", "role": "user", "parent_id": None}},
            text[0],
            call,
            text[1],
            call,
            {
                "type": "message",
                "data": {"message_id": "m1", "role": "user", "content": "Hello you", "parent_id": None},
            },
            call,
        )
    )
    told = [json.loads(span.attributes["gen_ai.input.messages"]) for span in spans if span.client]
    assert [one["parts"][0]["content"] for (one,) in told] == ["Hel", "Hello", "Hello you"]


def test_a_model_call_has_the_attributes_of_the_conventions(log: Log) -> None:
    """Model, provider, parameters, tokens with the cached ones, messages in parts."""
    call = named(spans_of(log), "chat gpt-4o")
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 100,
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.usage.cache_write.input_tokens": 2,
        "gen_ai.usage.cache_creation.input_tokens": 2,
        "gen_ai.usage.reasoning.output_tokens": 1,
    }
    assert {key: call.attributes[key] for key in expected} == expected
    assert call.client and call.ok and not call.error
    assert json.loads(call.attributes["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "2+2?"}]}
    ]
    (answer,) = json.loads(call.attributes["gen_ai.output.messages"])
    assert answer["parts"] == [
        {"type": "tool_call", "id": "c1", "name": "add", "arguments": {"a": 2, "b": 2}}
    ]


def test_tools_and_failures(log: Log) -> None:
    """A tool has its arguments, result and time; what failed has status and error.type."""
    spans = spans_of(log)
    add, look_up = named(spans, "execute_tool add"), named(spans, "execute_tool look_up")
    assert json.loads(add.attributes["gen_ai.tool.call.arguments"]) == {"a": 2, "b": 2}
    assert add.attributes["gen_ai.tool.call.result"] == "4" and add.attributes["gen_ai.tool.call.id"] == "c1"
    assert add.end_ns - add.start_ns == 1_500_000
    assert (look_up.error, look_up.attributes["error.type"]) == ("no such page", "tool_error")
    checker = named(spans, "invoke_agent checker")
    assert checker.error == "nothing to check with"
    (raised,) = [mark for mark in checker.marks if mark.name == "exception"]
    assert raised.attributes["exception.message"] == "nothing to check with"
    planner = named(spans, "invoke_agent planner")
    assert [mark.name for mark in planner.marks] == ["lctl.fact_added", "lctl.handoff"]
    assert planner.attributes["gen_ai.provider.name"] == "openai"


def test_spans_come_as_their_steps_end(log: Log) -> None:
    """Folded event by event there are the same spans, each with the event that ends it."""
    folding = Folding(log.chain)
    found: list[Span] = []
    for event in log.events():
        made = folding.feed(event)
        found += made
        assert bool(made) == (event.type in ("step_end", "tool_call"))
    found += folding.finish()
    key = [(one.span_id, one.start_ns, one.end_ns, one.attributes) for one in found]
    assert sorted(key, key=str) == sorted(
        [(one.span_id, one.start_ns, one.end_ns, one.attributes) for one in spans_of(log)], key=str
    )


def test_what_was_said_can_stay_at_home(log: Log) -> None:
    """Without content no prompt, answer, argument or result is in any span; tokens and names are."""
    told = json.dumps(document(spans_of(log, content=False)))
    for secret in ("2+2", "It is 4", "four", "arithmetic"):
        assert secret not in told
    assert "gpt-4o" in told and '"30"' in told and "execute_tool add" in told


def test_a_fork_links_to_where_it_comes_from() -> None:
    """Its root span has a link to the parent's trace; a model call from the tape is marked."""
    fork = chain(
        {"type": "step_start"}, {"type": "step_end", "step": 1}, parent={"id": "run-0", "seq": 7}, fork={}
    )
    root = named(spans_of(fork), "invoke_workflow run-1")
    (link,) = root.links
    parent = spans_of(chain({"type": "step_start"}, {"type": "step_end", "step": 1}))[0]
    assert link.trace_id != parent.trace_id and len(link.trace_id) == 32
    assert link.attributes == {
        "lctl.relation": "fork",
        "lctl.parent.chain": "run-0",
        "lctl.parent.seq": 7,
    }


def test_logs_without_steps_on_events_and_open_steps() -> None:
    """A step_end without `step` ends the agent's newest; a step that never ended says so."""
    log = chain(
        {"type": "step_start", "data": {"intent": "one"}},
        {"type": "step_end", "data": {"outcome": "success", "tokens": {"input": 3, "output": 1}}},
        {"type": "step_start", "data": {"intent": "two"}},
    )
    first, second = (span for span in spans_of(log) if span.parent_id)
    assert (first.ok, first.attributes["gen_ai.usage.input_tokens"]) == (True, 3)
    assert second.attributes["lctl.open"] is True and not second.ok


def test_events_outside_any_step_and_messages_of_no_call_are_on_the_chain() -> None:
    """Nothing but the tape is left out."""
    log = chain(
        {"type": "message", "data": {"message_id": "m1", "parent_id": None, "role": "user", "content": "hi"}},
        {"type": "fact_added", "data": {"id": "F", "text": "t"}},
        {"type": "ambient", "data": {"source": "clock"}},
        {"type": "unheard_of", "data": {"x": [1]}},
    )
    (root,) = spans_of(log)
    assert [mark.name for mark in root.marks] == ["lctl.message", "lctl.fact_added", "lctl.unheard_of"]


#: Messages of OpenAI chat and Responses, Anthropic and Google, and of nobody.
DIALECTS: list[dict[str, Any]] = [
    {"role": "user", "content": "words"},
    {"role": "assistant", "content": None, "refusal": "no"},
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "x"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "x"},
            {"type": "tool_use", "id": "t", "name": "f", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "r", "is_error": True},
            {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
        ],
    },
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]},
    {"role": "user", "content": [{"type": "image", "source": {"$blob": "sha256:0"}}]},
    {
        "role": "assistant",
        "content": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{"}],
    },
    {
        "role": "assistant",
        "content": [{"type": "reasoning", "summary": []}, {"type": "output_text", "text": ""}],
    },
    {"role": "model", "parts": [{"text": "x"}, {"functionCall": {"name": "f", "args": {"a": 1}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"r": 1}}}]},
    {"role": "user", "content": [{"type": "something_new", "payload": 1}, "bare", 3]},
    {"content": {"odd": True}},
    {},
    {"role": 5, "content": 7},
]


@pytest.mark.parametrize("message", DIALECTS)
def test_messages_of_every_dialect_have_the_documented_structure(message: dict[str, Any]) -> None:
    """Roles and parts, whatever a provider's message looks like."""
    for made in (input_message(message), output_message(message, "tool_use")):
        assert list(VALID.iter_errors(made)) == []
        json.dumps(made)


def test_parts_keep_the_order_and_what_nobody_knows() -> None:
    """Interleaved parts stay in their order; a part of an unknown type is kept as it is."""
    content = [{"type": "text", "text": "a"}, {"type": "novel", "n": 1}, {"type": "text", "text": "b"}]
    assert input_message({"role": "user", "content": content})["parts"] == [
        {"type": "text", "content": "a"}, {"type": "novel", "n": 1}, {"type": "text", "content": "b"},
    ]  # fmt: skip


_KEPT = {"$blob": "sha256:0", "prefix": "data:application/pdf;base64,"}
_PDF = {"mime_type": "application/pdf", "modality": "document"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
         {"type": "blob", "mime_type": "audio/wav", "modality": "audio", "content": "AA=="}),
        ({"type": "input_audio", "input_audio": {"data": {"$blob": "sha256:0"}, "format": "mp3"}},
         {"type": "file", "mime_type": "audio/mpeg", "modality": "audio", "file_id": "sha256:0"}),
        ({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}},
         {"type": "blob", **_PDF, "filename": "a.pdf", "content": "AA=="}),
        ({"type": "file", "file": {"file_data": _KEPT}}, {"type": "file", **_PDF, "file_id": "sha256:0"}),
        ({"type": "input_file", "file_url": "https://x/a"},
         {"type": "uri", "mime_type": None, "modality": "document", "uri": "https://x/a"}),
        ({"type": "input_file", "file_id": "f1"},
         {"type": "file", "mime_type": None, "modality": "document", "file_id": "f1"}),
        ({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AA=="}},
         {"type": "blob", **_PDF, "content": "AA=="}),
        ({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "words"}},
         {"type": "text", "content": "words"}),
        ({"inlineData": {"mimeType": "video/mp4", "data": "AA=="}},
         {"type": "blob", "mime_type": "video/mp4", "modality": "video", "content": "AA=="}),
        ({"fileData": {"mimeType": "application/pdf", "fileUri": "gs://x"}},
         {"type": "uri", **_PDF, "uri": "gs://x"}),
    ],
)  # fmt: skip
def test_sounds_and_files_of_every_dialect(said: dict[str, Any], expected: dict[str, Any]) -> None:
    """As the conventions have them, with nothing of a provider's, or of ours, inside."""
    made = input_message({"role": "user", "content": [said]})
    assert made["parts"] == [expected]
    assert list(VALID.iter_errors(made)) == []


def test_tool_definitions_of_every_dialect() -> None:
    """OpenAI chat and Responses, Anthropic, Google, a built-in tool."""
    schema = {"type": "object"}
    expected = {"type": "function", "name": "f", "description": "d", "parameters": schema}
    for given in (
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": schema}},
        {"type": "function", "name": "f", "description": "d", "parameters": schema},
        {"name": "f", "description": "d", "input_schema": schema},
        {"functionDeclarations": [{"name": "f", "description": "d", "parameters": schema}]},
    ):
        assert tool_definitions([given]) == [expected]
    assert tool_definitions([{"type": "web_search"}]) == [{"type": "web_search", "name": "web_search"}]


def test_names_are_those_of_the_registry() -> None:
    """Each `gen_ai.` name is in the conventions' package, or among those that are newer than it."""
    registry = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    known = {value for value in vars(registry).values() if isinstance(value, str)}
    used = {value for value in vars(names).values() if isinstance(value, str) and value.startswith("gen_ai.")}
    used |= {attribute for attribute, _ in names.PARAMS.values()}
    events = {names.DETAILS_EVENT, names.EXCEPTION_EVENT}
    assert used - known - events <= {
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.token.modality",
        "gen_ai.request.previous_response.id",
        "gen_ai.request.reasoning.level",
        # of older releases of the package, they are missing
        "gen_ai.request.stream", "gen_ai.response.time_to_first_chunk", "gen_ai.workflow.name",
        "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.retrieval.query.text", "gen_ai.tool.definitions", "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
    }  # fmt: skip


def test_otlp_json_is_as_the_protocol_says_and_equals_the_binary(log: Log) -> None:
    """Hex ids, 64-bit numbers as texts, numbered enumerations; protobuf says the same."""
    request = document(spans_of(log))
    (resource,) = request["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    assert all(len(span["traceId"]) == 32 and len(span["spanId"]) == 16 for span in spans)
    assert all(span["startTimeUnixNano"].isdigit() for span in spans)
    assert {span["kind"] for span in spans} == {1, 3}
    pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    again = from_binary(binary(request))

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: bare(one) for key, one in value.items() if one not in ({}, [])}
        return [bare(one) for one in value] if isinstance(value, list) else value

    assert bare(again) == bare(request)
