"""claude-agent-sdk against a command line of the test's own: recorded, run again without it, unharmed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.frameworks import claudes
from tests.frameworks.claudes import PROGRAMS
from tests.rerun.harness import LCTL, Result, run

sdk: Any = pytest.importorskip("claude_agent_sdk", reason="needs: pip install claude-agent-sdk")
pytestmark = pytest.mark.frameworks


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return claudes.put(tmp_path, monkeypatch)


def play(folder: Path, program: str, *words: str) -> tuple[Result, Result, Result]:
    """As it is, recorded, and again with the command line gone."""
    path, log, again = str(PROGRAMS / program), folder / "first.lctl.json", folder / "again.lctl.json"
    environ = {"LCTL_DIR": str(folder / "runs")}
    plain = run([sys.executable, path, *words], folder, environ, log)
    (folder / "claude.starts").unlink()
    (folder / "added.txt").unlink(missing_ok=True)
    first = run([*LCTL, "run", "--output", str(log), path, *words], folder, environ, log)
    (folder / "claude").rename(folder / "gone")
    return plain, first, run([*LCTL, "rerun", str(log), "--output", str(again)], folder, environ, again)


@pytest.mark.parametrize("program", ["claude_agents.py", "claude_many.py"])
def test_a_recording_by_one_line_runs_again_without_the_process(program: str, folder: Path) -> None:
    """Model calls are made in the process, so what it says is on the tape of every recording."""
    environ = {"LCTL_DIR": str(folder / "runs")}
    here = folder / program
    here.write_text("import lctl\n\nlctl.auto_instrument()\n" + (PROGRAMS / program).read_text())
    first = run([sys.executable, str(here)], folder, environ, folder)
    (log,) = (folder / "runs").glob("*.lctl.json")
    first, starts = first._replace(log=log), count(folder / "claude.starts")
    assert not any(event["type"] == "output" for event in first.events)
    (folder / "claude").rename(folder / "gone")
    again = folder / "again.lctl.json"
    second = run([*LCTL, "rerun", str(log), "--output", str(again)], folder, environ, again)
    assert first.code == second.code == 0, (first.err, second.err)
    assert (second.out, second.events) == (first.out, first.events)
    assert count(folder / "claude.starts") == starts


def count(path: Path) -> int:
    return path.read_text().count("\n") if path.exists() else 0


def outline(events: list[dict[str, Any]], stop: str = "exchange") -> list[str]:
    """What happened, up to the first event of a type: who, what, in which step."""
    depths: dict[int | None, int] = {None: 0}
    lines: list[str] = []
    for event in events:
        data, kind = event["data"], event["type"]
        if kind == stop:
            break
        depth = depths.get(event.get("step"), 0)
        if kind == "step_start":
            depths[event["seq"]] = depth + 1
            lines.append(f"{'  ' * depth}{event['agent']}: {data['kind']} {data['intent']}")
        elif kind == "step_end":
            tokens = data.get("tokens", {})
            said = [
                data["outcome"],
                *(f"{key} {tokens[key]}" for key in ("input", "output") if key in tokens),
            ]
            said += [str(data[key])[:40] for key in ("cost", "output") if key in data]
            lines.append(f"{'  ' * (depth - 1)}/ {', '.join(said)}")
        elif kind == "tool_call":
            gave = data.get("output", data.get("error"))
            if isinstance(gave, list):  # as mcp 1 or mcp 2 writes it
                gave = [dict(sorted(one.items())) for one in gave]
            lines.append(f"{'  ' * depth}{data['tool']} {data['call_id']} = {gave}")
        elif kind == "message":
            nested = data.get("nested_in", {}).get("tool_call_id", "")
            lines.append(f"{'  ' * depth}{data['role']}{' in ' + nested if nested else ''}")
    return lines


def test_a_program_is_recorded_and_runs_again_without_the_process(folder: Path) -> None:
    """The result is the same with lctl and without; the second run starts nothing and calls no tool."""
    plain, first, again = play(folder, "claude_agents.py")
    assert plain.code == first.code == again.code == 0, (plain.err, first.err, again.err)
    assert first.out == plain.out == again.out
    assert "ResultError" in plain.out and "could not record" not in first.err
    assert "rerun exact" in again.err
    assert again.events == first.events
    assert (count(folder / "claude.starts"), count(folder / "added.txt")) == (4, 1)
    # Of every call once, of every turn once: in all as much as the process told.
    ends = [event["data"] for event in first.events if event["type"] == "step_end"]
    tokens = [end["tokens"] for end in ends if "tokens" in end]
    assert sum(one["input"] for one in tokens) == 11 * 14
    # The one that crashed tells its turn's alone.
    assert sum(one.get("output", 0) for one in tokens) == 10 * 7 + 21
    assert sum(end.get("cost", 0) for end in ends) == 0.25 + 2 * 0.5 + 0.25
    calls = [event["data"] for event in first.events if event["type"] == "step_start"]
    assert sum(call["kind"] == "llm" for call in calls) == 11
    assert outline(first.events[1:]) == snapshot(
        [
            "claude: agent turn",
            "  user",
            "  claude: llm messages",
            "    assistant",
            "    assistant",
            "    assistant",
            "  / success, input 14",
            "  claude: task hook PreToolUse",
            "  / success, {}",
            "  Bash t1 = a.txt",
            "  user",
            "  claude: task hook PreToolUse",
            "  / success, {'hookSpecificOutput': {'hookEventName':",
            "  Bash t0 = not that",
            "  user",
            "  claude: llm messages",
            "    assistant",
            "    assistant",
            "  / success, input 14",
            "  explorer: agent look around",
            "    user in t2",
            "    explorer: llm messages",
            "      assistant in t2",
            "    / success, input 14",
            "    Grep t3 = b.py:1",
            "    user in t2",
            "    explorer: llm messages",
            "      assistant in t2",
            "    / success, input 14",
            "  / success",
            "  Task t2 = [{'text': 'b is in b.py', 'type': 'text'}]",
            "  user",
            "  claude: llm messages",
            "    assistant",
            "  / success, input 14",
            "  mcp__calc__add t4 = [{'text': '5', 'type': 'text'}]",
            "  user",
            "  claude: llm messages",
            "    assistant",
            "  / success, input 14, output 42",
            "/ success, 0.25, done: work on it",
        ]
    )


def inside(events: list[dict[str, Any]], root: int) -> list[dict[str, Any]]:
    """The events of a step and of those in it; its own begin is the first."""
    steps = {root}
    found = []
    for event in events:
        if event["seq"] == root or event.get("step") in steps:
            found.append({**event, "step": None} if event["seq"] == root else event)
            if event["type"] == "step_start":
                steps.add(event["seq"])
    return found


def fork(folder: Path, at: int, *more: str) -> Result:
    """Of the recording `first`, with the command line there."""
    log = folder / "fork.lctl.json"
    log.unlink(missing_ok=True)
    command = [*LCTL, "fork", str(folder / "first.lctl.json"), "--at", str(at), *more, "--output", str(log)]
    return run([*command, "--allow", f"write:{folder}"], folder, {"LCTL_DIR": str(folder / "runs")}, log)


@pytest.mark.parametrize("result", ['{"content": [{"type": "text", "text": "99"}]}', '"99"'])
def test_a_fork_with_another_result_of_a_tool(folder: Path, result: str) -> None:
    """It parts before the process: Claude cannot go on from the middle of what it said."""
    _, first, _ = play(folder, "claude_agents.py")
    (folder / "gone").rename(folder / "claude")
    (folder / "claude.starts").unlink()
    [tool] = [event["seq"] for event in first.events if event["data"].get("tool") == "mcp__calc__add"]
    forked = fork(folder, tool, "--result", f"tool:mcp__calc__add={result}")
    assert forked.code == 0, forked.err
    assert f"event {tool} is inside Claude's process" in forked.err
    [block] = next(
        event["data"]["content"]
        for event in forked.events
        if event["type"] == "message" and "t4" in str(event["data"]) and event["data"]["role"] == "user"
    )
    assert block["content"] == [{"type": "text", "text": "99"}]
    (folder / "claude").rename(folder / "gone")
    again = folder / "later.lctl.json"
    environ = {"LCTL_DIR": str(folder / "runs")}
    second = run([*LCTL, "rerun", str(forked.log), "--output", str(again)], folder, environ, again)
    assert (second.code, second.out) == (0, forked.out), second.err


def test_a_fork_inside_of_what_claude_said(folder: Path) -> None:
    """What comes before its process is on the tape, and nothing else starts one."""
    _, first, _ = play(folder, "claude_agents.py")
    (folder / "gone").rename(folder / "claude")
    (folder / "claude.starts").unlink()
    answers = [
        event["seq"] for event in first.events if "simple right two" in str(event["data"].get("content"))
    ]
    forked = fork(folder, answers[-1])
    assert forked.code == 0, forked.err
    assert count(folder / "claude.starts") == 2
    assert "forked before it" in forked.err
    assert "not the recording" not in forked.err


def test_agents_in_the_background_and_shaped_answers(folder: Path) -> None:
    _, first, again = play(folder, "claude_later.py")
    assert (again.code, again.out, again.events) == (0, first.out, first.events), again.err
    begun = {event["seq"]: event for event in first.events if event["type"] == "step_start"}
    [writer] = [
        seq for seq, event in begun.items() if event["agent"] == "writer" and "model" not in event["data"]
    ]
    assert begun[begun[writer]["step"]]["agent"] == "claude"
    ends = {event["step"]: event["data"] for event in first.events if event["type"] == "step_end"}
    assert ends[writer]["outcome"] == "success"
    [nested] = [
        event["data"]["nested_in"]
        for event in first.events
        if event["type"] == "message" and "nested_in" in event["data"] and event["agent"] == "writer"
    ][:1]
    assert nested["tool_call_id"] == "t8"
    assert [end["structured_output"] for end in ends.values() if "structured_output" in end] == [
        {"answer": 42}
    ]


def test_a_transport_of_the_programs_own(folder: Path) -> None:
    plain, first, again = play(folder, "claude_transport.py")
    assert (first.code, first.out) == (0, plain.out), first.err
    kinds = [event["data"].get("kind") for event in first.events if event["type"] == "step_start"]
    assert kinds.count("agent") == 5  # a sub-agent's among them
    assert [event["type"] for event in first.events].count("exchange") == 2
    assert (again.code, again.out) == (0, first.out), again.err
    assert again.events == first.events
    assert count(folder / "closed.txt") == 4  # of the program as it is, and recorded


def test_clients_at_once_keep_apart(folder: Path) -> None:
    """Each has its own turns, hooks, sub-agents and tools, in a log that they share; a tool's body is the
    tool's, with what it reads, and what it raises is an error."""
    plain, first, again = play(folder, "claude_many.py")
    assert plain.code == first.code == again.code == 0, (plain.err, first.err, again.err)
    assert first.out == plain.out == again.out
    assert "rerun exact" in again.err and again.events == first.events
    assert (count(folder / "claude.starts"), count(folder / "added.txt")) == (4, 4)
    roots = [e for e in first.events if e["type"] == "step_start" and e["data"]["intent"] == "turn"]
    assert [root.get("step") for root in roots] == [None] * 8
    told: dict[str, list[list[str]]] = {}
    for root in roots:
        name = root["data"]["input_summary"].rpartition(" ")[2]
        lines = outline(inside(first.events, root["seq"]))
        assert not any(other in line for line in lines for other in NAMES - {name})
        told.setdefault(name, []).append([line.replace(name, "NAME") for line in lines])
    assert told.keys() == NAMES
    assert told["left"] == told["right"] == told["fourth"]
    work, simple = told["left"]
    assert (len(work), len(simple)) == (41, 6)
    calls = [e["data"] for e in first.events if e["type"] == "tool_call"]
    own = [call for call in calls if call["tool"] == "mcp__calc__add"]
    failed = {"type": "ToolError", "message": "cannot add for faulty"}
    assert [call["error"] for call in own if "error" in call] == [failed]
    assert (len(calls), len(own)) == (20, 4)


NAMES = {"left", "right", "faulty", "fourth"}


def test_what_goes_otherwise(folder: Path) -> None:
    """The SDK's own exceptions and answers, recorded as what they are, the same again."""
    plain, first, again = play(folder, "claude_odds.py")
    assert plain.code == first.code == again.code == 0, (plain.err, first.err, again.err)
    assert first.out == plain.out == again.out
    assert "ProcessError" in plain.out and "CLIJSONDecodeError" in plain.out
    assert "rerun exact" in again.err and again.events == first.events
    assert "could not record" not in first.err
    assert (count(folder / "claude.starts"), count(folder / "added.txt")) == (10, 2)
    calls = [e["data"] for e in first.events if e["type"] == "tool_call"]
    gave = [call.get("output", call.get("error")) for call in calls if call["call_id"] in ("t5", "t6", "t7")]
    assert gave[:3] == ["never rm -r /", "ran ls", "the callback is broken"]
    # The two at once: by their ids, though the second is done first.
    assert {call["call_id"]: "error" in call for call in calls if call["call_id"] in ("t6", "t7")} == {
        "t6": False,
        "t7": True,
    }
    assert all(call["duration_ms"] > 0 for call in calls)
    ends = [e["data"]["outcome"] for e in first.events if e["type"] == "step_end"]
    assert ends.count("error") >= 2


def test_partial_messages_tell_each_calls_usage(folder: Path) -> None:
    plain, first, again = play(folder, "claude_agents.py", "partial")
    assert first.out == plain.out == again.out and again.events == first.events
    ends = [event["data"] for event in first.events if event["type"] == "step_end"]
    tokens = [end["tokens"] for end in ends if "finish_reason" in end]
    assert len(tokens) == 11
    assert {one["output"] for one in tokens[:-1]} == {7}


def test_what_the_program_says_otherwise_stops_the_rerun(folder: Path) -> None:
    """With the place at which it differs; the process is not started for it."""
    play(folder, "claude_task.py")
    other = folder / "other.py"
    other.write_text((PROGRAMS / "claude_task.py").read_text().replace("auth", "cat"))
    command = [*LCTL, "rerun", "first.lctl.json", "--", sys.executable, str(other)]
    done = run(command, folder, {"LCTL_DIR": str(folder / "runs")}, folder / "other.lctl.json", timeout=60)
    assert done.code != 0
    assert "Find auth files" in done.err and "Find cat files" in done.err
    assert count(folder / "claude.starts") == 1


def test_traced_task(folder: Path) -> None:
    """The task is that agent's step, with the turn in it."""
    plain, first, again = play(folder, "claude_task.py")
    assert plain.out == first.out == again.out == "done: Find auth files\n"
    assert again.events == first.events
    assert outline(first.events[1:])[:3] == snapshot(
        ["explore: task task", "  claude: agent turn", "    user"]
    )
    assert list((folder / "runs").glob("*claude_task*"))  # also without `lctl run` or auto_instrument()
