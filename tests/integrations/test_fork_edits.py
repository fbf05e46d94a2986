"""Every field of the patch language reaches its boundary: what the server received, what the SDK returned."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from lctl import LCTLSession
from lctl.codec import Log, open_log
from lctl.errors import RerunStopped, UsageError
from lctl.rerun.exactness.certificate import Certificate
from lctl.rerun.forks.forking import fork_block
from lctl.testing import ModelServer
from tests.integrations import agents
from tests.integrations.agents import MODELS, PROGRAMS, SYSTEM, Said

DIALECTS = tuple(PROGRAMS)


class Forked:
    """What came of a fork: what the program saw, what the server received, the certificate, the log."""

    def __init__(
        self, said: Said, bodies: list[dict[str, Any]], certificate: Certificate, path: Path
    ) -> None:
        self.said = said
        self.bodies = bodies
        self.certificate = certificate
        self.log = open_log(path)


class Bench:
    """One server; a program recorded on it and forked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = ModelServer(3).start()
        agents.teach(self.server)
        self._count = 0

    def record(self, program: Any) -> Path:
        self._count += 1
        path = self.folder / f"recording-{self._count}.lctl.json"
        with LCTLSession("recorded", path):
            self.recorded = program(self.server)
        return path

    def fork(self, program: Any, path: Path, at: int, **changes: Any) -> Forked:
        self._count += 1
        agents.executed.clear()
        before = self.server.count
        block = fork_block(path, at, output=self.folder / f"fork-{self._count}.lctl.json", **changes)
        with block, LCTLSession("again"):
            said = program(self.server)
        bodies = [request.body for request in self.server.requests[before:]]
        assert block.path is not None
        return Forked(said, bodies, block.certificate, block.path)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "logs"))
    bench = Bench(tmp_path)
    yield bench
    bench.server.close()


def seqs(path: Path, type: str) -> list[int]:
    return [event.seq for event in open_log(path).events() if event.type == type]


def prefix(log: Log, seq: int) -> list[bytes]:
    return list(log.lines(0, seq + 1))


def system_of(body: dict[str, Any]) -> Any:
    if "system" in body:
        return body["system"]
    return body.get("instructions") or body["messages"][0]["content"]


def messages_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = body.get("messages") or body["input"]
    return found


def tool_of(body: dict[str, Any]) -> dict[str, Any]:
    tool: dict[str, Any] = body["tools"][0]
    inner: dict[str, Any] = tool.get("function", tool)
    return inner


REQUESTS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "model=other-model": lambda body: body["model"] == "other-model",
    "prompt.system+=Ask first.": lambda body: system_of(body) == f"{SYSTEM} Ask first.",
    "prompt.system=Be brief.": lambda body: system_of(body) == "Be brief.",
    "prompt.system~=/files/books/": lambda body: system_of(body) == "You read books.",
    "prompt.system-=You ": lambda body: system_of(body) == "read files.",
    "message[user].content=Read b.txt": lambda body: any(
        m.get("content") == "Read b.txt" for m in messages_of(body)
    ),
    "message[-1].note=x": lambda body: messages_of(body)[-1].get("note") == "x",
    "message[+]=Be quick.": lambda body: messages_of(body)[-1] == {"role": "user", "content": "Be quick."},
    'message[+0]={"role": "user", "content": "First."}': lambda body: (
        messages_of(body)[0]["content"] == "First."
    ),
    "params.temperature=0": lambda body: body["temperature"] == 0,
    "del params.temperature": lambda body: "temperature" not in body,
    "params.max_tokens=7": lambda body: 7 in (body.get("max_tokens"), body.get("max_output_tokens")),
    "tools.read_file.description+=Slowly.": lambda body: tool_of(body)["description"] == "Reads. Slowly.",
    "tools.read_file.name=open_file": lambda body: tool_of(body)["name"] == "open_file",
    "tools.read_file.parameters.properties.path.description=Where": lambda body: (
        "Where" in json.dumps(tool_of(body))
    ),
    "del tools.read_file": lambda body: "tools" not in body,
    "body.metadata.from=lctl": lambda body: body.get("metadata") == {"from": "lctl"},
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("edit", REQUESTS)
def test_request_edits_reach_the_server(bench: Bench, dialect: str, edit: str) -> None:
    """The first call comes from the tape, the second is sent with the change and nothing else changed."""
    path = bench.record(PROGRAMS[dialect])
    first = seqs(path, "step_end")[0]
    sent = bench.server.requests[1].body
    if edit == "prompt.system-=You ":
        edit = 'prompt.system-="You "'
    found = bench.fork(PROGRAMS[dialect], path, first, set=[edit])
    [body] = found.bodies[:1]
    check = REQUESTS[edit] if edit in REQUESTS else REQUESTS["prompt.system-=You "]
    assert check(body), body
    assert not check(sent)
    assert len(body.keys() ^ sent.keys()) <= 2
    assert found.said[0] == bench.recorded[0]
    assert prefix(found.log, first) == prefix(open_log(path), first)
    assert found.certificate.live == len(found.bodies)
    parent = found.log.chain["parent"]
    assert (parent["id"], parent["seq"]) == (open_log(path).id, first)


def test_edits_hold_for_every_later_call(bench: Bench) -> None:
    """Not for the next call alone; with @N once, for an agent or all where they say so."""
    path = bench.record(PROGRAMS["chat"])
    [first, second] = seqs(path, "step_end")
    every = bench.fork(PROGRAMS["chat"], path, 0, set=["model=a"], tools=["live"])
    assert [body["model"] for body in every.bodies] == ["a", "a"]
    once = bench.fork(PROGRAMS["chat"], path, 0, set=[f"@{first} model=a"], tools=["live"])
    assert [body["model"] for body in once.bodies] == ["a", "gpt-4.1"]
    mine = bench.fork(PROGRAMS["chat"], path, 0, set=["agent=main model=a"], tools=["live"])
    assert [body["model"] for body in mine.bodies] == ["a", "a"]
    late = bench.fork(PROGRAMS["chat"], path, 0, set=[f"from {second} model=a", "all params.temperature=0"])
    assert [body["temperature"] for body in late.bodies] == [0, 0]


def test_composed_edits_are_made_in_order(bench: Bench) -> None:
    """Each works on what the one before left."""
    path = bench.record(PROGRAMS["messages"])
    edits = ["prompt.system=One.", "prompt.system+=Two.", "prompt.system~=/One/Three/"]
    found = bench.fork(PROGRAMS["messages"], path, 0, set=edits, tools=["live"])
    assert {body["system"] for body in found.bodies} == {"Three. Two."}
    assert found.log.chain["fork"]["edits"] == edits


def test_system_blocks_keep_what_is_cached(bench: Bench) -> None:
    """Of a system prompt in blocks `+=` adds one and leaves the cached ones alone."""
    program = partial(agents.messages, blocks=True)
    path = bench.record(program)
    found = bench.fork(program, path, 0, set=["prompt.system+=Ask first."], tools=["live"])
    first, second = found.bodies[0]["system"]
    assert first == {"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}
    assert second == {"type": "text", "text": " Ask first."}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_whole_answer_is_served_in_place_of_the_recorded_one(
    bench: Bench, dialect: str, stream: bool
) -> None:
    """The SDK parses it itself, streamed or not, and nothing is sent; ids and usage are the recorded ones."""
    program = partial(PROGRAMS[dialect], stream=stream)
    path = bench.record(program)
    at = seqs(path, "exchange")[0]
    found = bench.fork(program, path, at, result={"model": {"content": "Done, thank you."}})
    assert found.said == [("Done, thank you.", [])]
    assert found.bodies == []
    assert agents.executed == []
    [before, *_], [after] = (
        [e.data for e in log.events() if e.type == "step_end"] for log in (open_log(path), found.log)
    )
    assert after["response_id"] == before["response_id"]
    if not (dialect == "chat" and stream):
        assert after["tokens"] == before["tokens"]
    assert after["finish_reason"] in ("stop", "end_turn", "completed")
    [exchange] = [e.data for e in found.log.events() if e.type == "exchange"]
    assert exchange["match"] == "edited"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_tool_calls_of_an_answer_are_edited(bench: Bench, dialect: str, stream: bool) -> None:
    """The model asks for something else: the program calls the tool with that."""
    program = partial(PROGRAMS[dialect], stream=stream)
    path = bench.record(program)
    at = seqs(path, "exchange")[0]
    edit = f"@{at} answer.tool_calls[0].input.path=b.txt"
    found = bench.fork(program, path, at, set=[edit], tools=["live"])
    assert json.loads(found.said[0][1][0]) == {"path": "b.txt"}
    assert agents.executed == ["b.txt"]
    assert "content of b.txt" in found.said[1][0]
    more = f'@{at} answer.tool_calls[+]={{"name": "read_file", "input": {{"path": "c.txt"}}}}'
    found = bench.fork(program, path, at, set=[more], tools=["live"])
    assert agents.executed == ["c.txt"]  # the other call is the recorded one and comes from the tape


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_word_in_an_answer_is_replaced(bench: Bench, dialect: str) -> None:
    """Only the text changes: the rest of the response is the recorded bytes."""
    path = bench.record(PROGRAMS[dialect])
    at = seqs(path, "exchange")[1]
    found = bench.fork(PROGRAMS[dialect], path, at, result=["model.content~=/says/reads/"])
    assert found.said[1][0] == bench.recorded[1][0].replace("says", "reads")
    assert found.certificate.edited == 1
    assert found.bodies == []


def test_async_streams_with_usage(bench: Bench) -> None:
    """An edited stream tells the usage where the request asks for it."""
    path = bench.record(agents.chat_async)
    at = seqs(path, "exchange")[0]
    found = bench.fork(agents.chat_async, path, at, result=["model=One two three"])
    assert found.said == [("One two three", True)]


#: Older SDKs have a class of its own for it.
_OVERLOADED = getattr(anthropic, "OverloadedError", anthropic.InternalServerError)


@pytest.mark.parametrize(
    ("dialect", "edit", "error"),
    [
        ("chat", "http!=429: slow down", openai.RateLimitError),
        ("responses", "http!=500", openai.InternalServerError),
        ("messages", "http!=529", _OVERLOADED),
        ("messages", "http!=400: too long", anthropic.BadRequestError),
        ("chat", "model!=ConnectTimeout: gone", openai.APITimeoutError),
        ("messages", "model!=httpx.ConnectError: refused", anthropic.APIConnectionError),
    ],
)
def test_failures_are_the_sdks_own_exceptions(
    bench: Bench, dialect: str, edit: str, error: type[Exception]
) -> None:
    """A status or a transport's exception, raised as if the provider had done it."""
    path = bench.record(PROGRAMS[dialect])
    at = seqs(path, "exchange")[0]
    block = fork_block(path, at, result=[edit], output=bench.folder / "failed.lctl.json")
    before = bench.server.count
    with block, LCTLSession("again"), pytest.raises(error) as caught:
        PROGRAMS[dialect](bench.server)
    message = edit.partition(": ")[2]
    assert message in str(caught.value) + str(caught.value.__cause__)
    assert bench.server.count == before


def test_results_of_tools(bench: Bench) -> None:
    """Replaced whole or in part, or failed: the tool does not run, and what follows sees it."""
    path = bench.record(PROGRAMS["chat"])
    [at] = seqs(path, "tool_call")
    whole = bench.fork(PROGRAMS["chat"], path, at, result={"tool:read_file": {"text": "nothing"}})
    assert whole.said[1][0] == 'It says: {"text": "nothing"}'
    assert (agents.executed, len(whole.bodies)) == ([], 1)
    assert whole.log.chain["parent"]["seq"] == at - 1
    assert prefix(whole.log, at - 1) == prefix(open_log(path), at - 1)
    part = bench.fork(PROGRAMS["chat"], path, at, result=["tool:read_file.text+=(cut)"])
    assert part.said[1][0] == 'It says: {"text": "content of a.txt (cut)"}'
    with pytest.raises(TimeoutError, match="gone"):
        bench.fork(PROGRAMS["chat"], path, at, result=["tool:read_file!=TimeoutError: gone"])


def test_inputs_of_tools(bench: Bench) -> None:
    """The tool runs with another argument than the model asked for."""
    path = bench.record(PROGRAMS["chat"])
    [at] = seqs(path, "tool_call")
    found = bench.fork(PROGRAMS["chat"], path, at - 1, set=["tool:read_file.input.path=z.txt"])
    assert agents.executed == ["z.txt"]
    [call] = [e.data for e in found.log.events() if e.type == "tool_call"]
    assert call["input"] == {"path": "z.txt"}


def test_tools_behind_the_fork_point(bench: Bench) -> None:
    """By policy: run, served from the recording, not run, refused."""
    path = bench.record(PROGRAMS["chat"])
    at = seqs(path, "exchange")[0] - 3
    changed = [f"@{at + 3} answer.tool_calls[0].input.path=q.txt"]
    live = bench.fork(PROGRAMS["chat"], path, 0, tools=["live"])
    assert (agents.executed, live.certificate.executed) == (["a.txt"], 1)
    kept = bench.fork(PROGRAMS["chat"], path, 0, tools=["recorded"])
    assert (agents.executed, kept.certificate.exact, kept.certificate.recalled) == ([], 1, 1)
    dry = bench.fork(PROGRAMS["chat"], path, 0, set=changed, tools=["read_file=dry-run"])
    assert (agents.executed, dry.certificate.dry) == ([], 1)
    assert "dry_run" in dry.said[1][0]
    same = bench.fork(PROGRAMS["chat"], path, 0, tools=["dry-run"])  # though it is the recorded call
    assert (agents.executed, same.certificate.dry, same.certificate.exact) == ([], 1, 0)
    with pytest.raises(RerunStopped, match="--tools recorded runs none"):
        bench.fork(PROGRAMS["chat"], path, 0, set=changed, tools=["recorded"])


def test_an_edit_that_changes_nothing_is_named(bench: Bench) -> None:
    """With what was not there."""
    path = bench.record(PROGRAMS["chat"])
    found = bench.fork(
        PROGRAMS["chat"], path, 0, set=["del tools.grep", "tool:grep.output=1"], tools=["live"]
    )
    assert found.certificate.unaddressed == (
        "del tools.grep: no tool grep is offered; there are: read_file",
        "tool:grep.output=1: no call after the fork point that it speaks of",
    )


def test_edits_that_a_fork_cannot_make(bench: Bench) -> None:
    """Said before anything runs."""
    path = bench.record(PROGRAMS["chat"])
    for edit, why in (
        ("data.confidence=1", "lctl what-if"),
        ("@99 model=x", "part of no model or tool call"),
        ("@4 model=x", "before the fork point"),
    ):
        with pytest.raises(UsageError, match=re.escape(why)):
            fork_block(path, 7, set=[edit]).__enter__()
    with pytest.raises(UsageError, match="has events 1 to"):
        fork_block(path, 99).__enter__()


def test_models_are_known(bench: Bench) -> None:
    """The programs of this file ask the models the table says."""
    for dialect in DIALECTS:
        bench.record(PROGRAMS[dialect])
        assert bench.server.requests[-1].model == MODELS[dialect]
