"""OpenAI's Assistants API: runs of threads, both kept by the provider.

What a run's model reads is what was put into its thread before, and what the run itself says: instructions of
its own, further messages, results of functions. Where the request leaves out model, instructions and tools
they are the assistant's, which `lctl.instrument.threads` knows. A message is one of chat completions: texts
of it are plain, calls of functions are its `tool_calls`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.instrument.codecs.bodies import is_event_stream, loads_or_none, objects, read_error
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of, segment_after
from lctl.instrument.codecs.sse import read_stream, stream_error
from lctl.instrument.codecs.usage import read_tokens

RUN, SUBMIT = "threads.runs", "threads.runs.submit_tool_outputs"
#: Operations of this API: what answers them comes later, unless it is streamed.
RUNS = frozenset({RUN, SUBMIT})

_NOT_PARAMS = frozenset(
    {"model", "tools", "instructions", "additional_messages", "thread", "tool_outputs", "stream"}
)
#: A run that has this status says no more by itself.
_FINAL = frozenset({"completed", "requires_action", "incomplete", "cancelled", "failed", "expired"})


class Assistants(DocumentCodec):
    """Codec of runs: begun in a thread, begun with one, gone on with by results of functions."""

    provider = "openai"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        if path.endswith("/threads/runs"):
            return RUN
        thread = segment_after(path, "threads") or ""
        if not thread.startswith("thread_"):  # LangGraph's threads have runs, too
            return None
        if path.endswith(f"/{thread}/runs"):
            return RUN
        return SUBMIT if path.endswith("/submit_tool_outputs") else None

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        outputs = document.get("tool_outputs")
        named = outputs if operation == SUBMIT else document.get("assistant_id")
        if not isinstance(named, list if operation == SUBMIT else str):
            raise ValueError("a run names an 'assistant_id', or gives it 'tool_outputs'")
        model, thread = document.get("model"), document.get("thread")
        kept = segment_after(url, "threads")
        request = ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="llm",
            model=model if isinstance(model, str) else None,
            tools=document.get("tools") or None,
            params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
            stream=bool(document.get("stream")),
            continues=kept if kept != "runs" else None,
        )
        begun_with = objects(thread.get("messages")) if isinstance(thread, dict) else []
        said = [*begun_with, *objects(document.get("additional_messages"))]
        request.messages = [message_of(message) for message in said]
        request.messages += [_result(output) for output in objects(outputs)]
        if operation == SUBMIT:
            request.params["run_id"] = segment_after(url, "runs")
        add_instructions(request, document.get("instructions"))
        return request

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        if is_event_stream(headers, body):
            return _read_events(status, *read_stream(body))
        whole = loads_or_none(body)
        return read_run(status, whole) if isinstance(whole, dict) else ModelAnswer(complete=False)


def add_instructions(request: ModelRequest, instructions: Any) -> None:
    """Put what the model is told before all else at the head of the prompt."""
    further = request.params.get("additional_instructions")
    said = "\n\n".join(text for text in (instructions, further) if isinstance(text, str) and text)
    if instructions and said:
        request.instructions = True
        request.messages.insert(0, {"role": "system", "content": said})


def message_of(message: dict[str, Any]) -> dict[str, Any]:
    """A message as one of a thread is put in, or given: without what the provider counts it by."""
    said = {"role": str(message.get("role") or "user"), "content": _content(message.get("content"))}
    attached = message.get("attachments")
    return {**said, "attachments": attached} if attached else said


def _content(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    parts = [_part(part) for part in objects(content)]
    plain = len(parts) == 1 and parts[0].keys() == {"type", "text"}
    return parts[0]["text"] if plain else parts


def _part(part: dict[str, Any]) -> dict[str, Any]:
    text = part.get("text")
    if not isinstance(text, dict):
        return part
    notes = text.get("annotations")
    said = {"type": "text", "text": text.get("value")}
    return {**said, "annotations": notes} if notes else said


def _result(output: dict[str, Any]) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": output.get("tool_call_id"), "content": output.get("output")}


# -- answers -------------------------------------------------------------------------------


def said_by(messages: list[dict[str, Any]], calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The one message of what a run said and asked for; none where that is nothing."""
    parts = [part for message in messages for part in objects(message.get("content"))]
    content = _content(parts) if parts else None
    if content is None and not calls:
        return []
    said: dict[str, Any] = {"role": "assistant", "content": content}
    return [{**said, "tool_calls": calls} if calls else said]


def read_run(status: int, run: dict[str, Any], messages: list[dict[str, Any]] | None = None) -> ModelAnswer:
    """The answer as far as the run itself tells it, and what it is known to have said."""
    id, model, usage, thread = run.get("id"), run.get("model"), run.get("usage"), run.get("thread_id")
    finish, details = run.get("status"), run.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    answer = ModelAnswer(
        response_id=id if isinstance(id, str) else None,
        model=model if isinstance(model, str) else None,
        finish_reason=f"{finish}:{reason}" if reason else finish if isinstance(finish, str) else None,
        usage=usage if isinstance(usage, dict) else None,
        tokens=read_tokens(usage),
        conversation=thread if isinstance(thread, str) else None,
    )
    answer.messages = said_by(messages or [], _calls(run))
    answer.finish_reasons = [answer.finish_reason for _ in answer.messages]
    failure = run.get("last_error")
    if isinstance(failure, dict):
        answer.error = read_error(status, failure)
    elif finish == "expired":
        said = {"code": "expired", "message": "the run expired before it was given what it had asked for"}
        answer.error = read_error(status, said)
    elif run.get("error"):
        answer.error = read_error(status, run)
    return answer


def is_over(run: dict[str, Any]) -> bool:
    """Whether the run goes no further by itself."""
    return run.get("status") in _FINAL


def _calls(run: dict[str, Any]) -> list[dict[str, Any]]:
    action = run.get("required_action")
    wanted = action.get("submit_tool_outputs") if isinstance(action, dict) else None
    return objects(wanted.get("tool_calls")) if isinstance(wanted, dict) else []


def _read_events(status: int, events: list[dict[str, Any]], done: bool) -> ModelAnswer:
    run: dict[str, Any] = {}
    messages: dict[Any, dict[str, Any]] = {}
    for event in events:
        kind = event.get("object")
        if kind == "thread.run":
            run = event
        elif kind == "thread.message":
            if event.get("content") or event.get("id") not in messages:
                messages[event.get("id")] = event
        elif kind == "thread.message.delta":
            _add(messages.setdefault(event.get("id"), {}), event.get("delta"))
    failure = stream_error(events)
    answer = read_run(status, run, list(messages.values()))
    answer.complete = is_over(run) and failure is None
    answer.events = len(events)
    if failure is not None:
        answer.error = read_error(status, failure)
    elif not answer.complete:  # as it began
        answer.finish_reason, answer.finish_reasons = None, [None for _ in answer.messages]
    return answer


def _add(message: dict[str, Any], delta: Any) -> None:
    parts: list[dict[str, Any]] = message.setdefault("content", [])
    for piece in objects(delta.get("content") if isinstance(delta, dict) else None):
        index = piece.get("index")
        known: dict[str, Any] | None = next((part for part in parts if part.get("index") == index), None)
        if known is None:
            known = {"index": index, "type": piece.get("type")}
            message["content"] = parts = [*parts, known]
        text = piece.get("text")
        if not isinstance(text, dict):
            known.update(piece)
            continue
        said = known.setdefault("text", {"value": "", "annotations": []})
        said["value"] += str(text.get("value") or "")
        said["annotations"] = [*said["annotations"], *objects(text.get("annotations"))]
