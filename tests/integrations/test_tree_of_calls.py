"""What the wire capture of the real SDKs records is a tree already, with no annotation in the program: each
of these loops is drawn by `lctl tree` as it was."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lctl.chain import Chain
from lctl.conversation.tree import Tree
from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession
from lctl.testing import Fault, ModelServer, Reply, Request
from tests.clients import closing
from tests.unit.cli.conftest import Cli, lctl, place

__all__ = ["lctl", "place"]  # fixtures

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

TOOLS: list[Any] = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
Messages = list[dict[str, Any]]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(seed=3) as running:
        yield running


@pytest.fixture
def log(place: Path) -> Iterator[Path]:
    """What the test does inside `with LCTLSession(path=log):` is in this file."""
    ensure_installed()
    yield place / "run.lctl.json"
    uninstrument()


def gpt(server: ModelServer, **options: Any) -> Any:
    client = closing(openai.OpenAI(api_key="test", base_url=server.openai_url, **options))
    client._calculate_retry_timeout = lambda *args, **kwargs: 0.0
    return client


def ask(client: Any, messages: Messages, **options: Any) -> dict[str, Any]:
    """One call; the answer as the program puts it into its list."""
    answer = client.chat.completions.create(model="gpt-4o", messages=messages, **options)
    kept: dict[str, Any] = answer.choices[0].message.model_dump(exclude_none=True)
    return kept


def user(words: str) -> dict[str, Any]:
    return {"role": "user", "content": words}


def words(tree: Tree, leaf: Any) -> list[str]:
    return [node.text or node.role for node in tree.path(leaf.id)]


def paths(tree: Tree) -> list[list[str]]:
    """Every branch by what its messages say, in order."""
    assert tree.diagnostics == [] and tree.orphans == []
    return [words(tree, leaf) for leaf in tree.leaves]


def drawn(lctl: Cli, log: Path) -> str:
    """The drawing without seqs and costs."""
    got = lctl("tree", log)
    assert got.code == 0, got.err
    lines = got.out.split("\n\n", 1)[1].splitlines()
    return "\n".join(re.sub(r"\[\d+\] |  gpt-4o.*?(?=  |$)|  claude-.*?(?=  |$)", "", line) for line in lines)


def test_a_raw_loop_with_tools_is_one_path(server: ModelServer, log: Path, lctl: Cli) -> None:
    """The program sends the whole list each time; each message is in the tree once."""
    server.reply(None, tool_calls=[("add", {"a": 1}), ("add", {"a": 2})])
    server.reply("3 in all")
    server.reply("you are welcome")
    messages: Messages = [{"role": "system", "content": "Be brief."}, user("add up")]
    with LCTLSession(path=log), gpt(server) as client:
        answer = ask(client, messages, tools=TOOLS)
        messages.append(answer)
        for call in answer["tool_calls"]:
            messages.append(
                {"role": "tool", "tool_call_id": call["id"], "content": call["function"]["arguments"]}
            )
        messages.append(ask(client, messages, tools=TOOLS))
        messages.append(user("thanks"))
        messages.append(ask(client, messages, tools=TOOLS))
    tree = Chain.load(log).tree
    assert paths(tree) == [
        ["Be brief.", "add up", "assistant", '{"a":1}', '{"a":2}', "3 in all", "thanks", "you are welcome"]
    ]
    assert [node.sampled for node in tree.leaves[0].path] == [
        False,
        False,
        True,
        False,
        False,
        True,
        False,
        True,
    ]
    assert tree.transcript(tree.leaves[0].id)[3] == messages[3]
    assert drawn(lctl, log).splitlines()[1:] == [
        "● system  Be brief.",
        "● user  add up",
        '● assistant  → add({"a":1}) → add({"a":2})',
        '● tool  = {"a":1}',
        '● tool  = {"a":2}',
        "● assistant  3 in all",
        "● user  thanks",
        "● assistant  you are welcome  ← active",
    ]


def test_a_retry_is_no_branch(server: ModelServer, log: Path) -> None:
    """The SDK tries again by itself: one call, one answer."""
    server.reply(Fault(429))
    server.reply("there you are")
    with LCTLSession(path=log), gpt(server, max_retries=2) as client:
        ask(client, [user("hello")])
    chain = Chain.load(log)
    assert paths(chain.tree) == [["hello", "there you are"]]
    assert [event.type for event in chain.events].count("exchange") == 2


def test_a_call_that_failed_leaves_no_message(server: ModelServer, log: Path) -> None:
    """The program asks again with the same list: the prompt is there once, the answer is its only child."""
    server.reply(Fault(500))
    server.reply("now")
    with LCTLSession(path=log), gpt(server, max_retries=0) as client:
        with pytest.raises(openai.InternalServerError):
            ask(client, [user("hello")])
        ask(client, [user("hello")])
    assert paths(Chain.load(log).tree) == [["hello", "now"]]


def test_a_regeneration_is_an_alternative(server: ModelServer, log: Path, lctl: Cli) -> None:
    """The same prompt again: two answers below it, and what followed the first stays below the first."""
    server.reply("one")
    server.reply("more of one")
    server.reply("two")
    with LCTLSession(path=log), gpt(server) as client:
        messages = [user("say a number")]
        first = [*messages, ask(client, messages), user("go on")]
        ask(client, first)
        ask(client, messages)
    tree = Chain.load(log).tree
    assert paths(tree) == [["say a number", "one", "go on", "more of one"], ["say a number", "two"]]
    assert [node.text for node in tree.roots[0].children] == ["one", "two"]
    assert drawn(lctl, log).splitlines()[1:] == [
        "● user  say a number", "├─○ assistant  one", "│ ○ user  go on", "│ ○ assistant  more of one",
        "● assistant  two  ← active",
    ]  # fmt: skip


def test_several_answers_of_one_call_are_alternatives(server: ModelServer, log: Path, lctl: Cli) -> None:
    """n=2: two siblings, one call in the costs."""
    server.reply(Reply("one", choices=["two"]))
    with LCTLSession(path=log), gpt(server) as client:
        ask(client, [user("say")], n=2)
    assert paths(Chain.load(log).tree) == [["say", "one"], ["say", "two"]]
    found = json.loads(lctl("branches", log, "--json").out)
    assert [one["calls"] for one in found["branches"]] == [1, 1] and found["total"]["calls"] == 1


def test_an_edit_of_an_earlier_message_forks_there(server: ModelServer, log: Path) -> None:
    """The program changes its list in place; what was said before the change stays on its own path."""
    for answer in ("a1", "a2", "a2 again"):
        server.reply(answer)
    with LCTLSession(path=log), gpt(server) as client:
        messages = [{"role": "system", "content": "sys"}, user("q1")]
        messages.append(ask(client, messages))
        messages.append(user("q2"))
        ask(client, messages)
        messages[1] = user("q1, better")
        ask(client, messages)
    tree = Chain.load(log).tree
    assert paths(tree) == [["sys", "q1", "a1", "q2", "a2"], ["sys", "q1, better", "a1", "q2", "a2 again"]]
    assert [node.sampled for node in tree.leaves[1].path] == [False, False, False, False, True]
    assert len(tree.roots) == 1


def test_compaction_is_a_path_of_its_own(server: ModelServer, log: Path) -> None:
    """A summary replaces what came first: a new path from where the lists part, the old one whole."""
    for answer in ("a1", "a2", "the summary", "a3"):
        server.reply(answer)
    with LCTLSession(path=log), gpt(server) as client:
        messages: Messages = [{"role": "system", "content": "sys"}]
        for question in ("q1", "q2"):
            messages.append(user(question))
            messages.append(ask(client, messages))
        summary = ask(client, [user("sum up: q1 a1 q2 a2")])
        messages[1:] = [user(f"so far: {summary['content']}"), user("q3")]
        ask(client, messages)
    assert paths(Chain.load(log).tree) == [
        ["sys", "q1", "a1", "q2", "a2"],
        ["sum up: q1 a1 q2 a2", "the summary"],
        ["sys", "so far: the summary", "q3", "a3"],
    ]


def test_two_sub_agents_that_take_turns_stay_two_conversations(server: ModelServer, log: Path) -> None:
    """A1, B1, A2, B2: each call goes on with its own agent's path, not with the call before it. Two
    dialects at once."""

    def answer(request: Request) -> Reply:
        said = [message for message in request.messages if message["role"] != "assistant"]
        return Reply(f"answer {len(said)} to {request.body['model']}")

    server.when(where=bool).reply(answer)

    async def agent(name: str, model: str, create: Any, start: asyncio.Event, turns: int) -> None:
        messages: Messages = []
        for n in range(turns):
            messages.append(user(f"{name}{n}"))
            messages.append({"role": "assistant", "content": await create(model, messages)})
            await asyncio.sleep(0)

    async def main() -> None:
        async with (
            openai.AsyncOpenAI(api_key="test", base_url=server.openai_url) as left,
            anthropic.AsyncAnthropic(api_key="test", base_url=server.url) as right,
        ):

            async def chat(model: str, messages: Messages) -> str:
                answer = await left.chat.completions.create(model=model, messages=messages)
                return str(answer.choices[0].message.content)

            async def claude(model: str, messages: Messages) -> str:
                answer = await right.messages.create(model=model, messages=messages, max_tokens=50)
                return str(answer.content[0].text)

            start = asyncio.Event()
            await asyncio.gather(
                agent("A", "gpt-4o", chat, start, 3),
                agent("B", "claude-sonnet-4-6", claude, start, 3),
                agent("C", "gpt-4o", chat, start, 2),
            )

    with LCTLSession(path=log):
        asyncio.run(main())
    tree = Chain.load(log).tree
    expected = []
    for name, model, turns in (("A", "gpt-4o", 3), ("B", "claude-sonnet-4-6", 3), ("C", "gpt-4o", 2)):
        expected.append([one for n in range(turns) for one in (f"{name}{n}", f"answer {n + 1} to {model}")])
    assert sorted(paths(tree)) == sorted(expected)
    assert len(tree) == sum(map(len, expected))


def test_streams_and_streams_that_were_left(server: ModelServer, log: Path, lctl: Cli) -> None:
    """A streamed answer is a message like any; one that was left early is there, marked, and asking again
    makes an alternative."""
    server.reply(Reply("one two three four", chunks=["one ", "two ", "three ", "four"]))
    server.reply("whole")
    with LCTLSession(path=log), gpt(server) as client:
        with client.chat.completions.create(model="gpt-4o", messages=[user("go")], stream=True) as stream:
            for chunk in stream:
                if chunk.choices and chunk.choices[0].delta.content:
                    break
        ask(client, [user("go")])
    tree = Chain.load(log).tree
    (root,) = tree.roots
    assert [node.status for node in root.children] == ["aborted", "complete"]
    assert "one two three four".startswith(root.children[0].text)
    assert "✗ " in drawn(lctl, log) and "aborted" in drawn(lctl, log)


def test_answers_with_the_same_words_are_told_apart_by_their_annotations(place: Path, log: Path) -> None:
    """A program goes on with the one that its prompt shows; with the latest, where it says nothing."""
    import httpx2

    def cites(url: str) -> Messages:
        return [
            {
                "type": "url_citation",
                "url_citation": {"url": url, "title": "t", "start_index": 0, "end_index": 3},
            }
        ]

    urls = iter(["http://a", "http://b", "", "", "", ""])

    def answer(request: httpx2.Request) -> httpx2.Response:
        url = next(urls)
        said = {
            "role": "assistant",
            "content": "Paris." if url else "Yes.",
            "annotations": cites(url) if url else [],
        }
        choice = {"index": 0, "finish_reason": "stop", "message": said}
        whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return httpx2.Response(200, json=whole)

    http = httpx2.Client(transport=httpx2.MockTransport(answer))
    client = closing(openai.OpenAI(api_key="test", base_url="http://model/v1", http_client=http))
    with LCTLSession(path=log):
        first, second = (ask(client, [user("Capital?")]) for _ in range(2))
        for said in (second, first, {"role": "assistant", "content": "Paris."}):
            sure = [user("Capital?"), said, user("Sure?")]
            ask(client, [*sure, ask(client, sure), user("Fine.")] if said is first else sure)
    tree = Chain.load(log).tree
    by_url = {
        node.message["annotations"][0]["url_citation"]["url"]: node
        for node in tree
        if node.message.get("annotations")
    }
    below = {
        url: [words(tree, leaf)[1:] for leaf in tree.leaves if node in tree.path(leaf.id)]
        for url, node in by_url.items()
    }
    assert below == {
        "http://a": [["Paris.", "Sure?", "Yes.", "Fine.", "Yes."], ["Paris.", "Sure?", "Yes."]],
        "http://b": [["Paris.", "Sure?", "Yes."]],
    }
