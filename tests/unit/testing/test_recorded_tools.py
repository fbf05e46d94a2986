"""A tool loop over the model server, recorded: each tool call once, whoever reported it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openai

import lctl
from lctl.testing import ModelServer, Reply

ADD: Any = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
    },
}


@lctl.tool
def add(a: int, b: int = 1) -> int:
    return a + b


def loop(server: ModelServer, path: Path, run: Any) -> list[dict[str, Any]]:
    """The tool_call events of a loop that runs each call as `run(call)` says."""
    server.reply(Reply(tool_calls=[("add", {"a": 1}), ("add", {"a": 1}), ("add", {"a": 2, "b": 3})])).reply(
        "done"
    )
    with lctl.LCTLSession(path=path), openai.OpenAI(base_url=server.openai_url, api_key="t") as client:
        messages: list[Any] = [{"role": "user", "content": "add"}]
        answer = client.chat.completions.create(model="gpt-4.1", messages=messages, tools=[ADD])
        messages.append(answer.choices[0].message)
        for call in answer.choices[0].message.tool_calls or ():
            messages.append({"role": "tool", "tool_call_id": call.id, "content": str(run(call))})
        client.chat.completions.create(model="gpt-4.1", messages=messages, tools=[ADD])
    lines = [json.loads(line.rstrip(",")) for line in path.read_text().splitlines()[1:-1]]
    return [event["data"] for event in lines if event["type"] == "tool_call"]


def test_a_decorated_tool_is_recorded_once(server: ModelServer, tmp_path: Path) -> None:
    """With or without the call's id, the decorator's event stands and none is derived."""

    def by_id(call: Any) -> int:
        return add(**json.loads(call.function.arguments) | {"call_id": call.id})

    known = loop(server, tmp_path / "known.lctl.json", by_id)
    unknown = loop(server, tmp_path / "unknown.lctl.json", lambda c: add(**json.loads(c.function.arguments)))
    for calls in (known, unknown):
        assert [c["input"] for c in calls] == [{"a": 1, "b": 1}, {"a": 1, "b": 1}, {"a": 2, "b": 3}]
        assert [c["output"] for c in calls] == [2, 2, 5]
        assert not any("derived" in c for c in calls)
    assert [c["call_id"][:5] for c in known] == ["call_"] * 3


def test_a_plain_function_is_derived(server: ModelServer, tmp_path: Path) -> None:
    """Nobody reports the run, so the messages tell it."""
    calls = loop(server, tmp_path / "plain.lctl.json", lambda c: 7)
    assert [c["output"] for c in calls] == ["7"] * 3 and all(c["derived"] for c in calls)


def test_only_the_call_that_was_reported_is_left_out(server: ModelServer, tmp_path: Path) -> None:
    """Other input, other tool: the derived events of the others stay."""

    def some(call: Any) -> int:
        given = json.loads(call.function.arguments)
        return add(**given) if given["a"] == 2 else 9

    calls = loop(server, tmp_path / "some.lctl.json", some)
    assert sorted((c["output"], c.get("derived", False)) for c in map(plain, calls)) == [
        ("5", False), ("9", True), ("9", True),
    ]  # fmt: skip


def plain(call: dict[str, Any]) -> dict[str, Any]:
    return call | {"output": str(call["output"])}
