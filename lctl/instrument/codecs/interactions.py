"""Google's Interactions API: steps in, steps out, kept by the provider unless `store` is false.

Messages are made of steps as `lctl.conversation.steps` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.conversation.steps import group
from lctl.instrument.codecs.bodies import is_event_stream, loads_or_none, objects
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.google import google_error
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of
from lctl.instrument.codecs.sse import read_stream
from lctl.instrument.codecs.streamedsteps import StreamedSteps
from lctl.instrument.codecs.usage import count_modalities, sum_tokens

_NOT_PARAMS = frozenset(
    {"input", "model", "agent", "tools", "system_instruction", "previous_interaction_id", "stream"}
)
#: As of generateContent: what the model thought is beside the output, what was cached in the input.
_COUNTS = {
    "input": ("total_input_tokens", "total_tool_use_tokens"),
    "output": ("total_output_tokens", "total_thought_tokens"),
    "cache_read": ("total_cached_tokens",),
    "reasoning": ("total_thought_tokens",),
    "total": ("total_tokens",),
}
_MODALITIES = {
    "input_tokens_by_modality": "input",
    "tool_use_tokens_by_modality": "input",
    "cached_tokens_by_modality": "cache_read",
    "output_tokens_by_modality": "output",
}


class Interactions(DocumentCodec):
    """Codec of the Interactions API."""

    provider = "google"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        return "interactions" if path_of(url).endswith("/interactions") else None

    def conversation_key(self, operation: str) -> str | None:
        return "input"

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        said = document.get("input")
        named = document.get("model") or document.get("agent")
        if not isinstance(named, str) or not isinstance(said, (str, list, dict, type(None))):
            raise ValueError("an interaction names a 'model' or an 'agent', and has an 'input'")
        previous = document.get("previous_interaction_id")
        request = ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="llm",
            model=named.removeprefix("models/"),
            tools=document.get("tools") or None,
            params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
            stream=bool(document.get("stream")),
            continues=previous if isinstance(previous, str) else None,
        )
        if isinstance(said, list):
            request.messages, request.spans = group(said)
        elif said is not None:
            request.messages = group([said])[0] if isinstance(said, dict) else [_user(said)]
        instructions = document.get("system_instruction")
        if instructions:
            request.instructions = True
            request.messages.insert(0, {"role": "system", "content": instructions})
        return request

    def read_refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        return google_error(status, loads_or_none(body), body)

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        if is_event_stream(headers, body):
            return read_events(status, read_stream(body)[0])
        whole = loads_or_none(body)
        return read_whole(status, whole) if isinstance(whole, dict) else ModelAnswer(complete=False)


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def read_whole(status: int, whole: dict[str, Any]) -> ModelAnswer:
    """The answer that an interaction is. It may begin with what it was asked."""
    steps = objects(whole.get("steps"))
    while steps and steps[0].get("type") == "user_input":
        del steps[0]
    usage = whole.get("usage")
    tokens = sum_tokens(usage, _COUNTS)
    answer = ModelAnswer(
        response_id=_text(whole.get("id")),
        model=_text(whole.get("model")) or _text(whole.get("agent")),
        finish_reason=_text(whole.get("status")),
        usage=usage if isinstance(usage, dict) else None,
        tokens=None if tokens is None else {**tokens, **count_modalities(usage, _MODALITIES)},
    )
    if steps:
        answer.messages = [{"role": "assistant", "content": steps}]
        answer.finish_reasons = [answer.finish_reason]
    errors = objects(whole.get("errors"))
    if whole.get("status") == "failed" or whole.get("error"):
        answer.error = google_error(status, whole if whole.get("error") else errors[-1] if errors else {})
    return answer


def read_events(status: int, events: list[dict[str, Any]]) -> ModelAnswer:
    """The answer of a stream, as far as it came."""
    whole: dict[str, Any] = {}
    ended = False
    failure: dict[str, Any] | None = None
    for event in events:
        kind = event.get("event_type")
        interaction = event.get("interaction")
        if isinstance(interaction, dict):
            whole.update({key: value for key, value in interaction.items() if value is not None})
            ended = ended or kind == "interaction.completed"
        elif kind == "interaction.status_update":
            whole["status"] = event.get("status")
            if isinstance(event.get("usage"), dict):
                whole["usage"] = event["usage"]
        elif kind == "error":
            failure = event
    if not whole.get("steps"):
        whole["steps"] = StreamedSteps(events).steps()
    answer = read_whole(status, whole)
    if failure is not None:
        answer.error = google_error(status, failure)
    answer.complete = ended
    answer.events = len(events)
    return answer


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
