"""Programs that read a terminal key by key, or draw a whole screen: run again without one, and by nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.rerun.harness import LCTL, PROGRAMS, Result, World, record, rerun, run

pytest.importorskip("pty", reason="Windows has no terminals of this kind")
pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")
from tests.rerun.terminals import typed

pytestmark = pytest.mark.slow


def played(folder: Path, program: str, *keys: tuple[str, str]) -> tuple[Result, str]:
    """A recording of `program` (with its arguments), on a terminal; what it showed."""
    log = folder / "keys.lctl.json"
    name, *arguments = program.split()
    command = [*LCTL, "run", "-o", str(log), str(PROGRAMS / name), *arguments]
    with World() as world:
        return typed(command, folder, world.environ, log, *keys, pause=0.4)


def check(first: Result, folder: Path, shown: str, times: int = 3) -> Result:
    for _ in range(times):
        again = rerun(first.log, folder, timeout=60)
        assert again.code == 0, again.err
        assert "log equal, output equal" in again.err
        assert again.out.split()[-1] in shown
    elsewhere = folder / "elsewhere.lctl.json"
    command = [*LCTL, "rerun", str(first.log), "-o", str(elsewhere)]
    again, seen = typed(command, folder, {}, elsewhere, size=(120, 50))
    assert again.code == 0, seen
    return again


def is_key(event: dict[str, Any]) -> bool:
    return bool(event["data"].get("source") == "keys")


def test_keys_passwords_and_lines(tmp_path: Path) -> None:
    """Of a password nothing is kept; readline's file is the program's to write, once."""
    pytest.importorskip("click", reason="needs: pip install lctl")
    pytest.importorskip("readline", reason="needs: Python's readline")
    first, shown = played(
        tmp_path, "keys_read.py",
        ("char:", "\x1b[A"), ("cbreak:", "k"), ("secret:", "tea with milk\r"), ("hidden:", "sugar too\r"),
        ("pause:", " "), ("line:", "hello\r"), ("line:", "\x03"), ("line:", "hello\r"), ("line:", "\x04"),
        ("END", "q"), ("END", "q"),
    )  # fmt: skip
    assert first.code == 0, shown
    history = tmp_path / "history.txt"
    before = history.read_text()
    assert "hello" in before
    history.unlink()
    check(first, tmp_path, shown)
    assert not history.exists()
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*.json"))
    assert b"tea with milk" not in kept
    assert b"sugar too" not in kept


def test_looking_for_keys_beside_a_worker(tmp_path: Path) -> None:
    pytest.importorskip("click", reason="needs: pip install lctl")
    first, shown = played(tmp_path, "keys_read.py looks", ("after", "x"), ("got x", "q"))
    assert first.code == 0, shown
    check(first, tmp_path, shown)


def test_lines_that_a_thread_beside_the_loop_asks_for(tmp_path: Path) -> None:
    pytest.importorskip("click", reason="needs: pip install lctl")
    first, shown = played(tmp_path, "keys_read.py chat", ("chat:", "hello\r"), ("chat:", "and you?\r"))
    assert first.code == 0, shown
    check(first, tmp_path, shown)


def test_a_loop_that_waits_for_keys(tmp_path: Path) -> None:
    """They are not on the tape: nobody is waited for."""
    pytest.importorskip("click", reason="needs: pip install lctl")
    first, shown = played(tmp_path, "keys_read.py loop", ("loop:", "x"))
    assert first.code == 0, shown
    again = rerun(first.log, tmp_path, timeout=60)
    assert again.code == 1
    assert "waits for keys in an event loop" in again.err
    elsewhere = tmp_path / "elsewhere.lctl.json"
    command = [*LCTL, "rerun", str(first.log), "-o", str(elsewhere)]
    other, seen = typed(command, tmp_path, {}, elsewhere)
    assert other.code == 1, seen


def test_a_menu_of_curses(tmp_path: Path) -> None:
    pytest.importorskip("curses", reason="needs: Python's curses")
    first, shown = played(
        tmp_path, "menu_curses.py",
        ("aaaa", "\x1bOB"), ("bbbb", "w"), ("cccc", "q"),
    )  # fmt: skip
    assert first.code == 0, shown
    again = check(first, tmp_path, shown)
    assert again.events == first.events


def test_a_fork_of_a_menu(tmp_path: Path) -> None:
    """On a terminal it is drawn, and who sits there goes on; where nobody does it stops."""
    pytest.importorskip("curses", reason="needs: Python's curses")
    first, shown = played(tmp_path, "menu_curses.py", ("aaaa", "\x1bOB"), ("bbbb", "q"))
    assert first.code == 0, shown
    [asked, _] = [event["seq"] for event in first.events if event["type"] == "step_end"]
    log, piped = tmp_path / "fork.lctl.json", tmp_path / "piped.lctl.json"
    command = [*LCTL, "fork", str(first.log), "--at", str(asked), "-o"]
    with World() as world:
        other, seen = typed(
            [*command, str(log)], tmp_path, world.environ, log, ("bbbb", "\x1bOB"), ("cccc", "q"), pause=0.4
        )
        command = [*LCTL, "fork", str(first.log), "--at", "0", "-o", str(piped)]
        alone = run(command, tmp_path, world.environ, piped, timeout=60)
    assert other.code == 0, seen
    assert len([event for event in other.events if event["type"] == "exchange"]) == 3
    assert alone.code == 1, alone.err
    assert "nobody sits there" in alone.err


def test_a_chat_on_textual(tmp_path: Path) -> None:
    pytest.importorskip("textual", reason="needs: pip install 'lctl[test]'")
    first, shown = played(
        tmp_path, "chat_textual.py",
        ("aaaa", "milk\r"), ("bbbb", "hello\r"), ("cccc", "thread\r"), ("dddd", "\x11"),
    )  # fmt: skip
    assert first.code == 0, shown
    check(first, tmp_path, shown)
    characters = [e["data"]["value"]["given"].get("character") for e in first.events if is_key(e)]
    assert "".join(filter(str.isprintable, filter(None, characters))) == "xxxxhellothread"


def test_keys_that_the_program_presses_itself(tmp_path: Path) -> None:
    """Nobody types them: they are pressed again."""
    pytest.importorskip("textual", reason="needs: pip install 'lctl[test]'")
    with World() as world:
        first = record("pilot_textual.py", tmp_path, world.environ)
    assert first.code == 0, first.err
    assert not any(is_key(event) for event in first.events)
    again = rerun(first.log, tmp_path)
    assert again.code == 0, again.err
    assert "log equal, output equal" in again.err and again.out == first.out


def test_a_full_screen_of_prompt_toolkit(tmp_path: Path) -> None:
    pytest.importorskip("prompt_toolkit", reason="needs: pip install prompt_toolkit")
    first, shown = played(
        tmp_path, "screen_prompt_toolkit.py",
        ("aaaa", "hello\r"), ("bbbb", "\x14"), ("cccc", "\x1b"), ("dddd", "\x11"),
    )  # fmt: skip
    assert first.code == 0, shown
    check(first, tmp_path, shown)


def test_one_that_is_no_full_screen(tmp_path: Path) -> None:
    """Its result would be served without what it asked: the rerun says so."""
    pytest.importorskip("prompt_toolkit", reason="needs: pip install prompt_toolkit")
    first, shown = played(
        tmp_path, "screen_prompt_toolkit.py below",
        ("aaaa", "\x14"), ("bbbb", "\x11"),
    )  # fmt: skip
    assert first.code == 0, shown
    again = rerun(first.log, tmp_path)
    assert again.code == 1
    assert "models or tools were asked while it was drawn" in again.err


def test_a_fork_of_a_chat_is_typed_on(tmp_path: Path) -> None:
    """Up to its point the tape types; behind it who sits there does."""
    pytest.importorskip("textual", reason="needs: pip install 'lctl[test]'")
    first, shown = played(
        tmp_path, "chat_textual.py", ("aaaa", "milk\r"), ("bbbb", "hello\r"), ("cccc", "\x11")
    )
    assert first.code == 0, shown
    [asked] = [event["seq"] for event in first.events if event["type"] == "exchange"]
    log = tmp_path / "fork.lctl.json"
    with World() as world:
        other, seen = typed(
            [*LCTL, "fork", str(first.log), "--at", str(asked + 2), "-o", str(log)],
            tmp_path, world.environ, log,
            ("cccc", "something else\r"), ("dddd", "\x11"), pause=0.4,
        )  # fmt: skip
    assert other.code == 0, seen
    said = [event["data"]["content"] for event in other.events if event["data"].get("role") == "user"]
    assert said == ["hello", "something else"]
    check(other, tmp_path, seen, times=1)
