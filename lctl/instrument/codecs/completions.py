"""OpenAI's legacy completions: a prompt and its continuation, without messages.

Mistral's of code between two texts (FIM) answer as a chat does.
"""

from __future__ import annotations

from typing import Any

from lctl.instrument.codecs.bodies import objects
from lctl.instrument.codecs.chat import read_event_head, read_head
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest

_NOT_PARAMS = frozenset({"prompt", "model", "stream"})


def read_request(document: dict[str, Any], provider: str) -> ModelRequest:
    if "prompt" not in document:
        raise ValueError("a completion has a 'prompt'")
    model = document.get("model")
    return ModelRequest(
        provider=provider,
        operation="completions",
        kind="llm",
        model=model if isinstance(model, str) else None,
        params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
        stream=bool(document.get("stream")),
        input=document["prompt"],
    )


def read_whole(whole: dict[str, Any]) -> ModelAnswer:
    answer = read_head(whole)
    for choice in objects(whole.get("choices")):
        message = choice.get("message")
        text = choice.get("text") if not isinstance(message, dict) else message.get("content")
        _add(answer, text, choice.get("finish_reason"))
    return answer


def read_events(events: list[dict[str, Any]], done: bool) -> ModelAnswer:
    head: dict[str, Any] = {}
    texts: dict[int, list[str]] = {}
    finish: dict[int, Any] = {}
    for event in events:
        read_event_head(event, head)
        for part in objects(event.get("choices")):
            index = part.get("index")
            index = index if isinstance(index, int) else 0
            pieces = texts.setdefault(index, [])
            delta = part.get("delta")
            text = part.get("text") if not isinstance(delta, dict) else delta.get("content")
            if isinstance(text, str):
                pieces.append(text)
            finish[index] = part.get("finish_reason") or finish.get(index)
    answer = read_head(head)
    for index in sorted(texts):
        _add(answer, "".join(texts[index]), finish[index])
    answer.events = len(events)
    answer.complete = done or (bool(finish) and all(finish.values()))
    return answer


def _add(answer: ModelAnswer, text: Any, reason: Any) -> None:
    reason = reason if isinstance(reason, str) else None
    if not answer.messages:
        answer.finish_reason = reason
    answer.messages.append({"role": "assistant", "content": text})
    answer.finish_reasons.append(reason)
