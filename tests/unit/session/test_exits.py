"""A program that ends with an exit code which says that it failed is no success in its log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.session import LCTLSession

pytestmark = [pytest.mark.slow, pytest.mark.interpreter]

_PROGRAM = """\
import argparse, asyncio, sys, threading
import lctl
lctl.auto_instrument()

def leave(code):
    raise SystemExit(code)

async def stop():
    sys.exit(5)

def caught(code):
    try:
        sys.exit(code)
    except SystemExit as error:
        return error

def last():
    try:
        sys.exit(4)
    finally:
        lctl.get_session().add_fact("F2", "x")

lctl.get_session().add_fact("F1", "x")
"""

#: What the program ends by; its exit code, what its log says of that, and the function that raised it.
_FAILURES = {
    "sys.exit(2)": (2, "exit code 2", "<module>"),
    "sys.exit(True)": (1, "exit code 1", "<module>"),
    "sys.exit('no key')": (1, "no key", "<module>"),
    "sys.exit('')": (1, "", "<module>"),
    "sys.exit(0.0)": (1, "0.0", "<module>"),
    "sys.exit((3,))": (3, "exit code 3", "<module>"),
    "quit(6)": (6, "exit code 6", "__call__"),
    "leave(3)": (3, "exit code 3", "leave"),
    "leave('no key')": (1, "no key", "leave"),
    "raise SystemExit(7)": (7, "exit code 7", "<module>"),
    "asyncio.run(stop())": (5, "exit code 5", "stop"),
    "argparse.ArgumentParser().parse_args(['--no'])": (2, "exit code 2", "exit"),
    "last()": (4, "exit code 4", "last"),
    "kept = caught(9); leave(8)": (8, "exit code 8", "leave"),
    "caught(9); leave(8)": (8, "exit code 8", "leave"),
    "caught(0); sys.exit(8)": (8, "exit code 8", "<module>"),
}
_SUCCESSES = (
    "sys.exit()",
    "sys.exit(0)",
    "leave(None)",
    "quit()",
    "caught(9)",
    "kept = caught(9)",
    "caught(9); leave(0)",
    "kept = caught(9); leave(0)",
    "thread = threading.Thread(target=sys.exit, args=(3,)); thread.start(); thread.join()",
    # what reloaders end their child by
    "exec('import sys; sys.exit(3)', {'__name__': 'werkzeug._reloader'}) if caught(3) else 0",
)


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LCTL", "PYTHON"))}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        env={**kept, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def ended(folder: Path, last: str, *how: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """In an interpreter of its own: how that ends is what this is about."""
    (folder / "program.py").write_text(_PROGRAM + last + "\n")
    done = python(folder, *(how or ("program.py",)))
    (log,) = (folder / ".lctl").glob("*.json")
    return done, json.loads(log.read_text())


@pytest.mark.parametrize("last", _FAILURES)
def test_an_exit_code_that_says_so_is_a_failure(folder: Path, last: str) -> None:
    """The last event says code or text, and where it came from."""
    code, text, function = _FAILURES[last]
    done, document = ended(folder, last)
    assert done.returncode == code, done.stderr
    data = document["events"][-1]["data"]
    assert (data["category"], data["type"], data["message"]) == ("execution_error", "SystemExit", text)
    assert (data["context"]["ends"], data["context"]["exit_code"]) == ("program", code)
    assert data["context"]["traceback"][-1].endswith(f" in {function}")
    assert "program.py" in data["context"]["traceback"][0]
    assert document["summary"]["outcome"] == "error"
    assert "Traceback" not in done.stderr and "could not record" not in done.stderr


@pytest.mark.parametrize("last", _SUCCESSES)
def test_a_program_that_ends_well_has_not_failed(folder: Path, last: str) -> None:
    """Whatever it has caught before."""
    done, document = ended(folder, last)
    assert done.returncode == (3 if "reloader" in last else 0), done.stderr
    assert [event["type"] for event in document["events"]] == ["fact_added"]
    assert document["summary"]["outcome"] is None


@pytest.mark.parametrize("how", ["module", "text", "folder"])
def test_programs_that_are_no_script(folder: Path, how: str) -> None:
    """`sys.exit` is seen in each; what is caught is none's end."""
    for last, code in (("sys.exit(2)", 2), ("caught(9)", 0)):
        words = {"module": ("-m", "program"), "text": ("-c", _PROGRAM + last), "folder": (".",)}[how]
        (folder / "__main__.py").write_text(_PROGRAM + last)
        done, document = ended(folder, last, *words)
        assert done.returncode == code
        assert document["summary"]["outcome"] == ("error" if code else None)
        for log in (folder / ".lctl").glob("*.json"):
            log.unlink()


def test_a_crash_is_told_once(folder: Path) -> None:
    """Though an exit was caught before, and is kept."""
    _, document = ended(folder, "kept = caught(9)\nraise ValueError('late')")
    assert [event["data"].get("message") for event in document["events"]] == [None, "late"]


def test_a_step_that_an_exit_leaves(folder: Path) -> None:
    """It was aborted; the program failed."""
    done, document = ended(folder, "with lctl.get_session().step('a'):\n    leave(2)")
    assert [event["type"] for event in document["events"][1:]] == ["step_start", "step_end", "error"]
    assert document["events"][2]["data"]["outcome"] == "aborted"
    assert (done.returncode, document["summary"]["outcome"]) == (2, "error")


@pytest.mark.parametrize(("code", "outcome"), [(2, "error"), (0, None)])
def test_a_session_that_an_exit_leaves(folder: Path, code: int, outcome: str | None) -> None:
    """Caught outside, it is still how the session ended."""
    with pytest.raises(SystemExit), LCTLSession("c", folder / "c.lctl.json") as session:
        session.add_fact("F1", "x")
        raise SystemExit(code)
    document = json.loads((folder / "c.lctl.json").read_text())
    assert document["summary"]["outcome"] == outcome
    said = [event["data"]["context"]["ends"] for event in document["events"] if event["type"] == "error"]
    assert said == (["session"] if code else [])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing(folder: Path, method: str) -> None:
    """What one dies of, or exits with, is the last event of its log; what it prints and its code stay."""
    (folder / "crew.py").write_text(
        "import multiprocessing, sys\nimport lctl\nlctl.auto_instrument()\n"
        "def work(how):\n    lctl.get_session().add_fact('F1', how)\n"
        "    if how == 'dies':\n        raise ValueError(how)\n"
        "    sys.exit({'two': 2, 'text': 'no key'}.get(how))\n"
        "class Own(multiprocessing.get_context(sys.argv[1]).Process):\n"
        "    def run(self):\n        work('dies')\n"
        "if __name__ == '__main__':\n    lctl.get_session().add_fact('F1', 'x')\n"
        "    context = multiprocessing.get_context(sys.argv[1])\n"
        "    hows = 'dies', 'two', 'text', 'well'\n"
        "    started = [context.Process(target=work, args=(how,)) for how in hows]\n"
        "    for one in [*started, Own()]:\n        one.start()\n        one.join()\n"
        "        print(one.exitcode)\n"
    )
    done = python(folder, "-m", "lctl", "run", "-o", "run.lctl.json", "crew.py", method)
    assert done.stdout.split() == ["1", "2", "1", "0", "1"], done.stderr
    assert f"{os.sep}lctl{os.sep}" not in done.stderr
    logs = [json.loads(path.read_text()) for path in folder.rglob("*.lctl.json")]
    told = [
        (log["summary"]["outcome"], [e["data"]["message"] for e in log["events"] if e["type"] == "error"])
        for log in logs
    ]
    assert sorted(told, key=repr) == sorted(
        [
            (None, []),
            (None, []),
            ("error", ["dies"]),
            ("error", ["dies"]),
            ("error", ["exit code 2"]),
            ("error", ["no key"]),
        ],
        key=repr,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_main_module_that_a_child_cannot_load(folder: Path) -> None:
    """Its traceback is the program's own, also below the fork server."""
    (folder / "crew.py").write_text(
        "import multiprocessing\n"
        "if __name__ != '__main__':\n    raise LookupError('in the child')\n"
        "one = multiprocessing.get_context('forkserver').Process(target=print)\none.start()\none.join()\n"
    )
    plain, recorded = python(folder, "crew.py"), python(folder, "-m", "lctl", "run", "crew.py")
    assert "LookupError: in the child" in plain.stderr
    assert recorded.stderr.partition("lctl: ")[0] == plain.stderr
