"""Calls of W&B Weave: a list or lines of `{"op_name", "trace_id", "inputs", "output"}`.

A call is a step; one whose output is an answer of a model's API is a model call.
"""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing import otlp
from lctl.importing.answers import answer_of
from lctl.importing.draft import Draft
from lctl.importing.modelcalls import prompt_of, told
from lctl.importing.pages import listed
from lctl.importing.source import Source
from lctl.importing.spans import time_of
from lctl.importing.values import mapping, text, without
from lctl.spans import conventions as names
from lctl.spans.span import Span

_KEPT = ("display_name", "attributes", "summary", "wb_user_id", "wb_run_id", "thread_id", "turn_id")
#: What Weave calls an operation -> what OpenInference does.
_KINDS = {"agent": "AGENT", "tool": "TOOL", "search": "RETRIEVER"}
#: Of a model call's inputs, what is Weave's or the client's own.
_NO_REQUEST = ("self", "extra_headers", "extra_query", "extra_body", "timeout")


def sees(source: Source) -> str:
    first = next(iter(listed(source, "calls")), {})
    return "calls with op_name and trace_id" if {"op_name", "trace_id", "inputs"} <= first.keys() else ""


def read(source: Source, draft: Draft) -> None:
    calls = [call for call in listed(source, "calls") if "op_name" in call]
    if not calls:
        raise NotImportable(f"{source.name}: no calls with op_name, as Weave has them")
    spans = [_span(call) for call in calls]
    otlp.fill(sorted(spans, key=lambda span: (span.start_ns, -span.end_ns)), draft, source.name)


def _name(op: str) -> str:
    """`openai.chat.completions.create` of `weave:///team/project/op/openai.chat.completions.create:digest`."""
    return op.rpartition("/op/")[2].partition(":")[0] if op.startswith("weave:///") else op


def _span(call: dict[str, Any]) -> Span:
    asked, gave = mapping(call.get("inputs")), call.get("output")
    request = {key: one for key, one in without(asked, *_NO_REQUEST).items() if not _is_absent(one)}
    answer, read = answer_of(mapping(gave)), prompt_of(request)
    failed = text(call.get("exception"))
    name = _name(text(call.get("op_name")))
    if answer is not None or (read and failed):
        said = told(request, answer, read)
    else:
        kind = _KINDS.get(text(mapping(mapping(call.get("attributes")).get("weave")).get("kind")), "CHAIN")
        said = {"openinference.span.kind": kind}
        if kind == "TOOL":
            said |= {names.TOOL_NAME: name, names.TOOL_ARGUMENTS: asked, names.TOOL_RESULT: gave}
        else:
            said |= {"input.value": asked, "output.value": gave}
    said["weave"] = without({key: call.get(key) for key in _KEPT})
    return Span(
        text(call.get("trace_id")),
        text(call.get("id")),
        text(call.get("parent_id")),
        name,
        time_of(call.get("started_at")),
        time_of(call.get("ended_at")),
        {key: one for key, one in said.items() if one not in (None, "", {}, [])},
        error=failed,
        scope="weave",
    )


def _is_absent(value: object) -> bool:
    """OpenAI's mark of what was not given, as Weave writes it."""
    return isinstance(value, str) and value in ("NOT_GIVEN", "Omit()", "<openai.Omit object>")
