"""Traces of other tools, in the forms they document: steps, calls, tools, errors, and what is lost."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.chain import Chain
from lctl.errors import NotImportable
from lctl.spans import conventions as names
from lctl.spans import spans_of
from tests.seeds import tries
from tests.unit.importing.peers import ASK, ends, imported, said, steps, tools


def test_langsmith_runs_as_langchain_traces_them() -> None:
    """Serialized messages, usage with its details, a tool's message with its call id, nested runs."""

    def message(kind: str, **fields: Any) -> dict[str, Any]:
        return {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", kind],
            "kwargs": fields,
        }

    def run(id: str, parent: str | None, type: str, name: str, at: int, **more: Any) -> dict[str, Any]:
        return {
            "id": id,
            "trace_id": "r0",
            "parent_run_id": parent,
            "run_type": type,
            "name": name,
            "start_time": f"2026-01-01T00:00:0{at}.000000",
            "end_time": f"2026-01-01T00:00:0{at}.500000",
            "inputs": {},
            "outputs": {},
            "extra": {},
            "error": None,
            **more,
        }

    call = {"name": "add", "args": {"a": 2}, "id": "c1"}
    user = message("HumanMessage", content="2+2?", type="human")
    used = {
        "input_tokens": 9,
        "output_tokens": 3,
        "total_tokens": 12,
        "input_token_details": {"cache_read": 4},
        "output_token_details": {"reasoning": 1},
    }
    asked = message("AIMessage", content="", type="ai", tool_calls=[call], usage_metadata=used)
    told = message("ToolMessage", content="4", type="tool", tool_call_id="c1")
    metadata = {"ls_provider": "openai", "ls_model_name": "gpt-4o", "lc_agent_name": "adder"}
    llm = run(
        "r1",
        "r0",
        "llm",
        "ChatOpenAI",
        1,
        inputs={"messages": [[user]]},
        outputs={
            "generations": [
                [{"text": "", "message": asked, "generation_info": {"finish_reason": "tool_calls"}}]
            ]
        },
        extra={"metadata": metadata, "invocation_params": {"temperature": 0.2, "model": "gpt-4o"}},
        first_token_time="2026-01-01T00:00:01.250000",
        feedback_stats={"good": {"n": 1}},
    )
    tool = run("r2", "r0", "tool", "add", 2, inputs={"input": "{'a': 2}"}, outputs={"output": told})
    end = run(
        "r3",
        "r0",
        "llm",
        "ChatOpenAI",
        3,
        inputs={"messages": [[user, asked, told]]},
        error="RateLimitError('slow')",
    )
    root = {**run("r0", None, "chain", "agent", 0), "end_time": "2026-01-01T00:00:04"}
    found = imported([end, tool, llm, root])
    assert (found.form, found.shown) == ("langsmith", "runs with run_type and inputs")
    assert steps(found) == [
        ("chain", "agent", "assistant", None),
        ("llm", "ChatOpenAI", "adder", "agent"),
        ("llm", "ChatOpenAI", "assistant", "agent"),
    ]
    first = next(e.data for e in found.log.events() if e.type == "step_end" and "tokens" in e.data)
    assert first["tokens"] == {"input": 9, "output": 3, "cache_read": 4, "reasoning": 1}
    assert (first["model"], first["finish_reason"], first["first_chunk_ms"]) == (
        "gpt-4o",
        "tool_calls",
        250.0,
    )
    (ran,) = tools(found)
    assert (ran["tool"], ran["output"], ran["call_id"], ran["duration_ms"]) == ("add", "4", "c1", 500.0)
    (error,) = (e.data for e in found.log.events() if e.type == "error")
    assert error["message"] == "RateLimitError('slow')"
    assert said(found) == [("user", "2+2?"), ("assistant", ""), ("tool", "4")]
    assert {loss.what for loss in found.lost} == {
        "feedback of a run (its statistics are kept beside the step)"
    }


def test_langsmith_runs_of_a_wrapped_sdk_in_lines_and_nested() -> None:
    """OpenAI's own request and response; children inside their parents; JSON Lines."""
    llm = {
        "id": "r1",
        "trace_id": "r0",
        "run_type": "llm",
        "name": "ChatOpenAI",
        "inputs": {"messages": ASK},
        "start_time": 1767225601.0,
        "end_time": 1767225602.0,
        "extra": {"metadata": {"ls_provider": "openai"}},
        "outputs": {
            "choices": [{"message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}],
            "usage_metadata": {"input_tokens": 5, "output_tokens": 1},
        },
    }
    root = {
        "id": "r0",
        "trace_id": "r0",
        "run_type": "chain",
        "name": "root",
        "inputs": {"q": 1},
        "outputs": {"a": 2},
        "start_time": 1767225600.0,
        "end_time": 1767225603.0,
    }
    nested = imported({"runs": [{**root, "child_runs": [llm]}]})
    lines = b"\n".join(json.dumps(one).encode() for one in (root, {**llm, "parent_run_ids": ["r0"]}))
    for found in (nested, imported(lines)):
        assert steps(found) == [
            ("chain", "root", "assistant", None),
            ("llm", "ChatOpenAI", "assistant", "root"),
        ]
        assert ends(found)["ChatOpenAI"]["tokens"] == {"input": 5, "output": 1}
        assert ends(found)["root"]["output"] == {"a": 2}
        assert said(found) == [("user", "2+2?"), ("assistant", "4")]


def test_langsmith_runs_of_a_wrapped_sdk_and_the_responses_api() -> None:
    """`wrap_openai` has the request as inputs, the answer as outputs: instructions, tools, parameters."""
    thought = {"type": "reasoning", "id": "rs1", "summary": [{"type": "summary_text", "text": "Hm."}]}
    call = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a":2}'}
    result = {"type": "function_call_output", "call_id": "c1", "output": "4"}
    words = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Four."}]}
    tool = {"type": "function", "name": "add", "parameters": {"type": "object"}}

    def run(n: int, asked: Any, *given: Any, **more: Any) -> dict[str, Any]:
        usage = {"input_tokens": 9, "output_tokens": 3, "output_token_details": {"reasoning": 2}}
        return {
            "id": f"r{n}", "trace_id": "t", "run_type": "llm", "name": "ChatOpenAI",
            "start_time": f"2026-11-28T15:32:0{n}.0Z", "end_time": f"2026-11-28T15:32:0{n}.5Z",
            "inputs": {"model": "gpt-5", "input": asked, "instructions": "Brief.", "tools": [tool], **more},
            "outputs": {"id": f"resp_{n}", "object": "response", "model": "gpt-5-2025-08-07",
                        "status": "completed", "output": [*given], "usage_metadata": usage},
            "extra": {"metadata": {"ls_provider": "openai", "ls_model_name": "gpt-5"}},
        }  # fmt: skip

    ask = {"role": "user", "content": "2+2?"}
    found = imported(
        [
            run(1, [ask], thought, call, temperature=0.5),
            run(2, [ask, thought, call, result], words),
            run(3, "Sure?", words, previous_response_id="resp_2"),
        ]
    )
    assert [(role, text) for role, text in said(found) if isinstance(text, str)] == [
        ("system", "Brief."),
        ("user", "2+2?"),
        ("tool", "4"),
        ("assistant", "Four."),
        ("user", "Sure?"),
        ("assistant", "Four."),
    ]
    assert [(one["tool"], one["output"]) for one in tools(found)] == [("add", "4")]
    start = next(e.data for e in found.log.events() if e.type == "step_start")
    assert (start["model"], start["params"]) == ("gpt-5", {"temperature": 0.5})
    assert len(start["tool_definitions"]) == 1
    end = next(e.data for e in found.log.events() if e.type == "step_end")
    assert (end["model"], end["finish_reason"]) == ("gpt-5-2025-08-07", "completed")
    assert end["tokens"] == {"input": 9, "output": 3, "reasoning": 2}


def test_langsmith_answers_of_anthropic_told_in_other_words_than_in_prompts() -> None:
    """`wrap_anthropic` makes OpenAI's tool calls of an answer, and leaves prompts as they were."""
    ask = {"role": "user", "content": "2+2?"}
    called = {"id": "t1", "type": "function", "function": {"name": "add", "arguments": '{"a":2}'}}
    use = {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 2}}
    blocks = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "I add."}, use]
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "4"}]}

    def run(n: int, read: list[Any], given: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": f"r{n}", "trace_id": "t", "run_type": "llm", "name": "ChatAnthropic",
            "start_time": f"2026-11-28T15:32:0{n}.0Z", "end_time": f"2026-11-28T15:32:0{n}.5Z",
            "inputs": {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": read},
            "outputs": {"id": f"msg_{n}", "model": "claude-sonnet-4-5", "role": "assistant",
                        "container": None, **given},
            "extra": {"metadata": {"ls_provider": "anthropic"}},
        }  # fmt: skip

    found = imported(
        [
            run(1, [ask], {"content": "I add.", "tool_calls": [called]}),
            run(2, [ask, {"role": "assistant", "content": blocks}, result], {"content": "Four."}),
        ]
    )
    assert [role for role, _ in said(found)] == ["user", "assistant", "user", "assistant"]
    assert [(one["tool"], one["output"]) for one in tools(found)] == [("add", "4")]
    (leaf,) = Chain.of(found.log).tree.leaves
    path = Chain.of(found.log).transcript(leaf.id)
    assert path[1].keys() == {"role", "content", "tool_calls"}


def test_langfuse_observations_of_the_second_api() -> None:
    """There a model is `providedModelName`, and what was said is JSON in texts."""
    common = {"traceId": "t", "level": "DEFAULT", "projectId": "p", "endTime": "2026-01-01T00:00:02Z"}
    agent = {"id": "a", "type": "AGENT", "name": "a", "startTime": "2026-01-01T00:00:00Z", **common}
    call = {
        "id": "c",
        "type": "GENERATION",
        "name": "c",
        "startTime": "2026-01-01T00:00:01Z",
        "parentObservationId": "a",
        "providedModelName": "gpt-4o",
        "modelParameters": '{"temperature": 0.5}',
        "input": json.dumps(ASK),
        "output": '{"role": "assistant", "content": "4"}',
        "usageDetails": {"input": 9, "output": 1, "total": 10},
        **common,
    }
    pages = [{"data": [one], "meta": {"cursor": "next"}} for one in (agent, call)]
    found = imported(pages)
    assert said(found)[-1] == ("assistant", "4")
    assert [loss.what for loss in found.lost] == ["pages after the last one in the file"]
    (start,) = [event.data for event in found.log.events() if event.data.get("kind") == "llm"]
    assert (start["model"], start["params"]) == ("gpt-4o", {"temperature": 0.5})


def test_langfuse_observations_of_every_type() -> None:
    """A page of its API: agents as steps, usage with cached tokens, a failed call, an event."""

    def one(id: str, type: str, at: int, parent: str | None = None, **more: Any) -> dict[str, Any]:
        time = f"2026-01-01T00:00:0{at}.000Z"
        return {
            "id": id,
            "traceId": "t",
            "type": type,
            "name": id,
            "startTime": time,
            "endTime": time,
            "parentObservationId": parent,
            "input": None,
            "output": None,
            "level": "DEFAULT",
            **more,
        }

    data = [
        one("planner", "AGENT", 0, input={"q": "2+2?"}, output="4"),
        one(
            "answer",
            "GENERATION",
            1,
            "planner",
            input=ASK,
            output={"role": "assistant", "content": "4"},
            model="gpt-4o",
            usageDetails={"input": 9, "output": 1, "input_cached_tokens": 4, "total": 10},
            modelParameters={"temperature": 0},
            completionStartTime="2026-01-01T00:00:01.200Z",
        ),
        one("failed", "GENERATION", 2, "planner", input=ASK, level="ERROR", statusMessage="overloaded"),
        one("clicked", "EVENT", 3),
        one("fetch", "RETRIEVER", 4, "planner", input="words", output=["a", "b"]),
    ]
    found = imported({"data": data, "meta": {"cursor": None}})
    assert found.form == "langfuse"
    assert steps(found) == [
        ("agent", "planner", "planner", None),
        ("llm", "answer", "planner", "planner"),
        ("llm", "failed", "planner", "planner"),
        ("retriever", "fetch", "planner", "planner"),
    ]
    assert ends(found)["answer"]["tokens"] == {"input": 9, "output": 1, "cache_read": 4}
    assert (ends(found)["answer"]["first_chunk_ms"], ends(found)["failed"]["outcome"]) == (200.0, "error")
    assert ends(found)["fetch"]["output"] == ["a", "b"]
    assert {loss.what for loss in found.lost} == {
        "event observation: a moment, no work",
        "generation whose output is no message",
    }


KEYS = st.sampled_from(
    [
        *sorted({name for several in names.READ.values() for name in several}),
        *("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.operation.name", "ai.prompt.messages"),
        *("openinference.span.kind", "lctl.seq", "lctl.end_seq", "lctl.chain", "lctl.kind", "lctl.start"),
        *("langfuse.observation.type", "langfuse.observation.input", "langfuse.observation.usage_details"),
        *("logfire.span_type", "logfire.msg", "request_data", "response_data", "model_request_parameters"),
        *(
            "ai.response.toolCalls",
            "ai.prompt.tools",
            "llm.request.functions.0.name",
            "toolCallId",
            "toolName",
        ),
        *("llm.request.functions.0.parameters", "gen_ai.prompt.0.content", "args", "kwargs", "tools", "type"),
        *("lctl.end", "lctl.data", "events", "role", "content", "parts", "kwargs", "messages", "generations"),
    ]
)


TEXTS = st.sampled_from(
    [
        "",
        "x",
        "chat",
        "llm",
        "tool",
        "generation",
        "log",
        "pending_span",
        "[1",
        '{"a": 1}',
        '[{"role": "user", "parts": {}}]',
    ]
)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


IDS = st.sampled_from(["a", "b", None])


TAGGED = st.lists(st.fixed_dictionaries({"key": KEYS, "value": st.fixed_dictionaries({"x": ANY})}))


MARKS = st.sampled_from(["exception", "lctl.fact_added", "lctl.message", "gen_ai.choice"])


SPAN = st.fixed_dictionaries(
    {"traceId": IDS, "spanId": IDS, "parentSpanId": IDS, "status": ANY, "startTimeUnixNano": ANY},
    optional={
        "attributes": TAGGED,
        "events": st.lists(st.fixed_dictionaries({"name": MARKS, "attributes": TAGGED})),
    },
)


OTLP = st.builds(
    lambda spans: {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}, st.lists(SPAN, max_size=3)
)


RUNS = st.lists(
    st.fixed_dictionaries({"run_type": TEXTS, "inputs": ANY, "outputs": ANY, "id": IDS, "extra": ANY})
)


OBSERVED = st.lists(
    st.fixed_dictionaries({"traceId": IDS, "startTime": ANY, "id": IDS, "input": ANY, "output": ANY,
                           "type": st.sampled_from(["GENERATION", "TOOL", "AGENT", 5]), "usageDetails": ANY})
)  # fmt: skip


@settings(max_examples=tries(40), deadline=None)
@given(OTLP | RUNS | OBSERVED)
def test_whatever_a_trace_holds_the_log_is_sound(value: Any) -> None:
    """A log that validates, or an error of ours; and its spans again."""
    try:
        found = imported(value)
    except NotImportable:
        return
    spans_of(found.log)
