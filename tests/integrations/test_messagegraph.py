"""`lctl.MessageGraph` given to the real SDKs: each prompt is the graph's path, each answer a node."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lctl.conversation.identity import identity
from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession
from lctl.session.messagegraph.graph import MessageGraph
from lctl.testing import ModelServer, Reply

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with ModelServer(seed=3, strict=True) as server:
        yield server


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LCTLSession]:
    ensure_installed()
    with LCTLSession("graphs", tmp_path / "graphs.lctl.json", redact=False) as session:
        yield session
    uninstrument()


@pytest.fixture
def client(models: ModelServer) -> Iterator[Any]:
    with openai.OpenAI(api_key="test", base_url=models.openai_url, max_retries=0) as client:
        yield client


@pytest.fixture
def claude(models: ModelServer) -> Iterator[Any]:
    with anthropic.Anthropic(api_key="test", base_url=models.anthropic_url, max_retries=0) as client:
        yield client


def events(session: LCTLSession) -> list[dict[str, Any]]:
    return [json.loads(line) for line in session.lines()]


def kinds(session: LCTLSession) -> list[str]:
    return [event["type"] for event in events(session)]


def ask(client: Any, graph: Any, **options: Any) -> Any:
    return client.chat.completions.create(model="gpt-4o", messages=graph, **options)


def said(client: Any, graph: Any, **options: Any) -> Any:
    return ask(client, graph, **options).choices[0].message


def starts(session: LCTLSession) -> list[dict[str, Any]]:
    return [event["data"] for event in events(session) if event["type"] == "step_start"]


def check_prompts(session: LCTLSession, models: ModelServer) -> None:
    """Each request, as the server got it, is the path to its step's prompt, message by message."""
    prompts = [data["prompt"] for data in starts(session)]
    assert len(prompts) == len(models.requests)
    for prompt, request in zip(prompts, models.requests, strict=True):
        sent = request.body["messages"]
        if request.body.get("system"):
            sent = [{"role": "system", "content": request.body["system"]}, *sent]
        assert [identity(m) for m in session.tree.transcript(prompt)] == [identity(m) for m in sent]


def test_g1_clients_take_a_graph_for_a_list(
    session: LCTLSession, client: Any, claude: Any, models: ModelServer
) -> None:
    models.script(["from openai", "from anthropic"])
    graph = MessageGraph(session, messages=[{"role": "user", "content": "Hi"}])
    assert said(client, graph).content == "from openai"
    answer = claude.messages.create(model="claude-x", max_tokens=9, messages=graph)
    assert answer.content[0].text == "from anthropic"
    assert [request.body["messages"] for request in models.requests] == [
        [{"role": "user", "content": "Hi"}]
    ] * 2


def test_g1_a_call_records_no_message_again_and_the_reply_is_the_sampled_node(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    models.script(["four", "six"])
    graph = MessageGraph(session)
    graph.append({"role": "system", "content": "Be brief."})
    graph.append({"role": "user", "content": "2+2?"})
    message = said(client, graph)
    graph.append(message)
    assert kinds(session) == ["message", "message", "step_start", "exchange", "message", "step_end"]
    sampled = graph.tip
    assert sampled is not None and sampled.sampled and sampled.text == "four"
    assert sampled.parent is not None and sampled.parent.id == starts(session)[0]["prompt"]
    graph.append({"role": "user", "content": "3+3?"})
    graph.append(dict(said(client, graph)))
    assert graph.tip is not None and graph.tip.sampled
    assert [node.id for node in graph.tip.path] == ["m1", "m2", "m5", "m7", "m10"]
    assert graph.breaks == []
    check_prompts(session, models)


def test_g2_a_change_inside_a_message_is_seen_at_the_next_call(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    models.script(["a", "b"])
    graph = MessageGraph(session)
    graph.append(
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "x"}]}
    )
    graph.append(said(client, graph))
    graph[0]["content"][0]["text"] = "two"
    graph.append({"role": "user", "content": "go on"})
    before = len(events(session))
    said(client, graph)
    [edit] = [
        e["data"] for e in events(session)[before:] if e["type"] == "message" and "fork_of" in e["data"]
    ]
    assert edit["content"][0]["text"] == "two" and edit["carry"] == ["m4", "m6"]
    assert [one.reason for one in graph.breaks] == ["edit"]
    assert session.tree.transcript("m1")[0]["content"][0]["text"] == "one"
    check_prompts(session, models)


def test_g3_prompts_of_past_calls_stay_under_any_later_edit(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    graph = MessageGraph(session, messages=[{"role": "system", "content": "S"}])
    hashes: dict[str, bytes] = {}
    mine = {"role": "user", "content": "0"}
    for turn in range(6):
        models.reply(f"answer {turn}")
        mine["content"] = str(turn)
        graph.append(mine)
        graph.append(said(client, graph))
        prompt = starts(session)[-1]["prompt"]
        hashes[prompt] = json.dumps(session.tree.transcript(prompt)).encode()
        mine["content"] = "changed by the caller"
        if turn == 2:
            graph[1]["content"] = "edited"
        if turn == 3:
            del graph[2]
        if turn == 4:
            graph.insert(1, {"role": "user", "content": "inserted"})
        for prompt, text in hashes.items():
            assert json.dumps(session.tree.transcript(prompt)).encode() == text
    check_prompts(session, models)


def test_g5_undoing_an_edit_goes_on_with_the_same_call(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    models.script(["a", "b"])
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    graph.append(said(client, graph))
    graph[0]["content"] = "other"
    assert [one.reason for one in graph.breaks] == ["edit"]
    graph[0]["content"] = "u"
    assert graph.breaks == []
    assert graph.tip is not None and graph.tip.id == "m4" and graph.tip.sampled
    graph.append({"role": "user", "content": "v"})
    graph.append(said(client, graph))
    assert [node.id for node in graph.tip.path] == ["m1", "m4", "m7", "m10"]
    check_prompts(session, models)


def test_g5_editing_the_reply_itself_makes_it_a_persons(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    models.script(["a", "b"])
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    graph.append(said(client, graph))
    graph[1]["content"] = "better"
    assert graph.tip is not None and not graph.tip.sampled
    assert [node.text for node in graph.versions(1)] == ["a", "better"]
    graph.append({"role": "user", "content": "v"})
    said(client, graph)
    assert [(one.reason, one.index) for one in graph.breaks] == [("edit", 1)]
    check_prompts(session, models)


def test_g5_a_reply_appended_without_its_reasoning_parts_the_contexts(
    session: LCTLSession, claude: Any, models: ModelServer
) -> None:
    models.script([Reply("a", reasoning="because"), "b"])
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    answer = claude.messages.create(model="claude-x", max_tokens=9, messages=graph)
    assert answer.content[0].thinking == "because"
    graph.append({"role": "assistant", "content": answer.content[1:]})
    graph.append({"role": "user", "content": "v"})
    claude.messages.create(model="claude-x", max_tokens=9, messages=graph)
    assert [one.reason for one in graph.breaks] == ["reasoning_stripped"]
    check_prompts(session, models)


def test_g7_changes_between_two_calls_are_one_break(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    models.script(["a", "b", "c"])
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    graph.append(said(client, graph))
    graph.append({"role": "user", "content": "v"})
    graph.append(said(client, graph))
    for turn in range(5):
        graph[turn % 3]["content"] = f"edit {turn}"
    graph.append({"role": "user", "content": "w"})
    said(client, graph)
    assert [(one.reason, one.index, one.left) for one in graph.breaks] == [("edit", 0, "m9")]
    check_prompts(session, models)


def test_g8_compaction_keeps_the_old_calls(session: LCTLSession, client: Any, models: ModelServer) -> None:
    models.script(["a", "b", "c", "d"])
    graph = MessageGraph(session, messages=[{"role": "system", "content": "S"}])
    for text in ("u", "v"):
        graph.append({"role": "user", "content": text})
        graph.append(said(client, graph))
    with graph.edit():
        graph[1:4] = [{"role": "user", "content": "summary"}]
    assert [(one.reason, one.index) for one in graph.breaks] == [("compaction", 1)]
    graph.append({"role": "user", "content": "w"})
    graph.append(said(client, graph))
    with graph.edit():
        graph[1:4] = [{"role": "user", "content": "summary of the summary"}]
    said(client, graph)
    assert [one.reason for one in graph.breaks] == ["compaction", "compaction"]
    previous = graph.previous()
    assert previous is not None
    assert [m["content"] for m in previous] == ["S", "summary", "b", "w", "c"]
    check_prompts(session, models)


def test_g8_a_sampled_summary_used_as_user_text(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    models.script(["a", "the summary", "b"])
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    graph.append(said(client, graph))
    graph.append({"role": "user", "content": "Summarise."})
    summary = said(client, graph).content
    graph[:] = [{"role": "user", "content": summary}]
    graph.append({"role": "user", "content": "go on"})
    said(client, graph)
    [sampled] = [node for node in session.tree if node.text == "the summary" and node.sampled]
    assert sampled.role == "assistant"
    assert [one.reason for one in graph.breaks] == ["compaction"]
    check_prompts(session, models)


def test_g9_a_sub_agents_graph_hangs_inside_the_tool_call(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    models.reply(tool_calls=[("subagent", {"task": "look"})])
    models.script(["found it", "done"])
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    graph.append(said(client, graph, tools=[WEATHER]))
    call_id = graph[-1]["tool_calls"][0]["id"]
    inner = graph.nested(call_id)
    inner.append({"role": "system", "content": "Subagent call received"})
    inner.append({"role": "user", "content": "look"})
    inner.append(said(client, inner))
    graph.append({"role": "tool", "tool_call_id": call_id, "content": inner[-1]["content"]})
    graph.append(said(client, graph, tools=[WEATHER]))
    result = session.tree[graph.route.id(2)]
    assert result.role == "tool"
    assert [node.text for node in result.subchat] == ["Subagent call received", "look", "found it"]
    assert graph.tip is not None
    assert {node.id for node in graph.tip.path}.isdisjoint(node.id for node in result.subchat)
    assert inner.tip is not None and inner.tip.sampled
    assert graph.breaks == []
    check_prompts(session, models)


def test_g9_an_aborted_sub_agent_leaves_its_prompt(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    models.reply(tool_calls=[("subagent", {})])
    models.fault(500)
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    graph.append(said(client, graph))
    call_id = graph[-1]["tool_calls"][0]["id"]
    inner = graph.nested(call_id)
    inner.append({"role": "user", "content": "look"})
    with pytest.raises(openai.InternalServerError):
        said(client, inner)
    graph.append({"role": "tool", "tool_call_id": call_id, "content": "it failed"})
    assert graph.tip is not None
    assert [node.text for node in graph.tip.subchat] == ["look"]


def test_g10_choices_are_siblings_and_either_goes_on(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    models.reply("one", choices=["two", "one"])
    models.reply("next")
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    answer = ask(client, graph, n=3, temperature=0.5)
    graph.append(answer.choices[1].message)
    assert graph.tip is not None
    assert [node.text for node in graph.tip.siblings] == ["one", "two", "one"]
    assert all(node.sampled for node in graph.tip.siblings)
    assert graph.tip.text == "two"
    graph.append({"role": "user", "content": "v"})
    said(client, graph)
    assert graph.breaks == []
    assert starts(session)[0]["params"]["temperature"] == 0.5
    check_prompts(session, models)


def test_g10_a_failed_call_leaves_an_error_and_no_node(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    models.fault(500)
    models.reply("a")
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    with pytest.raises(openai.InternalServerError):
        ask(client, graph)
    assert len(session.tree) == 1
    assert "error" in kinds(session)
    graph.append(said(client, graph))
    assert graph.tip is not None and graph.tip.sampled
    assert graph.breaks == []


def test_g10_calling_again_is_a_second_sample(session: LCTLSession, client: Any, models: ModelServer) -> None:
    models.script(["a", "b"])
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    said(client, graph)
    graph.append(said(client, graph))
    assert graph.tip is not None
    assert [node.text for node in graph.tip.siblings] == ["a", "b"]
    assert [(one.reason, one.index) for one in graph.breaks] == [("regenerate", 1)]


def test_g10_another_model_or_tool_set_begins_anew_once(
    session: LCTLSession, client: Any, models: ModelServer
) -> None:
    models.script([*"abcd"])
    graph = MessageGraph(session)
    for model, tools in (("x", None), ("y", None), ("x", None), ("x", [WEATHER])):
        graph.append({"role": "user", "content": "u"})
        options = {"tools": tools} if tools else {}
        answer = client.chat.completions.create(model=model, messages=graph, **options)
        graph.append(answer.choices[0].message)
    assert [one.reason for one in graph.breaks] == ["model_changed", "tools_changed"]


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
    from lctl.rerun.tape import Tape

    models.script(["a", "b"])
    graph = MessageGraph(session, messages=[{"role": "user", "content": "u"}])
    graph.append(said(client, graph))
    graph[0]["content"] = "edited"
    graph.append({"role": "user", "content": "v"})
    said(client, graph)
    prompt = starts(session)[-1]["prompt"]
    tape = Tape(Chain.from_dict(session.to_dict()).log)
    assert [message["content"] for message in tape.prompt(prompt)] == ["edited", "a", "v"]
