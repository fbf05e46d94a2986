"""A program that is killed in the middle of a stream (row M4): what had reached it is in the tree, as a
message that has not ended."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.chain import Chain
from lctl.codec import open_log, validate, verify
from lctl.instrument import ensure_installed, uninstrument
from lctl.stores import outbox
from lctl.stores.address import parse
from lctl.stores.opening import open_store
from lctl.testing import ModelServer
from tests.clients import closing

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

WORDS = "one two three four five six seven eight nine ten"
KEY = "sk-proj-" + "MaNyChUnKs0123456789abcdefGH"
ASKED: list[Any] = [{"role": "user", "content": "Count."}]
TOOLS: list[Any] = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]

_KILLED = """
import os, signal, sys
import lctl
lctl.auto_instrument()
session = lctl.LCTLSession("c", sys.argv[2]).__enter__()
asked = [{"role": "user", "content": "Count."}]
def got(text, seen=[]):
    seen.append(text)
    os.write(1, text.encode())
    if len(seen) == 5:
        os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1] == "chat":
    from openai import OpenAI
    for chunk in OpenAI().chat.completions.create(model="m", messages=asked, stream=True):
        if chunk.choices[0].delta.content:
            got(chunk.choices[0].delta.content)
elif sys.argv[1] == "responses":
    from openai import OpenAI
    for event in OpenAI().responses.create(model="m", input=asked, stream=True):
        if event.type == "response.output_text.delta":
            got(event.delta)
else:
    from anthropic import Anthropic
    with Anthropic().messages.stream(model="m", max_tokens=9, messages=asked) as stream:
        for text in stream.text_stream:
            got(text)
"""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(seed=3) as running:
        yield running


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    ensure_installed()
    yield tmp_path / "run.lctl.json"
    uninstrument()


def beside(log: Path) -> Path:
    return log.with_name(f".{log.name}.streams")


def as_if_killed(log: Path, to: str = "killed") -> Path:
    """The files as they are now, which nobody writes: what a kill at this moment leaves."""
    folder = log.parent / to
    folder.mkdir()
    for file in (log, beside(log)):
        if file.exists():
            shutil.copy(file, folder)
    return folder / log.name


def said_in(held: bytes) -> str:
    """The pieces of the answer that are in a file, joined."""
    return b"".join(re.findall(rb'"content": ?"((?:[^"\\]|\\.)*)"', held)).decode()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
@pytest.mark.parametrize(
    "wire",
    [
        "chat",
        pytest.param("responses", marks=pytest.mark.slow),
        pytest.param("messages", marks=pytest.mark.slow),
    ],
)
def test_m4_killed_in_the_middle_of_a_stream(tmp_path: Path, wire: str) -> None:
    log = tmp_path / "run.lctl.json"
    with ModelServer(seed=3, chunk_delay=0.02) as server:
        server.reply(WORDS)
        command = [sys.executable, "-c", _KILLED, wire, str(log)]
        run = subprocess.run(
            command, env={**os.environ, **server.environ, "LCTL_QUIET": "1"}, capture_output=True, check=False
        )
    assert run.returncode == -signal.SIGKILL, run.stderr.decode()
    assert run.stdout.decode() == "one two three four five"
    chain = Chain.load(log)
    asked, cut = chain.tree.leaves[-1].path
    assert (asked.text, cut.role, cut.status, cut.sampled) == ("Count.", "assistant", "streaming", True)
    assert cut.text.startswith("one two three four five")
    assert chain.tree.pending == [cut]
    assert validate(chain.log) == [] and "stream" in str(chain.log.recovered)
    assert chain.tree.at(chain.log.last_seq - 1).pending == []
    # Who goes on with the log takes it in, ended.
    with lctl.LCTLSession(path=log) as session:
        assert session.tree["m3"].status == "aborted"
        assert session.tree["m3"].text == cut.text
    assert not beside(log).exists()
    again = Chain.load(log)
    assert [(node.id, node.status) for node in again.tree] == [("m1", "complete"), ("m3", "aborted")]
    assert verify(again.log).ok and validate(again.log) == []


def test_m4_what_came_is_kept_before_the_program_has_it(log: Path, server: ModelServer) -> None:
    """At every piece: two streams at once, one of them of tool calls; nothing while the program runs, nothing
    left when both have ended."""
    server.script([WORDS, lctl.testing.Reply("Adding.", tool_calls=[("add", {"a": "2 " * 20})])])
    client = closing(openai.OpenAI(api_key="test", base_url=server.openai_url))
    with lctl.LCTLSession("c", log):
        first = client.chat.completions.create(model="m", messages=ASKED, stream=True)
        other = client.chat.completions.create(model="m", messages=[*ASKED, *ASKED], tools=TOOLS, stream=True)
        said, calls = "", ""
        for n, (one, two) in enumerate(zip(first, other, strict=False)):
            said += one.choices[0].delta.content or ""
            for call in two.choices[0].delta.tool_calls or ():
                calls += call.function.arguments or ""
            tree = Chain.load(as_if_killed(log, f"killed{n}")).tree
            texts = {node.parent.id: node for node in tree.pending if node.parent}
            assert said in texts["m1"].text if said else True
            if calls:
                [asked] = texts["m3"].message["tool_calls"]
                assert asked["function"]["arguments"].startswith(calls)
            assert Chain.load(log).tree.pending == []
        assert said and calls
        for _ in first:
            pass
        for _ in other:
            pass
        assert beside(log).read_bytes() == b""
        ended = Chain.load(as_if_killed(log)).tree
        assert ended.pending == [] and len(ended.leaves) == 2
    assert not beside(log).exists()
    assert all(node.status == "complete" for node in Chain.load(log).tree)


def test_m4_a_stream_that_is_sent_packed(log: Path) -> None:
    with ModelServer(seed=3, gzip=True) as server, lctl.LCTLSession("c", log):
        server.reply(WORDS)
        client = closing(anthropic.Anthropic(api_key="test", base_url=server.anthropic_url))
        said = ""
        with client.messages.stream(model="m", max_tokens=9, messages=ASKED) as stream:
            for text in stream.text_stream:
                said += text
                if said.endswith("six"):
                    break
            [cut] = Chain.load(as_if_killed(log)).tree.pending
            assert cut.text.startswith(said)


def test_m4_of_an_edited_message_graph(log: Path, server: ModelServer) -> None:
    server.script(["Four.", WORDS])
    client = closing(openai.OpenAI(api_key="test", base_url=server.openai_url))
    with lctl.LCTLSession("c", log):
        history = lctl.MessageGraph(conversation="sums", messages=ASKED)
        history.append(client.chat.completions.create(model="m", messages=history).choices[0].message)
        history[0]["content"] = "Count on."
        history.append({"role": "user", "content": "Go."})
        for chunk in client.chat.completions.create(model="m", messages=history, stream=True):
            if chunk.choices[0].delta.content == " six":
                break
        [cut] = Chain.load(as_if_killed(log)).tree.pending
        assert [node.text for node in cut.path][:3] == ["Count on.", "Four.", "Go."]
        assert cut.conversation == "sums" and cut.text.startswith("one two")


@pytest.mark.parametrize("allowed", [False, True])
def test_m4_secrets_do_not_stay_beside_the_log(log: Path, server: ModelServer, allowed: bool) -> None:
    """A key that comes in pieces is in neither file at any moment; words like `password` stay."""
    server.reply(f'The password is kept. It is:\n"{KEY}" is one, the token is another. {WORDS}')
    client = closing(openai.OpenAI(api_key="test", base_url=server.openai_url))
    with lctl.LCTLSession("c", log, redact=not allowed):
        said = ""
        for chunk in client.chat.completions.create(model="m", messages=ASKED, stream=True):
            said += chunk.choices[0].delta.content or ""
            kept = said_in(beside(log).read_bytes())
            assert allowed or not any(KEY[n : n + 12] in kept for n in range(len(KEY) - 12))
            if said.endswith("three"):
                break
        killed = as_if_killed(log)
        [cut] = Chain.load(killed).tree.pending
        assert (KEY in cut.text) == allowed
        assert "The password is kept." in cut.text and "the token is another. one two" in cut.text
        assert (KEY[12:].encode() in beside(killed).read_bytes()) == allowed
    with lctl.LCTLSession(path=killed):
        pass
    assert (KEY in killed.read_text()) == allowed
    assert "the token is another" in open_log(killed).line(3).decode()


def test_m4_killed_between_the_answer_and_its_end_beside_the_log(log: Path, server: ModelServer) -> None:
    """The answer is in the log and still beside it: it is one message."""
    server.reply(WORDS)
    client = closing(openai.OpenAI(api_key="test", base_url=server.openai_url))
    held = b""
    with lctl.LCTLSession("c", log):
        for chunk in client.chat.completions.create(model="m", messages=ASKED, stream=True):
            if chunk.choices[0].delta.content == " six":
                held = beside(log).read_bytes()
        killed = as_if_killed(log)
    said = [("user", "complete"), ("assistant", "complete")]
    for _ in range(2):
        beside(killed).write_bytes(held)
        assert [(node.role, node.status) for node in Chain.load(killed).tree] == said
    with lctl.LCTLSession(path=killed):
        pass
    assert [(node.role, node.status) for node in Chain.load(killed).tree] == said


def test_m4_what_is_damaged_beside_the_log_is_passed_over(log: Path, server: ModelServer) -> None:
    server.reply(WORDS)
    client = closing(openai.OpenAI(api_key="test", base_url=server.openai_url))
    with lctl.LCTLSession("c", log):
        for chunk in client.chat.completions.create(model="m", messages=ASKED, stream=True):
            if chunk.choices[0].delta.content == " six":
                break
        killed = as_if_killed(log)
    held = beside(killed).read_bytes()
    for cut in range(0, len(held), 97):
        beside(killed).write_bytes(held[:cut])
        tree = Chain.load(killed).tree
        assert len(tree.pending) <= 1 and not tree.orphans
    for damaged in (b"B 1 4\n[[[[\n", b"B 1 2\n{}\nC 1 3\nabc\n", b"\0" * 100, b"C 7 1\nx\n"):
        beside(killed).write_bytes(damaged)
        assert len(Chain.load(killed).tree) == 1
    with lctl.LCTLSession(path=killed) as session:
        assert session.found == 2


def test_m4_what_was_cut_goes_to_the_store_as_well(log: Path, server: ModelServer) -> None:
    """A journal that waits for its store is delivered with it."""
    server.reply(WORDS)
    client = closing(openai.OpenAI(api_key="test", base_url=server.openai_url))
    with lctl.LCTLSession("c", log):
        for chunk in client.chat.completions.create(model="m", messages=ASKED, stream=True):
            if chunk.choices[0].delta.content == " six":
                break
        killed = as_if_killed(log)
    address = parse(f"sqlite:///{log.parent}/runs.db")
    outbox.note(killed, address)
    outbox.deliver(killed, open_store(address, recording=True))
    assert not killed.exists() and not beside(killed).exists()
    [cut] = lctl.load(f"sqlite:///{log.parent}/runs.db#c").tree.pending
    assert cut.text.startswith("one two three four five six")
