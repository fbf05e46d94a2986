"""Where `lctl fork` parts, and which calls its edits are about. Read at the server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lctl
from lctl.codec import open_log, verify
from lctl.testing import ModelServer
from tests.rerun.forked import Agent
from tests.rerun.harness import Result

pytestmark = pytest.mark.slow


def _cut(agent: Agent, last: int) -> Path:
    """The recording as it is if the program is killed after that event."""
    path = agent.folder / "killed.lctl.json"
    lines = agent.first.log.read_bytes().splitlines(keepends=True)
    kept = next(n for n, line in enumerate(lines) if line.startswith(b'{"seq":%d,' % last))
    path.write_bytes(b"".join(lines[: kept + 1]))
    return path


@pytest.mark.parametrize("type", ["step_start", "step_end"])
def test_a_recording_that_was_cut_off_goes_on_live(agent: Agent, type: str) -> None:
    """With the call that was under way, or the next one; all of it is in the fork's log."""
    last = agent.seqs(type)[1]
    agent.first = Result(0, "", "", _cut(agent, last))
    done = agent.fork(last, "--set", "params.temperature=1", "--tools", "live")
    assert done.code == 0, done.err
    left = 2 if type == "step_start" else 1
    assert [one["temperature"] for one in agent.asked] == [1] * left
    assert json.loads(done.out.splitlines()[-1])
    assert len([event for event in done.events if event["type"] == "exchange"]) == 3
    assert verify(open_log(done.log)).ok


def test_an_edit_from_an_event_on(agent: Agent) -> None:
    """What comes before it is on the tape; where that is live, nobody knows which call it is."""
    first, _, third = agent.seqs("exchange")
    done = agent.fork(first, "--set", f"from {third} model=gpt-4.1-mini")
    assert done.code == 0, done.err
    (asked,) = agent.asked
    assert (asked["model"], len(asked["messages"])) == ("gpt-4.1-mini", 6)
    for scope in ("from", "@"):
        edit = f"{scope}{' ' if scope == 'from' else ''}{third} model=gpt-4.1-mini"
        mixed = agent.fork(first, "--set", "params.temperature=1", "--set", edit)
        assert mixed.code == 2
        assert f"which call stands for event {third} cannot be told" in mixed.err
    assert len(agent.asked) == 1


def test_edits_of_an_earlier_fork_that_name_events_of_its_recording(agent: Agent) -> None:
    first, second, third = agent.seqs("exchange")
    for edit, told, models in (
        (f"@{third} model=gpt-4.1-mini", "is not made again here", ["gpt-4.1"] * 2),
        (f"from {third} model=gpt-4.1-mini", f"it holds from {first} on", ["gpt-4.1-mini"] * 2),
    ):
        one = agent.fork(second, "--set", edit)
        assert one.code == 0, one.err
        kept = one.log.rename(agent.folder / "kept.lctl.json")
        agent.first, recording = Result(0, "", "", kept), agent.first
        agent.recorded = len(agent.models.requests)
        done = agent.fork(first)
        assert done.code == 0, done.err
        assert told in done.err
        assert [asked["model"] for asked in agent.asked] == models
        agent.first = recording


def test_inside_a_tool_that_asks_nothing(agent: Agent) -> None:
    """Its body does not run again: it parts behind the call, or before it if that gets other arguments."""
    page = next(e["seq"] for e in agent.first.events if e["data"].get("tool") == "read_page")
    inside = page - 1  # what it drew
    done = agent.fork(inside)
    assert done.code == 0, done.err
    assert f"forked at {page}" in done.err
    assert done.events[:page] == agent.first.events[:page]
    changed = agent.fork(inside, "--set", "tool:read_page.input.name=other")
    assert changed.code == 0, changed.err
    assert changed.out.startswith("page other ")
    assert [e["data"].get("input") for e in changed.events if e["data"].get("tool") == "read_page"] == [
        {"name": "other"}
    ] * 3
    in_editor = agent.fork(page, "--edit", EDITOR='sed -i \'s/"p0"/"p7"/\'')
    assert in_editor.code == 0, in_editor.err
    assert in_editor.out.startswith("page p7 ")


def test_a_program_that_is_another_one_before_the_point(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All it asks is on the tape; what its log has before the fork point is not the recording."""
    program = agent.folder / "agent.py"
    program.write_text(program.read_text().replace("client = OpenAI", "random.random()\nclient = OpenAI", 1))
    done = agent.fork(agent.seqs("exchange")[1], "--set", "model=gpt-4.1-mini")
    assert done.code == 1, done.err
    assert "not the recording, though before the fork point: event 2: recorded message of main" in done.err
    assert [one["model"] for one in agent.asked] == ["gpt-4.1-mini"]
    for name, value in agent.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(agent.folder)
    made = lctl.fork(agent.first.log, agent.seqs("exchange")[1], set={"model": "gpt-4.1-mini"})
    assert (made.code, made.ok) == (0, False)
    assert made.early is not None and made.early.seq == 2


SUBAGENT = """\
import lctl
from openai import OpenAI

client = OpenAI()

def ask(text):
    messages = [{"role": "user", "content": text}]
    return client.chat.completions.create(model="gpt-4.1", messages=messages).choices[0].message.content

@lctl.tool
def research(text):
    with lctl.get_session().step("researcher", "research"):
        return ask("research " + text)

ask("plan")
print(research("this"), ask("sum"))
"""


def test_an_edit_of_a_call_in_the_body_of_a_tool(tmp_path: Path, models: ModelServer) -> None:
    """The body runs again, from the tape up to that call, whatever tools do behind the point."""
    agent = Agent(tmp_path, models, SUBAGENT)
    first, inner, _ = agent.seqs("exchange")
    for scope in (f"@{inner}", f"from {inner}", "agent=researcher", "all"):
        agent.recorded = len(agent.models.requests)
        done = agent.fork(first, "--set", f"{scope} model=gpt-4.1-mini")
        assert done.code == 0, done.err
        asked = [(one["messages"][0]["content"], one["model"]) for one in agent.asked]
        assert asked[0] == ("research this", "gpt-4.1-mini"), scope


#: Two streams that the program begins before its second call, and never reads to their end.
LEFT = """\
import itertools
from openai import OpenAI

client = OpenAI()

def asked(text, **options):
    said = [{"role": "user", "content": text}]
    return client.chat.completions.create(model="gpt-4.1", messages=said, **options)

def pieces(text):
    for chunk in asked(text, stream=True):
        if chunk.choices and chunk.choices[0].delta.content:
            yield chunk.choices[0].delta.content

one, other = pieces("one"), pieces("other")
print(list(itertools.islice(zip(one, other), 2)))
print(asked("then").choices[0].message.content)
print(asked("last").choices[0].message.content)
"""


def test_streams_that_were_begun_before_and_never_ended(tmp_path: Path, models: ModelServer) -> None:
    """They are told at the end of the log, and come from the tape."""
    agent = Agent(tmp_path, models, LEFT)
    then, *_, last = (e["seq"] for e in agent.first.events if e["type"] == "step_end")
    left = [e["seq"] for e in agent.first.events if e["data"].get("left")]
    assert len(left) == 2 and then < left[0] < last
    done = agent.fork(then, "--set", "params.temperature=1")
    assert done.code == 0, done.err
    (asked,) = agent.asked
    assert (asked["messages"][0]["content"], asked["temperature"]) == ("last", 1)
    assert done.out.splitlines()[:2] == agent.first.out.splitlines()[:2]
    assert "not the recording" not in done.err
