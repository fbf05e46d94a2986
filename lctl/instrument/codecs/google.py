"""Google's generateContent: the Gemini API, Vertex, and what speaks as they do.

A message is Google's: `{"role": "user" | "model", "parts": [...]}`. The SDK keeps each chunk of a streamed
answer as a content of its own and sends them all back; contents of the model that follow each other are one
message here, as the answer was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lctl.instrument.codecs.bodies import is_event_stream, loads_or_none, objects, read_error
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.googlecalls import whole_calls
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of, segment_after
from lctl.instrument.codecs.sse import read_stream, stream_error
from lctl.instrument.codecs.usage import count_modalities, sum_tokens

_OPERATIONS = {
    ":generateContent": "generate_content",
    ":streamGenerateContent": "generate_content",
    ":countTokens": "generate_content.count_tokens",
    ":embedContent": "embed_content",
    ":batchEmbedContents": "embed_content",
    ":predict": "embed_content",  # of Vertex, which makes pictures by it, too
}
_NOT_PARAMS = frozenset({"contents", "model", "tools", "systemInstruction", "system_instruction"})
#: Fields of a part as clients in Python may write them.
_SNAKE = {
    "function_call", "function_response", "thought_signature", "inline_data", "file_data", "executable_code",
    "code_execution_result", "video_metadata",
}  # fmt: skip
#: Google leaves what the model thought out of the output, and takes in what was cached.
COUNTS = {
    "input": ("promptTokenCount", "toolUsePromptTokenCount"),
    "output": ("candidatesTokenCount", "thoughtsTokenCount"),
    "cache_read": ("cachedContentTokenCount",),
    "reasoning": ("thoughtsTokenCount",),
    "total": ("totalTokenCount",),
}
#: Lists of counts by modality: of what they are parts.
_MODALITIES = {
    "promptTokensDetails": "input",
    "toolUsePromptTokensDetails": "input",
    "cacheTokensDetails": "cache_read",
    "candidatesTokensDetails": "output",
    "responseTokensDetails": "output",  # of the Live API
}


#: Vertex may be asked for numbers in place of names.
_REASONS = (
    None, "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
    "MALFORMED_FUNCTION_CALL",
)  # fmt: skip


class Google(DocumentCodec):
    """Codec of generateContent."""

    provider = "google"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        return _OPERATIONS.get(path[path.rfind(":") :]) if "odels/" in path else None

    def conversation_key(self, operation: str) -> str | None:
        return None if operation == "embed_content" else "contents"

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        request = ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="embedding" if operation == "embed_content" else "llm",
            model=_model_in(url),
            params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
            stream=path_of(url).endswith(":streamGenerateContent"),
        )
        if operation == "embed_content":
            request.input = _embedded(document)
            request.params = {
                key: v for key, v in request.params.items() if key not in ("content", "requests", "instances")
            }
            return request
        document = {**document, **_counted_request(document)}
        contents = document.get("contents")
        if not isinstance(contents, list):
            raise ValueError("a generateContent request has a list of 'contents'")
        request.messages, request.spans = _grouped(contents)
        if len(request.spans) == len(request.messages) and all(span == 1 for span in request.spans):
            request.spans = None
        system = document.get("systemInstruction") or document.get("system_instruction")
        if system:
            parts = system.get("parts") if isinstance(system, dict) else [{"text": str(system)}]
            request.instructions = True
            request.messages.insert(0, {"role": "system", "parts": parts})
        request.tools = document.get("tools") or None
        return request

    def read_refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        return google_error(status, loads_or_none(body), body)

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        if is_event_stream(headers, body):
            events, _ = read_stream(body)
        else:
            whole = loads_or_none(body)
            events = objects(whole) if isinstance(whole, list) else [whole] if isinstance(whole, dict) else []
            if not events:
                return ModelAnswer(complete=False)
            if operation != "generate_content":
                return _counted(events[0])
        answer = _read_events(events)
        if is_event_stream(headers, body):
            answer.events = len(events)
        failure = stream_error(events)
        if failure is not None:
            answer.error, answer.complete = google_error(status, failure), False
        return answer


def _model_in(url: str) -> str | None:
    for name in ("models", "tunedModels"):
        found = segment_after(url, name)
        if found:
            return found.rpartition(":")[0] or found
    return None


def _counted_request(document: dict[str, Any]) -> dict[str, Any]:
    inner = document.get("generateContentRequest")
    return inner if isinstance(inner, dict) else {}


def _embedded(document: dict[str, Any]) -> Any:
    """What is embedded: texts where they are no more than that."""
    instances = objects(document.get("instances"))
    if instances and all(isinstance(one.get("content"), str) for one in instances):
        return [one["content"] for one in instances]
    requests = objects(document.get("requests"))
    if not requests and "content" not in document:
        raise ValueError("a request for embeddings has 'content', 'requests' or 'instances' with texts")
    contents = [one.get("content") for one in requests] if requests else [document.get("content")]
    texts = [_text_alone(content) for content in contents]
    given: list[Any] = texts if all(text is not None for text in texts) else contents
    return given if requests else given[0]


def _text_alone(content: Any) -> str | None:
    parts = objects(content.get("parts")) if isinstance(content, dict) else []
    return parts[0].get("text") if len(parts) == 1 and set(parts[0]) == {"text"} else None


# -- messages ------------------------------------------------------------------------------


def _grouped(contents: list[Any]) -> tuple[list[dict[str, Any]], list[int]]:
    messages: list[dict[str, Any]] = []
    spans: list[int] = []
    for content in contents:
        message = _spelt(content) if isinstance(content, dict) else {"parts": [{"text": str(content)}]}
        message = message if isinstance(message.get("role"), str) else {**message, "role": "user"}
        if messages and message["role"] == "model" == messages[-1]["role"]:
            parts = [*objects(messages[-1].get("parts")), *objects(message.get("parts"))]
            messages[-1] = {**messages[-1], "parts": joined(parts)}
            spans[-1] += 1
        else:
            messages.append(message)
            spans.append(1)
    return messages, spans


def _spelt(content: dict[str, Any]) -> dict[str, Any]:
    """With the names that answers have. The API takes those with underscores, too, as LiteLLM sends them:
    the call that a model asked for and the one in the next prompt are the same."""
    parts = content.get("parts")
    if not isinstance(parts, list) or not any(
        isinstance(part, dict) and _SNAKE & part.keys() for part in parts
    ):
        return content
    return {**content, "parts": [_named(part) if isinstance(part, dict) else part for part in parts]}


def _named(part: dict[str, Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for name, value in part.items():
        if name in ("inline_data", "file_data") and isinstance(value, dict):
            value = {_camel(key): one for key, one in value.items()}
        named[_camel(name) if name in _SNAKE else name] = value
    return named


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def joined(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parts of a streamed answer with the pieces of its texts put together."""
    whole: list[dict[str, Any]] = []
    for part in whole_calls(parts):
        last = whole[-1] if whole else None
        if last is not None and _is_text(last) and _is_text(part) and _thinks(last) == _thinks(part):
            if part.get("text") or len(part) > 1:
                whole[-1] = {**last, **part, "text": str(last["text"]) + str(part["text"])}
        elif part != {"text": ""}:
            whole.append(part)
    return whole


def _is_text(part: dict[str, Any]) -> bool:
    return isinstance(part.get("text"), str) and set(part) <= {"text", "thought", "thoughtSignature"}


def _thinks(part: dict[str, Any]) -> bool:
    return bool(part.get("thought"))


# -- answers -------------------------------------------------------------------------------


def _read_events(events: list[dict[str, Any]]) -> ModelAnswer:
    """From the whole response, or from the chunks of a stream as far as they came."""
    answer = ModelAnswer()
    parts: dict[int, list[dict[str, Any]]] = {}
    reasons: dict[int, str | None] = {}
    blocked: str | None = None
    for event in events:
        answer.response_id = answer.response_id or _text(event.get("responseId"))
        answer.model = answer.model or _text(event.get("modelVersion"))
        usage = event.get("usageMetadata")
        if isinstance(usage, dict):
            answer.usage = usage
        feedback = event.get("promptFeedback")
        if isinstance(feedback, dict):
            blocked = _text(feedback.get("blockReason")) or blocked
        for candidate in objects(event.get("candidates")):
            index = candidate.get("index")
            index = index if isinstance(index, int) else 0
            content = candidate.get("content")
            said = objects(content.get("parts")) if isinstance(content, dict) else []
            parts.setdefault(index, []).extend(said)
            reasons[index] = _reason(candidate.get("finishReason")) or reasons.get(index)
    several = len(events) > 1
    for index in sorted(parts):
        said = joined(parts[index]) if several else parts[index]
        answer.messages.append({"role": "model", "parts": said})
        answer.finish_reasons.append(reasons.get(index))
    answer.finish_reason = answer.finish_reasons[0] if answer.finish_reasons else blocked
    answer.complete = bool(blocked) or (bool(reasons) and all(reasons.values()))
    answer.tokens = tokens_of(answer.usage)
    return answer


def tokens_of(usage: Any, counts: Mapping[str, Sequence[str]] = COUNTS) -> dict[str, int] | None:
    """The counts of a usage, with those parts that have a price of their own."""
    tokens = sum_tokens(usage, counts)
    return None if tokens is None else {**tokens, **count_modalities(usage, _MODALITIES)}


def _counted(whole: dict[str, Any]) -> ModelAnswer:
    """Of embeddings and token counting."""
    if "totalTokens" in whole:
        return ModelAnswer(usage=whole)
    one = whole.get("embedding")
    predicted = objects([row.get("embeddings") for row in objects(whole.get("predictions"))])
    rows = objects(whole.get("embeddings")) or ([one] if isinstance(one, dict) else predicted)
    values = rows[0].get("values") if rows else None
    answer = ModelAnswer(embedding={"count": len(rows), "dimensions": len(values) if values else 0})
    usage = whole.get("usageMetadata")
    if isinstance(usage, dict):
        answer.usage, answer.tokens = usage, tokens_of(usage)
    counts = [row.get("token_count") for row in objects([row.get("statistics") for row in predicted])]
    known = [count for count in counts if type(count) is int]
    if known and len(known) == len(predicted):
        answer.tokens = {"input": sum(known)}
    return answer


def google_error(status: int, value: Any, body: bytes = b"") -> dict[str, Any]:
    """What a body says that failed: the decoded `value`, or its text where it is no JSON."""
    if isinstance(value, list) and value:
        value = value[0]
    error = read_error(status, body.decode("utf-8", "replace") if value is None else value)
    detail = value.get("error") if isinstance(value, dict) else None
    if isinstance(detail, dict) and error["type"] is None:
        error["type"] = detail.get("status")
    return error


def _reason(value: Any) -> str | None:
    if type(value) is int and value > 0:
        return _REASONS[value] if value < len(_REASONS) else f"FINISH_REASON_{value}"
    return _text(value)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
