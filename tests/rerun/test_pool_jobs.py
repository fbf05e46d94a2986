"""Which of several pool jobs is first, where their answers come at the same time."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.testing import ModelServer, Reply
from tests.rerun.harness import LCTL, PROGRAMS, Result, record, rerun, run

pytestmark = pytest.mark.slow


def recorded_by_auto(folder: Path, environ: dict[str, str]) -> Result:
    import sys

    program = folder / "auto.py"
    text = (PROGRAMS / "pool_jobs.py").read_text()
    program.write_text(text.replace('"""\n\n', '"""\n\nimport lctl; lctl.auto_instrument()\n', 1))
    made = run([sys.executable, str(program)], folder, environ, folder / "auto.lctl.json")
    return made._replace(log=next((folder / "logs").glob("*.lctl.json")))


@pytest.mark.parametrize("one_line", [False, True])
def test_the_same_are_first_again(tmp_path: Path, one_line: bool) -> None:
    with ModelServer(latency=(0.0100, 0.0102)) as server:
        server.reply(lambda request: Reply(text=f"Done: {request.last_text}"), times=None)
        if one_line:
            first = recorded_by_auto(tmp_path, server.environ)
        else:
            first = record("pool_jobs.py", tmp_path, server.environ)
        assert server.count == 41
    assert first.code == 0, first.err
    told = [event["data"] for event in first.events if event["data"].get("source") == "jobs"]
    assert [sorted(one["value"]) for one in told] == [["ended", "seen"]]
    assert "1 (of 5) futures unfinished" in first.out
    again = rerun(first.log, tmp_path, environ=server.environ if one_line else None)
    assert again.code == 0, again.err
    assert again.out == first.out
    assert again.events == first.events


def test_a_fork_says_what_was_seen_of_them(tmp_path: Path) -> None:
    """Also where the recording had said it, as before the point it was forked at: it is all in one log."""
    with ModelServer(latency=(0.0100, 0.0102)) as server:
        server.reply(lambda request: Reply(text=f"Done: {request.last_text}"), times=None)
        first = record("pool_jobs.py", tmp_path, server.environ)
        assert first.code == 0, first.err
        at = [event["seq"] for event in first.events if event["type"] == "exchange"][20]
        log = tmp_path / "fork.lctl.json"
        fork = [*LCTL, "fork", str(first.log), "--at", str(at), "--output", str(log)]
        forked = run(fork, tmp_path, server.environ, log)
        assert forked.code == 0, forked.err
    recorded, kept = (
        [len(event["data"]["value"]["seen"]) for event in one.events if event["data"].get("source") == "jobs"]
        for one in (first, forked)
    )
    assert kept == recorded
    again = rerun(forked.log, tmp_path)
    assert again.code == 0, again.err
    assert again.out == forked.out
