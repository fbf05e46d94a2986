"""What a program reads of clocks in a fork: durations that it begins on the tape and ends behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl import Chain
from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.unit.rerun.commands import ASKING, Run
from tests.unit.rerun.test_libraries_times import evaluating

PROGRAM = (
    ASKING
    + """
import time
clocks = time.monotonic, time.perf_counter, time.process_time
before = [clock() for clock in clocks]
ns = time.monotonic_ns()
for place in (1, 2):
    answer([{"role": "user", "content": f"Where is place {place}?"}])
after = [clock() for clock in clocks]
print([0 <= then - now < 1000 for now, then in zip(before, after)], time.monotonic_ns() >= ns)
"""
)

EVALUATION = (
    ASKING
    + """
def run():
    for place in (1, 2):
        answer([{"role": "user", "content": f"Where is place {place}?"}])

seconds, ns = timed(run)
print([0 <= seconds < 1000, 0 <= ns < 10**12])
"""
)

#: Of the machine that recorded: it had been up for so much longer, in nanoseconds.
LONGER = 10**15


def _on_another_machine(log: Path) -> None:
    """The recording, as it is where clocks without a date began long before."""
    made = Chain.load(log).to_dict()
    for event in made["events"]:
        data = event["data"]
        if data.get("source") == "clock":
            data["value"] += LONGER
        if data.get("source") == "log":
            data["steps"][0] += LONGER
    Chain.from_dict(made).save(log)


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["program", "library"])
def test_clocks_without_a_date_go_on_from_the_tape(
    reader: str, lctl: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They said how long the recording's machine had been up, and then how long this one is."""
    program = PROGRAM if reader == "program" else evaluating(tmp_path, EVALUATION)
    (tmp_path / "agent.py").write_text(program)
    with ModelServer() as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
        assert recorded.returncode == 0, recorded.stderr
        _on_another_machine(tmp_path / "run.lctl.json")
        at = next(e.seq for e in open_log(tmp_path / "run.lctl.json").events() if e.type == "step_end")
        forked = lctl(
            "fork", "run.lctl.json", "--at", str(at), "--set", "model=gpt-4.1-mini", "-o", "fork.lctl.json"
        )
    assert forked.returncode == 0, forked.stderr
    assert forked.stdout == recorded.stdout
    assert "False" not in forked.stdout
    again = lctl("rerun", "fork.lctl.json")
    assert "rerun exact" in again.stderr, again.stderr
