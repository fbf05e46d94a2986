"""Prompts that prompt_toolkit draws on a terminal: what was typed comes from the tape, without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.rerun.harness import LCTL, PROGRAMS, Result, World, rerun, run

pytest.importorskip("prompt_toolkit", reason="needs: pip install 'lctl[test]'")
pytest.importorskip("pty", reason="Windows has no terminals of this kind")
from tests.rerun.terminals import typed

pytestmark = pytest.mark.slow

PROGRAM = str(PROGRAMS / "prompts_drawn.py")


def prompts(result: Result) -> list[Any]:
    return [event["data"].get("value") for event in result.events if event["data"].get("source") == "prompt"]


def check(first: Result, folder: Path, shown: str) -> None:
    for _ in range(3):
        again = rerun(first.log, folder)
        assert again.code == 0, again.err
        assert "exact" in again.err
        assert again.events == first.events
        assert again.out.split()[-1] in shown


def test_what_was_typed_is_typed_again(tmp_path: Path) -> None:
    """And Ctrl-C and Ctrl-D; what draws and completes leaves no trace."""
    log = tmp_path / "prompts.lctl.json"
    command = [*LCTL, "run", "-o", str(log), PROGRAM]
    with World() as world:
        first, shown = typed(
            command, tmp_path, world.environ, log,
            ("ask1:", "hello\r"), ("ask2:", "\x03"), ("ask3:", "bye\r"), ("ask4:", "\x04"),
        )  # fmt: skip
    assert first.code == 0, shown
    hello, interrupted, bye, ended = prompts(first)
    assert (hello, bye) == ("hello", "bye")
    assert "KeyboardInterrupt" in str(interrupted)
    assert "EOFError" in str(ended)
    check(first, tmp_path, shown)


def test_tasks_print_beside_it(tmp_path: Path) -> None:
    log = tmp_path / "prompts.lctl.json"
    command = [*LCTL, "run", "-o", str(log), PROGRAM, "beside"]
    with World() as world:
        first, shown = typed(
            command, tmp_path, world.environ, log,
            ("tick 2", "hello\r"), ("you said", ""), ("nobody", ""), ("last:", "end\r"),
        )  # fmt: skip
    assert first.code == 0, shown
    assert prompts(first) == ["hello", None, "end"]
    check(first, tmp_path, shown)


def test_a_fork_is_asked_if_somebody_sits_there(tmp_path: Path) -> None:
    log, fork = tmp_path / "prompts.lctl.json", tmp_path / "fork.lctl.json"
    with World() as world:
        first, _ = typed(
            [*LCTL, "run", "-o", str(log), PROGRAM], tmp_path, world.environ, log,
            ("ask1:", "hello\r"), ("ask2:", "bye\r"), ("ask3:", "\x04"),
        )  # fmt: skip
        at = [event["seq"] for event in first.events if event["data"].get("source") == "prompt"][1] - 1
        command = [*LCTL, "fork", str(log), "--at", str(at), "-o", str(fork)]
        other, seen = typed(
            command, tmp_path, world.environ, fork, ("ask2:", "something else\r"), ("ask3:", "\x04")
        )
        also = tmp_path / "also.lctl.json"
        piped = run(
            [*LCTL, "fork", str(log), "--at", str(at), "-o", str(also)], tmp_path, world.environ, also
        )
    assert other.code == piped.code == 0, (seen, piped.err)
    assert prompts(other)[:2] == ["hello", "something else"]
    assert prompts(piped)[:2] == ["hello", "bye"]


def test_a_password_reaches_no_file(tmp_path: Path) -> None:
    """A rerun needs none; a fork asks for it."""
    log, fork = tmp_path / "prompts.lctl.json", tmp_path / "fork.lctl.json"
    secret = "tea with milk"  # it looks like none
    with World() as world:
        first, shown = typed(
            [*LCTL, "run", "-o", str(log), PROGRAM, "secret"], tmp_path, world.environ, log,
            ("key:", f"{secret}\r"), ("said:", "hello\r"),
        )  # fmt: skip
        assert first.code == 0, shown
        hidden, said = prompts(first)
        assert said == "hello"
        assert str(hidden).startswith("[redacted:")
        check(first, tmp_path, shown)
        at = [event["seq"] for event in first.events if event["data"].get("source") == "prompt"][1]
        other, seen = typed(
            [*LCTL, "fork", str(log), "--at", str(at), "-o", str(fork)], tmp_path, world.environ, fork,
            ("key:", f"{secret}\r"),
        )  # fmt: skip
    assert other.code == 0, seen
    assert not [
        path for path in tmp_path.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()
    ]
