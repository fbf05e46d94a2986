"""Sessions of Claude Code recorded by its hooks, run as Claude Code runs them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lctl.chain import Chain
from lctl.claudecode import hook, spool
from lctl.claudecode.collecting import Collected, collect
from lctl.codec import Log, open_log, validate, verify
from lctl.importing import load
from tests.unit.claudecode.sessions import SESSION, Session, fire, start, worked


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LCTL_DIR", raising=False)
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    monkeypatch.setenv("LCTL_CLAUDE_NO_COLLECT", "1")  # each test collects when it wants to
    return tmp_path


def collected(project: Path, session: str = SESSION) -> tuple[Collected, Log]:
    found = collect(spool.place(project / ".lctl", session))
    log = open_log(found.path)
    assert validate(log) == []
    assert verify(log).ok
    return found, log


def of(log: Log, *types: str) -> list[dict[str, Any]]:
    return [{"agent": event.agent, **event.data} for event in log.events() if event.type in types]


def tools(log: Log, *keys: str) -> list[tuple[Any, ...]]:
    keys = keys or ("agent", "tool", "call_id", "input", "output")
    return [tuple(call.get(key) for key in keys) for call in of(log, "tool_call")]


def agents(log: Log) -> list[tuple[Any, ...]]:
    """Sub-agents: who, the call that began it, and which tools it used, by the steps."""
    tree = Chain.of(log).tree
    found: list[tuple[Any, ...]] = []
    for event in log.events():
        if event.type == "step_start" and event.data.get("kind") == "agent":
            inside = [
                e.data["call_id"] for e in log.events() if e.type == "tool_call" and e.step == event.seq
            ]
            found.append((event.data["name"], event.data["intent"], inside))
    hosts = [node.data["nested_in"]["tool_call_id"] for node in tree.roots if "nested_in" in node.data]
    return [*found, *hosts]


def test_a_session_recorded_by_hooks_is_the_imported_session(project: Path) -> None:
    """Messages, tools, sub-agents, model calls, file edits: the same from the hooks as from the file."""
    session = worked(project)
    fire(session.hooks, project)
    found, log = collected(project)
    imported = load(str(session.transcript)).log
    assert (found.hooks, found.transcript, found.broken) == (15, True, 0)
    assert of(log, "message") == of(imported, "message")
    assert tools(log) == tools(imported)
    assert agents(log) == agents(imported) == [("Explore", "Explore", ["t3"]), "t2"]
    assert of(log, "fact_added") == of(imported, "fact_added")
    kinds = ("kind", "model", "outcome", "tokens", "name", "agent")
    assert [[s.get(key) for key in kinds] for s in of(log, "step_start", "step_end")] == [
        [s.get(key) for key in kinds] for s in of(imported, "step_start", "step_end")
    ]


def test_what_only_hooks_know_is_in_the_log(project: Path) -> None:
    """How long tools really took, and that a person was asked."""
    fire(worked(project).hooks, project)
    _, log = collected(project)
    assert [ms for (ms,) in tools(log, "duration_ms")] == [7, 7, 900, 7]
    (asked,) = of(log, "handoff")
    assert (asked["to"], asked["reason"], asked["instruction"]["tool"]) == ("user", "permission", "Edit")
    assert log.chain["ended"] == "exit" and log.id == f"claude-{SESSION}"


def test_file_edits_are_facts_at_every_seq(project: Path) -> None:
    """The state at an event says which files had been changed by then."""
    fire(worked(project).hooks, project)
    _, log = collected(project)
    chain = Chain.of(log)
    (edit,) = (event for event in log.events() if event.type == "fact_added")
    assert edit.data == {"id": "file:parser.py", "text": "edited by Edit (+1 -1)", "source": "t4"}
    assert "file:parser.py" not in chain.timeline.at(edit.seq - 1).facts
    assert "file:parser.py" in chain.timeline.at(edit.seq).facts


def test_hooks_alone_tell_prompts_tools_and_sub_agents(project: Path) -> None:
    """Where the session's own file is gone: all but the words between and the usage."""
    session = worked(project)
    imported = load(str(session.transcript)).log
    session.transcript.unlink()
    fire(session.hooks, project)
    found, log = collected(project)
    assert not found.transcript
    keys = ("agent", "tool", "call_id", "input")
    assert tools(log, *keys) == tools(imported, *keys)
    assert agents(log) == agents(imported)
    assert of(log, "fact_added") == of(imported, "fact_added")
    texts = [node.text for node in Chain.of(log).tree if node.text]
    assert texts == ["fix the parser", "who calls it?", "main.py calls it", "Done."]


def test_thirty_two_hooks_at_the_same_instant(project: Path) -> None:
    """None is lost, none is torn, and the log's numbers have no gap."""
    session = Session(project)
    session.row("u1", None, "user", "go")
    for n in range(32):
        about = {"tool_name": "Bash", "tool_input": {"command": f"echo {n} {'x' * 5000}"}}
        session.told("PostToolUse", **about, tool_use_id=f"t{n}", tool_response={"stdout": str(n)})
    processes = [start(told, project) for told in session.hooks]
    assert [(*one.communicate(), one.returncode) for one in processes] == [(b"", b"", 0)] * 32
    found, log = collected(project)
    assert (found.hooks, found.broken) == (32, 0)
    assert {call["call_id"] for call in of(log, "tool_call")} == {f"t{n}" for n in range(32)}
    assert [event.seq for event in log.events()] == list(range(1, len(log) + 1))


def test_a_session_that_goes_on_only_grows(project: Path) -> None:
    """After each turn the log has what it had, under the same numbers, and more."""
    session = worked(project, live=True)
    before = list(collected(project)[1].lines())
    session.row("u2", "a4", "user", "and the tests?")
    session.told("UserPromptSubmit", prompt="and the tests?")
    session.row("a5", "u2", "assistant", "They pass.")
    session.told("Stop", last_assistant_message="They pass.")
    after = list(collected(project)[1].lines())
    assert after[: len(before)] == before
    assert len(after) == len(before) + 4  # a prompt; an answer and its call


def test_collecting_again_writes_nothing(project: Path) -> None:
    fire(worked(project).hooks, project)
    assert collected(project)[0].written
    assert not collected(project)[0].written


def test_a_log_never_shrinks(project: Path) -> None:
    """Claude Code removes its own files after a while; the log keeps what they said."""
    session = worked(project)
    fire(session.hooks, project)
    _, before = collected(project)
    session.transcript.unlink()
    found, after = collected(project)
    assert not found.written and len(after) == len(before)


def test_a_tool_that_the_file_does_not_have_yet(project: Path) -> None:
    """The file may lag behind the hooks: the call is recorded all the same, once."""
    session = Session(project)
    session.row("u1", None, "user", "go")
    session.used("t9", "Bash", {"command": "ls"}, {"stdout": "a"})
    fire(session.hooks, project)
    assert tools(collected(project)[1]) == [("claude-code", "Bash", "t9", {"command": "ls"}, {"stdout": "a"})]


def test_a_tool_that_failed(project: Path) -> None:
    session = Session(project)
    about = {"tool_name": "Bash", "tool_input": {"command": "false"}, "tool_use_id": "t1"}
    session.told("PostToolUseFailure", **about, error="exit code 1", duration_ms=3)
    fire(session.hooks, project)
    (call,) = of(collected(project)[1], "tool_call")
    assert (call["error"], call.get("output"), call["duration_ms"]) == ("exit code 1", None, 3)


@pytest.mark.parametrize(
    "told", [b"", b" \n", b"no json \xff", b"[1]", b"{}", b'{"session_id": "s", "cwd": "."}']
)
def test_what_says_nothing_leaves_nothing(project: Path, told: bytes) -> None:
    process = start(told, project)
    assert (*process.communicate(), process.returncode) == (b"", b"", 0)
    assert list(project.iterdir()) == []


def test_a_session_in_which_nothing_happened_has_no_log(project: Path) -> None:
    """Until something does: it would count as the last run."""
    session = Session(project)
    session.told("SessionStart", source="startup")
    fire(session.hooks, project)
    found = collect(spool.place(project / ".lctl", SESSION))
    assert (found.events, found.written, found.path.exists()) == (0, False, False)
    fire(worked(project).hooks, project)
    assert collected(project)[0].written


def test_a_torn_line_is_counted(project: Path) -> None:
    """A line that a killed hook left spoils no other."""
    fire([worked(project).hooks[1]], project)
    with (project / ".lctl" / "claude" / f"{SESSION}.jsonl").open("ab") as file:
        file.write(b'{"at":1,"hook":{"sess')
    fire([worked(project).hooks[2]], project)
    found, _ = collected(project)
    assert (found.hooks, found.broken) == (2, 1)


def test_secrets_are_not_in_the_log(project: Path) -> None:
    session = Session(project)
    key = "sk-ant-api03-" + "a1B2" * 20
    session.used("t1", "Bash", {"command": f"curl -H 'x-api-key: {key}'"}, {"stdout": "ok"})
    fire(session.hooks, project)
    found, _ = collected(project)
    assert key not in found.path.read_text()
    assert not collected(project)[0].written  # the same placeholder every time


def test_the_spool_is_its_owners(project: Path) -> None:
    """What tools were given may be secret."""
    fire(worked(project).hooks[:1], project)
    assert (project / ".lctl" / "claude" / f"{SESSION}.jsonl").stat().st_mode & 0o077 == 0


def test_the_hook_loads_nothing_of_lctl(project: Path) -> None:
    """It runs at every event of a session: an interpreter's start is all that it may cost."""
    told = json.dumps(worked(project).hooks[0]).encode()
    command = [sys.executable, "-X", "importtime", "-I", "-S", str(hook.__file__)]
    done = subprocess.run(command, input=told, capture_output=True, cwd=project, check=True)
    loaded = {
        line.rpartition(b"|")[2].strip().decode().partition(".")[0] for line in done.stderr.split(b"\n")
    }
    loaded -= set(sys.stdlib_module_names) | {"", "imported package"}
    assert loaded == set()
    assert len(done.stderr.split(b"\n")) < 70  # modules


def test_the_end_of_a_turn_makes_the_log_by_itself(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And Claude Code does not wait for it."""
    monkeypatch.delenv("LCTL_CLAUDE_NO_COLLECT")
    fire(worked(project).hooks[:-1], project)
    path = project / ".lctl" / f"claude-{SESSION}.lctl.json"
    until = time.monotonic() + 30
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert len(tools(open_log(path))) == 4
