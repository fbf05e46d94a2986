"""Answers nobody wrote: the same for the same seed and prompt, whatever else happens."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import anthropic
import openai
import pytest

from lctl.testing import ModelServer
from lctl.testing.schema import value_for

jsonschema: Any = pytest.importorskip("jsonschema")

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "search",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
}


def transcript(server: ModelServer, order: list[int]) -> dict[int, Any]:
    """The whole answers to ten prompts, asked from eight threads in the given order; times taken out."""
    with openai.OpenAI(base_url=server.openai_url, api_key="t") as client:

        def ask(n: int) -> Any:
            messages: Any = [{"role": "user", "content": f"prompt number {n % 5}"}]
            answer = client.chat.completions.create(model="gpt-4.1", messages=messages, tools=[TOOL])
            return answer.model_dump(exclude={"created"})

        with ThreadPoolExecutor(8) as pool:
            return dict(zip(order, pool.map(ask, order), strict=True))


def spoken(answer: Any) -> Any:
    """What an answer says and calls, without its ids."""
    message = answer["choices"][0]["message"]
    return message["content"], [c["function"] for c in message["tool_calls"] or ()]


def test_concurrent_programs_are_reproducible() -> None:
    """Same seed, any order: the same answers and the same set of ids; another seed: others."""
    order = list(range(10))
    with ModelServer(seed=3) as one, ModelServer(seed=3) as two, ModelServer(seed=4) as three:
        first, second = transcript(one, order), transcript(two, order[::-1])
        third = transcript(three, order)
    said = [[spoken(answers[n]) for n in order] for answers in (first, second, third)]
    assert said[0] == said[1] != said[2]
    assert len({str(s) for s in said[0]}) > 2
    ids = [sorted(a[n]["id"] for n in order) for a in (first, second)]
    assert ids[0] == ids[1] and len(set(ids[0])) == 10


def test_random_answers_are_new_at_every_call() -> None:
    """For tests of what happens when a model answers differently the second time."""
    with (
        ModelServer(seed=3, random_answers=True) as server,
        openai.OpenAI(base_url=server.openai_url, api_key="t") as client,
    ):
        answers = [client.responses.create(model="gpt-4.1", input="the same") for _ in range(3)]
    assert len({a.output_text for a in answers}) == len({a.id for a in answers}) == 3


def test_a_seeded_agent_loop_ends() -> None:
    """With tools offered the seed calls some, and answers in words after a few rounds, for every seed."""
    called = 0
    for seed in range(12):
        with (
            ModelServer(seed) as server,
            anthropic.Anthropic(base_url=server.anthropic_url, api_key="t") as client,
        ):
            messages: list[Any] = [{"role": "user", "content": "Find the broken import please"}]
            tools: Any = [{"name": "search", "input_schema": TOOL["function"]["parameters"]}]
            for _ in range(6):
                answer = client.messages.create(
                    model="claude-sonnet-4-6", max_tokens=900, messages=messages, tools=tools
                )
                uses = [b for b in answer.content if b.type == "tool_use"]
                if not uses:
                    break
                called += len(uses)
                assert all(set(u.input) == {"query"} for u in uses)
                messages.append({"role": "assistant", "content": answer.content})
                results = [{"type": "tool_result", "tool_use_id": u.id, "content": "none"} for u in uses]
                messages.append({"role": "user", "content": results})
            assert answer.stop_reason == "end_turn"
    assert called >= 8


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("none", set()),
        ("required", {"search", "read"}),
        ({"type": "function", "function": {"name": "read"}}, {"read"}),
    ],
)
def test_tool_choice_is_obeyed(server: ModelServer, gpt: openai.OpenAI, choice: Any, names: set[str]) -> None:
    """none calls nothing, required something, a named tool that one; parallel calls can be forbidden."""
    read: Any = {"type": "function", "function": {**TOOL["function"], "name": "read"}}
    called: set[str] = set()
    for n in range(8):
        messages: Any = [{"role": "user", "content": f"number {n}"}]
        answer = gpt.chat.completions.create(
            model="gpt-4.1",
            messages=messages,
            tools=[TOOL, read],
            tool_choice=choice,
            parallel_tool_calls=False,
        )
        calls: Any = answer.choices[0].message.tool_calls or []
        assert len(calls) <= 1 and bool(calls) == bool(names)
        called |= {c.function.name for c in calls}
    assert called == names


def test_a_token_limit_cuts_a_seeded_text(gpt: openai.OpenAI) -> None:
    """max_tokens ends the text and the finish reason says so."""
    messages: Any = [{"role": "user", "content": "hello there"}]
    answer = gpt.chat.completions.create(model="gpt-4.1", messages=messages, max_completion_tokens=3)
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage is not None and answer.usage.completion_tokens == 3


def test_latency_is_drawn_from_the_seed(server: ModelServer) -> None:
    """Bounds hold, and the same requests wait as long on every run."""
    waits = []
    for _ in range(2):
        slow = ModelServer(seed=5, latency=(0.5, 0.75))
        outs = [slow._respond("POST", "/v1/chat/completions", {}, b'{"n": %d}' % n) for n in range(4)]
        waits.append([out.delay for out in outs])
    assert waits[0] == waits[1] and len(set(waits[0])) == 4
    assert all(0.5 <= wait <= 0.75 for wait in waits[0])


SCHEMAS: list[dict[str, Any]] = [
    {"properties": {"a": {"type": "integer", "minimum": 3, "exclusiveMaximum": 5}}, "required": ["a"]},
    {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 2, "maxItems": 4},
    {"anyOf": [{"type": "null"}, {"type": "number", "minimum": -2, "maximum": -1}]},
    {"type": ["string", "null"], "minLength": 12, "maxLength": 14},
    {"oneOf": [{"const": 7}, {"type": "boolean"}]},
    {"allOf": [{"type": "object", "properties": {"k": {"$ref": "#/$defs/k"}}}, {"required": ["k"]}],
     "$defs": {"k": {"type": "string", "format": "date"}}},
    {"$ref": "#/$defs/node", "$defs": {"node": {
        "type": "object", "required": ["name", "children", "next"], "additionalProperties": False,
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
        }}}},
]  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS)
def test_seeded_values_fit_their_schema(schema: dict[str, Any]) -> None:
    """Whatever the random state, the value validates; recursion ends."""
    for seed in range(40):
        value = value_for(schema, Random(seed), ["alpha", "beta", "gamma", "delta"])
        jsonschema.validate(value, schema, format_checker=jsonschema.FormatChecker())
