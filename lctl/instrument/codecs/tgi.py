"""Hugging Face's text generation: of its servers (TGI), its endpoints and its models without a provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.instrument.codecs.bodies import (
    header,
    is_event_stream,
    loads_or_none,
    objects,
)
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of
from lctl.instrument.codecs.sse import read_stream

_EMBEDS = "/pipeline/feature-extraction"
_GENERATES = ("/generate", "/generate_stream")
#: What a request for a text says of how; other tasks of these addresses have other parameters.
_HOW = frozenset({"max_new_tokens", "return_full_text", "details", "decoder_input_details", "do_sample"})


class TextGeneration(DocumentCodec):
    """Codec of text generation and of embeddings."""

    provider = "huggingface"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        if path.endswith(_EMBEDS):
            return "feature_extraction"
        named = "/models/" in path or path.count("/") == 2  # an endpoint of one model answers at the root
        is_place = path.endswith(_GENERATES) or (named and _is_hugging_face(path, headers))
        return "text_generation" if is_place else None

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        given, params = document.get("inputs"), document.get("parameters")
        params = params if isinstance(params, dict) else {}
        embeds = operation == "feature_extraction"
        if not isinstance(given, str | list) or not (embeds or _is_of_text(given, document, params)):
            raise ValueError("a request for a text has 'inputs' and says how it is made")
        return ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="embedding" if embeds else "llm",
            model=_model_in(path_of(url).removesuffix(_EMBEDS)),
            params={**params, **({} if not embeds else _rest(document))},
            stream=bool(document.get("stream")) or path_of(url).endswith("_stream"),
            input=given,
        )

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        if is_event_stream(headers, body):
            return _read_events(status, read_stream(body)[0])
        whole = loads_or_none(body)
        if operation == "feature_extraction":
            return _read_vectors(whole)
        rows = objects(whole if isinstance(whole, list) else [whole])
        answer = ModelAnswer(complete=bool(rows))
        for row in rows:
            _add(answer, row.get("generated_text"), row.get("details"))
        return answer


def _is_hugging_face(path: str, headers: Mapping[str, str]) -> bool:
    return ".huggingface.c" in path or "hf_hub" in header(headers, "user-agent")


def _is_of_text(given: Any, document: dict[str, Any], params: dict[str, Any]) -> bool:
    return isinstance(given, str) and ("stream" in document or not _HOW.isdisjoint(params))


def _rest(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in ("inputs", "parameters")}


def _model_in(path: str) -> str | None:
    _, found, model = path.rpartition("/models/")
    return model if found and model else None


def _add(answer: ModelAnswer, text: Any, details: Any) -> None:
    details = details if isinstance(details, dict) else {}
    reason, count = details.get("finish_reason"), details.get("generated_tokens")
    reason = reason if isinstance(reason, str) else None
    if not answer.messages:
        answer.finish_reason = reason
    answer.messages.append({"role": "assistant", "content": text})
    answer.finish_reasons.append(reason)
    if type(count) is int:
        read = details.get("input_length")
        read = len(details["prefill"]) if read is None and details.get("prefill") else read
        answer.usage = {key: details[key] for key in ("input_length", "generated_tokens") if key in details}
        answer.tokens = {**({"input": read} if type(read) is int else {}), "output": count}


def _read_events(status: int, events: list[dict[str, Any]]) -> ModelAnswer:
    answer = ModelAnswer(complete=False)
    last = events[-1] if events else {}
    tokens = [
        token for token in objects([event.get("token") for event in events]) if not token.get("special")
    ]
    whole = last.get("generated_text")
    if tokens or whole is not None:
        pieces = "".join(str(token.get("text") or "") for token in tokens)
        _add(answer, whole if isinstance(whole, str) else pieces, last.get("details"))
        answer.complete = isinstance(whole, str)
    failed = next((event for event in events if event.get("error")), None)
    if failed is not None:
        kind = failed.get("error_type")
        answer.error = {"status": status, "type": kind, "code": None, "message": failed["error"]}
        answer.complete = False
    answer.events = len(events)
    return answer


def _read_vectors(whole: Any) -> ModelAnswer:
    if not isinstance(whole, list):
        return ModelAnswer(complete=False)
    first = whole[0] if whole else None
    if not isinstance(first, list):
        return ModelAnswer(embedding={"count": 1, "dimensions": len(whole)})
    while first and isinstance(first[0], list):  # one for each token
        first = first[0]
    return ModelAnswer(embedding={"count": len(whole), "dimensions": len(first)})
