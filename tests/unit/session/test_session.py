"""The recording API, as the protocol's own examples use it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.errors import LogLocked, UsageError
from lctl.guard import guard
from lctl.session import LCTLSession, get_session
from lctl.testing import FixedClock
from tests.unit.session.conftest import Events, quiet_environment


def test_the_custom_orchestrator_of_the_protocol_runs_as_printed(folder: Path) -> None:
    """Part 7: facts inside the block, export after it."""

    class llm:
        @staticmethod
        def complete(prompt: str) -> str:
            return prompt.upper()

    with LCTLSession() as session:
        # All operations within context are traced
        result1 = llm.complete("Analyze requirements")
        session.add_fact("F1", "Requirements analyzed", confidence=0.9)

        result2 = llm.complete(f"Generate code for: {result1}")
        session.add_fact("F2", "Code generated", confidence=0.85)

    # Export trace
    session.export("workflow.lctl.json")

    assert result2
    exported = json.loads((folder / "workflow.lctl.json").read_text())
    assert [e["data"]["id"] for e in exported["events"]] == ["F1", "F2"]
    assert json.loads(session.path.read_text()) == exported
    assert re.fullmatch(r"\.lctl/\d{8}-\d{6}-[\w.-]+\.lctl\.json", str(session.path))


def test_every_verb_records_what_the_protocol_says(session: LCTLSession, events: Events) -> None:
    """Positional conveniences, keyword extras, None left out."""
    session.step_start("code-analyzer", "analyze", "UserController.py - 200 lines")
    session.add_fact("F1", "SQL query", 0.85, "static-analysis", tag="critical")
    session.modify_fact("F1", confidence=0.95, reason="verified")
    session.tool_call("grep", {"pattern": "x"}, {"matches": 3}, 50)
    session.tool_call("grep", {"pattern": "x"}, error="no such file", call_id="call_1")
    session.error("execution_error", "timeout", "too long", recoverable=True, suggested_action="retry")
    session.handoff("reviewer", reason="done", facts=["F1"])
    session.stream_start()
    session.stream_chunk("Based on", 5)
    session.stream_chunk(" my analysis", 4)
    session.stream_end()
    session.message("user", "hello")
    session.step_end("code-analyzer", "success", "Found 1", 30000, {"input": 500, "output": 200})
    data = [(e["type"], e["data"]) for e in events(session)]
    assert data == [
        ("step_start", {"intent": "analyze", "input_summary": "UserController.py - 200 lines"}),
        (
            "fact_added",
            {
                "id": "F1",
                "text": "SQL query",
                "confidence": 0.85,
                "source": "static-analysis",
                "tag": "critical",
            },
        ),
        ("fact_modified", {"id": "F1", "confidence": 0.95, "reason": "verified"}),
        (
            "tool_call",
            {"tool": "grep", "input": {"pattern": "x"}, "output": {"matches": 3}, "duration_ms": 50},
        ),
        (
            "tool_call",
            {"tool": "grep", "input": {"pattern": "x"}, "error": "no such file", "call_id": "call_1"},
        ),
        (
            "error",
            {
                "category": "execution_error",
                "type": "timeout",
                "message": "too long",
                "recoverable": True,
                "suggested_action": "retry",
            },
        ),
        ("handoff", {"from": "code-analyzer", "to": "reviewer", "reason": "done", "facts": ["F1"]}),
        ("stream_start", {"expected_chunks": "unknown"}),
        ("stream_chunk", {"index": 0, "content": "Based on", "tokens": 5, "stream": 8}),
        ("stream_chunk", {"index": 1, "content": " my analysis", "tokens": 4, "stream": 8}),
        ("stream_end", {"total_chunks": 2, "total_tokens": 9, "duration_ms": 2.0, "stream": 8}),
        ("message", {"message_id": "m12", "parent_id": None, "role": "user", "content": "hello"}),
        (
            "step_end",
            {
                "outcome": "success",
                "output_summary": "Found 1",
                "duration_ms": 30000,
                "tokens": {"input": 500, "output": 200},
            },
        ),
    ]


def test_a_reported_model_call_stores_each_message_once(session: LCTLSession, events: Events) -> None:
    """The second call's history is the first call's nodes."""
    history: list[dict[str, Any]] = [{"role": "user", "content": "hi"}]
    assert session.llm_trace(history, "hello", "gpt", {"prompt_tokens": 3, "completion_tokens": 1}, 12.5) == 2
    history += [{"role": "assistant", "content": "hello"}, {"role": "user", "content": "more"}]
    session.llm_trace(history, {"choices": [{"message": {"role": "assistant", "content": "ok"}}]}, "gpt")
    recorded = events(session)
    messages = [e["data"] for e in recorded if e["type"] == "message"]
    assert [(m["message_id"], m["parent_id"], m["content"]) for m in messages] == [
        ("m1", None, "hi"),
        ("m3", "m1", "hello"),
        ("m5", "m3", "more"),
        ("m7", "m5", "ok"),
    ]
    assert recorded[1]["data"] == {"kind": "llm", "intent": "llm", "model": "gpt", "prompt": "m1"}
    assert recorded[3]["data"] == {
        "outcome": "success",
        "message": "m3",
        "model": "gpt",
        "tokens": {"input": 3, "output": 1},
        "duration_ms": 12.5,
    }
    assert [e.get("step") for e in recorded[:4]] == [None, None, 2, 2]


def test_recording_after_close_reports_once(
    session: LCTLSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The calls return 0; the program is told once, and counts are kept."""
    monkeypatch.setattr(guard, "policy", "report")
    session.add_fact("F1", "x")
    session.close()
    session.close()
    for _ in range(3):
        assert session.add_fact("F2", "y") == 0
        assert session.step_start("a") == 0
        with session.step("b"):
            pass
        session.step_end()
    err = capsys.readouterr().err
    assert err.count("could not record") == 1 and "closed" in err
    assert session.lost == 12
    assert len(session.to_dict()["events"]) == 1


def test_export_is_a_complete_copy_at_any_time(session: LCTLSession, folder: Path) -> None:
    """While open, after closing, and onto itself; the session goes on."""
    session.add_fact("F1", "x")
    session.export(folder / "sub" / "copy.lctl.json")
    session.add_fact("F2", "y")
    session.export(session.path)
    session.close()
    first = json.loads((folder / "sub" / "copy.lctl.json").read_text())
    assert len(first["events"]) == 1 and first["hash"]["count"] == 1
    assert sorted(p.name for p in (folder / "sub").iterdir()) == ["copy.lctl.json"]
    session.export(session.path)
    session.export("again.lctl.json")
    assert (folder / "again.lctl.json").read_bytes() == session.path.read_bytes()
    assert json.loads(session.path.read_text())["hash"]["count"] == 2


def test_a_log_is_gone_on_with(folder: Path) -> None:
    """Without an id the log's own chain continues; another id is an error; two at once are refused."""
    path = folder / "run.lctl.json"
    with LCTLSession("c", path) as first:
        first.add_fact("F1", "x")
        with pytest.raises(LogLocked):
            LCTLSession(path=path)
    with LCTLSession(path=path) as second:
        assert second.chain_id == "c"
        assert second.add_fact("F2", "y") == 2
    with pytest.raises(UsageError):
        LCTLSession("d", path)


def test_without_a_path_each_session_has_its_own_file(folder: Path) -> None:
    """Two in the same second do not meet; LCTL_DIR moves them."""
    clock = FixedClock("2024-01-15T10:30:00Z", tick_ms=0)
    with LCTLSession("job", clock=clock) as first, LCTLSession("job", clock=clock) as second:
        assert first.path == Path(".lctl/20240115-103000-job.lctl.json")
        assert second.path == Path(".lctl/20240115-103000-job-2.lctl.json")


def test_lctl_dir_moves_recordings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment variable names the folder."""
    monkeypatch.setenv("LCTL_DIR", str(folder / "elsewhere"))
    with LCTLSession() as session:
        assert session.path.parent == folder / "elsewhere"


def test_sessions_nest(folder: Path) -> None:
    """Each records into its own log and its own step; get_session names the inner one."""
    with LCTLSession("a", "a.lctl.json") as a, a.step("x"):
        with LCTLSession("b", "b.lctl.json") as b:
            assert get_session() is b
            a.add_fact("F1", "into a")
            b.add_fact("F2", "into b")
            with b.step("y"):
                a.add_fact("F3", "into a")
        assert get_session() is a
    assert get_session() is None
    assert [(e["type"], e.get("step")) for e in a.to_dict()["events"]] == [
        ("step_start", None),
        ("fact_added", 1),
        ("fact_added", 1),
        ("step_end", 1),
    ]
    assert [e.get("step") for e in b.to_dict()["events"]] == [None, None, 2]


def test_a_failure_of_ours_never_reaches_the_caller(
    session: LCTLSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A build that raises, data of the wrong type, a str() that raises: 0 is returned, once it is said."""

    class Hostile:
        def __str__(self) -> str:
            raise RuntimeError("no")

    monkeypatch.setattr(guard, "policy", "report")
    assert session.emit_many(lambda first: [("t", "a", {"x": 1 / 0}, None)]) == 0
    assert session.emit_many(lambda first: "no drafts") == 0  # type: ignore[arg-type, return-value]
    assert session.emit("t", {}, agent=Hostile()) == 1  # type: ignore[arg-type]
    with session.step(Hostile(), intent=Hostile()):  # type: ignore[arg-type]
        assert session.add_fact("F1", "still recording") == 3
    assert capsys.readouterr().err.count("could not record") == 1
    assert session.lost >= 2


def test_a_checkpoint_carries_the_hash_of_the_events_before_it(session: LCTLSession, events: Events) -> None:
    """By agent "system"; given values stand."""
    session.add_fact("F1", "x")
    session.checkpoint(state_hash="abc", facts_snapshot={"F1": {"text": "x"}})
    import hashlib

    lines = list(session.lines())
    checkpoint = events(session)[1]
    assert checkpoint["agent"] == "system"
    assert checkpoint["data"]["events_hash"] == hashlib.sha256(lines[0] + b"\n").hexdigest()
    assert checkpoint["data"]["state_hash"] == "abc"


def test_checkpoints_and_the_tail_hold_the_state_of_the_log(session: LCTLSession, events: Events) -> None:
    """The hash is that of a fold of the events before it, however many checkpoints came between."""
    from lctl.events import Event
    from lctl.state.hashing import state_hash
    from lctl.state.reducer import fold, initial

    session.add_fact("F1", "x", 0.5)
    session.checkpoint()
    with session.step("a", "work"):
        session.modify_fact("F1", confidence=0.9)
        seq = session.checkpoint()
    recorded = events(session)
    state = fold([Event.from_dict(e) for e in recorded[: seq - 1]], start=initial("c"))
    assert recorded[seq - 1]["data"]["state_hash"] == state_hash(state)
    assert recorded[seq - 1]["data"]["facts_snapshot"] == {"F1": {"text": "x", "confidence": 0.9}}
    session.close()
    document = json.loads(session.path.read_text())
    assert document["state"]["facts"]["F1"]["confidence"] == 0.9
    assert document["summary"]["events"] == len(document["events"])


def test_old_names_of_token_counts(session: LCTLSession, events: Events) -> None:
    """`tokens_in`, `tokens_out`."""
    session.step_start("a")
    session.step_end(tokens_in=5, tokens_out=2, duration_ms=1)
    assert events(session)[1]["data"] == {
        "outcome": "success",
        "duration_ms": 1,
        "tokens": {"input": 5, "output": 2},
    }


def test_a_folder_for_logs_that_is_a_file(folder: Path) -> None:
    """Said as what it is; the program runs as without lctl."""
    (folder / "taken").touch()
    code = "import lctl; lctl.auto_instrument(); lctl.get_session(); print('done')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**quiet_environment(), "LCTL_DIR": str(folder / "taken")},
    )
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert "taken is a file, not a folder" in done.stderr and "doctor" not in done.stderr


def test_import_is_light() -> None:
    """`import lctl` loads nothing else, and opening a session none of the heavy modules."""
    code = """
import sys
import lctl
assert [m for m in sys.modules if m.startswith("lctl.")] == ["lctl._version", "lctl.elsewhere"], sys.modules
import orjson, pathlib, threading
before = set(sys.modules)
from lctl.session import LCTLSession
with LCTLSession("c", "run.lctl.json") as session, session.step("a"):
    session.add_fact("F1", "x")
    heavy = {"asyncio", "inspect", "msgspec", "wrapt", "dataclasses", "concurrent.futures", "logging", "json"}
    print(sorted(heavy & set(sys.modules) - before))
"""
    cold = {name: value for name, value in quiet_environment().items() if name != "WARM_PYTHON"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=cold)
    assert done.stdout == "[]\n"


def test_an_exception_given_as_a_message_is_its_text(tmp_path: Path) -> None:
    """`session.error(category, type, exception)` records what the exception says."""
    with LCTLSession("c", tmp_path / "a.lctl.json") as session:
        session.error("execution_error", "tool_failure", ValueError("no such file"))
    [event] = [e for e in session.to_dict()["events"] if e["type"] == "error"]
    assert event["data"]["message"] == "no such file"
