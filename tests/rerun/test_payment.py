"""A planner, three workers, a reviewer, one payment: one worker's tool result is edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.codec import open_log, verify
from tests.rerun.harness import LCTL, World, record, rerun, run

pytestmark = pytest.mark.slow


def test_only_the_edited_worker_and_what_follows_goes_live(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    environ = {"LEDGER": str(ledger)}
    with World() as world:
        first = record("payment.py", tmp_path, {**world.environ, **environ})
        assert world.count == 8
    assert first.code == 0, first.err
    paid = ledger.read_bytes()
    asked = next(
        event["seq"]
        for event in first.events
        if event["type"] == "tool_call" and event["data"]["input"].get("supplier") == "south"
    )
    fork = tmp_path / "fork.lctl.json"
    edit = 'tool:quote={"supplier":"south","price":1}'
    command = [*LCTL, "fork", str(first.log), "--at", str(asked), "--result", edit, "--output", str(fork)]
    with World() as world:
        made = run(command, tmp_path, {**world.environ, **environ}, fork)
        assert made.code == 0, made.err
        assert world.count == 2
    live = [e["agent"] for e in made.events if e["type"] == "exchange" and e["data"].get("match") == "live"]
    assert live == ["worker-south", "reviewer"]
    assert "'south', 'price': 1}" in made.out
    assert ledger.read_bytes() == paid  # nobody was there to be asked whether to pay
    parent, log = open_log(first.log), open_log(fork)
    assert verify(parent).ok
    assert verify(log).ok
    shared = log.chain["parent"]["seq"]
    assert log.chain["parent"]["id"] == parent.id
    assert asked - 3 <= shared < asked  # before what the tool's body recorded
    assert list(log.lines(1, shared + 1)) == list(parent.lines(1, shared + 1))
    again = rerun(fork, tmp_path, environ=environ)
    assert again.out == made.out, again.err
    assert ledger.read_bytes() == paid
