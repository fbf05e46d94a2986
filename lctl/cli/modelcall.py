"""One model call as it was: the prompt the model read, and what it answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.errors import UsageError
from lctl.events import Event
from lctl.values import text, texts

if TYPE_CHECKING:
    from lctl.codec import Log
    from lctl.state.model import State

_LONGEST = 100_000  # messages of one prompt; a loop of parents in a broken log ends here


class ModelCall(NamedTuple):
    """The events of one call. `end` is None while it runs; `answers` are several when n > 1."""

    start: Event
    prompt: list[Event]
    answers: list[Event]
    end: Event | None
    attempts: int


def model_call(log: Log, state: State, event: Event) -> ModelCall | None:
    """The model call that `event` begins, ends or belongs to, as far as `state` has seen it."""
    step = state.steps.get(event.seq if event.type == "step_start" else event.step or -1)
    if step is None or step.kind not in ("llm", "embedding"):
        return None
    start = log.event(step.seq)
    end = _event(log, step.end_seq) if step.end_seq else None
    if end is None:
        return ModelCall(start, _path(log, state, start.data.get("prompt")), [], None, 0)
    inside = [e for e in log.events(step.seq, end.seq) if e.step == step.seq]
    named = {*texts(end.data.get("messages")), text(end.data.get("message"))} - {""}
    answers = [e for e in inside if e.type == "message" and text(e.data.get("message_id")) in named]
    attempts = sum(e.type == "exchange" for e in inside)
    return ModelCall(start, _path(log, state, start.data.get("prompt")), answers, end, attempts)


def _path(log: Log, state: State, leaf: Any) -> list[Event]:
    """Messages from the root to `leaf`."""
    path: list[Event] = []
    while isinstance(leaf, str) and leaf in state.messages and len(path) < _LONGEST:
        message = state.messages[leaf]
        event = _event(log, message.seq)
        if event is None:
            break
        path.append(event)
        leaf = message.parent
    path.reverse()
    return path


def _event(log: Log, seq: int) -> Event | None:
    try:
        return log.event(seq)
    except UsageError:
        return None


def said(event: Event) -> Iterator[tuple[str, str]]:
    """(what, text) for each thing a message says: its text, reasoning, tool calls and tool results."""
    from lctl.state.messages import reasoning_of, text_of, tool_calls_of, tool_results_of

    data = event.data
    reasoning = reasoning_of(data)
    if reasoning:
        yield "thinking", str(reasoning)
    results = tool_results_of(data)
    text = text_of(data)
    if text and not results:
        yield "", text
    for call in tool_calls_of(data):
        yield f"calls {call.get('name') or '?'}", _shown(call.get("arguments"))
    shown = [_shown(result.get("output")) for result in results]
    for result, output in zip(results, shown, strict=True):
        label = "failed" if result.get("is_error") else "returned"
        yield f"{result.get('call_id') or 'tool'} {label}", output
    if text and results and text not in shown:
        yield "", text


def _shown(value: Any) -> str:
    """Tool input or output to read: text as it is, the words of a list of parts, anything else as JSON."""
    from lctl.analysis.wording import compact
    from lctl.state.messages import text_of

    if isinstance(value, list):
        value = text_of({"content": value}) or value
    return value if isinstance(value, str) else compact(value)
