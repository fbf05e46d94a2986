"""Every example runs as a user would run it, prints what it promises and leaves a log that opens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.events import Event

pytest.importorskip("openai")
pytest.importorskip("anthropic")

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def run(*arguments: str, cwd: Path) -> str:
    """stdout of `python <arguments>` in an empty directory, from this checkout."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "integrations"), os.environ.get("PYTHONPATH", "")])
    env = {k: v for k, v in os.environ.items() if not k.startswith("LCTL_")} | {
        "PYTHONPATH": path,
        "LCTL_STRICT": "1",
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "could not record" not in done.stderr
    return done.stdout


def recorded(path: Path) -> list[Event]:
    """The events of a log that is whole and closed."""
    log = open_log(path)
    assert not log.problems and log.recovered is None and not log.open
    events = list(log.events())
    assert [e.seq for e in events] == list(range(1, len(events) + 1))
    return events


def only_log(directory: Path) -> list[Event]:
    (path,) = (directory / ".lctl").glob("*.lctl.json")
    return recorded(path)


def kinds(events: list[Event]) -> Counter[str]:
    """How many events of each type; a step_start counts under its kind too."""
    found = Counter(e.type for e in events)
    found.update(f"step:{e.data.get('kind', 'agent')}" for e in events if e.type == "step_start")
    return found


def test_every_example_is_tested() -> None:
    """A new example needs a test here."""
    mentioned = Path(__file__).read_text()
    assert [p.name for p in sorted(EXAMPLES.glob("*.py")) if p.name not in mentioned] == []


def test_quickstart(tmp_path: Path) -> None:
    """One model call, with its messages and tokens."""
    assert len(run(str(EXAMPLES / "quickstart.py"), cwd=tmp_path)) > 20
    events = only_log(tmp_path)
    assert kinds(events)["step:llm"] == 1 and kinds(events)["message"] == 2
    (end,) = [e for e in events if e.type == "step_end"]
    assert end.data["outcome"] == "success" and end.data["tokens"]["input"] == 12


def test_openai_tool_loop(tmp_path: Path) -> None:
    """The tool call was seen without a decorator, between the two model calls."""
    assert run(str(EXAMPLES / "openai_tool_loop.py"), cwd=tmp_path) == "There are 12 apples.\n"
    events = only_log(tmp_path)
    assert kinds(events)["step:llm"] == 2 and kinds(events)["message"] == 4
    (call,) = [e.data for e in events if e.type == "tool_call"]
    assert (call["tool"], call["input"], call["output"]) == ("count", {"fruit": "apples"}, "12")


def test_message_graph(tmp_path: Path) -> None:
    """The page about it shows this very program, its output and its events."""
    said = run(str(EXAMPLES / "message_graph.py"), cwd=tmp_path)
    page = (ROOT / "docs" / "message-graph.md").read_text()
    assert said in page
    told = [
        {key: value for key, value in event.data.items() if key not in ("refusal", "annotations")}
        for event in only_log(tmp_path)
        if event.type == "message"
    ]
    assert "\n".join(json.dumps(data) for data in told) in page


@pytest.mark.slow
def test_anthropic_stream(tmp_path: Path) -> None:
    """One stream read to its end, one left early with what had arrived."""
    said = run(str(EXAMPLES / "anthropic_stream.py"), cwd=tmp_path)
    assert said == "Rain is on its way, bring a coat.\nRain is on\n"
    events = only_log(tmp_path)
    assert [e.data["outcome"] for e in events if e.type == "step_end"] == ["success", "aborted"]
    assert [e.data["status"] for e in events if e.data.get("sampled")] == ["complete", "aborted"]


@pytest.mark.slow
def test_custom_orchestrator(tmp_path: Path) -> None:
    """Model calls stand in their steps, facts are there, the export is a log."""
    said = run(str(EXAMPLES / "custom_orchestrator.py"), cwd=tmp_path)
    assert said == "def solve(xs): return sorted(xs)\n"
    events = recorded(tmp_path / "workflow.lctl.json")
    starts = [e for e in events if e.type == "step_start"]
    outer = {e.seq: e.agent for e in starts if e.data.get("kind", "agent") != "llm"}
    assert [outer[e.step or 0] for e in starts if e.data.get("kind") == "llm"] == ["planner", "coder"]
    facts = {e.data["id"]: (e.agent, e.data["confidence"]) for e in events if e.type == "fact_added"}
    assert facts == {"F1": ("planner", 0.9), "F2": ("coder", 0.85)}


def test_offline_test(tmp_path: Path) -> None:
    """The test that users copy passes."""
    name = str(EXAMPLES / "offline_test.py")
    said = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), name, cwd=tmp_path)
    assert "1 passed" in said


def test_multi_thread(tmp_path: Path) -> None:
    """Each thread's fact and model call is under its own agent's step."""
    said = run(str(EXAMPLES / "multi_thread.py"), cwd=tmp_path)
    assert [line.partition(":")[0] for line in said.splitlines()] == ["Lima", "Oslo", "Cairo", "Kyoto"]
    events = only_log(tmp_path)
    assert kinds(events)["step:llm"] == 4
    agents = {e.seq: e.agent for e in events if e.type == "step_start" and e.data.get("kind") != "llm"}
    assert sorted(agents.values()) == ["cairo-scout", "kyoto-scout", "lima-scout", "oslo-scout"]
    for event in events:
        if event.type == "fact_added":
            assert agents[event.step or 0] == event.agent == f"{event.data['id'].lower()}-scout"
        if event.type == "step_start" and event.data.get("kind") == "llm":
            assert agents[event.step or 0] == event.agent


def test_sessions(tmp_path: Path) -> None:
    """A run that was left is taken up, forked and replayed; the mail goes out once. The page shows it."""
    said = run(str(EXAMPLES / "sessions.py"), cwd=tmp_path)
    assert said.splitlines()[-1] == "mails sent: ['Friday at 10.']"
    assert said in (ROOT / "docs" / "sessions.md").read_text()
    assert kinds(recorded(tmp_path / "mail.lctl.json"))["session_start"] == 1
    assert kinds(recorded(tmp_path / "polite.lctl.json"))["session_start"] == 2


@pytest.mark.slow
def test_confirmed_fact(tmp_path: Path) -> None:
    """The fact is blocked, a reviewer confirms it, the gate opens; had the reviewer doubted, it had stayed
    blocked: the recorded gate is worked out again."""
    said = run(str(EXAMPLES / "confirmed_fact.py"), cwd=tmp_path)
    assert said == (
        "blocked: fact 'F1' is blocked at confidence 0.33 (0.35, 1 hop to fixer): [7] analyzer: 0.35 added\n"
        "proceed: the query is patched\n"
    )
    log = tmp_path / "confirmed.lctl.json"
    gates = [event.data["decision"] for event in recorded(log) if event.type == "gate"]
    assert gates == ["block", "proceed"]
    page = (ROOT / "docs" / "trust.md").read_text()
    assert run("-m", "lctl", "confidence", "--causes", str(log), cwd=tmp_path) in page
    asked = [*("what-if", str(log), "--at", "21", "--set", "data.confidence=0.3")]
    answer = subprocess.run(
        [sys.executable, "-m", "lctl", *asked],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 1
    assert "25  decision    proceed → block" in answer.stdout and answer.stdout in page
    contracts = [event.data for event in recorded(log) if event.type == "contract_validation"]
    assert [judged["status"] for judged in contracts] == ["passed"] * 3


@pytest.mark.slow
def test_crash_and_resume(tmp_path: Path) -> None:
    """Two processes that share nothing but the store; the second goes on where the first was killed."""
    crashed_and_resumed(tmp_path)


@pytest.mark.database
def test_crash_and_resume_on_postgresql(tmp_path: Path) -> None:
    """The same, on a database."""
    pytest.importorskip("psycopg", reason="pip install 'lctl[postgres]'")
    from tests import postgres

    bin = postgres.programs()
    if bin is None:
        pytest.skip(postgres.MISSING)
    server = postgres.Server(bin)
    try:
        server.start()
        crashed_and_resumed(tmp_path, server.url)
    finally:
        server.remove()


def crashed_and_resumed(folder: Path, *store: str) -> None:
    said = run(str(EXAMPLES / "crash_and_resume.py"), *store, cwd=folder).splitlines()
    assert said[0] == "first machine ended with -9"
    assert "book_room" in said[1]
    assert said[2] == "second machine ended with 0"
    assert "completed, 6 messages" in said[3]
    assert said[4:] == [
        "last word: Ann knows; the blue room is booked.",
        "mails sent: ['ann: Friday at 10.']",
    ]
