"""Which of several pool jobs is first, where their answers come at the same time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lctl.testing import ModelServer, Reply
from tests.rerun.harness import LCTL, PROGRAMS, Result, record, rerun, run

pytestmark = pytest.mark.slow


def recorded_by_auto(folder: Path, environ: dict[str, str]) -> Result:
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


@pytest.mark.parametrize(
    ("recorded", "now", "order"),
    [
        ({"BEGIN": "0,.2,.4"}, {"WORK": ".2,.1,0"}, [0, 1, 2]),
        ({"WORK": ".1,.1,.1", "TELL": ".3,.15,0"}, {"WORK": "0,.1,.2"}, [2, 1, 0]),
        ({"WORK": ".2,0,.1"}, {"WORK": "0,.2,.1"}, [1, 2, 0]),
    ],
    ids=["one-after-the-other", "told-late", "ended-late"],
)
def test_a_loop_hears_of_them_in_the_same_order(
    recorded: dict[str, str], now: dict[str, str], order: list[int], tmp_path: Path
) -> None:
    """Whatever threads do: one may not have begun when another had ended, or tell of its end after others
    that ended later. The environment is no part of a recording by `auto_instrument()`."""
    with ModelServer(seed=1) as server:
        program = str(PROGRAMS / "jobs_of_a_loop.py")
        first = run([sys.executable, program], tmp_path, {**server.environ, **recorded}, tmp_path)
    assert first.code == 0, first.err
    assert str(order) in first.out
    (log,) = (tmp_path / "logs").glob("*.lctl.json")
    first = first._replace(log=log)
    again = rerun(log, tmp_path, environ=now)
    assert again.code == 0, again.err
    assert (again.out, again.events) == (first.out, first.events)
