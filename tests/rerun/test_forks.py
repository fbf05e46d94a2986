"""`lctl fork`: the tape up to an event, live and changed behind it. Counted and read at the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.codec import open_log, verify
from lctl.errors import UsageError
from lctl.testing import ModelServer, Reply
from tests.rerun.harness import LCTL, RERUNS, Result, record, rerun, run

pytestmark = pytest.mark.slow

#: A tool loop of three calls; `note` writes to the world, `read_page` only looks.
AGENT = """\
import json, os, random, sys
import lctl
from openai import OpenAI

@lctl.tool
def read_page(name):
    return f"page {name} {random.random()}"

@lctl.tool
def note(text):
    with open(os.environ["LEDGER"], "a") as ledger:
        ledger.write(text + "\\n")
    return "noted"

def ask(messages):
    made = client.chat.completions.create(model="gpt-4.1", messages=messages, temperature=0.5)
    return made.choices[0].message.content

client = OpenAI(max_retries=2)
messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which page?"}]
for step in range(3):
    messages.append({"role": "assistant", "content": ask(messages)})
    found = read_page(f"p{step}")
    print(found, note(found))
    messages.append({"role": "user", "content": found})
print(json.dumps(messages))
"""


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with ModelServer(random_answers=True) as server:
        yield server


class Agent:
    """AGENT, or another program, recorded once; its forks."""

    def __init__(self, folder: Path, models: ModelServer, program: str = AGENT, *options: str) -> None:
        self.folder, self.models = folder, models
        path = folder / "agent.py"
        path.write_text(program)
        self.environ = {**models.environ, "LEDGER": str(folder / "ledger")}
        self.first = record(str(path), folder, self.environ, *options)
        assert self.first.code == 0, self.first.err
        self.recorded = len(models.requests)

    def fork(self, at: int, *options: str, stdin: str = "", **environ: str) -> Result:
        log = self.folder / "fork.lctl.json"
        log.unlink(missing_ok=True)
        words = [*LCTL, "fork", str(self.first.log), "--at", str(at), "--output", str(log), *options]
        return run(words, self.folder, {**self.environ, **environ}, log, stdin)

    @property
    def asked(self) -> list[dict[str, Any]]:
        """What the server was asked behind the recording."""
        return [json.loads(request.raw) for request in self.models.requests[self.recorded :]]

    def seqs(self, type: str) -> list[int]:
        return [event["seq"] for event in self.first.events if event["type"] == type]


@pytest.fixture
def agent(tmp_path: Path, models: ModelServer) -> Agent:
    return Agent(tmp_path, models)


def test_at_every_event_of_the_demo(tmp_path: Path) -> None:
    """The shared part is the recording's to the byte, both logs verify, and `diff` names the point."""
    made = run([*LCTL, "demo"], tmp_path, {}, tmp_path)
    assert made.code == 0, made.err
    (path,) = (tmp_path / "logs").glob("*.lctl.json")
    parent = open_log(path)
    lines = list(parent.lines())
    every = 1 if RERUNS >= 20 else 11
    failed = [
        event.seq for event in parent.events() if event.type == "exchange" and event.data["status"] == 429
    ]
    assert failed  # and sent again: at it, and at the error it is
    for at in sorted({*range(0, parent.last_seq + 1, every), *failed, *(seq + 1 for seq in failed)}):
        fork = tmp_path / "fork.lctl.json"
        fork.unlink(missing_ok=True)
        edit = "all prompt.system+=Be strict."
        command = [*LCTL, "fork", str(path), "--at", str(at), "--set", edit, "--output", str(fork)]
        done = run(command, tmp_path, {}, fork)
        log = open_log(fork)
        shared = log.chain["parent"]["seq"]
        assert shared <= at
        assert list(log.lines(1, shared + 1)) == lines[:shared]
        assert verify(log).ok
        told = run([*LCTL, "diff", str(path), str(fork)], tmp_path, {}, fork).out.splitlines()
        assert told[0].startswith(f"Forked at event {shared}; all prompt.system+=Be strict.")
        if "changed nothing" in done.err:  # no model call is left behind it
            assert done.code == 1
            assert told[1] == f"No difference in {len(lines)} events."
        else:
            assert done.code == 0, done.err
            first = int(told[1].removeprefix("Events diverged at seq ").rstrip(":"))
            assert first > shared
            assert "Be strict." in json.dumps(log.event(first).to_dict())
    assert verify(parent).ok


def test_only_what_comes_after_is_asked_for_and_with_the_change(agent: Agent) -> None:
    exchanges = agent.seqs("exchange")
    for n, seq in enumerate(exchanges):
        agent.models.requests.clear()
        agent.recorded = 0
        before = len(agent.models.requests)
        done = agent.fork(seq, "--set", "model=gpt-4.1-mini", "--set", "params.temperature=1")
        asked = agent.asked[before:]
        assert len(asked) == len(exchanges) - n - 1
        assert all(one["model"] == "gpt-4.1-mini" and one["temperature"] == 1 for one in asked)
        assert done.code == (0 if asked else 1), done.err


def test_a_retry_behind_a_failure_on_the_tape_is_edited(tmp_path: Path, models: ModelServer) -> None:
    models.fault(429, retry_after=0, times=1)
    agent = Agent(tmp_path, models)
    failed = agent.seqs("exchange")[0]
    done = agent.fork(failed, "--set", "model=gpt-4.1-mini")
    assert done.code == 0, done.err
    assert [one["model"] for one in agent.asked] == ["gpt-4.1-mini"] * 3


def test_a_fork_is_a_log_like_any_other(agent: Agent, tmp_path: Path) -> None:
    """It verifies, is run again offline and exact, and is forked again with the edits of both."""
    at = agent.seqs("exchange")[0]
    done = agent.fork(at, "--set", "prompt.system+=Be kind.", "--tools", "live")
    assert done.code == 0, done.err
    assert verify(open_log(done.log)).ok
    kept = done.log.rename(tmp_path / "kept.lctl.json")
    again = rerun(kept, tmp_path, environ={"LEDGER": str(tmp_path / "ledger")})
    assert again.code == 0, again.err
    assert again.out == done.out
    agent.first = Result(0, done.out, "", kept)
    agent.recorded = len(agent.models.requests)
    second = agent.fork(agent.seqs("exchange")[1], "--set", "params.temperature=0")
    assert second.code == 0, second.err
    (asked,) = agent.asked
    assert asked["temperature"] == 0
    assert "Be kind." in asked["messages"][0]["content"]


def test_the_parent_is_untouched_and_what_it_cost_is_counted_once(agent: Agent, tmp_path: Path) -> None:
    before = agent.first.log.read_bytes()
    at = agent.seqs("exchange")[1]
    command = [*LCTL, "fork", str(agent.first.log), "--at", str(at)]
    done = run(command, tmp_path, agent.environ, tmp_path)
    assert done.code == 0, done.err
    assert agent.first.log.read_bytes() == before
    told = run([*LCTL, "runs", "--json"], tmp_path, {}, tmp_path)
    (fork,) = [one for one in map(json.loads, told.out.splitlines()) if one["kind"] == "fork"]
    assert fork["live"] == 1


@pytest.mark.parametrize(
    ("policy", "notes", "executed"),
    [
        ([], 0, 2),  # without a terminal nothing runs that does more than look
        (["--tools", "live"], 2, 4),
        (["--tools", "dry-run"], 0, 0),
        (["--tool-policy", "note=live"], 2, 4),
        (["--tool-policy", "read_page=recorded"], 0, 0),
    ],
)
def test_tools_behind_the_point(agent: Agent, policy: list[str], notes: int, executed: int) -> None:
    ledger = agent.folder / "ledger"
    before = ledger.read_text().splitlines()
    at = agent.seqs("exchange")[1]
    done = agent.fork(at, *policy, "--json")
    assert done.code == 0, done.err
    certificate = json.loads(done.out)
    assert len(ledger.read_text().splitlines()) - len(before) == notes
    assert certificate["executed"] == executed
    assert certificate["live"] == 1


def test_what_a_recorded_tool_read_goes_into_the_fork_with_it(agent: Agent) -> None:
    """More events come before it than in the recording: its own read stands elsewhere now."""
    done = agent.fork(0, "--set", "prompt.system+=Be strict.", "--tools", "recorded")
    assert done.code == 0, done.err
    events = {event["seq"]: event for event in done.events}
    pages = [event for event in done.events if event["data"].get("tool") == "read_page"]
    assert len(pages) == 3
    for page in pages:
        ((first, last),) = page["data"]["tape"]["inside"]
        read = events[first]
        assert (first, last) == (last, page["seq"] - 1)
        assert (read["type"], read["data"]["source"]) == ("ambient", "random")
    again = rerun(done.log, agent.folder)
    assert again.code == 0, again.err


def test_a_result_is_replaced_and_not_executed(agent: Agent) -> None:
    first = next(e["seq"] for e in agent.first.events if e["type"] == "tool_call")
    done = agent.fork(first, "--result", 'tool:read_page="no such page"')
    assert done.code == 0, done.err
    assert done.out.startswith("no such page")
    assert agent.asked[0]["messages"][-1]["content"] == "no such page"
    failing = agent.fork(first, "--result", "tool:read_page!=TimeoutError: too slow")
    assert "TimeoutError: too slow" in failing.err
    assert failing.code == 1


def test_an_answer_is_replaced(agent: Agent) -> None:
    first = agent.seqs("exchange")[0]
    done = agent.fork(first, "--result", "answer.content=Page nine.")
    assert done.code == 0, done.err
    assert agent.asked[0]["messages"][2] == {"role": "assistant", "content": "Page nine."}
    assert len(agent.asked) == 2


def test_an_event_changed_in_the_editor(agent: Agent) -> None:
    system = next(e["seq"] for e in agent.first.events if e["type"] == "message")
    done = agent.fork(system, "--edit", EDITOR="sed -i 's/Be brief/Be thorough/'")
    assert done.code == 0, done.err
    assert {one["messages"][0]["content"] for one in agent.asked} == {"Be thorough."}
    unchanged = agent.fork(system, "--edit", EDITOR="true")
    assert unchanged.code == 2
    assert "event 2 was saved as it was" in unchanged.err


def test_a_debugger_at_the_point(agent: Agent) -> None:
    """Look, change a value in the live frame, go on: the rest is the fork."""
    tool = [e["seq"] for e in agent.first.events if e["type"] == "tool_call" and e["data"]["tool"] == "note"]
    script = "up\n" * 6 + "p 'at', step\nmessages[0]['content'] = 'Sing.'\ncontinue\n"
    done = agent.fork(tool[0], "--pdb", stdin=script)
    assert "('at', 0)" in done.out + done.err, done.err
    assert {one["messages"][0]["content"] for one in agent.asked} == {"Sing."}


def test_a_sweep(agent: Agent) -> None:
    at = agent.seqs("exchange")[1]
    (agent.folder / "fork.lctl.json").unlink(missing_ok=True)
    varied = ["--vary", "model=gpt-4.1-mini", "--vary", "model=gpt-4.1-nano", "--repeat", "2", "--yes"]
    check = f"{sys.executable} -c \"import sys; sys.exit('noted' in sys.stdin.read())\""
    command = [*LCTL, "fork", str(agent.first.log), "--at", str(at), *varied, "--json", "--check", check]
    done = run(command, agent.folder, agent.environ, agent.first.log)
    trials = [json.loads(line) for line in done.out.splitlines()]
    assert (
        sorted(trial["variant"][0] for trial in trials)
        == ["model=gpt-4.1-mini"] * 2 + ["model=gpt-4.1-nano"] * 2
    )
    assert not any(trial["passed"] for trial in trials)  # every run says what the tape said before the point
    assert done.code == 1
    assert sorted(one["model"] for one in agent.asked) == ["gpt-4.1-mini"] * 2 + ["gpt-4.1-nano"] * 2
    assert all(trial["calls"] == 1 and verify(open_log(trial["log"])).ok for trial in trials)
    assert "4 runs, up to 4 model calls" in done.err
    passing = [*command[:-1], f'{sys.executable} -c "pass"']
    assert run(passing, agent.folder, agent.environ, agent.first.log).code == 0


def test_what_cannot_begin_is_said_before_anything_runs(agent: Agent) -> None:
    at = agent.seqs("exchange")[0]
    keyless = {key: "" for key in agent.environ if key.endswith("KEY")}
    done = agent.fork(at, **keyless)
    assert (done.code, agent.asked) == (3, [])
    assert "not set: OPENAI_API_KEY" in done.err
    for words, why in (
        (("--set", "modle=x"), "modle"),
        (("--set", "@99999 model=x"), "99999"),
        (("--tools", "live", "--pdb", "--repeat", "2"), "--pdb is for one run"),
    ):
        done = agent.fork(at, *words)
        assert done.code == 2
        assert why in done.err
        assert "Traceback" not in done.err
    beyond = agent.fork(99_999)
    assert beyond.code == 2
    assert "has events 1 to" in beyond.err
    assert agent.asked == []


def test_a_signed_request_is_not_edited(tmp_path: Path, models: ModelServer) -> None:
    signed = AGENT.replace(
        "temperature=0.5",
        'temperature=0.5, extra_headers={"Authorization": "AWS4-HMAC-SHA256 Credential=AKIA"}',
    )
    agent = Agent(tmp_path, models, signed)
    done = agent.fork(0, "--set", "model=gpt-4.1-mini")
    assert done.code == 1
    assert "signed (AWS SigV4)" in done.err
    assert agent.asked == []
    assert agent.fork(0, "--result", "answer.content=Hello").code == 0


def test_independent_strands_stay_on_the_tape(tmp_path: Path, models: ModelServer) -> None:
    program = """\
import threading
from openai import OpenAI

client = OpenAI()

def strand(name):
    for n in range(3):
        text = f"{name} {n}"
        client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": text}])

threads = [threading.Thread(target=strand, args=(name,)) for name in ("left", "right")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
    agent = Agent(tmp_path, models, program)
    first = next(
        e["seq"]
        for e in agent.first.events
        if e["type"] == "exchange" and "left 0" in json.dumps(agent.first.events[e["step"] - 2])
    )
    done = agent.fork(first)
    assert done.code == 0, done.err
    assert [one["messages"][0]["content"] for one in agent.asked] == ["left 1", "left 2"]
    agent.recorded = len(models.requests)
    done = agent.fork(first, "--all-live")
    assert done.code == 0, done.err
    assert {"left 1", "left 2", "right 2"} <= {one["messages"][0]["content"] for one in agent.asked}


@pytest.mark.parametrize("place", ["call", "prompt", "tool", "answer"])
def test_a_call_in_a_task_of_its_own_is_changed_and_what_comes_of_it(
    tmp_path: Path, models: ModelServer, place: str
) -> None:
    """Each call has its task, as some frameworks have it; the other strand runs beside and stays."""
    program = """\
import asyncio
import lctl
from openai import AsyncOpenAI

@lctl.tool
async def look_up(topic):
    return f"facts about {topic}"

async def ask(text):
    await client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": text}])

async def strand(name):
    for n in range(3):
        await asyncio.create_task(ask(f"{name} {n}"))
        await asyncio.gather(look_up(f"{name} {n}"), look_up(f"{name} {n} again"))
        if (name, n) == ("left", 0):
            both.set()
            await more.wait()
        elif (name, n) == ("right", 1):
            more.set()
        elif (name, n) == ("right", 0):
            await both.wait()

async def main():
    await asyncio.gather(strand("left"), strand("right"))

client, both, more = AsyncOpenAI(), asyncio.Event(), asyncio.Event()
asyncio.run(main())
"""
    agent = Agent(tmp_path, models, program)
    events = agent.first.events

    def step_of(prompt: str) -> int:
        asked = next(e for e in events if e["data"].get("content") == prompt)["data"]["message_id"]
        return next(int(e["seq"]) for e in events if e["data"].get("prompt") == asked)

    at = {
        "call": step_of("left 1"),
        "prompt": step_of("left 1") - 1,
        "tool": max(e["seq"] for e in events if "left 0" in str(e["data"].get("input"))),
        "answer": next(
            e["seq"] for e in events if e["type"] == "exchange" and e["step"] == step_of("left 0")
        ),
    }[place]
    done = agent.fork(at, "--set", "model=gpt-4.1-mini", "--tools", "recorded")
    assert done.code == 0, done.err
    assert [(one["model"], one["messages"][0]["content"]) for one in agent.asked] == [
        ("gpt-4.1-mini", "left 1"),
        ("gpt-4.1-mini", "left 2"),
    ]


def test_a_tool_from_the_tape_answers_the_call_that_asks_for_it_now(tmp_path: Path) -> None:
    """A model asked anew gives its calls new ids, which the recorded result of the tool speaks of."""
    program = """\
import json, threading
from dataclasses import dataclass
import lctl
from openai import OpenAI

@dataclass
class Said:
    text: str
    tool_call_id: str

@lctl.tool
def look_up(topic):
    return Said(f"facts about {topic}", asked.id)

def work():
    found.append(look_up(topic=json.loads(asked.function.arguments)["topic"], call_id=asked.id))

client, found = OpenAI(max_retries=0), []
messages = [{"role": "user", "content": "Look it up"}]
ask = lambda: client.chat.completions.create(model="gpt-4.1", messages=messages).choices[0].message
answer = ask()
asked = answer.tool_calls[0]
messages.append(answer.model_dump(exclude_none=True))
thread = threading.Thread(target=work)
thread.start()
thread.join()
messages.append({"role": "tool", "content": found[0].text, "tool_call_id": found[0].tool_call_id})
print(ask().content)
"""
    with ModelServer() as models:
        models.reply(
            lambda request: (
                "Told." if request.tool_results else Reply(tool_calls=[("look_up", {"topic": "x"})])
            ),
            times=None,
        )
        agent = Agent(tmp_path, models, program)
        done = agent.fork(0, "--set", "model=gpt-4.1-mini", "--tools", "recorded")
        assert (done.code, done.out) == (0, "Told.\n"), done.err
    said = agent.asked[-1]["messages"]
    assert said[-1]["tool_call_id"] == said[-2]["tool_calls"][0]["id"]
    again = rerun(done.log, tmp_path)
    assert again.code == 0, again.err


def test_from_python(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in agent.environ.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("LCTL_DIR", str(agent.folder / "logs"))
    chain = lctl.load(agent.first.log)
    at = agent.seqs("exchange")[1]
    made = lctl.fork(chain, at, set={"model": "gpt-4.1-mini"}, tools={"note": "dry-run"})
    assert made.ok
    assert made.chain.log.chain["parent"]["id"] == chain.id
    assert [one["model"] for one in agent.asked] == ["gpt-4.1-mini"]
    with pytest.raises(UsageError, match="an edit changed nothing"):
        lctl.fork(agent.first.log, at, set={"message[9].content": "x"})


def test_children_follow(tmp_path: Path, models: ModelServer) -> None:
    """A process started before the point is served from its own tape, one started after it is live."""
    program = """\
import subprocess, sys
from openai import OpenAI

ask = '''
import sys
from openai import OpenAI
made = OpenAI().chat.completions.create(
    model="gpt-4.1", messages=[{"role": "user", "content": sys.argv[1]}])
print(made.choices[0].message.content)
'''
client = OpenAI()
for n in range(3):
    print(subprocess.run([sys.executable, "-c", ask, f"child {n}"], capture_output=True, text=True).stdout)
    client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": f"parent {n}"}])
"""
    agent = Agent(tmp_path, models, program)
    assert agent.recorded == 6
    done = agent.fork(agent.seqs("exchange")[0], "--set", "model=gpt-4.1-mini")
    assert done.code == 0, done.err
    asked = [(one["messages"][0]["content"], one["model"]) for one in agent.asked]
    assert asked == [
        ("child 1", "gpt-4.1-mini"),
        ("parent 1", "gpt-4.1-mini"),
        ("child 2", "gpt-4.1-mini"),
        ("parent 2", "gpt-4.1-mini"),
    ]


@pytest.mark.parametrize(
    ("answers", "noted"), [([b"y\n", b"n\n"], 1), ([b"a\n"], 2), ([b"v\n"], 0), ([b"\x04", b"y\n"], 1)]
)
def test_a_question_before_a_tool_on_a_terminal(agent: Agent, answers: list[bytes], noted: int) -> None:
    pty = pytest.importorskip("pty")
    at = agent.seqs("exchange")[1]
    before = (agent.folder / "ledger").read_text().count("\n")
    left = list(answers)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("LCTL_")}
    clean |= {**agent.environ, "LCTL_DIR": str(agent.folder / "logs"), "NO_COLOR": "1"}
    main, other = pty.openpty()
    with subprocess.Popen(
        [*LCTL, "fork", str(agent.first.log), "--at", str(at)],
        stdin=other,
        stdout=other,
        stderr=other,
        env=clean,
        cwd=agent.folder,
        start_new_session=True,
        preexec_fn=_take_terminal,
    ) as process:
        os.close(other)
        said = b""
        while True:
            try:
                block = os.read(main, 4096)
            except OSError:  # nobody has the other end any more
                break
            if not block:
                break
            said += block
            if block.rstrip().endswith(b"ne[v]er:"):
                os.write(main, left.pop(0))
        assert process.wait() == 0, said.decode()
    os.close(main)
    assert b"run note(" in said
    assert left == []
    assert (agent.folder / "ledger").read_text().count("\n") - before == noted


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
