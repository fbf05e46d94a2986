"""What a program writes is counted, and the streams are what they were."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.ambient.conftest import Result, Run

READ = "import os; os.environ.get('X')\n"  # opens the log


def outputs(result: Result) -> dict[str, dict[str, object]]:
    return {e["data"]["stream"]: e["data"] for e in result.events if _is_written(e) and "by" not in e["data"]}


def by_libraries(result: Result) -> str:
    return "".join(e["data"]["text"] for e in result.events if _is_written(e) and "by" in e["data"])


def _is_written(event: dict[str, Any]) -> bool:
    return bool(event["type"] == "output")


def test_every_way_of_writing(run: Run) -> None:
    code = READ + (
        "import sys, contextlib, io\n"
        "print('before', end=' ')\n"
        "sys.stdout.write('text ü\\n'); sys.stdout.buffer.write(b'bytes\\n')\n"
        "sys.stdout.buffer.raw.write(b'raw\\n')\n"
        "print('flushed', flush=True); sys.__stdout__.write('dunder\\n')\n"
        "with contextlib.redirect_stdout(io.StringIO()): print('elsewhere')\n"
        "sys.stdout.reconfigure(encoding='latin-1'); print('ü')\n"
        "print('warned', file=sys.stderr)\n"
        "import atexit; atexit.register(print, 'at the end')\n"
    )
    got = run(code, PYTHONIOENCODING="utf-8:surrogateescape")
    out = got.out.encode("utf-8", "surrogateescape")
    found = outputs(got)
    assert found["stdout"]["size"] == len(out)
    assert found["stdout"]["hash"] == f"sha256:{hashlib.sha256(out).hexdigest()}"
    assert "raw" in str(found["stdout"]["text"])
    assert "elsewhere" not in str(found["stdout"]["text"])
    assert found["stderr"]["text"] == "warned\n"


def test_the_streams_are_what_they_were(run: Run, tmp_path: Path) -> None:
    code = (
        "import io, sys\n"
        "def told(s):\n"
        "    b, r = s.buffer, s.buffer.raw\n"
        "    print(type(s), type(b), s.encoding, s.errors, s.line_buffering, s.write_through, s.isatty())\n"
        "    print(s.fileno(), s.name, s.mode, s.newlines, s.writable(), s.readable())\n"
        "    print(b.name, r.name, r.mode, r.closefd, b.seekable(), isinstance(r, io.FileIO))\n"
        "told(sys.stdout); told(sys.stderr); print(sys.stdout is sys.__stdout__)\n"
    )
    got = run(code)
    environ = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    plain = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    )
    assert got.out == plain.stdout


def test_unbuffered(run: Run) -> None:
    got = run(
        READ
        + "import sys; print('a'); sys.stdout.buffer.write(b'b'); print(type(sys.stdout.buffer).__mro__[-4])",
        PYTHONUNBUFFERED="1",
    )
    assert outputs(got)["stdout"]["size"] == len(got.out)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away(tmp_path: Path, unbuffered: str) -> None:
    """Exit code and message are Python's own: they hang on how much the stream holds back."""
    (tmp_path / "p.py").write_text("import os; os.environ.get('X')\nfor n in range(100000): print(n)")
    results = []
    for command in (
        [sys.executable, "p.py"],
        [sys.executable, "-m", "lctl", "run", "p.py"],
    ):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            command,
            cwd=tmp_path,
            stdout=writer,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, "LCTL_QUIET": "1", "PYTHONUNBUFFERED": unbuffered},
        )
        os.close(writer)
        results.append((done.returncode, done.stderr.splitlines()[-1]))
    assert results[0] == results[1]


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_a_forked_child_writes_its_own(run: Run) -> None:
    got = run(
        READ + "print('parent', flush=True)\n"
        "pid = os.fork()\n"
        "if not pid:\n"
        "    print('child', flush=True); os._exit(0)\n"
        "os.waitpid(pid, 0)\n"
        "print('after')\n"
    )
    assert outputs(got)["stdout"]["text"] == "parent\nafter\n"


def test_a_session_of_the_program_s_own(run: Run) -> None:
    """Its log says what was written while it was open."""
    code = (
        "import lctl\n"
        "print('before')\n"
        "with lctl.LCTLSession('mine', 'logs/mine.lctl.json'): print('inside')\n"
        "print('after')\n"
    )
    assert outputs(run(code))["stdout"]["text"] == "inside\n"


LIBRARY = """
import logging, sys, warnings

def tell():
    logging.getLogger(__name__).warning("told by a library")
    sys.stderr.write("written by a library\\n")
    warnings.warn("of a library")

class Left:
    def __del__(self):
        raise ValueError("thrown away")
"""


def test_what_libraries_write_to_standard_error_is_counted_apart(run: Run, tmp_path: Path) -> None:
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "library.py").write_text(LIBRARY)
    code = READ + (
        "import logging, sys, traceback, warnings\n"
        "import library\n"
        "warnings.simplefilter('always')\n"
        "logging.basicConfig(format='%(message)s')\n"
        "logging.warning('told by the program')\n"
        "library.tell()\n"
        "warnings.warn('of the program')\n"
        "try: 1 / 0\n"
        "except ZeroDivisionError: traceback.print_exc()\n"
        "left = library.Left(); del left\n"
        "print('end', file=sys.stderr)\n"
    )
    got = run(code, PYTHONPATH=str(installed))
    told = str(outputs(got)["stderr"]["text"])
    assert told.startswith("told by the program\n")
    assert "of the program" in told
    assert "ZeroDivisionError" in told
    assert told.endswith("end\n")
    assert "library.py" not in told
    apart = by_libraries(got)
    assert apart.startswith("told by a library\nwritten by a library\n")
    assert "of a library" in apart
    assert "ValueError: thrown away" in apart
    assert got.events[-1]["data"]["by"] == "libraries"
