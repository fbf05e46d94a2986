"""Programs that open several sessions themselves: each has a log, and a rerun of one is of all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from tests.rerun.harness import LCTL, PROGRAMS, World, rerun, run

pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")

pytestmark = pytest.mark.slow

PROGRAM = str(PROGRAMS / "several_sessions.py")


def recorded(folder: Path, part: str, runs: bool) -> tuple[str, int, list[Path]]:
    """What it printed, how often it asked, and its logs."""
    command = [*LCTL, "run"] if runs else [sys.executable]
    with World() as world:
        first = run([*command, PROGRAM, part], folder, world.environ, folder)
        asked = world.count
    assert first.code == 0, first.err
    return first.out, asked, sorted((folder / "logs").glob("*.lctl.json"))


@pytest.mark.parametrize("runs", [False, True], ids=["python", "lctl run"])
@pytest.mark.parametrize(
    ("part", "sessions"), [("in_turn", 4), ("in_threads", 4), ("in_tasks", 4), ("in_a_pool", 6)]
)
def test_all_of_them_run_again(part: str, sessions: int, runs: bool, tmp_path: Path) -> None:
    out, asked, logs = recorded(tmp_path, part, runs)
    assert len(logs) == sessions
    # Of threads that begin at once, too, the first of which is still putting the hooks in place.
    assert sum(event.type == "exchange" for path in logs for event in open_log(path).events()) == asked
    within = [chain for path in logs if (chain := open_log(path).chain).get("parent")]
    assert len(within) == (part == "in_turn")
    if part == "in_a_pool" and not runs:
        return  # which worker takes which job is on no tape
    for log in (logs[0], logs[-1]):
        again = rerun(log, tmp_path)
        assert again.code == 0, again.err
        assert again.err.count("rerun exact") == sessions
        assert again.out == out


def test_a_session_that_is_not_opened_any_more(tmp_path: Path) -> None:
    _, _, logs = recorded(tmp_path, "in_turn", runs=False)
    other = tmp_path / "other.py"
    other.write_text(Path(PROGRAM).read_text().replace("range(2)", "range(1)"))
    again = rerun(logs[0], tmp_path, "--", sys.executable, str(other), "in_turn")
    assert again.code == 1
    assert "unused: event" in again.err or "not the recorded one" in again.err
    assert again.err.count("not exact") >= 1
