"""`lctl fork` with edits, and what tools are given behind the point. Read at the server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lctl.testing import ModelServer, Reply
from tests.rerun.forked import AGENT, Agent
from tests.rerun.harness import rerun

pytestmark = pytest.mark.slow


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


def test_what_happens_behind_the_point_is_later_than_what_came_from_the_recording(tmp_path: Path) -> None:
    """Also a tool that runs with other arguments: a recording goes by faster than it was made."""
    with ModelServer(latency=(0.5, 0.5)) as models:
        models.reply("Page p0.", times=None)
        agent = Agent(tmp_path, models)
        edit = 'tool:read_page.input.name="p9"'
        done = agent.fork(agent.seqs("step_end")[0], "--set", edit, "--tools", "live")
    assert done.code == 0, done.err
    given = next(event for event in done.events if event["data"].get("tool") == "read_page")
    before = next(event for event in done.events if event["type"] == "exchange")
    assert given["data"]["input"] == {"name": "p9"}
    assert given["data"]["at"] > before["data"]["at"] + before["data"]["duration_ms"]
