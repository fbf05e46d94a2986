"""The same traces in every shape in which services hand them out: pages, lists, lines, tables, buckets."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from lctl.importing import Imported
from tests.unit.importing.peers import ASK, ends, imported, otlp, said, span, steps

MORE = ["pages after the last one in the file"]


def lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def lost(found: Imported) -> list[str]:
    return [loss.what for loss in found.lost]


def snake(value: Any) -> Any:
    """Keys as protobuf and databases spell them."""
    if isinstance(value, dict):
        return {
            re.sub("([A-Z])", lambda one: "_" + one[1].lower(), key): snake(v) for key, v in value.items()
        }
    return [snake(one) for one in value] if isinstance(value, list) else value


# -- Langfuse ----------------------------------------------------------------------------------------


def observation(trace: str, id: str, type: str, at: int, **more: Any) -> dict[str, Any]:
    times = {"startTime": f"2026-01-01T00:00:0{at}.000Z", "endTime": f"2026-01-01T00:00:0{at}.500Z"}
    about = {"name": id, "parentObservationId": None, "level": "DEFAULT", **times, **more}
    return {"id": f"{trace}{id}", "traceId": trace, "type": type, **about}


def trace(id: str, words: str, *scored: str) -> dict[str, Any]:
    """An agent that asks a model twice; `scored`: observations that have a score."""
    first, second = {"role": "assistant", "content": f"{words}?"}, {"role": "assistant", "content": words}
    model = {"model": "gpt-4o", "usageDetails": {"input": 9, "output": 1, "total": 10}}
    below = {"parentObservationId": f"{id}agent", **model}
    asked = [{"role": "user", "content": f"{id}: 2+2?"}]
    again = [*asked, first, {"role": "user", "content": "sure?"}]
    scores = [
        {"id": f"s{n}", "name": "good", "value": n, "observationId": one} for n, one in enumerate(scored)
    ]
    return {
        "id": id,
        "name": f"trace {id}",
        "scores": [*scores, {"id": f"all{id}", "name": "whole", "value": 1, "observationId": None}],
        "observations": [
            observation(id, "agent", "AGENT", 0),
            observation(id, "one", "GENERATION", 1, input=asked, output=first, **below),
            observation(id, "two", "GENERATION", 2, input=again, output=second, **below),
        ],
    }


ONE, TWO = trace("t", "four"), trace("u", "vier")
TRACES: dict[str, Any] = {
    "a list": [ONE, TWO],
    "a line each": lines(ONE, TWO),
    "a page": {"data": [ONE, TWO], "meta": {"page": 2, "totalPages": 2}},
    "as its page saves them": [{"trace": {**one, "observations": []}, "observations": one["observations"]}
                               for one in (ONE, TWO)],
}  # fmt: skip


@pytest.mark.parametrize("shape", TRACES)
def test_several_traces_of_langfuse(shape: str) -> None:
    """Each trace's steps, and its score about its own last answer."""
    found = imported(TRACES[shape])
    assert (found.form, lost(found)) == ("langfuse", [])
    assert sorted(intent for _, intent, *_ in steps(found)) == ["agent", "agent", "one", "one", "two", "two"]
    answers = {
        event.data["message_id"]: event.data["content"]
        for event in found.log.events()
        if event.type == "message"
    }
    facts = [event.data for event in found.log.events() if event.type == "fact_added"]
    assert [(fact["id"], answers[fact["about"]]) for fact in facts] == [
        ("score:allt", "four"),
        ("score:allu", "vier"),
    ]


def test_a_score_of_langfuse_is_about_the_answer_it_was_given_for() -> None:
    """Not about the last one of the trace."""
    found = imported(trace("t", "four", "tone", "ttwo", "tagent"))
    answers = {
        event.data["message_id"]: event.data["content"]
        for event in found.log.events()
        if event.type == "message"
    }
    facts = [event.data for event in found.log.events() if event.type == "fact_added"]
    assert [answers[fact["about"]] for fact in facts] == ["four?", "four", "four", "four"]


def test_observations_of_langfuse_in_a_bucket() -> None:
    """By the names of its database, what was said as text."""
    rows = [
        {**snake(one), "project_id": "p", "provided_model_name": one.get("model"),
         **{key: json.dumps(one[key]) for key in ("input", "output") if key in one}}
        for one in ONE["observations"]
    ]  # fmt: skip
    for row in rows:
        row.pop("model", None)
        row["start_time"], row["end_time"] = (
            row[key].replace("T", " ").removesuffix("Z") for key in ("start_time", "end_time")
        )
    found, told = imported(lines(*rows)), imported(ONE)
    assert found.form == "langfuse" and said(found) == said(told)
    assert [step[:2] for step in steps(found)] == [step[:2] for step in steps(told)]
    assert ends(found) == ends(told)
    assert [event.timestamp for event in found.log.events()] == [
        event.timestamp for event in told.log.events() if event.type != "fact_added"
    ]


def test_a_page_of_langfuse_that_is_not_the_last() -> None:
    """Told by the number of pages, or a cursor."""
    for meta in ({"page": 1, "limit": 3, "totalItems": 60, "totalPages": 20}, {"cursor": "next"}):
        assert lost(imported({"data": ONE["observations"], "meta": meta})) == MORE


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_file_as_powershell_writes_it(encoding: str) -> None:
    """`curl ... > trace.json` there is UTF-16, which lctl's own logs may be, too."""
    found = imported(json.dumps(trace("t", "vier – four"), ensure_ascii=False).encode(encoding))
    assert (found.form, said(found)[-1]) == ("langfuse", ("assistant", "vier – four"))


# -- LangSmith ---------------------------------------------------------------------------------------


def run(id: str, type: str, at: int, **more: Any) -> dict[str, Any]:
    times = {"start_time": f"2026-01-01T00:00:0{at}", "end_time": f"2026-01-01T00:00:0{at}.500000"}
    return {"id": id, "trace_id": "a", "run_type": type, "name": id, "tags": ["x"], **times, **more}


RUNS = [
    run("a", "chain", 0, inputs={"q": "2+2?"}, outputs={"a": "4"}, extra={}),
    run(
        "m", "llm", 1, parent_run_id="a", inputs={"messages": ASK},
        outputs={"choices": [{"message": {"role": "assistant", "content": "4"}}],
                 "usage_metadata": {"input_tokens": 3, "output_tokens": 1}},
        extra={"metadata": {"ls_model_name": "gpt-4o"}, "invocation_params": {"temperature": 0}},
    ),
    run("t", "tool", 2, parent_run_id="a", inputs={"input": '{"n": 1}'}, outputs={"output": "one"}, extra={}),
]  # fmt: skip


def bulk(run: dict[str, Any]) -> dict[str, Any]:
    """As the bulk export has it: objects as text."""
    objects = ("inputs", "outputs", "extra", "tags")
    return {key: json.dumps(value) if key in objects else value for key, value in run.items()}


def parquet(rows: list[dict[str, Any]]) -> bytes:
    pa = pytest.importorskip("pyarrow", reason="needs lctl[parquet]")
    from pyarrow import parquet as tables

    for row in rows:
        row |= {key: datetime.fromisoformat(row[key]) for key in ("start_time", "end_time")}
        row.setdefault("parent_run_id", None)
    file = io.BytesIO()
    tables.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


@pytest.mark.parametrize("write", [lambda rows: lines(*rows), parquet], ids=["lines", "parquet"])
def test_the_bulk_export_of_langsmith(write: Callable[[list[dict[str, Any]]], bytes]) -> None:
    """Its texts are what the API gives as objects: nothing is lost, and nothing is called not traced."""
    found, told = imported(write([bulk(run) for run in RUNS])), imported(RUNS)
    assert (found.form, lost(found)) == ("langsmith", [])
    assert list(found.log.events()) == list(told.log.events())
    assert said(found) == [("user", "2+2?"), ("assistant", "4")]


def test_a_page_of_langsmith_that_is_not_the_last() -> None:
    """A page of the API says where the next begins."""
    assert lost(imported({"runs": RUNS, "cursors": {"next": "abc"}})) == MORE
    assert lost(imported({"runs": RUNS, "cursors": {"next": None}})) == []


# -- Phoenix, Braintrust, OpenAI ---------------------------------------------------------------------


def test_a_data_frame_of_phoenix_by_columns() -> None:
    """`to_json()` of pandas, which writes columns unless it is told otherwise."""
    rows: list[dict[str, Any]] = [
        {"name": "agent", "span_kind": "AGENT", "parent_id": None, "context.span_id": "s1"},
        {"name": "call", "span_kind": "LLM", "parent_id": "s1", "context.span_id": "s2",
         "attributes.llm.model_name": "gpt-4o",
         "attributes.llm.input_messages": [{"message.role": "user", "message.content": "2+2?"}],
         "attributes.llm.output_messages": [{"message.role": "assistant", "message.content": "4"}]},
    ]  # fmt: skip
    for n, row in enumerate(rows):
        row |= {"context.trace_id": "t", "start_time": 1767225600000 + n, "end_time": 1767225601000 - n}
    columns = {key: {str(n): row.get(key) for n, row in enumerate(rows)} for row in rows for key in row}
    found, told = imported(columns), imported(rows)
    assert (found.form, said(found)) == ("phoenix", [("user", "2+2?"), ("assistant", "4")])
    assert list(found.log.events()) == list(told.log.events())


BRAINTRUST: list[dict[str, Any]] = [
    {"id": "a", "span_id": "a", "root_span_id": "a", "span_parents": None, "input": "2+2?", "output": "4",
     "span_attributes": {"name": "root", "type": "task"},
     "metrics": {"start": 1767225600.0, "end": 1767225602.5}},
    {"id": "b", "span_id": "b", "root_span_id": "a", "span_parents": ["a"], "input": ASK,
     "output": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "4"}}],
     "span_attributes": {"name": "call", "type": "llm"}, "metadata": {"model": "gpt-4o"},
     "metrics": {"start": 1767225601.0, "end": 1767225602.0, "prompt_tokens": 3, "completion_tokens": 1}},
]  # fmt: skip


def test_braintrust_by_a_query_and_in_a_table() -> None:
    """`{"data": [...]}`, with objects as text or not."""
    told = list(imported(BRAINTRUST).log.events())
    table = [
        {key: json.dumps(v) if isinstance(v, dict | list) else v for key, v in row.items()}
        for row in BRAINTRUST
    ]
    for rows in (BRAINTRUST, table):
        found = imported({"data": rows, "schema": {}, "cursor": "next"})
        assert (found.form, lost(found)) == ("braintrust", MORE)
        assert list(found.log.events()) == told


@pytest.mark.parametrize("shape", [lambda page: page, lambda page: lines(page, page)], ids=["one", "lines"])
def test_pages_of_answers_that_openai_stored(shape: Callable[[dict[str, Any]], Any]) -> None:
    """`client.chat.completions.list()`, and that there are more."""
    message = {"role": "assistant", "content": "4"}
    answer = {"id": "c1", "object": "chat.completion", "model": "gpt-4o", "created": 1767225600,
              "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
              "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}}  # fmt: skip
    found = imported(shape({"object": "list", "data": [answer], "first_id": "c1", "has_more": True}))
    assert found.form == "calls" and MORE[0] in lost(found)
    assert "4" in [event.data["content"] for event in found.log.events() if event.type == "message"]


# -- OpenTelemetry -----------------------------------------------------------------------------------

SPANS = otlp(
    span(1, "agent", None, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}),
    span(2, "chat", 1, {"gen_ai.operation.name": "chat", "gen_ai.input.messages": ASK}),
    scope="x",
)
_RESOURCE = {"resource": {"attributes": []}, "scopeSpans": SPANS["resourceSpans"][0]["scopeSpans"]}
_OLD = {"instrumentationLibrary": {"name": "x"}, "spans": _RESOURCE["scopeSpans"][0]["spans"]}
OTLP: dict[str, Any] = {
    "by protobuf's names": snake(SPANS),
    "a line, by protobuf's names": lines(snake(SPANS), snake({"resourceLogs": []})),
    "of before 2022": {"resourceSpans": [{"instrumentationLibrarySpans": [_OLD]}]},
    "of Tempo": {"batches": [_RESOURCE]},
    "of Tempo, by its second API": {"trace": {"resourceSpans": [_RESOURCE]}},
}


@pytest.mark.parametrize("shape", OTLP)
def test_otlp_in_other_spellings(shape: str) -> None:
    """Ids, times and nesting are there, as in OTLP's own JSON."""
    found, told = imported(OTLP[shape]), imported(SPANS)
    assert found.form == "otlp" and list(found.log.events()) == list(told.log.events())
    assert next(found.log.events()).timestamp == "2026-01-01T00:00:01.000000Z"
