"""Programs of users, in the ways in which they start them, and what they do beside model calls."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rerun.harness import LCTL, PROGRAMS, Silence, World, record, rerun, run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def servers() -> Iterator[World]:
    with World() as world:
        yield world


@pytest.mark.parametrize(
    "flags", [["-I"], ["-E"], ["-IB"], ["-s", "-E", "-u"], ["-O"], ["-X", "utf8"]], ids=" ".join
)
def test_python_that_reads_no_pythonpath(flags: list[str], servers: World, tmp_path: Path) -> None:
    """Its rerun is served as any: it ran in earnest, with real calls."""
    # Not by PYTHONPATH, which such a Python ignores.
    source = (PROGRAMS / "asks_one_line.py").read_text()
    (tmp_path / "asks.py").write_text(f"import sys\nsys.path[:] = {sys.path!r}\n{source}")
    first = run([sys.executable, *flags, "asks.py"], tmp_path, servers.environ, tmp_path)
    assert first.code == 0, first.err
    (log,) = (tmp_path / "logs").glob("*.lctl.json")
    first = first._replace(log=log)
    asked = servers.count
    again = rerun(log, tmp_path)
    assert again.code == 0, again.err
    assert (again.out, again.events) == (first.out, first.events)
    assert servers.count == asked
    at = next(event["seq"] for event in first.events if event["type"] == "exchange")
    forked = tmp_path / "fork.lctl.json"
    made = run(
        [*LCTL, "fork", str(log), "--at", str(at), "--output", str(forked)], tmp_path, servers.environ, forked
    )
    assert made.code == 0, made.err
    assert made.out.splitlines()[0] == first.out.splitlines()[0]
    assert servers.count == asked + 1


@pytest.mark.parametrize(
    "program", ["uploads_files.py", "kept_for_a_while.py", "scheduled_jobs.py", "fed_children.py"]
)
def test_it_runs_again_exactly(program: str, tmp_path: Path) -> None:
    if program == "kept_for_a_while.py":
        pytest.importorskip("cachetools", reason="needs: pip install 'lctl[test]'")
    if program == "scheduled_jobs.py":
        pytest.importorskip("apscheduler", reason="needs: pip install 'lctl[test]'")
    with World() as world:
        first = record(program, tmp_path, world.environ)
    assert first.code == 0, first.err
    with Silence(first) as silence:
        again = rerun(first.log, tmp_path)
        assert again.code == 0, again.err
        assert again.out == first.out
        assert silence.connections == 0


def test_pytest_says_again_how_long_it_took(servers: World, tmp_path: Path) -> None:
    """A sleep takes no time in a rerun, and its seconds are printed as they were."""
    (tmp_path / "test_it.py").write_text(
        "import time\nfrom common_openai import ask\nfrom openai import OpenAI\n\n"
        "def test_it():\n    time.sleep(0.3)\n    assert ask(OpenAI(), 'Hello')\n"
    )
    log = tmp_path / "run.lctl.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    first = run([*LCTL, "run", "--output", str(log), "--", *command], tmp_path, servers.environ, log)
    assert first.code == 0, first.err
    assert "1 passed in" in first.out
    again = rerun(log, tmp_path)
    assert again.code == 0, again.err
    assert (again.out, again.events) == (first.out, first.events)


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux alone")
def test_a_folder_whose_name_is_no_text(servers: World, tmp_path: Path) -> None:
    """Its bytes are no UTF-8; a rerun there is as any."""
    place = tmp_path / "caf\udce9"
    place.mkdir()
    (place / "asks.py").write_text((PROGRAMS / "asks_one_line.py").read_text())
    log, again = place / "log.lctl.json", place / "again.lctl.json"
    first = run([*LCTL, "run", "-o", str(log), "asks.py"], place, servers.environ, log)
    assert first.code == 0, first.err
    second = run([*LCTL, "rerun", str(log), "-o", str(again)], place, servers.environ, again)
    assert (second.code, second.out) == (0, first.out), second.err
    assert "rerun exact" in second.err


def test_a_program_that_leaves_by_os_exit(servers: World, tmp_path: Path) -> None:
    """As one does whose threads would keep it; its rerun tells how exact it was, and ends with its code."""
    source = (PROGRAMS / "asks_one_line.py").read_text()
    (tmp_path / "leaves.py").write_text(f"{source}\nimport os, sys\nsys.stdout.flush()\nos._exit(4)\n")
    log = tmp_path / "log.lctl.json"
    first = run([*LCTL, "run", "-o", str(log), "leaves.py"], tmp_path, servers.environ, log)
    assert first.code == 4, first.err
    again = rerun(log, tmp_path)
    assert (again.code, again.out, again.events) == (4, first.out, first.events)
    assert "rerun exact" in again.err


@pytest.mark.parametrize("recorded", ["sk-proj-" + "a1B2" * 12, ""])
def test_a_key_that_is_set_to_nothing(recorded: str, servers: World, tmp_path: Path) -> None:
    """It is as none where the recording had one; where that had none either, it is as it was."""
    (tmp_path / "asks.py").write_text(
        "import os\nfrom openai import OpenAI\nfrom common_openai import ask\n"
        "key = os.environ['OPENAI_API_KEY']\n"
        "print(bool(key), ask(OpenAI() if key else OpenAI(api_key='none'), 'Hello'))\n"
    )
    environ = {**servers.environ, "OPENAI_API_KEY": recorded}
    log = tmp_path / "asks.lctl.json"
    first = run([*LCTL, "run", "--output", str(log), "asks.py"], tmp_path, environ, log)
    assert first.code == 0, first.err
    again = rerun(log, tmp_path, environ={"OPENAI_API_KEY": ""})
    assert again.code == 0, again.err
    assert again.out == first.out
