"""What was recorded on a terminal is the same again in a pipe, or on another one; and the other way round."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rerun.harness import LCTL, PROGRAMS, Result, World, record, rerun

pytest.importorskip("pty", reason="Windows has no terminals of this kind")
pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")
from tests.rerun.terminals import typed

pytestmark = pytest.mark.slow


def output(result: Result) -> dict[str, object]:
    [found] = [e["data"] for e in result.events if e["type"] == "output" and e["data"]["stream"] == "stdout"]
    return dict(found)


def test_a_program_that_draws_while_it_waits(tmp_path: Path) -> None:
    """However often it drew, what it left is what counts; its width is the recorded one."""
    log, again = tmp_path / "spins.lctl.json", tmp_path / "elsewhere.lctl.json"
    with World() as world:
        command = [*LCTL, "run", "-o", str(log), str(PROGRAMS / "spins.py"), "asks"]
        first, shown = typed(command, tmp_path, world.environ, log, ("Name?", "Ada\r"), size=(70, 30))
    assert first.code == 0, shown
    assert shown.count("Thinking...") > 5
    said = output(first)
    assert said["on"] == "terminal"
    text = str(said["text"])
    assert text.startswith("[True, True, True] True True\n")
    assert "columns=70, lines=30" in text
    assert "Thinking" not in text
    assert text.count("Milk") == 1
    assert "Name? \nsaid Ada\n" in text
    assert "28%" not in text
    assert "\x1b" not in text
    assert text.endswith("done\n")
    for environ in ({}, {"COLUMNS": "44", "NO_COLOR": "1"}):
        piped = rerun(first.log, tmp_path, environ=environ)
        assert piped.code == 0, piped.err
        assert "output equal" in piped.err
        assert output(piped) == said
    command = [*LCTL, "rerun", str(log), "-o", str(again)]
    elsewhere, seen = typed(command, tmp_path, {}, again, size=(120, 50))
    assert elsewhere.code == 0, seen
    assert "output equal" in seen


def test_one_that_was_recorded_in_a_pipe(tmp_path: Path) -> None:
    again = tmp_path / "again.lctl.json"
    with World() as world:
        first = record("spins.py", tmp_path, world.environ)
    assert first.code == 0, first.err
    assert first.out.startswith("[False, False, False] False False\n")
    assert "on" not in output(first)
    command = [*LCTL, "rerun", str(first.log), "-o", str(again)]
    elsewhere, seen = typed(command, tmp_path, {}, again, size=(120, 50))
    assert elsewhere.code == 0, seen
    assert "output equal" in seen
    assert "Thinking" not in seen
