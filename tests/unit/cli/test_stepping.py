"""The interactive replay, on a real (pseudo) terminal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.golden import logs

if os.name == "nt":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.unit.cli.terminal import Terminal


@pytest.fixture
def log(place: Path) -> Path:
    return logs.written(place / "run.lctl.json", logs.assistant(), "assistant-1", closed=False)


@pytest.mark.parametrize("columns", [80, 120])
def test_stepping(log: Path, columns: int) -> None:
    """Forward, back, jump, search, next error, one event in full, and out."""
    with Terminal(["replay", "run.lctl.json"], log.parent, columns) as terminal:
        assert "State after 1" in terminal.wait_for("q quit")
        terminal.press("\x1b[C")
        terminal.wait_for("State after 2")
        terminal.press("\x1b[D")
        terminal.wait_for("State after 1")
        terminal.press("12\r")
        terminal.wait_for("State after 12")
        terminal.press("/fact_added\r")
        assert "0.00" in terminal.wait_for("State after 15")
        terminal.press("e")
        terminal.wait_for("past the end, from the start")
        terminal.press("g4\r\r")
        shown = terminal.wait_for("Esc back")
        assert "Be brief." in shown
        assert "Weather in Oslo?" in shown
        assert "weather" in shown
        terminal.press("r")
        terminal.wait_for('"seq": 4')
        terminal.press("\x1b")
        terminal.wait_for("State after 4")
        terminal.press("q")
        assert terminal.wait() == 0
        assert terminal.is_restored()


def test_interrupt_puts_the_terminal_back(log: Path) -> None:
    """Ctrl-C leaves as q does."""
    with Terminal(["replay", "run.lctl.json"], log.parent) as terminal:
        terminal.wait_for("q quit")
        terminal.press("\x03")
        assert terminal.wait() == 0
        assert terminal.is_restored()


def test_resizing(log: Path) -> None:
    """The screen is drawn anew in the new size, very small ones too."""
    with Terminal(["replay", "run.lctl.json"], log.parent, 120, 30) as terminal:
        terminal.wait_for("q quit")
        for columns, lines in ((60, 12), (20, 5), (8, 2), (200, 60)):
            terminal.press("")
            terminal.resize(columns, lines)
            terminal.wait_for("\r\n" if lines > 2 else "")
        terminal.press("G")
        terminal.wait_for("State after 16")
        terminal.press("q")
        assert terminal.wait() == 0


def test_content_cannot_drive_the_terminal(place: Path) -> None:
    """No escape sequence of the log reaches the terminal from the interactive replay."""
    evil = "\x1b]0;owned\x07\x1b[2J"
    script = logs.Script()
    script.add(0, evil, "step_start", intent=evil)
    script.add(1, evil, "fact_added", 1, id=evil, text=evil, confidence=1.0)
    logs.written(place / "evil.lctl.json", script.events, evil, closed=False)
    with Terminal(["replay", "evil.lctl.json"], place, 120) as terminal:
        terminal.wait_for("q quit")
        for keys in ("G", "\r", "r", "\x1b"):
            terminal.press(keys)
            terminal.wait_for("\r\n")
        terminal.press("q")
        assert terminal.wait() == 0
        assert "]0;owned\x07" not in terminal.raw
        assert "\x1b[2J\x1b" not in terminal.raw.replace("\x1b[?1049h", "")
        assert "\\x1b]0;owned" in terminal.raw


def test_piped_input_prints(log: Path) -> None:
    """With --no-interactive the text is printed on a terminal too, with colour."""
    with Terminal(["replay", "--no-interactive", "run.lctl.json"], log.parent) as terminal:
        assert terminal.wait() == 0
        assert "Replay complete." in terminal.raw
        assert "\x1b[36massistant\x1b[0m" in terminal.raw


def test_no_color_on_a_terminal(log: Path) -> None:
    """NO_COLOR and --no-color leave no escape sequence."""
    plain: list[tuple[list[str], dict[str, str]]] = [([], {"NO_COLOR": "1"}), (["--no-color"], {})]
    for options, environment in plain:
        with Terminal(["stats", *options, "run.lctl.json"], log.parent, environment=environment) as terminal:
            assert terminal.wait() == 0
            assert "Chain: assistant-1" in terminal.raw
            assert "\x1b" not in terminal.raw
