"""Where what a command says goes: a reader that goes away, a full disk, closed streams, standard output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from tests.golden import logs
from tests.unit.cli.badlogs import READING, edited
from tests.unit.cli.conftest import Cli


def test_content_cannot_drive_the_terminal(place: Path, lctl: Cli) -> None:
    """Escape sequences in names, texts and keys are shown, never sent, by every command."""
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
    script = logs.Script()
    top = script.add(0, evil, "step_start", intent=evil, kind=evil, model=evil)
    script.add(1, evil, "fact_added", top, id=evil, text=evil, source=evil, confidence=0.5)
    script.add(2, evil, "tool_call", top, tool=evil, input={evil: evil}, output=[evil])
    script.add(3, evil, "error", top, category=evil, type=evil, message=evil)
    script.add(4, evil, "message", top, message_id=evil, role=evil, content=evil)
    script.add(5, evil, evil, top, **{evil: evil})
    logs.written(place / "evil.lctl.json", script.events, evil)
    commands = [*READING, "show {} 3", "show {} 5", "replay --full {}", "replay --json {}", "stats --json {}"]
    commands += [
        "export --format json {}",
        "export --format messages {}",
        "convert --to yaml {}",
        "ls --json .",
    ]
    for command in commands:
        got = (
            lctl(*command.replace("{}", "evil.lctl.json").split(), "--no-color", terminal=True)
            if ("convert" not in command and "export" not in command)
            else lctl(*command.replace("{}", "evil.lctl.json").split(), terminal=True)
        )
        assert got.code in (0, 1), (command, got.err)
        for char in "\x1b\x07\x9b\u202e":
            assert char not in got.out + got.err, command


def test_code_keeps_its_indents(place: Path, lctl: Cli) -> None:
    """In data and in messages, also where a line is broken; requests to a server are named."""
    code = "def double(n):\n    if n:\n\treturn 2 * n\n" + "    total = " + "1 + " * 60 + "1\n"
    script = logs.Script()
    script.add(0, "main", "ambient", source="cell", key="In[1]", value=code)
    script.add(1, "main", "message", message_id="m", role="assistant", content=code)
    script.add(2, "main", "ambient", source="request", key="POST /ask", value={"method": "POST"})
    logs.written(place / "cells.lctl.json", script.events, "cells")
    for seq in ("1", "2"):
        shown = lctl("show", "cells.lctl.json", seq, "--no-color", terminal=True).out
        for line in ("def double(n):", "    if n:", "    return 2 * n", "    total = 1 + 1"):
            assert f"\n    {line}" in shown, shown
        (broken,) = (line for line in shown.splitlines() if line.endswith("1 + 1"))
        assert broken.startswith(" " * 8)
    assert "[3] main: ambient request POST /ask\n" in lctl("replay", "cells.lctl.json").out


def test_output_that_is_not_utf8(place: Path, lctl: Cli) -> None:
    """What an encoding cannot show becomes `?`; JSON stays JSON."""
    logs.written(place / "a.lctl.json", logs.assistant(), "晴れ")
    for command in ("replay {}", "show {}", "stats {}", "validate {}", "export --format report {}"):
        got = lctl(*command.replace("{}", "a.lctl.json").split(), encoding="ascii")
        assert got.code == 0, (command, got.err)
    got = lctl("show", "a.lctl.json", "--json", encoding="latin-1")
    assert orjson.loads(got.out)["state"]["chain_id"] == "晴れ"


def test_a_reader_that_goes_away(place: Path) -> None:
    """`lctl replay | head -1` ends quietly."""
    script = logs.Script()
    for n in range(20_000):
        script.add(n, "a", "fact_added", id=str(n), text="x" * 50)
    logs.written(place / "long.lctl.json", script.events, closed=False)
    command = f"{sys.executable} -m lctl replay long.lctl.json | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=place, capture_output=True, text=True, check=False)
    assert done.stdout == "Replaying 20,000 events...\n0\n"
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


@pytest.mark.parametrize(
    "command", ["convert -o live.lctl.json a.lctl.json", "export -o live.lctl.json a.lctl.json"]
)
def test_a_log_being_written_is_not_replaced(place: Path, lctl: Cli, command: str) -> None:
    """Writing over the log of a running program is refused, exit code 4."""
    from lctl.session import LCTLSession

    logs.written(place / "a.lctl.json", logs.unknown_only())
    with LCTLSession("live", place / "live.lctl.json"):
        got = lctl(*command.split())
    assert got.code == 4
    assert got.err == "lctl: live.lctl.json: a running program is writing it; choose another file\n"


@pytest.mark.parametrize("command", ["convert -o no/x a.lctl.json", "export -o no/x a.lctl.json"])
def test_output_that_cannot_be_written(place: Path, lctl: Cli, command: str) -> None:
    """A file that cannot be made: one line with its name, exit code 3, nothing left behind."""
    logs.written(place / "a.lctl.json", logs.unknown_only())
    got = lctl(*command.split())
    assert (got.code, got.err.count("\n")) == (3, 1)
    assert "no/x: cannot be written" in got.err
    assert sorted(path.name for path in place.iterdir()) == ["a.lctl.json"]


@pytest.mark.parametrize("closed", ["stdout", "stderr", "stdin"])
def test_streams_that_the_caller_closed(closed: str, place: Path) -> None:
    """`lctl stats log >&-`: nothing to print to is no reason to fail."""
    (place / "log.json").write_bytes(edited())
    number = ("stdin", "stdout", "stderr").index(closed)
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m lctl stats log.json {number}>&-', sys.executable],
        cwd=place,
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (done.stdout == b"") == (closed == "stdout")


def test_problems_of_standard_input_name_a_command_that_works(lctl: Cli) -> None:
    """There is no file of that name to validate."""
    raw = b'{"lctl":"4.0","chain":{"id":"c"},"events":[\n{"seq":2,"type":"note","data":{}}\n]}\n'
    assert lctl("stats", "-", stdin=raw).err.endswith("; 'lctl validate FILE' lists every problem\n")


@pytest.mark.parametrize("command", ["export -f json", "export -f otlp", "export -f calls", "convert"])
def test_a_dash_is_standard_output(command: str, place: Path, lctl: Cli) -> None:
    """And no file of that name."""
    (place / "log.json").write_bytes(edited())
    got = lctl(*command.split(), "log.json", "-o", "-")
    assert (got.code, got.out) == (0, lctl(*command.split(), "log.json").out)
    assert not (place / "-").exists()


def test_the_changed_log_on_standard_output(place: Path, lctl: Cli) -> None:
    """`what-if -o -` prints it and nothing else, so that it can be piped on."""
    (place / "log.json").write_bytes(edited())
    assert lctl("what-if", "log.json", "--drop", "3", "-o", "changed.json").code == 1
    got = lctl("what-if", "log.json", "--drop", "3", "-o", "-")
    assert (got.code, got.out) == (1, (place / "changed.json").read_text())
