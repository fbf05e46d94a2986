"""`lctl fork`: the tape up to an event, live and changed behind it. Counted and read at the server."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from lctl.codec import open_log, verify
from lctl.testing import ModelServer, Request
from tests.rerun.forked import Agent
from tests.rerun.harness import LCTL, Result, rerun, run
from tests.seeds import some

pytestmark = pytest.mark.slow

#: Three processes that ask, and the program after each.
CHILDREN = """\
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


def test_at_every_event_of_the_demo(tmp_path: Path) -> None:
    """The shared part is the recording's to the byte, both logs verify, and `diff` names the point.
    LCTL_FORKS asks for a part of the events (see `tests.seeds`)."""
    made = run([*LCTL, "demo"], tmp_path, {}, tmp_path)
    assert made.code == 0, made.err
    (path,) = (tmp_path / "logs").glob("*.lctl.json")
    parent = open_log(path)
    lines = list(parent.lines())
    points = some(range(parent.last_seq), "LCTL_FORKS")
    failed = [
        event.seq for event in parent.events() if event.type == "exchange" and event.data["status"] == 429
    ]
    assert failed  # and sent again: at it, and at the error it is
    for at in sorted({*points, *failed, *(seq + 1 for seq in failed), parent.last_seq}):
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


#: Its tool does more than look, by its name, and gives another value each time.
PAYS = """\
import random
import lctl
from openai import OpenAI

@lctl.tool
def pay(amount):
    with open("ledger.txt", "a") as ledger:
        ledger.write("paid\\n")
    return random.random()

client = OpenAI()
for step in range(2):
    client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": f"Step {step}"}])
    print(pay(12))
"""


def test_a_tool_that_is_not_run_says_so(tmp_path: Path, models: ModelServer) -> None:
    """What the same call gave is said again only where nobody asked for anything else, and the end tells."""
    agent = Agent(tmp_path, models, PAYS)
    first, second = agent.first.out.splitlines()
    for at, words in ((0, []), (0, ["--all-live"]), (0, ["--tools", "dry-run"])):
        done = agent.fork(at, *words)
        assert (done.code, done.out.splitlines()) == (0, ["0.0", "0.0"]), done.err
        assert "2 tools not run (dry run)" in done.err and "behind the fork point" not in done.err
    at = agent.seqs("tool_call")[0]
    for words, expected in (
        ([], second),
        (["--tools", "recorded"], second),
        (["--all-live", "--tool-policy", "pay=recorded"], second),
        (["--all-live"], "0.0"),
        (["--tool-policy", "pay=dry-run"], "0.0"),
    ):
        done = agent.fork(at, *words)
        assert (done.code, done.out.splitlines()) == (0, [first, expected]), (words, done.err)
        assert ("from the tape behind the fork point: 1 tool call," in done.err) is (expected == second)
    assert (tmp_path / "ledger.txt").read_text() == "paid\n" * 2


def test_independent_strands_stay_on_the_tape(tmp_path: Path, models: ModelServer) -> None:
    program = """\
import threading
from openai import OpenAI

client = OpenAI()
answered = {"left": threading.Event(), "right": threading.Event()}

def strand(name):
    for n in range(3):
        if n == 2:  # not before both have begun, however slow the other one is
            answered["left"].wait(), answered["right"].wait()
        text = f"{name} {n}"
        client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": text}])
        answered[name].set()

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


def test_a_live_answer_that_comes_sooner_is_told_behind_the_recorded_one(tmp_path: Path) -> None:
    """Recorded answers wait for who still computes, live ones for nobody."""
    program = """\
import hashlib, threading
from openai import OpenAI

client = OpenAI()

def ask(text):
    made = client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": text}])
    print(made.choices[0].message.content)

def compute():
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2_000_000)

asked = [threading.Thread(target=ask, args=(text,)) for text in ("soon", "late")]
for thread in (threading.Thread(target=compute), *asked):
    thread.start()
"""
    soon = threading.Event()

    def answer(request: Request) -> str:
        if "late" in request.text:
            soon.wait()
            time.sleep(0.2)
            return "Late."
        soon.set()
        return "Soon."

    with ModelServer(seed=1) as server:
        server.reply(answer, times=None)
        agent = Agent(tmp_path, server, program)
        assert agent.first.out == "Soon.\nLate.\n"
        at = agent.seqs("step_end")[0]
        forked = agent.fork(at, "--all-live")
        assert forked.code == 0, forked.err
        assert [one["messages"][0]["content"] for one in agent.asked] == ["late"]
    assert forked.events[:at] == agent.first.events[:at]
    assert verify(open_log(forked.log)).ok
    again = rerun(forked.log, tmp_path)
    assert (again.code, again.out, again.events) == (0, forked.out, forked.events), again.err


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


def test_events_that_edits_name_are_none_of_a_child(tmp_path: Path, models: ModelServer) -> None:
    """A child of the part that is on the tape is on the tape, and one behind the change is live."""
    agent = Agent(tmp_path, models, CHILDREN)
    second = agent.seqs("exchange")[1]
    for edit, models_asked in (
        (f"@{second} model=gpt-4.1-mini", ["gpt-4.1-mini", "gpt-4.1", "gpt-4.1"]),
        (f"from {second} model=gpt-4.1-mini", ["gpt-4.1-mini"] * 3),
    ):
        agent.recorded = len(agent.models.requests)
        done = agent.fork(0, "--set", edit)
        assert done.code == 0, done.err
        asked = [(one["messages"][0]["content"], one["model"]) for one in agent.asked]
        assert asked == list(zip(("parent 1", "child 2", "parent 2"), models_asked, strict=True))


def test_children_follow(tmp_path: Path, models: ModelServer) -> None:
    """A process started before the point is served from its own tape, one started after it is live."""
    agent = Agent(tmp_path, models, CHILDREN)
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
    kept = done.log.rename(tmp_path / "kept.lctl.json")
    again = rerun(kept, tmp_path)
    assert again.code == 0, again.err
    assert again.out == done.out
    agent.first = Result(0, done.out, "", kept)
    agent.recorded = len(agent.models.requests)
    second = agent.fork(agent.seqs("exchange")[0], "--set", "params.temperature=0")
    assert second.code == 0, second.err
    assert [(one["model"], one["temperature"]) for one in agent.asked] == [("gpt-4.1-mini", 0)] * 4


#: Its tool only looks, by its name, and gives an id of its own that the next prompt has.
IDS = """\
import uuid
import lctl
from openai import OpenAI

@lctl.tool
def find_ticket(text):
    return f"{len(text)}: {uuid.uuid4()}"

client, found = OpenAI(), "nothing"
for step in range(3):
    said = [{"role": "user", "content": f"Step {step}: {found}"}]
    made = client.chat.completions.create(model="gpt-4.1", messages=said)
    found = find_ticket(made.choices[0].message.content)
    print(found)
"""


def test_ids_that_tools_draw_behind_it_go_to_the_model(tmp_path: Path, models: ModelServer) -> None:
    """The world knows a ticket by the new one: the model was asked with the recorded one."""
    agent = Agent(tmp_path, models, IDS)
    forked = agent.fork(agent.seqs("exchange")[0])
    assert forked.code == 0, forked.err
    drawn = [line.split()[1] for line in forked.out.splitlines() if ": " in line][:3]
    assert not set(drawn) & set(agent.first.out.split())
    asked = [str(one["messages"][0]["content"]) for one in agent.asked]
    assert [text.split()[-1] for text in asked] == drawn[:2]
    said = [str(e["data"]["content"]) for e in forked.events if e["type"] == "message"]
    assert set(asked) < set(said)
    again = rerun(forked.log, tmp_path)
    assert (again.code, again.out.splitlines()[:3]) == (0, forked.out.splitlines()[:3]), again.err
