"""Agents inside tools, of raw SDK loops (row G9): their conversations hang in the tool call, unannotated."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.chain import Chain
from lctl.conversation.tree import Tree
from lctl.instrument import ensure_installed, uninstrument
from lctl.testing import ModelServer, Reply, Request
from lctl.training import samples
from tests.clients import closing

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

Messages = list[dict[str, Any]]
Research = Callable[[str], str]
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "research", "parameters": {"type": "object"}}},
]


def answer(request: Request) -> Reply:
    """The main agent asks for its research, then ends; a researcher says what it was asked."""
    said = request.messages
    if said[0]["role"] == "user":
        return Reply(f"Found of {said[0]['content']}: {len(said)}.")
    if said[-1]["role"] == "user":
        topics = str(said[-1]["content"]).split()
        return Reply(tool_calls=[("research", {"topic": topic}) for topic in topics])
    return Reply("Done.")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    ensure_installed()
    with ModelServer(seed=3) as running:
        running.reply(answer, times=None)
        yield running
    uninstrument()


@pytest.fixture
def client(server: ModelServer) -> Any:
    return closing(openai.OpenAI(api_key="test", base_url=server.openai_url))


def researcher(client: Any, turns: int = 2) -> Research:
    def research(topic: str) -> str:
        messages: Messages = [{"role": "user", "content": topic}]
        said = ""
        for _ in range(turns):
            said = client.chat.completions.create(model="small", messages=messages).choices[0].message.content
            messages += [{"role": "assistant", "content": said}, {"role": "user", "content": "More?"}]
        return f"<result>{said}</result>"

    return research


def stepped(session: lctl.LCTLSession, research: Research) -> Research:
    def inside(topic: str) -> str:
        with session.step("research", kind="agent"):
            return research(topic)

    return inside


def run(
    client: Any, task: str, research: Research, *, at_once: bool = False, kind: Callable[..., Any] = list
) -> Messages:
    """A loop as programs write it."""
    messages: Messages = kind()
    messages += [{"role": "system", "content": "Lead."}, {"role": "user", "content": task}]
    while True:
        answer = client.chat.completions.create(model="big", messages=messages, tools=TOOLS)
        message = answer.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return messages
        results: dict[str, str] = {}

        def work(call: Any, results: dict[str, str] = results) -> None:
            results[call.id] = research(call.function.arguments.split('"')[3])

        threads = [threading.Thread(target=work, args=(call,)) for call in message.tool_calls]
        for thread in threads:
            thread.start()
            if not at_once:
                thread.join()
        for thread in threads:
            thread.join()
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": results[call.id]})


def subchats(tree: Tree) -> dict[str, list[str]]:
    """What each tool's result has inside: the words of the sub-agent's conversation."""
    return {
        node.text: [inner.text for inner in node.subchat]
        for node in tree
        if node.role == "tool" and node.subchat
    }


@pytest.mark.parametrize("way", ["plain", "tool", "at once", "step", "graph"])
def test_g9_an_agent_in_a_tool_is_inside_the_call(
    tmp_path: Path, server: ModelServer, client: Any, way: str
) -> None:
    log = tmp_path / "run.lctl.json"
    research = researcher(client)
    with lctl.LCTLSession("c", log) as session:
        if way == "tool":
            research = lctl.tool(research)
        if way == "step":
            research = stepped(session, research)
        kind = lctl.MessageGraph if way == "graph" else list
        run(client, "owls bats", research, at_once=way == "at once", kind=kind)
    chain = Chain.load(log)
    tree = chain.tree
    assert subchats(tree) == {
        f"<result>Found of {topic}: 3.</result>": [
            *(topic, f"Found of {topic}: 1.", "More?", f"Found of {topic}: 3."),
        ]
        for topic in ("owls", "bats")
    }
    tip = tree.tip()
    assert tip is not None and [node.role for node in tip.path][:3] == ["system", "user", "assistant"]
    asking = tip.path[2]
    assert len(asking.nested) == 2 and all(root.nested_in for root in asking.nested)
    rows = list(samples(tree))
    assert sorted(str(row.break_reason) for row in rows) == ["None", "subagent", "subagent"]
    assert len({row.trajectory_id for row in rows}) == 1
    for seq in range(chain.log.last_seq + 1):
        then, folded = tree.at(seq), Tree.of(event for event in chain.events if event.seq <= seq)
        assert [root.nested_in for root in then.roots] == [root.nested_in for root in folded.roots]
        assert subchats(then) == subchats(folded)


def test_g9_of_anthropic_and_agents_in_agents(tmp_path: Path, server: ModelServer) -> None:
    """Three deep, each in the call of the one above."""
    client = closing(anthropic.Anthropic(api_key="test", base_url=server.anthropic_url))
    tools = [{"name": "ask", "input_schema": {"type": "object"}}]
    server.reset()
    server.reply(
        lambda request: (
            Reply(tool_calls=[("ask", {})])
            if request.messages[-1]["content"] in ("level 0", "level 1")
            else Reply("The answer.")
        ),
        times=None,
    )

    def ask(level: int) -> str:
        messages: Messages = [{"role": "user", "content": f"level {level}"}]
        while True:
            said = client.messages.create(model="m", max_tokens=99, messages=messages, tools=tools)
            content = [part.model_dump() for part in said.content]
            messages.append({"role": "assistant", "content": content})
            calls = [part for part in content if part["type"] == "tool_use"]
            if not calls:
                return str(content[0]["text"])
            result = {"type": "tool_result", "tool_use_id": calls[0]["id"], "content": ask(level + 1)}
            messages.append({"role": "user", "content": [result]})

    log = tmp_path / "run.lctl.json"
    with lctl.LCTLSession("c", log):
        ask(0)
    tree = Chain.load(log).tree
    first, second, third = tree.roots
    assert [root.text for root in (first, second, third)] == ["level 0", "level 1", "level 2"]
    assert first.nested_in is None
    for host, root in ((first, second), (second, third)):
        assert root.nested_in is not None
        assert root.nested_in["message_id"] == host.children[0].id


def test_g9_what_is_no_agent_of_a_tool_stays_beside(tmp_path: Path, server: ModelServer, client: Any) -> None:
    """Tasks whose calls nobody answers; agents that take turns; a conversation begun in the middle of a call,
    of which the tool's result says nothing."""
    log = tmp_path / "run.lctl.json"
    research = researcher(client)
    with lctl.LCTLSession("c", log):
        for task in ("owls", "bats"):  # an evaluation: which tool would be called?
            asked: Messages = [{"role": "system", "content": "Lead."}, {"role": "user", "content": task}]
            client.chat.completions.create(model="big", messages=asked, tools=TOOLS)
            research(task)

        def other(topic: str) -> str:
            research(f"another {topic}")
            return "Nothing was found."

        run(client, "newts", other)
        left: Messages = [{"role": "system", "content": "Lead."}, {"role": "user", "content": "toads"}]
        said = client.chat.completions.create(model="big", messages=left, tools=TOOLS).choices[0].message
        research("what the other one does")
        left += [
            said.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": said.tool_calls[0].id, "content": "42"},
        ]
        client.chat.completions.create(model="big", messages=left, tools=TOOLS)
    tree = Chain.load(log).tree
    assert len(tree.roots) > 4 and all(root.nested_in is None for root in tree.roots)
