"""Spans as MLflow sends them by OTLP: values are JSON, a call's are its request and its answer."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from lctl.importing import convert
from lctl.importing.source import Source
from tests.unit.importing.peers import ends, imported, otlp, said, span, steps, tools
from tests.unit.importing.sources import lost

TOOL = {"type": "function", "function": {"name": "grep", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": '{"q":"x"}'}}


def traced(
    n: int, name: str, parent: int | None, kind: str, asked: Any, got: Any, **more: Any
) -> dict[str, Any]:
    said = {"mlflow.spanType": kind, "mlflow.spanInputs": asked, "mlflow.spanOutputs": got}
    return span(n, name, parent, {key: json.dumps(value) for key, value in {**said, **more}.items()})


def test_a_loop_of_an_agent() -> None:
    """Its calls are one conversation; what MLflow writes of a request a second time is not there twice."""
    asked = [{"role": "system", "content": "You find."}, {"role": "user", "content": "find x"}]
    called = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    usage = {"prompt_tokens": 53, "completion_tokens": 28, "total_tokens": 81}
    details = {"prompt_tokens_details": {"cached_tokens": 5}}
    answer = {
        "id": "chatcmpl-1",
        "model": "gpt-4.1-mini-2025-04-14",
        "choices": [{"finish_reason": "tool_calls", "message": called}],
        "usage": {**usage, **details},
    }
    request = {"model": "gpt-4.1-mini", "messages": asked, "tools": [TOOL], "temperature": 0.2}
    result = {"role": "tool", "tool_call_id": "c1", "content": "3 hits"}
    items = [*asked, called, result]
    last = {
        "object": "response",
        "status": "completed",
        "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "found"}]}
        ],
    }
    copies = {"model": "gpt-4.1-mini", "temperature": 0.2, "tools": [TOOL]}
    found = imported(
        otlp(
            traced(1, "finder", None, "AGENT", {"task": "find x"}, "found"),
            traced(2, "Completions", 1, "CHAT_MODEL", request, answer, **copies),
            traced(3, "grep", 1, "TOOL", {"q": "x"}, "3 hits"),
            traced(
                4,
                "Responses",
                1,
                "CHAT_MODEL",
                {"model": "gpt-5", "input": items},
                last,
                **{"mlflow.chat.tokenUsage": {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}},
            ),
        )
    )
    assert steps(found)[0] == ("agent", "finder", "finder", None)
    assert said(found)[1:] == [
        ("user", "find x"),
        ("assistant", None),
        ("tool", "3 hits"),
        ("assistant", "found"),
    ]
    (run,) = tools(found)
    assert (run["tool"], run["call_id"], run["input"], run["output"]) == ("grep", "c1", {"q": "x"}, "3 hits")
    first, second = ends(found)["Completions"], ends(found)["Responses"]
    assert first["tokens"] == {"input": 53, "output": 28, "cache_read": 5}
    assert (first["model"], first["finish_reason"]) == ("gpt-4.1-mini-2025-04-14", "tool_calls")
    assert second["tokens"] == {"input": 9, "output": 1}
    start = next(e.data for e in found.log.events() if e.data.get("intent") == "Completions")
    assert (start["model"], start["params"]) == ("gpt-4.1-mini", {"temperature": 0.2})
    assert {"temperature", "tools", "model"}.isdisjoint(start["span"].get("attributes", {}))


def test_a_call_of_anthropic() -> None:
    """Its instructions stand beside the messages; its count leaves out what the cache gave. Chunks are in the
    answer."""
    request = {
        "model": "claude-sonnet-4-6",
        "system": "Sys.",
        "messages": [{"role": "user", "content": "ok?"}],
        "max_tokens": 100,
        "stream": True,
    }
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "fine"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 500, "output_tokens": 1, "cache_read_input_tokens": 100},
    }
    call = traced(1, "Messages.create", None, "CHAT_MODEL", request, answer)
    call["events"] = [{"name": "mlflow.chunk.item.0", "timeUnixNano": "0"}]
    found = imported(otlp(call))
    assert said(found) == [
        ("system", "Sys."),
        ("user", "ok?"),
        ("assistant", [{"type": "text", "text": "fine"}]),
    ]
    end = ends(found)["Messages.create"]
    assert end["tokens"] == {"input": 600, "output": 1, "cache_read": 100}
    assert end["finish_reason"] == "end_turn"
    assert found.lost == []


def chunk(n: int, reason: str | None = None, **delta: Any) -> dict[str, Any]:
    """A moment of a span, in the first half second of second 1."""
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    value = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice]}
    return {
        "name": f"mlflow.chunk.item.{n}",
        "timeUnixNano": str(1767225601_100_000_000 + n),
        "attributes": [{"key": "mlflow.chunk.value", "value": {"stringValue": json.dumps(value)}}],
    }


def test_a_stream_that_called_a_tool() -> None:
    """MLflow's answer of it has no tool calls, and ended otherwise; its chunks have both."""
    ask = [{"role": "user", "content": "find x"}]
    asked = {"model": "gpt-4o", "messages": ask, "stream": True}
    answer = {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": ""}}]}
    made = {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": '{"q": "x"}'}}
    result = {"role": "tool", "tool_call_id": "c1", "content": "3 hits"}
    again: list[Any] = [*ask, {"role": "assistant", "tool_calls": [made]}, result]
    last = {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "found"}}]}
    call = traced(1, "Completions", None, "CHAT_MODEL", asked, answer)
    call["events"] = [
        chunk(0, role="assistant", content=None),
        chunk(1, tool_calls=[{"index": 0, **made, "function": {"name": "grep", "arguments": '{"q"'}}]),
        chunk(2, tool_calls=[{"index": 0, "id": None, "function": {"name": None, "arguments": ': "x"}'}}]),
        chunk(3, "tool_calls"),
    ]
    found = imported(
        otlp(
            call,
            traced(2, "grep", None, "TOOL", {"q": "x"}, "3 hits"),
            traced(3, "Completions", None, "CHAT_MODEL", {"model": "gpt-4o", "messages": again}, last),
        )
    )
    assert [role for role, _ in said(found)] == ["user", "assistant", "tool", "assistant"]
    (run,) = tools(found)
    assert (run["tool"], run["call_id"], run["output"]) == ("grep", "c1", "3 hits")
    end = next(e.data for e in found.log.events() if e.type == "step_end")
    assert (end["finish_reason"], end["first_chunk_ms"]) == ("tool_calls", 100.0)


def test_a_stream_of_which_only_its_name_is_told() -> None:
    """Of Anthropic's streams MLflow has what Python prints: no answer, and the tool that ran is that of the
    call in the next prompt."""
    ask: list[Any] = [{"role": "user", "content": "find x"}]
    asked = {"model": "claude-sonnet-4-6", "messages": ask}
    use = {"type": "tool_use", "id": "t1", "name": "grep", "input": {"q": "x"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "3 hits"}
    again = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    last = {"role": "assistant", "type": "message", "content": [{"type": "text", "text": "found"}]}
    found = imported(
        otlp(
            traced(1, "create", None, "CHAT_MODEL", asked, "<anthropic.Stream object at 0x7f2ddf46f210>"),
            traced(2, "grep", None, "TOOL", {"q": "x"}, "3 hits"),
            traced(3, "create", None, "CHAT_MODEL", {**asked, "messages": ask + again}, last),
        )
    )
    assert [role for role, _ in said(found)] == ["user", "assistant", "user", "assistant"]
    assert [run["output"] for run in tools(found)] == ["3 hits"]
    assert lost(found) == {"call without an answer in its span; only what it read": 1}


def test_an_embedding() -> None:
    found = imported(
        otlp(
            traced(
                1,
                "Embeddings",
                None,
                "EMBEDDING",
                {"model": "text-embedding-3-small", "input": "embed me"},
                {"object": "list", "usage": {"prompt_tokens": 2, "total_tokens": 2}},
            )
        )
    )
    (start,) = (event.data for event in found.log.events() if event.type == "step_start")
    assert (start["kind"], start["model"]) == ("embedding", "text-embedding-3-small")
    assert ends(found)["Embeddings"]["tokens"] == {"input": 2}


def _written(n: int, parent: int | None, name: str, kind: str, asked: Any, got: Any, failed: str = "") -> Any:
    def id(number: int, size: int) -> str:
        return base64.b64encode(number.to_bytes(size, "big")).decode()

    said = {"mlflow.spanType": kind, "mlflow.spanInputs": asked, "mlflow.spanOutputs": got}
    return {
        "trace_id": id(1, 16),
        "span_id": id(n, 8),
        "parent_span_id": None if parent is None else id(parent, 8),
        "name": name,
        "start_time_unix_nano": 1_700_000_000_000_000_000 + n * 10**9,
        "end_time_unix_nano": 1_700_000_000_500_000_000 + n * 10**9,
        "events": [],
        "status": {"code": f"STATUS_CODE_{'ERROR' if failed else 'OK'}", "message": failed},
        "attributes": {key: json.dumps(value) for key, value in said.items()},
    }


@pytest.mark.parametrize("form", ["trace", "list", "lines", "data"])
def test_traces_as_it_exports_them(form: str) -> None:
    """Whole traces, one or many, and the spans alone that it keeps as an artifact."""
    asked = [{"role": "user", "content": "find x"}]
    answer = {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "found"}}]}
    usage = {"usage": {"prompt_tokens": 5, "completion_tokens": 3}}
    spans = [
        _written(1, None, "finder", "AGENT", {"task": "find x"}, "found"),
        _written(2, 1, "grep", "TOOL", {"q": "x"}, None, "no such file"),
        _written(3, 1, "Completions", "CHAT_MODEL", {"model": "gpt-4o", "messages": asked}, answer | usage),
    ]
    info = {"trace_id": "tr-1", "assessments": [{"assessment_name": "correct"}]}
    trace = {"info": info, "data": {"spans": spans}}
    text = {
        "trace": json.dumps(trace),
        "list": json.dumps([trace]),
        "lines": json.dumps(trace) + "\n",
        "data": json.dumps({"spans": spans, "request": "{}", "response": "{}"}),
    }[form]
    found = convert(Source(text.encode(), "traces.json"))
    assert found.form == "mlflow"
    assert [kind for kind, *_ in steps(found)] == ["agent", "llm"]
    assert said(found) == [("user", "find x"), ("assistant", "found")]
    assert ends(found)["Completions"]["tokens"] == {"input": 5, "output": 3}
    (ran,) = tools(found)
    assert (ran["tool"], ran["input"], ran["error"]) == ("grep", {"q": "x"}, "no such file")
    assert lost(found) == ({} if form == "data" else {"assessment of a trace": 1})
