"""Graphs on every wire: streams, calls at once, other clients, and run again."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession
from lctl.session.messagegraph.graph import MessageGraph
from lctl.testing import ModelServer
from tests.integrations.messagegraph.asking import WEATHER, ask, check_prompts, events, kinds, said, starts

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")


def test_streams_are_nodes_when_they_end(session: LCTLSession, client: Any, models: ModelServer) -> None:
    models.script(["one two three", "four"])
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    for _ in range(2):
        pieces = [
            chunk.choices[0].delta.content or "" for chunk in ask(client, graph, stream=True) if chunk.choices
        ]
        graph.append({"role": "assistant", "content": "".join(pieces)})
        assert graph.tip is not None and graph.tip.sampled
        graph.append({"role": "user", "content": "more"})
    assert graph.breaks == []
    check_prompts(session, models)


def test_tool_results_appended_are_tool_calls(session: LCTLSession, client: Any, models: ModelServer) -> None:
    models.reply(tool_calls=[("weather", {"city": "Bonn"}), ("weather", {"city": "Kiel"})])
    models.reply("warm")
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    graph.append(said(client, graph, tools=[WEATHER]))
    for number, call in enumerate(graph[-1]["tool_calls"]):
        graph.append({"role": "tool", "tool_call_id": call["id"], "content": str(number)})
    graph.append(said(client, graph, tools=[WEATHER]))
    calls = [event["data"] for event in events(session) if event["type"] == "tool_call"]
    assert [(call["tool"], call["output"]) for call in calls] == [("weather", "0"), ("weather", "1")]
    assert graph.tip is not None and graph.tip.sampled
    check_prompts(session, models)


def test_async_calls_at_once_each_know_their_graph(session: LCTLSession, models: ModelServer) -> None:
    models.reply(lambda request: "re " + request.body["messages"][-1]["content"], times=None)
    graphs = [MessageGraph(session, messages=[{"role": "user", "content": "same"}]) for _ in range(4)]

    async def talk(client: Any, graph: MessageGraph) -> None:
        for turn in range(3):
            answer = await client.chat.completions.create(model="m", messages=graph)
            graph.append(answer.choices[0].message)
            graph.append({"role": "user", "content": f"turn {turn}"})

    async def main() -> None:
        async with openai.AsyncOpenAI(api_key="test", base_url=models.openai_url) as client:
            await asyncio.gather(*(talk(client, graph) for graph in graphs))

    asyncio.run(main())
    paths = [[node.id for node in graph.tip.path] for graph in graphs if graph.tip is not None]
    assert len({id for path in paths for id in path}) == 4 * 7
    assert all(graph.breaks == [] for graph in graphs)
    assert sum(node.sampled for graph in graphs for node in graph.tip.path) == 12  # type: ignore[union-attr]


def test_anthropic_system_prompts_stand_above_the_path(
    session: LCTLSession, claude: Any, models: ModelServer
) -> None:
    models.script(["a", "b", "c", "d"])
    graph = MessageGraph(session)
    for text, system in (("u", "S"), ("v", "S"), ("w", "other"), ("x", "S")):
        graph.append({"role": "user", "content": text})
        answer = claude.messages.create(model="claude-x", max_tokens=9, system=system, messages=graph)
        graph.append({"role": answer.role, "content": answer.content})
        assert graph.tip is not None and graph.tip.sampled
    check_prompts(session, models)
    assert len(graph.versions(0)) == 1
    assert [one.reason for one in graph.breaks] == ["edit", "edit"]
    assert [one.index for one in graph.breaks] == [0, 0]


def test_anthropic_streams_and_whole_answers(session: LCTLSession, claude: Any, models: ModelServer) -> None:
    models.script(["one two", "three"])
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    with claude.messages.stream(model="claude-x", max_tokens=9, messages=graph) as stream:
        graph.append(stream.get_final_message())
    assert graph.tip is not None and graph.tip.sampled
    graph.append({"role": "user", "content": "v"})
    graph.append(claude.messages.create(model="claude-x", max_tokens=9, messages=graph))
    assert graph.tip.sampled and graph.breaks == []
    assert set(graph[1]) == {"role", "content"}
    check_prompts(session, models)


def test_responses_items_form_messages(session: LCTLSession, client: Any, models: ModelServer) -> None:
    models.reply("let me see", reasoning="hm", tool_calls=[("weather", {"city": "Bonn"})])
    models.reply("warm")
    models.reply("bye")
    tool = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    answer = client.responses.create(model="m", input=graph, tools=[tool], instructions="Be brief.")
    graph += answer.output
    assert len(graph) > 2
    assert graph.tip is not None and graph.tip.sampled
    [call] = [item for item in graph if item.get("type") == "function_call"]
    graph.append({"type": "function_call_output", "call_id": call["call_id"], "output": "20"})
    answer = client.responses.create(model="m", input=graph, tools=[tool], instructions="Be brief.")
    graph += answer.output
    assert graph.tip is not None and graph.tip.sampled
    graph.append({"role": "user", "content": "thanks"})
    answer = client.responses.create(model="m", input=graph, tools=[tool], instructions="Be brief.")
    graph += answer.output
    assert graph.tip.sampled and graph.breaks == []
    assert [node.role for node in graph.tip.path] == [
        *("system", "user", "assistant", "tool", "assistant", "user", "assistant")
    ]
    assert [node.id for node in graph.versions(0)] == ["m1"]
    recorded = [event["data"] for event in events(session) if event["type"] == "message"]
    assert len(recorded) == len(session.tree) - 1  # the first user message was carried below the system's


def test_a_copy_of_the_list_is_found_by_what_it_says(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    models.script(["a", "b"])
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    copy = json.loads(json.dumps(graph))
    graph.append(said(client, copy))
    assert graph.tip is not None and graph.tip.sampled
    graph[0]["content"] = "edited"
    graph.append({"role": "user", "content": "v"})
    answer = said(client, json.loads(json.dumps(graph)))
    graph.append(answer)
    assert graph.tip.sampled
    check_prompts(session, models)


def test_a_graph_made_before_the_session_is_recorded_at_its_first_call(
    tmp_path: Path, client: Any, models: ModelServer
) -> None:
    models.reply("a")
    graph = MessageGraph(messages=[{"role": "user", "content": "u"}])
    assert graph.tip is None
    ensure_installed()
    try:
        with LCTLSession("late", tmp_path / "late.lctl.json") as session:
            graph.append(said(client, graph))
            assert graph.tip is not None and graph.tip.sampled
            assert kinds(session) == ["message", "step_start", "exchange", "message", "step_end"]
    finally:
        uninstrument()


def test_a_rerun_reads_prompts_with_carried_copies(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    from lctl.chain import Chain
    from lctl.rerun.tape.tape import Tape

    models.script(["a", "b"])
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    graph.append(said(client, graph))
    graph[0]["content"] = "edited"
    graph.append({"role": "user", "content": "v"})
    said(client, graph)
    prompt = starts(session)[-1]["prompt"]
    tape = Tape(Chain.from_dict(session.to_dict()).log)
    assert [message["content"] for message in tape.prompt(prompt)] == ["edited", "a", "v"]
