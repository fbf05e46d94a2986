"""What lies beside the log of `lctl run`: those of the processes it started, the answers that were cut."""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest

from lctl.codec import open_log
from tests.unit.cli.conftest import process
from tests.unit.cli.test_run_records import AGENT, agent, recorded

__all__ = ["agent"]  # a fixture


def test_a_program_that_is_killed_in_a_stream(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What had come of the answer is an event for listings, too, as for who reads the log."""
    asked = AGENT.replace('"messages"', '"stream": True, "messages"').replace(
        ".close()", "\n    for n in range(8): answer.readline()\n    os.kill(os.getpid(), 9)"
    )
    agent.write_text("import os" + asked.replace("    urlopen(", "    answer = urlopen("))
    assert process("run", "agent.py", "x", cwd=agent.parent).code != 0
    (path,) = recorded(agent.parent)
    log = open_log(path)
    assert [event.data.get("status") for event in log.events()][-1] == "streaming"
    listed = orjson.loads(process("ls", "--json", cwd=agent.parent).out)
    assert listed["events"] == len(log)


_SPAWNING = """
import multiprocessing, os, subprocess, sys
from lctl import get_session

def work(n):
    get_session().add_fact("F", "child", 0.5)

if __name__ == "__main__":
    if len(sys.argv) < 2:
        get_session().add_fact("F", "main", 0.5)
        for method in ("spawn", "fork"):
            child = multiprocessing.get_context(method).Process(target=work, args=(1,))
            child.start()
            child.join()
        for n in range(2):
            os.makedirs("elsewhere", exist_ok=True)
            subprocess.run([sys.executable, "../spawning.py", "child"], cwd="elsewhere", check=True)
    else:
        work(1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("named", [None, "runs", "absolute"])
def test_processes_keep_theirs_beside_the_output_file(place: Path, named: str | None) -> None:
    """However they are started, in whatever folder, and wherever logs without a path go."""
    (place / "spawning.py").write_text(_SPAWNING)
    folder = str(place / "absolute") if named == "absolute" else named
    got = process("run", "-o", "out/run.lctl.json", "spawning.py", cwd=place, LCTL_DIR=folder)
    assert got.code == 0, got.err
    logs = [path for path in place.rglob("*.lctl.json") if not path.name.startswith(".")]
    assert {path.parent for path in logs} == {place / "out"} and len(logs) == 5
    for target, facts in (("out/run.lctl.json", 1), ("out/run.lctl.json+", 5)):
        told = process("replay", "--no-interactive", target, cwd=place).out
        assert told.count("fact_added") == facts
