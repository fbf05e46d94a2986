"""Forks of whole programs: what comes from the tape, what goes live, and what is left as it was."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

import lctl
from lctl import LCTLSession
from lctl.analysis.stats import stats
from lctl.cli import main
from lctl.codec import open_log, verify
from lctl.instrument import uninstrument
from lctl.rerun.block import rerun
from lctl.rerun.forks.forking import fork_block
from lctl.rerun.tape.tape import Tape
from lctl.testing import ModelServer
from tests.integrations import agents

paid: list[str] = []


@lctl.tool
def look_up(topic: str) -> str:
    return f"facts about {topic}"


@lctl.tool
def pay(amount: int) -> str:
    paid.append(str(amount))
    return f"paid {amount}"


def team(server: ModelServer) -> str:
    """A planner, three workers in threads with a tool each, an async reviewer, and one payment."""
    with openai.OpenAI(base_url=server.openai_url, api_key="test", max_retries=0) as client:

        def ask(text: str) -> str:
            answer = client.chat.completions.create(
                model="gpt-4.1", messages=[{"role": "user", "content": text}]
            )
            return answer.choices[0].message.content or ""

        def worker(number: int, plan: str) -> str:
            found = look_up(f"topic {number}")
            return ask(f"Worker {number}: {plan}; {found}") + ask(f"Worker {number} again")

        plan = ask("Plan")
        with ThreadPoolExecutor(3) as pool:
            parts = list(pool.map(lambda number: worker(number, plan), range(3)))

    async def review() -> str:
        async with anthropic.AsyncAnthropic(
            base_url=server.anthropic_url, api_key="test", max_retries=0
        ) as claude:
            answer = await claude.messages.create(
                model="claude-sonnet-4-6",
                max_tokens=100,
                messages=[{"role": "user", "content": "Review: " + " ".join(parts)}],
            )
        return "".join(block.text for block in answer.content if block.type == "text")

    verdict = asyncio.run(review())
    return verdict + pay(42)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "logs"))
    with ModelServer(5, random_answers=True, latency=(0.0, 0.01)) as server:
        yield server
    uninstrument()


def recorded(server: ModelServer, path: Path, program: Any = team) -> Path:
    with LCTLSession("recorded", path):
        program(server)
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def lines(path: Path, last: int) -> list[bytes]:
    return list(open_log(path).lines(0, last + 1))


def exchanges(path: Path) -> list[dict[str, Any]]:
    return [{**event.data, "seq": event.seq} for event in open_log(path).events() if event.type == "exchange"]


def test_a_fork_at_every_event(server: ModelServer, tmp_path: Path) -> None:
    """One lane: sent is exactly what lies behind the fork point; the prefix is the recording's to the
    byte, both logs verify, the recording stays as it is, and the fork is named by its parent."""
    calls = [("read_file", {"path": "a.txt"}), ("read_file", {"path": "b.txt"})]
    server.when(where=lambda r: not r.tool_results).reply(tool_calls=calls)
    server.when(where=lambda r: bool(r.tool_results)).reply("Both say something.")
    path = recorded(server, tmp_path / "recording.lctl.json", agents.chat)
    before, log = digest(path), open_log(path)
    for at in range(log.last_seq + 1):
        sent = server.count
        block = fork_block(path, at, output=tmp_path / f"fork-{at}.lctl.json", tools=["live"])
        with block, LCTLSession("again"):
            agents.chat(server)
        assert block.path is not None
        fork = open_log(block.path)
        parted = fork.chain["parent"]["seq"]
        assert parted <= at
        assert server.count - sent == sum(one["seq"] > parted for one in exchanges(path)), at
        assert lines(block.path, parted) == lines(path, parted), at
        assert verify(fork).ok
        assert fork.chain["fork"]["at"] == at
        assert digest(path) == before
    assert verify(log).ok


def test_a_fork_of_a_fork_and_its_rerun_offline(server: ModelServer, tmp_path: Path) -> None:
    """A fork is a whole recording: it forks again, and reruns without a server."""
    agents.teach(server)
    path = recorded(server, tmp_path / "recording.lctl.json", agents.chat)
    first, second = tmp_path / "first.lctl.json", tmp_path / "second.lctl.json"
    with fork_block(path, 4, set=["model=a"], output=first, tools=["live"]), LCTLSession("again"):
        agents.chat(server)
    [at, *_] = [one["seq"] for one in exchanges(first)]
    with (
        fork_block(first, at, set=["params.temperature=0"], output=second, tools=["live"]),
        LCTLSession("again"),
    ):
        said = agents.chat(server)
    assert open_log(second).chain["parent"]["id"] == open_log(first).id
    assert (server.requests[-1].model, server.requests[-1].body["temperature"]) == ("a", 0)
    assert open_log(second).chain["fork"]["inherited"] == ["model=a"]
    sent = server.count
    with rerun(second, output=tmp_path / "third.lctl.json") as again, LCTLSession("again"):
        assert agents.chat(server) == said
    assert again.certificate.log_equal
    assert server.count == sent
    calls = [stats(open_log(one)) for one in (second, tmp_path / "third.lctl.json")]
    assert [(one.llm_calls, one.inherited_calls) for one in calls] == [(2, 1), (2, 2)]


@lctl.tool
def open_door(number: int) -> Any:
    paid.append(f"door {number}")
    return threading.Lock()  # no tape can give it again: a rerun runs the tool


def doors(server: ModelServer) -> str:
    with openai.OpenAI(base_url=server.openai_url, api_key="test", max_retries=0) as client:
        told = f"{pay(1)} {type(open_door(1)).__name__}"
        asked: Any = [{"role": "user", "content": told}]
        return (
            client.chat.completions.create(model="gpt-4.1", messages=asked).choices[0].message.content or ""
        )


def test_a_rerun_of_a_fork_with_other_arguments(server: ModelServer, tmp_path: Path) -> None:
    """Says what the fork ran the tool with, and what it was asked for; and runs it with that, if it must."""
    path = recorded(server, tmp_path / "recording.lctl.json", doors)
    forked, again = tmp_path / "forked.lctl.json", tmp_path / "again.lctl.json"
    changed = ["tool:pay.input.amount=5", "tool:open_door.input.number=7"]
    with fork_block(path, 0, set=changed, output=forked, tools=["live"]), LCTLSession("again"):
        said = doors(server)
    paid.clear()
    sent = server.count
    with rerun(forked, output=again) as block, LCTLSession("again"):
        assert doors(server) == said
    assert (paid, server.count) == (["door 7"], sent)
    assert block.certificate.log_equal
    calls = [event.data for event in open_log(again).events() if event.type == "tool_call"]
    assert [(call["input"], call["asked"]) for call in calls] == [
        ({"amount": 5}, {"amount": 1}),
        ({"number": 7}, {"number": 1}),
    ]


def test_inherited_usage_is_counted_apart(
    server: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the recording paid for is not in the fork's sums; as a run it is compared whole."""
    agents.teach(server)
    path = recorded(server, tmp_path / "recording.lctl.json", agents.chat)
    at = exchanges(path)[0]["seq"]
    fork = tmp_path / "fork.lctl.json"
    strict = "all prompt.system+=Be strict."
    with fork_block(path, at, set=[strict], output=fork, tools=["recorded"]), LCTLSession("again"):
        agents.chat(server)
    whole, found = stats(open_log(path)), stats(open_log(fork))
    assert (found.llm_calls, found.inherited_calls) == (2, 1)
    assert 0 < found.tokens.total < whole.tokens.total
    assert found.inherited_tokens.total > 0
    assert found.cost is not None and whole.cost is not None and found.cost < whole.cost
    assert main(["diff", str(path), str(fork)]) == 1
    compared = capsys.readouterr().out.splitlines()[-1]
    more = found.tokens.total + found.inherited_tokens.total
    assert whole.tokens.total != more and f"tokens {whole.tokens.total} → {more}" in compared


def test_only_the_edited_lane_and_what_follows_goes_live(server: ModelServer, tmp_path: Path) -> None:
    """One worker's tool gives another result: its two calls and the reviewer are asked anew, the planner and
    the other workers come from the tape, and nothing is paid."""
    path = recorded(server, tmp_path / "recording.lctl.json")
    tape = Tape(open_log(path))
    tools = [entry for entry in tape.entries if entry.kind == "tool" and entry.name == "look_up"]
    lanes = {entry.lane for entry in tools}
    if len(lanes) < 3:
        pytest.skip("this recording says no lanes of tools")
    chosen = next(e for e in tools if tape.data(e)["input"] == {"topic": "topic 1"})
    sent = server.count
    paid.clear()
    block = fork_block(
        path,
        chosen.seq,
        result=[f"@{chosen.seq} tool:look_up=other facts"],
        output=tmp_path / "fork.lctl.json",
    )
    with block, LCTLSession("again"):
        team(server)
    said = [request.text for request in server.requests[sent:]]
    assert [text.partition(":")[0] for text in said] == ["Worker 1", "Worker 1 again", "Review"]
    assert "other facts" in said[0]
    assert paid == []
    assert block.certificate.edited == 1
    assert block.certificate.live == 3


def test_the_stream_is_finished_from_the_tape(server: ModelServer, tmp_path: Path) -> None:
    """A fork inside a stream parts at its end."""

    def program(server: ModelServer) -> str:
        session = lctl.get_session()
        assert session is not None
        with openai.OpenAI(base_url=server.openai_url, api_key="test", max_retries=0) as client:
            text = ""
            messages: Any = [{"role": "user", "content": "Tell me."}]
            for n, chunk in enumerate(
                client.chat.completions.create(model="gpt-4.1", messages=messages, stream=True)
            ):
                if n == 1:
                    session.add_fact("F1", "it has begun", confidence=0.5)
                text += chunk.choices[0].delta.content or ""
            messages += [{"role": "assistant", "content": text}, {"role": "user", "content": "More."}]
            return text + str(client.chat.completions.create(model="gpt-4.1", messages=messages).choices[0])

    path = recorded(server, tmp_path / "recording.lctl.json", program)
    log = open_log(path)
    fact = next(event.seq for event in log.events() if event.type == "fact_added")
    end = next(event.seq for event in log.events() if event.type == "step_end")
    assert fact < end
    sent = server.count
    block = fork_block(path, fact, output=tmp_path / "fork.lctl.json")
    with block, LCTLSession("again"):
        program(server)
    assert block.path is not None
    assert open_log(block.path).chain["parent"]["seq"] == end
    assert server.count - sent == 1


def test_keys_are_looked_for_before_the_prefix_runs(server: ModelServer, tmp_path: Path) -> None:
    """A key that the recording had and that is not there now is said at once."""
    from lctl.errors import RerunError
    from lctl.run.forking import prepare

    path = recorded(server, tmp_path / "recording.lctl.json", agents.chat)
    head, _, rest = path.read_bytes().partition(b"\n")
    header = json.loads(head + b"]}")
    header["chain"]["program"] = {"argv": ["python", "x.py"], "keys": ["OPENAI_API_KEY"]}
    text = json.dumps(header, separators=(",", ":")).removesuffix("]}").encode()
    path.write_bytes(text + b"\n" + rest)
    with pytest.raises(RerunError, match="OPENAI_API_KEY"):
        prepare(open_log(path), 0, environ={})
    assert prepare(open_log(path), 0, environ={"OPENAI_API_KEY": "x"}).point.at == 0
