"""`lctl.MessageGraph` given to the real SDKs: each prompt is the graph's path, each answer a node."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lctl.session import LCTLSession
from lctl.session.messagegraph.graph import MessageGraph
from lctl.testing import ModelServer, Reply
from tests.integrations.messagegraph.asking import WEATHER, ask, check_prompts, events, kinds, said, starts

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")


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
