"""Runs of LangSmith, as its API and SDK give them: a list, JSON Lines, or a run with `child_runs` inside; and
as its bulk export writes them, in Parquet, with what is an object as JSON in a text.

A run is a step, one of type `llm` a model call, one of type `tool` a tool call. Messages are read in the
forms in which tracing stores them: LangChain's serialized objects, and a provider's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lctl.errors import NotImportable
from lctl.importing import otlp
from lctl.importing.draft import Draft
from lctl.importing.pages import listed
from lctl.importing.requests import messages_in
from lctl.importing.source import Source
from lctl.importing.spans import time_of
from lctl.importing.values import dicts, items, mapping, role_of, text
from lctl.spans import conventions as names
from lctl.spans.langchain import beside_calls, calls_of, fields_of
from lctl.spans.messages import value_of
from lctl.spans.span import Span

#: Type of a run -> a step's kind, as OpenInference names it.
_KINDS = {
    "llm": "llm", "tool": "tool", "retriever": "retriever", "embedding": "embedding", "prompt": "prompt",
    "parser": "chain", "chain": "chain",
}  # fmt: skip
#: What its spans say for OpenTelemetry.
_KIND, _PROMPT, _COMPLETION, _METADATA = (
    "langsmith.span.kind",
    "gen_ai.prompt",
    "gen_ai.completion",
    "langsmith.metadata.",
)
#: What stands beside the parameters of a request: LangChain's, or the provider's own (`wrap_openai`).
_NO_PARAMS = frozenset(
    {"model", "model_name", "_type", "tools", "messages", "input", "system", "instructions", "stream"}
)
#: What the bulk export has as text.
_OBJECTS = ("inputs", "outputs", "extra", "tags", "feedback_stats")
_TYPES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


def sees(source: Source) -> str:
    found = _listed(source)
    return "runs with run_type and inputs" if found and "inputs" in found[0] else ""


def read(source: Source, draft: Draft) -> None:
    runs = [run for one in _listed(source) for run in _flat(one, None)]
    if not runs:
        raise NotImportable(f"{source.name}: no runs, as LangSmith exports them")
    found = []
    for run, parent in runs:
        for key in ("inputs_s3_urls", "outputs_s3_urls"):
            if run.get(key) and not run.get(key.partition("_")[0]):
                draft.lose(
                    f"{key.partition('_')[0]} of a run that LangSmith keeps elsewhere", text(run.get("id"))
                )
        if run.get("feedback_stats"):
            draft.lose("feedback of a run (its statistics are kept beside the step)", text(run.get("id")))
        found.append(_span(run, parent))
    otlp.fill(sorted(found, key=lambda span: (span.start_ns, span.end_ns)), draft, source.name)
    if source.rows and mapping(source.rows[-1].value.get("cursors")).get("next"):
        draft.lose("pages after the last one in the file", "cursors.next")


def _listed(source: Source) -> list[dict[str, Any]]:
    return [run for run in listed(source, "runs") if "run_type" in run]


def _flat(run: dict[str, Any], parent: str | None) -> Iterator[tuple[dict[str, Any], str]]:
    """A run and those inside it, each with its parent's id."""
    run = {key: value_of(value) if key in _OBJECTS else value for key, value in run.items()}
    above = (
        text(run.get("parent_run_id")) or parent or next(iter(reversed(items(run.get("parent_run_ids")))), "")
    )
    yield run, text(above)
    for child in dicts(run.get("child_runs")):
        yield from _flat(child, text(run.get("id")))


def _span(run: dict[str, Any], parent: str) -> Span:
    kind = _KINDS.get(text(run.get("run_type")), "chain")
    inputs, outputs = mapping(run.get("inputs")), mapping(run.get("outputs"))
    extra = mapping(run.get("extra"))
    metadata = mapping(extra.get("metadata"))
    said: dict[str, Any] = {"openinference.span.kind": kind.upper()}
    if kind == "llm":
        said |= _call(run, inputs, outputs, extra, metadata)
    elif kind == "tool":
        given = value_of(inputs.get("input", inputs))
        said[names.TOOL_NAME] = text(run.get("name"))
        said[names.TOOL_ARGUMENTS] = given
        said |= _tool_result(outputs)
    else:
        said |= {"input.value": inputs or None, "output.value": outputs or None}
    agent = text(metadata.get("lc_agent_name")) or text(metadata.get("langgraph_node"))
    if agent:
        said[names.AGENT_NAME] = agent
    for key in ("tags", "feedback_stats", "status"):
        if run.get(key):
            said[f"langsmith.{key}"] = run[key]
    if metadata:
        said["langsmith.metadata"] = metadata
    return Span(
        text(run.get("trace_id")),
        text(run.get("id")),
        parent,
        text(run.get("name")),
        time_of(run.get("start_time")),
        time_of(run.get("end_time")),
        {key: value for key, value in said.items() if value not in (None, "")},
        error=text(run.get("error")),
        scope="langsmith",
    )


def is_traced(span: Span) -> bool:
    """Whether LangSmith wrote it for OpenTelemetry: the run's type, with its inputs or outputs as JSON."""
    return _KIND in span.attributes and not {_PROMPT, _COMPLETION}.isdisjoint(span.attributes)


def of_trace(span: Span) -> Span:
    """Such a span, with what its run says in the words that are read here."""
    said = span.attributes
    metadata = {
        key.removeprefix(_METADATA): value_of(value)
        for key, value in said.items()
        if key.startswith(_METADATA)
    }
    given = metadata.pop("invocation_params", None) or metadata.pop("ls_invocation_params", None)
    outputs = dict(mapping(value_of(said.get(_COMPLETION))))
    usage = mapping(value_of(said.get("langsmith.usage_metadata")))
    run = {
        "run_type": said[_KIND],
        "name": said.get("langsmith.trace.name") or span.name,
        "inputs": value_of(said.get(_PROMPT)),
        "outputs": {**outputs, "usage_metadata": usage} if usage else outputs,
        "extra": {"metadata": metadata, "invocation_params": given},
    }
    own = {
        key: value
        for key, value in said.items()
        if key not in (_PROMPT, _COMPLETION, names.OPERATION) and not key.startswith(_METADATA)
    }
    return replace(span, attributes={**_span(run, "").attributes, **own})


def _call(
    run: dict[str, Any],
    inputs: dict[str, Any],
    outputs: dict[str, Any],
    extra: dict[str, Any],
    metadata: dict[str, Any],
) -> dict[str, Any]:
    given = mapping(extra.get("invocation_params")) or (inputs if "model" in inputs else {})
    answers, reason, usage = _answers(outputs)
    model = text(metadata.get("ls_model_name")) or text(given.get("model")) or text(given.get("model_name"))
    params = {key: value for key, value in given.items() if key not in _NO_PARAMS}
    said: dict[str, Any] = {
        names.MESSAGES: (_prompt(inputs), answers),
        names.REQUEST_MODEL: model,
        names.RESPONSE_MODEL: text(outputs.get("model")) or model,
        names.RESPONSE_ID: text(outputs.get("id")) if outputs.get("object") == "response" else None,
        names.REQUEST_STREAM: given.get("stream"),
        names.PROVIDER: text(metadata.get("ls_provider")),
        names.FINISH_REASONS: [reason] if reason else None,
        "llm.invocation_parameters": params or None,
        **_usage(usage),
    }
    for name, key in ((names.INPUT_TOKENS, "prompt_tokens"), (names.OUTPUT_TOKENS, "completion_tokens")):
        if said.get(name) is None and isinstance(run.get(key), int):
            said[name] = run[key]
    tools = dicts(given.get("tools"))
    for n, tool in enumerate(tools):
        said[f"llm.tools.{n}.tool.json_schema"] = tool
    start, first = time_of(run.get("start_time")), time_of(run.get("first_token_time"))
    if start and first >= start:
        said[names.FIRST_CHUNK] = (first - start) / 1e9
    return said


def _usage(usage: dict[str, Any]) -> dict[str, Any]:
    """Token counts in LangChain's words or OpenAI's."""
    read = mapping(usage.get("input_token_details")) or mapping(usage.get("prompt_tokens_details"))
    wrote = mapping(usage.get("output_token_details")) or mapping(usage.get("completion_tokens_details"))
    return {
        names.INPUT_TOKENS: usage.get("input_tokens", usage.get("prompt_tokens")),
        names.OUTPUT_TOKENS: usage.get("output_tokens", usage.get("completion_tokens")),
        names.CACHE_READ: read.get("cache_read", read.get("cached_tokens")),
        names.CACHE_WRITE: read.get("cache_creation"),
        names.REASONING: wrote.get("reasoning", wrote.get("reasoning_tokens")),
    }


def _prompt(inputs: dict[str, Any]) -> list[dict[str, Any]]:
    """What a call read. LangChain stores a list of prompts; of a model call there is one."""
    held = inputs.get("messages", inputs.get("input"))
    if "model" in inputs and "messages" not in inputs and held:  # a request to the Responses API
        return messages_in(inputs, "user") or []
    if isinstance(held, list) and held and isinstance(held[0], list):
        held = held[0]
    if isinstance(held, list):
        return [message for one in dicts(held) if (message := _message(one))]
    prompts = [one for one in items(inputs.get("prompts")) if isinstance(one, str)]
    only = held if isinstance(held, str) else next(iter(prompts), inputs.get("prompt"))
    return [{"role": "user", "content": only}] if isinstance(only, str) and only else []


def _answers(outputs: dict[str, Any]) -> tuple[list[dict[str, Any]], str, dict[str, Any]]:
    """(messages given, finish reason, usage)."""
    usage = mapping(outputs.get("usage_metadata")) or mapping(outputs.get("usage"))
    usage = usage or mapping(mapping(outputs.get("llm_output")).get("token_usage"))
    if outputs.get("object") == "response":
        return messages_in(outputs, "assistant") or [], text(outputs.get("status")), usage
    generations = outputs.get("generations")
    if isinstance(generations, list):
        several = generations[0] if generations and isinstance(generations[0], list) else generations
        found = [_message(mapping(one.get("message"))) or _words(one.get("text")) for one in dicts(several)]
        first = next(iter(dicts(several)), {})
        inner = fields_of(mapping(first.get("message")))
        told = mapping(first.get("generation_info")) or mapping(inner.get("response_metadata"))
        usage = usage or mapping(inner.get("usage_metadata"))
        reason = text(told.get("finish_reason")) or text(told.get("stop_reason"))
        return [one for one in found if one], reason, usage
    choices = dicts(outputs.get("choices"))
    if choices:
        given = [_message(mapping(choice.get("message"))) for choice in choices]
        return [one for one in given if one], text(choices[0].get("finish_reason")), usage
    for key in ("message", "output", "messages"):
        held = outputs.get(key)
        told_of = dicts(held) if isinstance(held, list) else [mapping(held)] if isinstance(held, dict) else []
        found = [message for one in told_of if (message := _message(one))]
        if found:
            usage = usage or mapping(fields_of(told_of[-1]).get("usage_metadata"))
            return found[-1:], "", usage
    own = _said(_message(outputs)) or _words(outputs.get("output")) or _words(outputs.get("content"))
    return ([own] if own else []), text(outputs.get("stop_reason")), usage


def _said(message: dict[str, Any]) -> dict[str, Any]:
    """An answer's message without what else its API says of it."""
    told = ("role", "content", "tool_calls", "function_call", "name")
    return {key: message[key] for key in told if message.get(key) is not None}


def _words(value: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": value} if isinstance(value, str) and value else {}


def _message(message: dict[str, Any]) -> dict[str, Any]:
    """A message as a provider takes it; {} of what is none."""
    fields = fields_of(message)
    named = text(fields.get("type")) or text(message.get("type"))
    role = text(fields.get("role")) or _TYPES.get(named) or role_of(named)
    if not role and isinstance(message.get("id"), list) and message["id"]:
        role = role_of(text(message["id"][-1]).removesuffix("Chunk").removesuffix("Message"))
    if not role:
        return {}
    if fields is message and "type" not in message:
        return dict(message)
    made: dict[str, Any] = {"role": _TYPES.get(role, role), "content": fields.get("content")}
    calls = calls_of(fields) or dicts(mapping(fields.get("additional_kwargs")).get("tool_calls"))
    if calls:
        made |= {"content": beside_calls(made["content"]), "tool_calls": calls}
    if fields.get("tool_call_id"):
        made["tool_call_id"] = text(fields["tool_call_id"])
    if text(fields.get("name")) and made["role"] != "tool":
        made["name"] = fields["name"]
    return made


def _tool_result(outputs: dict[str, Any]) -> dict[str, Any]:
    held = outputs.get("output", outputs or None)
    fields = fields_of(mapping(held))
    if "tool_call_id" in fields:
        return {names.TOOL_RESULT: fields.get("content"), names.TOOL_CALL_ID: text(fields["tool_call_id"])}
    return {names.TOOL_RESULT: held}
