"""A program that is run again into the log of its last run (row R10): what it says again is there once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.chain import Chain
from lctl.instrument import ensure_installed, uninstrument
from lctl.state.messages import text_of
from lctl.testing import ModelServer
from lctl.training import samples
from tests.clients import closing

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

Messages = list[Any]
PICTURE = "data:image/png;base64," + "iVBORw0KGgo" * 600
TOOLS: list[Any] = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    ensure_installed()
    with ModelServer(seed=3) as running:
        yield running
    uninstrument()


def _chat(server: ModelServer, messages: Messages) -> Messages:
    client = closing(openai.OpenAI(api_key="test", base_url=server.openai_url))
    answer = client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
    return [answer.choices[0].message.model_dump(exclude_none=True)]


def _responses(server: ModelServer, messages: Messages) -> Messages:
    client = closing(openai.OpenAI(api_key="test", base_url=server.openai_url))
    answer = client.responses.create(model="m", input=messages)
    return [item.model_dump(exclude_unset=True) for item in answer.output]


def _claude(server: ModelServer, messages: Messages) -> Messages:
    client = closing(anthropic.Anthropic(api_key="test", base_url=server.anthropic_url))
    answer = client.messages.create(model="m", max_tokens=9, system="Be brief.", messages=messages)
    return [{"role": "assistant", "content": [part.model_dump() for part in answer.content]}]


def _graph(server: ModelServer, messages: Messages) -> Messages:
    return _chat(server, lctl.MessageGraph(messages=messages))


@pytest.mark.parametrize("ask", [_chat, _responses, _claude, _graph])
def test_r10_a_program_run_again_goes_on_in_the_tree(tmp_path: Path, server: ModelServer, ask: Any) -> None:
    """Each run sends all that was said before: there is one root, each message once, one row to train."""
    log = tmp_path / "run.lctl.json"
    messages: Messages = []
    for n in range(3):
        server.reply(f"Answer {n}.")
        messages.append({"role": "user", "content": f"Question {n}?"})
        with lctl.LCTLSession("c", log):
            messages += ask(server, messages)
    tree = Chain.load(log).tree
    tip = tree.tip()
    assert len(tree.roots) == 1 and tip is not None
    lead = 1 if ask is _claude else 0
    assert [node.role for node in tip.path][lead:] == ["user", "assistant"] * 3
    assert len(tree) == 6 + lead
    assert [sample.trained for sample in samples(tree)] == [3]
    defined = sum("tool_definitions" in event.data for event in Chain.load(log).events)
    assert defined == (1 if ask in (_chat, _graph) else 0)


def test_r10_asked_again_from_the_start_is_another_answer(tmp_path: Path, server: ModelServer) -> None:
    log = tmp_path / "run.lctl.json"
    for _ in range(2):
        server.reply("The same.")
        with lctl.LCTLSession("c", log):
            _chat(server, [{"role": "user", "content": "One?"}])
    tree = Chain.load(log).tree
    assert [node.sampled for node in tree.roots[0].children] == [True, True]
    assert len(tree) == 3


def test_r10_results_of_calls_that_an_earlier_run_asked_for(tmp_path: Path, server: ModelServer) -> None:
    """The tool's result comes in the second run: its `tool_call` is derived there, once."""
    log = tmp_path / "run.lctl.json"
    messages: Messages = [{"role": "user", "content": "2+2?"}]
    server.reply(tool_calls=[("add", {"a": 2})]).reply("Four.").reply("Bye.")
    with lctl.LCTLSession("c", log):
        messages += _chat(server, messages)
    call_id = messages[-1]["tool_calls"][0]["id"]
    messages.append({"role": "tool", "tool_call_id": call_id, "content": "4"})
    for words in ("", "Thanks."):
        if words:
            messages.append({"role": "user", "content": words})
        with lctl.LCTLSession("c", log):
            messages += _chat(server, messages)
    chain = Chain.load(log)
    calls = [event.data for event in chain.events if event.type == "tool_call"]
    assert [(call["tool"], call["output"], call["call_id"]) for call in calls] == [("add", "4", call_id)]
    assert len(chain.tree.roots) == 1 and len(chain.tree) == 6


def test_r10_pictures_and_stored_responses_are_known_again(tmp_path: Path, server: ModelServer) -> None:
    log = tmp_path / "run.lctl.json"
    picture = {"type": "image_url", "image_url": {"url": PICTURE}}
    messages: Messages = [{"role": "user", "content": [picture]}]
    server.script(["A dot.", "One.", "Still a dot.", "Two."])
    client = closing(openai.OpenAI(api_key="test", base_url=server.openai_url))
    with lctl.LCTLSession("c", log):
        messages += _chat(server, messages)
        first = client.responses.create(model="m", input="One?")
    messages.append({"role": "user", "content": [picture, {"type": "text", "text": "And now?"}]})
    with lctl.LCTLSession("c", log):
        _chat(server, messages)
        client.responses.create(model="m", input="Two?", previous_response_id=first.id)
    chain = Chain.load(log)
    assert sum(event.type == "blob" for event in chain.events) == 1
    assert [len(leaf.path) for leaf in chain.tree.leaves] == [4, 4]
    assert len(chain.tree.roots) == 2


def test_r10_instructions_of_an_earlier_response_are_not_carried_over(
    tmp_path: Path, server: ModelServer
) -> None:
    """Also where the log was closed meanwhile; rows of training data hold what each call read."""
    log = tmp_path / "run.lctl.json"
    server.script(["one", "two", "three"])
    client = closing(openai.OpenAI(api_key="test", base_url=server.openai_url))
    with lctl.LCTLSession("c", log):
        first = client.responses.create(model="m", instructions="A.", input="a")
    with lctl.LCTLSession("c", log):
        second = client.responses.create(
            model="m", instructions="B.", input="b", previous_response_id=first.id
        )
    with lctl.LCTLSession("c", log):
        client.responses.create(model="m", input="c", previous_response_id=second.id)
    rows = [*samples(Chain.load(log).tree)]
    assert [[text_of(message) for message in row.messages] for row in rows] == [
        ["A.", "a", "one"],
        ["B.", "a", "one", "b", "two"],
        ["a", "one", "b", "two", "c", "three"],
    ]
    assert [row.weights for row in rows] == [[0, 0, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1]]
    assert [row.break_reason for row in rows] == [None, "edit", "delete"]


def test_r10_a_graph_that_was_edited_is_found_with_its_copies(tmp_path: Path, server: ModelServer) -> None:
    """The list as it stood after an edit, which carried what followed, is said again: nothing is recorded."""
    log = tmp_path / "run.lctl.json"
    server.script(["Four.", "Well.", "Six.", "Again six.", "Six it is."])
    with lctl.LCTLSession("c", log):
        history = lctl.MessageGraph(messages=[{"role": "user", "content": "2+2?"}])
        for words in ("And then?", "Bye."):
            history += _chat(server, history)
            history.append({"role": "user", "content": words})
        history[0]["content"] = "3+3?"
        history += _chat(server, history)
        saved = [dict(message) for message in history]
    before = len(Chain.load(log).tree)
    for again in (lctl.MessageGraph, list):
        with lctl.LCTLSession("c", log):
            _chat(server, [*again(), *saved] if again is list else lctl.MessageGraph(messages=saved))
    tree = Chain.load(log).tree
    assert len(tree.roots) == 2  # the question and the edited one
    assert len(tree) == before + 2  # an answer a run
