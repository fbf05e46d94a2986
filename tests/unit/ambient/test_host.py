"""Standard input, the machine, temporary files."""

from __future__ import annotations

import os
import pty
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.ambient.conftest import Run

INPUT = """
import sys
name = input("Name? ")
print(name, repr(input()))
print(repr(sys.stdin.readline()), repr(sys.stdin.read(3)), repr(sys.stdin.buffer.read()))
try: input("More? ")
except EOFError as error: print(error)
"""


def test_what_is_piped_in(run: Run) -> None:
    first = run(INPUT, stdin="Ada\nLovelace\nthird\n" + "x" * 100_000)
    assert first.out.startswith("Name? Ada 'Lovelace'\n'third\\n' 'xxx'")
    again = run(INPUT, tape=first.log, stdin="somebody else\n")
    assert again.out == first.out
    assert _written(again.events) == _written(first.events) != []


@pytest.mark.skipif(sys.platform == "win32", reason="no terminals of this kind there")
def test_what_is_typed(run: Run, tmp_path: Path) -> None:
    """On a terminal; in the rerun there is none. The prompt counts as written both times."""
    code = "print(input('Name? ').upper())\n"
    first = run(code, stdin="x")  # makes driver and program
    log = tmp_path / "logs" / "typed.lctl.json"
    driver = (tmp_path / "driver.py").read_text()
    (tmp_path / "driver.py").write_text(
        driver.replace(
            'lctl.instrument.auto_instrument(record="full")',
            "from lctl.session import LCTLSession, default\n"
            "default.opener = lambda: LCTLSession('typed', 'logs/typed.lctl.json')\n"
            'lctl.instrument.auto_instrument(record="full")',
        )
    )
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(tmp_path)
        os.environ["LCTL_QUIET"] = "1"
        os.execv(sys.executable, [sys.executable, "driver.py"])
    os.write(terminal, b"Ada\n")
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 1000)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    assert os.waitpid(pid, 0)[1] == 0, shown
    assert b"ADA" in shown
    (tmp_path / "driver.py").write_text(driver)
    again = run(code, tape=log)
    assert again.out == "Name? ADA\n"
    recorded = [read for read in type(first)("", "", log).reads if read["source"] == "stdin"]
    assert [read["value"] for read in recorded] == ["Ada"]
    [written] = [e["data"] for e in type(first)("", "", log).events if e["type"] == "output"]
    assert (written["text"], written["size"]) == ("Name? \nADA\n", 11)  # as it stands on the terminal


def test_the_machine(run: Run) -> None:
    code = (
        "import os, platform, socket, getpass, locale, shutil\n"
        "from pathlib import Path\n"
        "print(os.getcwd(), Path.cwd(), socket.gethostname(), platform.node(), getpass.getuser())\n"
        "print(locale.getlocale(), shutil.get_terminal_size(), type(shutil.get_terminal_size()))\n"
        "try: os.get_terminal_size(0)\n"
        "except OSError as error: print(error)\n"
    )
    first = run(code, COLUMNS="77")
    again = run(code, tape=first.log, COLUMNS="99", LOGNAME="somebody")
    assert again.out == first.out
    assert "columns=77" in first.out


def test_temporary_names(run: Run, tmp_path: Path) -> None:
    """The same again, also where the recording left its folder behind; which is as it was afterwards."""
    code = (
        "import os, tempfile, time\n"
        "time.time()  # there is a log\n"
        "folder = tempfile.mkdtemp(prefix='work-')\n"
        "print(folder, os.listdir(folder))\n"
        "open(os.path.join(folder, 'notes'), 'a').write('one line')\n"
        "print(open(os.path.join(folder, 'notes')).read())\n"
        "with tempfile.NamedTemporaryFile(suffix='.txt') as file: print(file.name)\n"
        "with tempfile.TemporaryDirectory() as name: print(name)\n"
    )
    first = run(code, TMPDIR=str(tmp_path))
    folder = Path(first.out.split()[0])
    (folder / "notes").write_text("as the recording left it")
    for _ in range(3):
        assert run(code, tape=first.log, TMPDIR=str(tmp_path)).out == first.out
        assert (folder / "notes").read_text() == "as the recording left it"
    assert not list(tmp_path.glob("*lctl-recorded*"))
    assert run(code, TMPDIR=str(tmp_path)).out != first.out


def _written(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [e["data"] for e in events if e["type"] == "output" and "by" not in e["data"]]
