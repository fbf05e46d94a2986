"""`lctl run`: the program runs as under Python itself, and is recorded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from lctl.errors import UsageError
from lctl.run.environment import BOOTSTRAP, Recording, environment, recording_here
from lctl.run.program import program
from tests.unit.cli.conftest import Result, process
from tests.warm.starting import warmth

PROBE = """
import json, sys, os, __main__
print(json.dumps({
    "argv": sys.argv, "path": sys.path, "name": __name__, "file": os.path.basename(__main__.__file__),
    "main": __main__ is sys.modules["__main__"], "flags": list(sys.flags), "stdin": sys.stdin.read(),
    "ours": sorted(m for m in sys.modules if m.startswith(("click", "rich", "lctl.cli"))),
}))
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def python(*words: str, cwd: Path, stdin: str = "") -> Result:
    inner = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | warmth()
    done = subprocess.run(
        [sys.executable, *words], cwd=cwd, env=inner, input=stdin, capture_output=True, text=True, check=False
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    "words", [["probe.py", "a b", "--json", "-m"], ["-m", "pkg.probe", "--", "-x"], ["folder", "y"]]
)
def test_as_under_python(place: Path, words: list[str]) -> None:
    """Arguments, sys.path, __main__, standard input and loaded modules are as without lctl."""
    write(place, "probe.py", PROBE)
    write(place, "pkg/probe.py", PROBE)
    write(place, "folder/__main__.py", PROBE)
    expected = python(*words, cwd=place, stdin="some input")
    got = process("run", *words, cwd=place, stdin="some input")
    assert (got.code, got.out) == (expected.code, expected.out)


@pytest.mark.parametrize(
    "body",
    [
        "import sys; sys.exit(7)",
        "import sys; sys.exit('a message')",
        "raise SystemExit",
        "def f():\n    raise ValueError('wrong')\nf()",
        "raise KeyboardInterrupt",
        "this is no Python",
        "import os; os._exit(9)",
    ],
)
def test_ends_as_under_python(place: Path, body: str) -> None:
    """Exit codes, messages and tracebacks are the program's own, without a frame of ours."""
    write(place, "agent.py", body)
    expected = python("agent.py", cwd=place)
    got = process("run", "agent.py", cwd=place)
    assert got.code == expected.code
    assert got.err.replace(_exit_line(got.err), "") == expected.err


def _exit_line(err: str) -> str:
    return "".join(line for line in err.splitlines(keepends=True) if line.startswith("lctl: "))


def test_any_command(place: Path) -> None:
    """After `--` comes a command line; its options are its own, and its Python records."""
    write(place, "agent.py", "import sys; print(sys.argv, 'lctl.instrument' in sys.modules)")
    got = process("run", "--", sys.executable, "-u", "agent.py", "--record", cwd=place)
    assert (got.code, got.out) == (0, "['agent.py', '--record'] True\n")


def test_children_record(place: Path) -> None:
    """A Python that the program starts is recorded too, also through a shell."""
    write(place, "child.py", "import sys; print('lctl.instrument' in sys.modules)")
    write(
        place, "agent.py", "import subprocess, sys; subprocess.run(f'{sys.executable} child.py', shell=True)"
    )
    assert process("run", "agent.py", cwd=place).out == "True\n"


def test_the_environments_own_sitecustomize(place: Path) -> None:
    """A sitecustomize that is there already is loaded, and is the one the program can import."""
    write(place, "site/sitecustomize.py", "NAME = 'theirs'\nprint('theirs loaded')")
    write(place, "agent.py", "import sitecustomize; print(sitecustomize.NAME)")
    got = process("run", "agent.py", cwd=place, PYTHONPATH=str(place / "site"))
    # once by the Python that runs lctl itself, once by the program's
    assert got.out == "theirs loaded\ntheirs loaded\ntheirs\n"


def test_no_sitecustomize_of_ours_to_import(place: Path) -> None:
    """Our folder is not on the program's sys.path, though its children inherit it by PYTHONPATH."""
    write(
        place,
        "agent.py",
        "import os, sys; print([p for p in sys.path if 'bootstrap' in p], os.environ['PYTHONPATH'])",
    )
    assert process("run", "agent.py", cwd=place, PYTHONPATH=None).out == f"[] {BOOTSTRAP}\n"


def test_a_python_without_lctl(place: Path) -> None:
    """The program runs, and one line says why it is not recorded."""
    write(place, "agent.py", "print('ran')")
    inner = {**os.environ, "PYTHONPATH": str(BOOTSTRAP), "LCTL_RUN": "1"}
    done = subprocess.run(
        [sys.executable, "-c", "print('ran')"],
        cwd=place,
        env={**inner, "PYTHONNOUSERSITE": "1", "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "ran\n"
    hidden = write(place, "hide/sitecustomize.py", (BOOTSTRAP / "sitecustomize.py").read_text())
    write(place, "hide/lctl/__init__.py", "raise ImportError(\"No module named 'lctl'\", name='lctl')")
    done = subprocess.run(
        [sys.executable, "agent.py"],
        cwd=place,
        env={**inner, "PYTHONPATH": f"{hidden.parent}{os.pathsep}{place}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "ran\n"


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_interrupted(place: Path) -> None:
    """Ctrl-C reaches the program alone and ends it as it would without lctl."""
    write(place, "agent.py", "import time\nprint('ready', flush=True)\ntime.sleep(60)")
    with subprocess.Popen(
        [sys.executable, "-m", "lctl", "run", "agent.py"],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        assert started.stdout.readline() == "ready\n"
        time.sleep(0.05)
        started.send_signal(signal.SIGINT)
        err = started.stderr.read()
        assert started.wait(10) == -signal.SIGINT
    assert err.count("Traceback") == 1
    assert "KeyboardInterrupt" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "nothing to run; give a script, -m MODULE, or -- COMMAND"),
        (["missing.py"], "missing.py: no such file or command"),
        (["--", "no-such-command"], "no-such-command: no such command"),
        (["--durability", "maybe", "x.py"], "'maybe' is not one of"),
    ],
)
def test_what_cannot_run(place: Path, words: list[str], said: str) -> None:
    """What cannot be started is said in one line, exit code 2."""
    got = process("run", *words, cwd=place)
    assert got.code == 2
    assert got.err.count("\n") == 1
    assert said in got.err


def test_output_is_never_written_over(place: Path) -> None:
    """An --output that exists is refused before the program starts."""
    write(place, "agent.py", "print('ran')")
    (place / "run.lctl.json").write_text("mine")
    got = process("run", "-o", "run.lctl.json", "agent.py", cwd=place)
    assert (got.code, got.out) == (2, "")
    assert "exists already" in got.err
    assert (place / "run.lctl.json").read_text() == "mine"


def test_programs(place: Path) -> None:
    """Scripts, folders and modules are started by this Python, commands by themselves."""
    write(place, "agent.py", "")
    write(place, "folder/__main__.py", "")
    assert program(["agent.py", "-v"]) == [sys.executable, "agent.py", "-v"]
    assert program(["folder"]) == [sys.executable, "folder"]
    assert program(["-v"], module="pkg.tool") == [sys.executable, "-m", "pkg.tool", "-v"]
    assert program([sys.executable, "-u", "agent.py"], command=True) == [sys.executable, "-u", "agent.py"]
    with pytest.raises(UsageError):
        program([])


def test_environment_round_trip(tmp_path: Path) -> None:
    """What is asked for arrives in the program; nothing of an outer `lctl run` does."""
    asked = Recording("agent", tmp_path / "x.lctl.json", "power", False, "full")
    inner = environment(asked, {"PYTHONPATH": "a", "LCTL_RUN_NAME": "outer", "LCTL_DIR": "d"})
    assert recording_here(inner) == asked
    assert inner["PYTHONPATH"] == os.pathsep.join([str(BOOTSTRAP), "a"])
    assert inner["LCTL_DIR"] == "d"
    plain = environment(Recording(), inner)
    assert recording_here(plain) == Recording()
    assert plain["PYTHONPATH"] == inner["PYTHONPATH"]
    assert recording_here({}) is None


def test_an_environment_that_is_read_while_a_recording_begins(place: Path) -> None:
    """`dict(os.environ)` in another thread takes the names first, then one value after the other."""
    write(
        place,
        "reads.py",
        """
        import os
        import lctl
        names = list(os.environ)
        lctl.get_session().emit("t", {})
        print(len({name: os.environ[name] for name in names}) > 2)
        """,
    )
    got = process("run", "--output", "r.lctl.json", "--record", "model", "reads.py", cwd=place)
    assert (got.code, got.out) == (0, "True\n"), got.err
    assert (place / "r.lctl.json").exists()


def test_a_click_whose_choices_take_no_type(tmp_path: Path) -> None:
    """As of click before 8.2, which other packages ask for."""
    program = write(
        tmp_path,
        "old.py",
        """
        import click
        def no(*given): raise TypeError("type 'Choice' is not subscriptable")
        click.Choice.__class_getitem__ = no
        import lctl.cli.running
        """,
    )
    done = python(str(program), cwd=tmp_path)
    assert done.code == 0, done.err
