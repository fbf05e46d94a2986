"""`--json`: one document, or a line an item, from every command that reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.golden import logs
from tests.unit.cli.conftest import Cli


@pytest.fixture
def made(place: Path) -> Path:
    (place / ".lctl").mkdir()
    logs.written(place / ".lctl" / "20260101-100000-review.lctl.json", logs.security_review(), "review-1")
    logs.written(place / ".lctl" / "20260101-110000-chat.lctl.json", logs.assistant(), "chat-1")
    return place


def one(lctl: Cli, *words: str) -> Any:
    got = lctl(*words, "--json")
    assert got.err == ""
    return orjson.loads(got.out)


def many(lctl: Cli, *words: str) -> list[Any]:
    got = lctl(*words, "--json")
    assert got.err == ""
    return [orjson.loads(line) for line in got.out.splitlines()]


def test_events(made: Path, lctl: Cli) -> None:
    """Events are given as they stand in the log."""
    assert many(lctl, "replay", "review") == logs.security_review()
    assert many(lctl, "tail", "-n", "2", "chat") == logs.assistant()[-2:]
    assert many(lctl, "replay", "--types", "error", "chat") == [logs.assistant()[5]]


def test_state(made: Path, lctl: Cli) -> None:
    """The state at a seq, and one event with its model call."""
    at = one(lctl, "replay", "--to-seq", "10", "review")
    assert (at["seq"], at["agent"], sorted(at["state"]["facts"])) == (10, "code-analyzer", ["F1", "F2"])
    assert at["state"] == one(lctl, "show", "review", "10")["state"]
    assert at["state"]["chain_id"] == "review-1"
    shown = one(lctl, "show", "chat", "12")
    assert shown["event"] == logs.assistant()[11]
    assert [m["data"]["role"] for m in shown["call"]["prompt"]] == ["system", "user", "assistant", "tool"]
    assert shown["call"]["answers"] == [logs.assistant()[12]]
    assert shown["call"]["end"] == logs.assistant()[13]
    assert "state" not in one(lctl, "show", "chat", "12", "--event")


def test_runs(made: Path, lctl: Cli) -> None:
    """A line a run, newest first, with its summary."""
    newest, oldest = many(lctl, "ls")
    assert (newest["id"], newest["events"], newest["open"]) == ("chat-1", 16, False)
    assert (oldest["id"], oldest["started"]) == ("review-1", "2026-01-01T10:00:00Z")
    assert oldest["summary"]
    assert 0.0468 < oldest["cost"] < 0.0472


def test_numbers(made: Path, lctl: Cli) -> None:
    """Statistics, bottleneck and difference as values."""
    stats = one(lctl, "stats", "review")
    assert stats["tokens"]["input"] + stats["tokens"]["output"] == 2340
    assert [row["name"] for row in stats["agents"][:2]] == ["code-analyzer", "system"] or len(
        stats["agents"]
    ) == 3
    assert one(lctl, "bottleneck", "review")["slowest"][0]["seq"] == 6
    got = lctl("diff", "review", "chat", "--json")
    assert got.code == 1
    assert orjson.loads(got.out)["same"] is False
    assert one(lctl, "diff", "review", "review") | {"left": 0, "right": 0} == {
        "same": True, "equal": 25, "differences": [], "left": 0, "right": 0,
    }  # fmt: skip


def test_checks(made: Path, lctl: Cli) -> None:
    """Verification, validation and the doctor's report."""
    verified = one(lctl, "verify", "review")
    assert (verified["ok"], verified["sealed"], verified["problems"]) == (True, True, [])
    assert verified["hash"] == verified["expected"]
    assert one(lctl, "validate", "chat") == {
        "ok": True, "events": 16, "problems": [], "doubts": [], "unknown_types": {"vendor_note": 1},
    }  # fmt: skip
    report = one(lctl, "doctor", "--no-import", "chat")
    assert {one["name"] for one in report["libraries"]} >= {"openai", "anthropic", "httpx"}
    assert report["run"]["events"] == 16


def test_standard_input(made: Path, lctl: Cli) -> None:
    """`-` reads the log from standard input, in every command that takes a TARGET."""
    raw = next((made / ".lctl").glob("*review*")).read_bytes()
    for command in (
        "replay",
        "show",
        "tail",
        "stats",
        "bottleneck",
        "verify",
        "validate",
        "convert",
        "export",
    ):
        got = lctl(command, "-", stdin=raw)
        assert (got.code, got.err) == (0, ""), (command, got)
        assert got.out
    assert lctl("diff", "-", "review", stdin=raw).code == 0
    assert lctl("diff", "-", "-", stdin=raw).code == 2
    assert lctl("tail", "-f", "-", stdin=raw).code == 2
    got = lctl("show", "-", "2", stdin=raw)
    assert "SQL query constructed" in got.out


def test_tampering_is_found(made: Path, lctl: Cli) -> None:
    """A changed event: exit code 1, and from where on."""
    path = next((made / ".lctl").glob("*review*"))
    path.write_bytes(path.read_bytes().replace(b'"confidence":0.9', b'"confidence":0.1'))
    got = lctl("verify", "review")
    assert got.code == 1
    assert "not as recorded" in got.out
    assert orjson.loads(lctl("verify", "review", "--json").out)["ok"] is False


def test_unsealed_logs(made: Path, lctl: Cli) -> None:
    """A log without a hash is in order, unless --sealed asks for one."""
    logs.written(made / "open.lctl.json", logs.unknown_only(), closed=False)
    assert lctl("verify", "open.lctl.json").code == 0
    assert lctl("verify", "open.lctl.json", "--sealed").code == 1
