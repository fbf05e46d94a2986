"""Values that no program writes, each in every place of a file: a log, or a refusal in one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from lctl.codec import validate
from lctl.errors import LctlError
from lctl.importing import convert
from lctl.importing.source import Source
from tests.unit.importing.peers import ASK, otlp, span

_ANSWER = {"role": "assistant", "content": [{"type": "text", "text": "4"}], "tool_calls": [{"id": "c"}]}
_CALL = {"object": "chat.completion", "model": "m", "created": 1, "choices": [{"message": _ANSWER}]}
_CONTENT = {"content_type": "text", "parts": ["x"]}
_NODE = {
    "id": "n",
    "parent": None,
    "message": {"author": {"role": "user"}, "create_time": 1.5, "content": _CONTENT},
}
SAMPLES: dict[str, Any] = {
    "otlp": otlp(
        span(1, "chat", None, {
            "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 3, "gen_ai.input.messages": ASK,
            "gen_ai.output.messages": [_ANSWER], "gen_ai.usage.output_tokens": "1", "llm.cost.total": "1",
        })
    ),
    "langsmith": [
        {"run_type": "llm", "id": "r", "trace_id": "t", "start_time": "2026-01-01T00:00:00", "end_time": 5,
         "inputs": {"messages": ASK}, "outputs": {"message": _ANSWER, "usage_metadata": {"input_tokens": 3}}}
    ],
    "openai-agents": [
        {"object": "trace.span", "id": "s", "trace_id": "t", "started_at": "2026-01-01T00:00:00Z",
         "span_data": {"type": "agent", "name": "a"}, "error": {"message": "x", "data": {"error": "y"}}}
    ],
    "calls": [
        {"custom_id": "a", "request": {"messages": ASK}, "response": _CALL,
         "startTime": 1.5, "response_cost": 1},
        {"custom_id": "b", "request": {"messages": ASK}, "error": {"message": "x", "code": 5}},
    ],
    "chatgpt": [{"mapping": {"n": _NODE}, "current_node": "n"}],
    "who-and-when": {"history": ASK, "mistake_step": "0", "mistake_agent": "x", "mistake_reason": "y"},
}  # fmt: skip
VALUES: tuple[Any, ...] = ("9" * 5000, "²", 10**400, float("inf"), float("nan"), -1, [], {"a": 1}, ["x"])


@pytest.mark.parametrize("form", SAMPLES)
def test_odd_values_in_every_place(form: str) -> None:
    """Numbers of thousands of digits, digits that are none, lists and objects where words are."""
    assert convert(Source(json.dumps(SAMPLES[form]).encode(), "x")).form == form
    read = 0
    for place in _places(SAMPLES[form]):
        for value in VALUES:
            source = Source(json.dumps(_put(SAMPLES[form], place, value)).encode(), "x")
            try:
                found = convert(source, form)
            except LctlError as error:
                assert "\n" not in str(error)
                continue
            assert validate(found.log) == [], (place, value)
            read += 1
    assert read > 40


def _places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield above
    named = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in named:
        yield from _places(one, (*above, key))


def _put(value: Any, place: tuple[Any, ...], other: Any) -> Any:
    """The value with another one in that place."""
    if not place:
        return other
    made = dict(value) if isinstance(value, dict) else list(value)
    made[place[0]] = _put(value[place[0]], place[1:], other)
    return made
