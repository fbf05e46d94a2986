"""Sessions whose model calls are seen on the wire as well: every message is in the log once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.session import Session
from lctl.testing import ModelServer, ToolCall
from lctl.training import samples
from tests.clients import closing

openai = pytest.importorskip("openai")

SEEDS = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}]


def agent(s: Session, client: Any) -> None:
    while True:
        with s.step():
            answer = client.chat.completions.create(model="m", messages=s.context).choices[0].message
            s.record(answer, sampled=True)
            if not answer.tool_calls:
                return
            for call in answer.tool_calls:
                s.record({"role": "tool", "tool_call_id": call.id, "content": "12"})


@pytest.fixture
def client() -> Any:
    with ModelServer() as server:
        server.reply(tool_calls=[ToolCall("count", {"fruit": "apples"})])
        server.reply("Twelve.")
        server.reply("Still twelve.")
        yield closing(openai.OpenAI(base_url=server.openai_url, api_key="x"))


def test_s10_a_message_that_both_record_is_one_message(client: Any, tmp_path: Path) -> None:
    with lctl.Session.start(log=tmp_path / "w.lctl.json", session_id="S", seed_messages=SEEDS) as s:
        agent(s, client)
        live = (s.context, s.totals, s.high_water)
    chain = lctl.load(tmp_path / "w.lctl.json")
    s = lctl.Session.hydrate(chain, "S")
    assert [n.role for n in chain.tree] == ["system", "user", "assistant", "tool", "assistant"]
    assert [n.id for n in s.nodes] == [n.id for n in chain.tree][2:]
    assert [n.sampled for n in chain.tree] == [False, False, True, False, True]
    assert chain.tree.diagnostics == [] and chain.sessions.diagnostics == []
    assert (s.context, s.totals, s.high_water) == live
    assert s.totals.turns == 2 and s.totals.input > 0
    tip = chain.tree.tip(s.conversation)
    assert tip is not None and tip.text == "Twelve." and tip.path == list(chain.tree)
    ends = [e.data["message"] for e in chain.events if e.type == "step_end" and "message" in e.data]
    assert ends == [s.nodes[0].id, s.nodes[2].id]
    (call,) = [e.data for e in chain.events if e.type == "tool_call"]
    assert (call["tool"], call["output"], call["derived"]) == ("count", "12", True)
    for n in range(1, chain.sessions.seq + 1):
        told = lctl.Chain(events=chain.events[:n]).sessions["S"]
        assert told.context == chain.sessions.at(n)["S"].context


@pytest.mark.parametrize("seeds", [SEEDS[:1], []])
def test_s10_a_question_recorded_after_its_call_is_one_message(
    client: Any, tmp_path: Path, seeds: list[Any]
) -> None:
    """And what the tools gave, recorded when all is done: the calls' own messages are the session's."""
    ask = SEEDS[1]
    with lctl.Session.start(log=tmp_path / "w.lctl.json", session_id="S", seed_messages=seeds) as s:
        with s.step():
            answer = client.chat.completions.create(model="m", messages=[*s.context, ask]).choices[0].message
            result = {"role": "tool", "tool_call_id": answer.tool_calls[0].id, "content": "12"}
            messages = [*s.context, ask, answer.model_dump(exclude_none=True), result]
            last = client.chat.completions.create(model="m", messages=messages).choices[0].message
            s.record(ask)
            s.record(answer, sampled=True)
            s.record(result)
            s.record(last, sampled=True)
        live = s.context
    chain = lctl.load(tmp_path / "w.lctl.json")
    assert [n.role for n in chain.tree] == [one["role"] for one in [*seeds, ask, *live[len(seeds) + 1 :]]]
    assert chain.sessions["S"].context == live and chain.sessions["S"].high_water == len(seeds) + 4
    (row,) = samples(chain.tree)
    assert row.trained == 2
    assert chain.tree.diagnostics == [] and chain.sessions.diagnostics == []


def test_s10_another_question_than_the_calls_is_the_sessions_own(client: Any, tmp_path: Path) -> None:
    with lctl.Session.start(log=tmp_path / "w.lctl.json", session_id="S", seed_messages=SEEDS[:1]) as s:
        client.chat.completions.create(model="m", messages=[*s.context, SEEDS[1]])
        s.record("How few?")
        assert s.nodes[-1].id == "S/2" and s.nodes[-1].siblings != [s.nodes[-1]]


def test_s4_taken_up_again_nothing_is_recorded_twice(client: Any, tmp_path: Path) -> None:
    path = tmp_path / "w.lctl.json"
    with lctl.LCTLSession(path=path) as log:
        s = lctl.Session.start(log=log, session_id="S", seed_messages=SEEDS)
        agent(s, client)
    with (
        lctl.LCTLSession(path=path) as log,
        lctl.Session.start(log=log, session_id="S", seed_messages=SEEDS) as s,
    ):
        s.record("Sure?")
        agent(s, client)
    chain = lctl.load(path)
    assert [n.text for n in chain.tree][-2:] == ["Sure?", "Still twelve."]
    assert len(chain.tree) == chain.sessions["S"].high_water == 7
    assert chain.tree.diagnostics == []


def test_s13_a_fork_goes_on_without_a_second_copy(client: Any, tmp_path: Path) -> None:
    with lctl.Session.start(log=tmp_path / "w.lctl.json", session_id="S", seed_messages=SEEDS) as s:
        agent(s, client)
    with Session.hydrate(tmp_path / "w.lctl.json").fork(at=4, system_patch="Be long.") as f:
        agent(f, client)
    chain = lctl.load(f.log.path)
    assert chain.sessions[f.id].context[-1]["content"] == "Still twelve."
    assert [n.text for n in chain.tree if n.role == "system"] == ["Be brief.", "Be long."]
    assert len(chain.tree) == 4 + 1 + 3 + 1  # the source's, the other root, the carried, the answer
    assert f.tip is not None and f.tip.sampled and len(f.tip.path) == 5


def test_s6_what_a_program_notes_of_an_answer_is_kept(client: Any, tmp_path: Path) -> None:
    with lctl.Session.start(log=tmp_path / "w.lctl.json", session_id="S", seed_messages=SEEDS) as s:
        answer = client.chat.completions.create(model="m", messages=s.context).choices[0].message
        s.record(answer, details={"type": "asked"})
    assert lctl.Session.hydrate(tmp_path / "w.lctl.json").messages[0]["details"] == {"type": "asked"}


def test_s10_an_answer_of_anthropic_is_one_message(tmp_path: Path) -> None:
    """Recorded as the SDK gives it: the session's context is what the API takes (no `id`, no `usage`), and is
    recognized as what the call gave."""
    anthropic = pytest.importorskip("anthropic")
    tools = [{"name": "count", "input_schema": {"type": "object"}}]
    with (
        ModelServer() as server,
        closing(anthropic.Anthropic(base_url=server.anthropic_url, api_key="x")) as client,
        lctl.Session.start(log=tmp_path / "w.lctl.json", session_id="S", seed_messages=SEEDS[1:]) as s,
    ):
        server.reply("Let me count.", tool_calls=[ToolCall("count", {"fruit": "apples"})])
        server.reply("Twelve.")
        options: dict[str, Any] = {"model": "claude-sonnet-4-6", "max_tokens": 99, "tools": tools}
        answer = client.messages.create(messages=s.context, **options)
        s.record(answer, sampled=True)
        result = {"type": "tool_result", "tool_use_id": answer.content[1].id, "content": "12"}
        s.record({"role": "user", "content": [result]})
        s.record(client.messages.create(messages=s.context, **options), sampled=True)
        context = s.context
    assert [set(message) for message in context] == [{"role", "content"}] * 4
    assert [set(part) for part in context[1]["content"]] == [
        {"type", "text"},
        {"type", "id", "name", "input"},
    ]
    tree = lctl.load(tmp_path / "w.lctl.json").tree
    assert (len(tree), len(tree.leaves)) == (4, 1)
    [row] = samples(tree)
    assert row.weights == [0, 1, 0, 1]


def test_a_response_is_no_message(tmp_path: Path) -> None:
    """What an SDK gives as a whole: said, with what to take of it, by all that take messages."""
    with ModelServer() as server, lctl.LCTLSession(path=tmp_path / "w.lctl.json") as log:
        client = closing(openai.OpenAI(base_url=server.openai_url, api_key="x"))
        whole = client.chat.completions.create(model="m", messages=SEEDS)
        with pytest.raises(TypeError, match=r"a ChatCompletion is no message, .* give .choices\[0\].message"):
            lctl.MessageGraph(log).append(whole)
        with pytest.raises(lctl.LctlError, match=r"a Choice is no message, .* give \.message of it"):
            lctl.Session.start(log=log).record(whole.choices[0])
        view = log.tree.view("talk")
        with pytest.raises(lctl.LctlError, match=r"a Response is no message, .* give \.output of it"):
            view.send(client.responses.create(model="m", input="x"))
        view.send(whole.choices[0].message)
        assert view.nodes[-1].role == "assistant"


def test_s10_an_answer_of_the_responses_api_is_one_message(tmp_path: Path) -> None:
    """Its items form one message; the context has all of them as items again, as the API takes them."""
    tools = [{"type": "function", "name": "count", "parameters": {"type": "object"}}]
    with (
        ModelServer() as server,
        closing(openai.OpenAI(base_url=server.openai_url, api_key="x")) as client,
        lctl.Session.start(log=tmp_path / "w.lctl.json", session_id="S", seed_messages=SEEDS[1:]) as s,
    ):
        server.reply("Let me count.", reasoning="hm", tool_calls=[ToolCall("count", {"fruit": "apples"})])
        server.reply("Twelve.")
        answer = client.responses.create(model="m", input=s.context, tools=tools)
        assert s.record(*answer.output, sampled=True) == 2
        assert [call["name"] for call in s.pending.calls] == ["count"]
        (call,) = [item for item in answer.output if item.type == "function_call"]
        fork = s.fork(at=2, repair="synthesize")
        assert fork.context[:-1] == s.context
        assert (fork.context[-1]["type"], fork.context[-1]["call_id"]) == (
            "function_call_output",
            call.call_id,
        )
        fork.log.close()
        output = {
            "type": "function_call_output",
            "call_id": call.call_id,
            "output": "12",
            "status": "completed",
        }
        s.record(output)
        sent = s.context
        assert (
            s.record(*client.responses.create(model="m", input=sent, tools=tools).output, sampled=True) == 4
        )
        live = s.context
    assert [item.get("type") for item in sent] == [
        *(None, "reasoning", "message", "function_call", "function_call_output"),
    ]
    assert sent[1:4] == [item.model_dump(exclude_unset=True) for item in answer.output] and sent[4] == output
    tree = lctl.load(tmp_path / "w.lctl.json").tree
    assert [node.role for node in tree] == ["user", "assistant", "tool", "assistant"] and len(
        tree.leaves
    ) == 1
    [row] = samples(tree)
    assert row.weights == [0, 1, 0, 1]
    again = lctl.Session.hydrate(tmp_path / "w.lctl.json")
    assert again.context == live and again.prompt(4) == sent


def test_s13_a_fork_has_the_message_that_its_call_recorded_first(client: Any, tmp_path: Path) -> None:
    """An answer is in the log before it is the session's: a fork at it ends after that."""
    with lctl.Session.start(log=tmp_path / "w.lctl.json", session_id="S", seed_messages=SEEDS) as s:
        answer = client.chat.completions.create(model="m", messages=s.context).choices[0].message
        s.record(answer, sampled=True)
        s.record({"role": "tool", "tool_call_id": answer.tool_calls[0].id, "content": "12"})
        answer = client.chat.completions.create(model="m", messages=s.context).choices[0].message
        s.record(answer, sampled=True)
        for source in (s, lctl.Session.hydrate(s.log)):
            for at in range(2, 6):
                fork = source.fork(at=at, repair="synthesize")
                assert fork.context[:at] == s.context[:at] and fork.high_water == at + (at == 3)
                fork.log.close()


def test_r12_an_answer_in_a_reply_chain_is_one_message(client: Any, tmp_path: Path) -> None:
    """The turn is the same as without capture; taken up again, nothing is there twice."""

    def work(log: lctl.LCTLSession) -> list[Any]:
        turn = log.conversations.reply(to=None, text="How many?", message_id="in1")
        if not turn.done:
            answer = client.chat.completions.create(model="m", messages=turn.transcript()).choices[0].message
            turn.record(answer, sampled=True)
            turn.record({"role": "tool", "tool_call_id": answer.tool_calls[0].id, "content": "12"})
            turn.record(
                client.chat.completions.create(model="m", messages=turn.transcript()).choices[0].message
            )
            turn.alias("out1")
        more = log.conversations.reply(to="out1", text="Sure?", message_id="in2")
        if not more.done:
            more.record(
                client.chat.completions.create(model="m", messages=more.transcript()).choices[0].message
            )
        return [(one.done, [node.role for node in one.nodes], one.depth) for one in (turn, more)]

    with lctl.LCTLSession(path=tmp_path / "w.lctl.json") as log:
        found = work(log)
    assert found == [(True, ["user", "assistant", "tool", "assistant"], 3), (True, ["user", "assistant"], 5)]
    with lctl.LCTLSession(path=tmp_path / "w.lctl.json") as log:
        assert work(log) == found
    tree = lctl.load(tmp_path / "w.lctl.json").tree
    assert (len(tree), len(tree.leaves), tree.diagnostics) == (6, 1, [])
    assert [node.id for node in tree.turn("in1")] == [node.id for node in tree][:4]
    [row] = samples(tree)
    assert row.weights == [0, 1, 0, 1, 0, 1]
