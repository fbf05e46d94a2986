"""Replicate's predictions of models that answer a prompt with a text.

A prediction comes later: the program asks for it until it is there, or reads it as a stream from another
address. Most predictions are of pictures, which are no model calls here: what is asked tells them apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.instrument.codecs.bodies import is_event_stream, loads_or_none, read_error
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of
from lctl.instrument.codecs.sse import read_events
from lctl.instrument.codecs.usage import sum_tokens

PREDICTIONS = "predictions"

_SAID = frozenset({"prompt", "system_prompt", "messages"})
#: What only models of texts are asked.
_OF_TEXTS = frozenset({"system_prompt", "messages", "max_tokens", "max_new_tokens", "max_completion_tokens",
    "max_length", "min_tokens", "prompt_template", "reasoning_effort", "verbosity"})  # fmt: skip
#: What models of pictures, films and sounds are.
_OF_OTHERS = frozenset({"aspect_ratio", "width", "height", "num_outputs", "num_inference_steps", "guidance",
    "guidance_scale", "output_format", "output_quality", "negative_prompt", "scheduler", "resolution",
    "go_fast", "megapixels", "duration", "fps", "num_frames", "lyrics", "voice", "image_input", "mask",
    "prompt_strength", "disable_safety_checker", "safety_tolerance", "model_version"})  # fmt: skip
_COUNTS = {"input": ("input_token_count",), "output": ("output_token_count",)}


class Replicate(DocumentCodec):
    """Codec of predictions: of a model, of a version, of a deployment."""

    provider = "replicate"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        begun, _, rest = path.rpartition("/v1/")
        if not begun or not rest.endswith("predictions"):
            return None
        named = rest.split("/")
        is_named = len(named) == 4 and named[0] in ("models", "deployments")
        return PREDICTIONS if is_named or rest == "predictions" else None

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        given = document.get("input")
        given = given if isinstance(given, dict) else {}
        prompt, said = given.get("prompt"), given.get("messages")
        is_text = isinstance(prompt, str) or isinstance(said, list)
        if not is_text or (_OF_OTHERS & given.keys() and not _OF_TEXTS & given.keys()):
            raise ValueError("a prediction of a text has an 'input' with a 'prompt' or 'messages'")
        parts = path_of(url).rpartition("/v1/")[2].split("/")
        version = document.get("version")
        named = "/".join(parts[1:3]) if len(parts) == 4 else version
        request = ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="llm",
            model=named if isinstance(named, str) else None,
            params={key: value for key, value in given.items() if key not in _SAID},
            stream=bool(document.get("stream")),
        )
        if isinstance(said, list):
            request.messages = [one for one in said if isinstance(one, dict)]
        else:
            request.messages = [{"role": "user", "content": prompt}]
        if given.get("system_prompt"):
            request.instructions = True
            request.messages.insert(0, {"role": "system", "content": given["system_prompt"]})
        return request

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        if is_event_stream(headers, body):
            return _read_stream(status, body)
        whole = loads_or_none(body)
        return _read_whole(status, whole) if isinstance(whole, dict) else ModelAnswer(complete=False)


def _read_whole(status: int, whole: dict[str, Any]) -> ModelAnswer:
    id, model, metrics, urls = (whole.get(name) for name in ("id", "model", "metrics", "urls"))
    stream = urls.get("stream") if isinstance(urls, dict) else None
    answer = ModelAnswer(
        response_id=id if isinstance(id, str) else None,
        model=model if isinstance(model, str) else None,
        finish_reason=_spelt(whole.get("status")),
        usage=metrics if isinstance(metrics, dict) else None,
        tokens=sum_tokens(metrics, _COUNTS),
        followed_at=stream if isinstance(stream, str) else None,
    )
    output = whole.get("output")
    if isinstance(output, list) and all(isinstance(one, str) for one in output):
        output = "".join(output)
    if output and answer.finish_reason not in ("starting", "processing"):
        answer.messages = [{"role": "assistant", "content": output}]
        answer.finish_reasons = [answer.finish_reason]
    if whole.get("error"):
        answer.error = read_error(status, whole)
    return answer


def _read_stream(status: int, body: bytes) -> ModelAnswer:
    said: list[str] = []
    answer = ModelAnswer(complete=False)
    events = read_events(body)
    for name, data in events:
        text = data.decode("utf-8", "replace")
        if name == "output":
            said.append(text)
        elif name == "error":
            answer.error = read_error(status, loads_or_none(data) or text)
        elif name == "done":
            told = loads_or_none(data)
            reason = told.get("reason") if isinstance(told, dict) else None
            answer.finish_reason = _spelt({"error": "failed"}.get(str(reason), reason or "succeeded"))
            answer.complete = True
    answer.events = len(events)
    if said:
        answer.messages = [{"role": "assistant", "content": "".join(said)}]
        answer.finish_reasons = [answer.finish_reason]
    return answer


def _spelt(status: Any) -> str | None:
    """As everybody else spells it."""
    return "cancelled" if status == "canceled" else status if isinstance(status, str) else None
