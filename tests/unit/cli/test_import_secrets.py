"""`lctl import`: no secret of the file comes into the log, unless it is asked for."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log, validate, verify
from lctl.importing.receiving import Receiver
from tests.unit.cli.conftest import Cli

KEY = "sk-proj-" + "aB3dE6gH9jK2" * 4
OWN = "correct-horse-battery-staple"


def call(said: str) -> dict[str, Any]:
    answer = {"role": "assistant", "content": f"It is {OWN}."}
    return {
        "request": {"model": "gpt-4.1", "messages": [{"role": "user", "content": said}]},
        "response": {"object": "chat.completion", "model": "gpt-4.1", "choices": [{"message": answer}]},
        "headers": {"Authorization": f"Bearer {KEY}"},
    }


def test_secrets_are_no_part_of_the_log(place: Path, lctl: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of known forms and names, and of this environment; counted, and the same each time."""
    monkeypatch.setenv("DEPLOY_TOKEN", OWN)
    (place / "calls.jsonl").write_text(json.dumps(call(f"what is {KEY}?")) + "\n" + json.dumps(call("2+2?")))
    found = lctl("import", "calls.jsonl", "-o", "one.lctl.json", "--json")
    (lost,) = json.loads(found.out)["lost"]
    assert lost["what"] == "secret: a placeholder stands for it"
    log = open_log(place / "one.lctl.json")
    secret = [event.seq for event in log.events() if "[redacted:" in json.dumps(event.data)]
    assert lost["count"] == len(secret) == 5 and lost["where"] == [f"event {seq}" for seq in secret]
    text = (place / "one.lctl.json").read_text()
    assert KEY not in text and OWN not in text and "what is [redacted:openai:" in text
    assert validate(log) == [] and verify(log).ok
    lctl("import", "calls.jsonl", "-o", "two.lctl.json")
    assert (place / "two.lctl.json").read_text() == text
    kept = lctl("import", "calls.jsonl", "--no-redact", "-o", "kept.lctl.json")
    assert kept.code == 0 and "secret" not in kept.out
    told = (place / "kept.lctl.json").read_text()
    assert KEY in told and OWN in told and "[redacted:" not in told


def test_what_stands_in_the_header_neither(place: Path, lctl: Cli) -> None:
    """A trace's own name and tags are there."""
    observation = {
        "id": "o",
        "traceId": "t",
        "type": "AGENT",
        "name": "a",
        "startTime": "2026-01-01T00:00:00Z",
    }
    trace = {"id": "t", "name": "x", "tags": [f"key {KEY}"], "observations": [observation]}
    (place / "trace.json").write_text(json.dumps(trace))
    assert lctl("import", "trace.json", "-o", "log.lctl.json").code == 0
    assert KEY not in (place / "log.lctl.json").read_text()
    assert "[redacted:openai:" in json.dumps(open_log(place / "log.lctl.json").chain["imported"])


@pytest.mark.skipif(sys.platform == "win32", reason="files have owners and modes elsewhere")
def test_what_is_received_is_its_owners_until_then(tmp_path: Path) -> None:
    """The spool has it as it came."""
    with Receiver("127.0.0.1:0", tmp_path / "spool.jsonl"):
        assert stat.S_IMODE((tmp_path / "spool.jsonl").stat().st_mode) == 0o600
