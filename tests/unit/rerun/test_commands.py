"""Commands that a program runs: a rerun gives what they gave, and starts none of them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.unit.rerun.commandprograms import PROGRAMS
from tests.unit.rerun.commands import ASKING, Run, Twice, found

pytestmark = pytest.mark.skipif(os.name != "posix", reason="commands are recorded on POSIX systems")


@pytest.mark.slow
@pytest.mark.interpreter
@pytest.mark.parametrize("name", PROGRAMS)
def test_commands_are_not_run_again(name: str, twice: Twice, tmp_path: Path) -> None:
    """Output, exit codes, what could not be started or took too long; no effect on the world."""
    if "uvloop" in name:
        pytest.importorskip("uvloop")
    _, again = twice(PROGRAMS[name])
    assert "rerun exact" in again.stderr and "output equal" in again.stderr, again.stderr
    commands = found(tmp_path / "run.lctl.json", "command")
    assert len(commands) > 3
    ran = tmp_path / "ran"
    if ran.exists():
        assert len(ran.read_text().split()) == sum(key.count("x >> ran") for key, _ in commands)


def test_what_ran_for_how_long_is_in_the_log(twice: Twice, lctl: Run, tmp_path: Path) -> None:
    twice("import subprocess\nsubprocess.run('echo out; exit 5', shell=True, capture_output=True)\n")
    [event] = [e for e in open_log(tmp_path / "run.lctl.json").events() if e.data.get("source") == "command"]
    assert event.data["key"] == "echo out; exit 5"
    assert event.data["value"] == {"code": 5, "stdout": "out\n", "stderr": ""}
    assert event.data["place"] == "agent.py:2" and event.data["duration_ms"] > 0
    assert 'ambient command "echo out; exit 5" (exit 5)' in lctl("replay", "run.lctl.json").stdout


_SAME = """
import asyncio, subprocess
try:
    subprocess.run(["sleep", "5"], timeout=0.05)
except subprocess.TimeoutExpired:
    pass
waited = subprocess.Popen("sleep 0.02; echo a", shell=True, stdout=-1)
while waited.poll() is None:
    pass
print(waited.stdout.read())
async def main():
    process = await asyncio.create_subprocess_shell("echo b; sleep 0.01; echo c", stdout=-1)
    print(await process.communicate())
asyncio.run(main())
"""
_SHELL = """
import subprocess, sys
print(subprocess.run("echo x >> ran; wc -l < ran", shell=True, capture_output=True, text=True).stdout)
"""


def test_another_command_than_the_recorded_one_is_refused(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("import subprocess\nsubprocess.run(['true'])\n")
    lctl("run", "-o", "run.lctl.json", "agent.py")
    (tmp_path / "agent.py").write_text("import subprocess\nsubprocess.run(['touch', 'made'])\n")
    again = lctl("rerun", "run.lctl.json")
    assert again.returncode == 1
    assert "blocked: starting 'touch made', by agent.py:2" in again.stderr
    assert "1 command read" in again.stderr
    assert not (tmp_path / "made").exists()


@pytest.mark.slow
def test_allowed_commands_run_again(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(_SHELL)
    assert lctl("run", "-o", "run.lctl.json", "agent.py").stdout.strip() == "1"
    assert lctl("rerun", "run.lctl.json", "--allow", "subprocess:/bin/sh").stdout.strip() == "2"
    assert lctl("rerun", "run.lctl.json").stdout.strip() == "1"
    assert (tmp_path / "ran").read_text() == "x\nx\n"


@pytest.mark.slow
@pytest.mark.parametrize("off", ["--no-commands", "LCTL_COMMANDS=off"])
def test_they_need_not_be_recorded(
    off: str, lctl: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then what starts one is named, as what starts anything else that is not on the tape."""
    (tmp_path / "agent.py").write_text(_SHELL)
    words = [off] if off.startswith("-") else ["--", "env", off, sys.executable]
    lctl("run", "-o", "run.lctl.json", *words, "agent.py")
    assert found(tmp_path / "run.lctl.json", "command") == []
    again = lctl("rerun", "run.lctl.json")
    assert "blocked: starting '/bin/sh -c echo x >> ran" in again.stderr
    assert (tmp_path / "ran").read_text() == "x\n"


@pytest.mark.slow
def test_pythons_that_record_themselves_run_again_on_their_own_logs(twice: Twice, tmp_path: Path) -> None:
    """One that a shell starts does not: the shell is a command."""
    program = f"""
import subprocess, sys
print(subprocess.run([sys.executable, "child.py"], capture_output=True, text=True).stdout)
print(subprocess.run("{sys.executable} child.py", shell=True, capture_output=True, text=True).stdout)
"""
    recorded, again = twice(program, child="import random\nprint(random.random())\n")
    assert again.stdout == recorded.stdout and again.returncode == 0, again.stderr
    assert again.stderr.count("rerun exact") == 2
    [(key, _)] = found(tmp_path / "run.lctl.json", "command")
    assert key.endswith("python child.py")


def test_secrets_of_commands_are_not_in_the_log(twice: Twice, tmp_path: Path) -> None:
    """A rerun knows the line by what stands in their place."""
    secret = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
    program = f"import subprocess\nsubprocess.run('echo {secret}; echo x >> ran', shell=True, stdout=-1)\n"
    _, again = twice(program)
    assert "rerun exact" in again.stderr, again.stderr
    assert secret not in (tmp_path / "run.lctl.json").read_text()
    [(key, value)] = found(tmp_path / "run.lctl.json", "command")
    assert "[redacted:openai" in key and "[redacted:openai" in json.dumps(value)
    assert (tmp_path / "ran").read_text() == "x\n"


def test_what_a_tool_starts_is_part_of_its_call(twice: Twice, tmp_path: Path) -> None:
    program = """
import lctl, subprocess

@lctl.tool
def bash(command):
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout

print(bash("echo x >> ran; wc -l < ran"))
"""
    _, again = twice(program)
    assert "rerun exact" in again.stderr, again.stderr
    assert found(tmp_path / "run.lctl.json", "command") == []
    assert (tmp_path / "ran").read_text() == "x\n"


@pytest.mark.slow
def test_a_fork_runs_those_behind_its_first_live_call(lctl: Run, server: ModelServer, tmp_path: Path) -> None:
    """All before is as recorded, also at 0: a command does something to the world."""
    program = f"""{ASKING}
import subprocess
def draw():
    return subprocess.run("echo x >> ran; wc -l < ran", shell=True, capture_output=True, text=True).stdout
first = draw()
answer([{{"role": "user", "content": "Go on."}}])
print(first, draw())
"""
    (tmp_path / "agent.py").write_text(program)
    assert lctl("run", "-o", "run.lctl.json", "agent.py").stdout.split() == ["1", "2"]
    [last] = [
        event.seq
        for event in open_log(tmp_path / "run.lctl.json").events()
        if event.data.get("source") == "command"
    ][1:]
    for at, expected in ((last, ["1", "2"]), (0, ["1", "3"])):
        fork = lctl("fork", "run.lctl.json", "--at", str(at), "-o", f"{at}.lctl.json")
        assert fork.stdout.split() == expected, fork.stderr


@pytest.mark.slow
def test_two_runs_differ_where_a_command_said_something_else(lctl: Run, tmp_path: Path) -> None:
    """And nowhere else: not in when it was, how often it was asked, and which number it had."""
    (tmp_path / "same.py").write_text(_SAME)
    for name in ("first", "second"):
        lctl("run", "-o", f"{name}.lctl.json", "same.py")
    same = lctl("diff", "first.lctl.json", "second.lctl.json")
    assert same.returncode == 0, same.stdout
    assert "3 crossings, the same in every run" in lctl("doctor", "--repeat", "2", "same.py").stdout
    (tmp_path / "agent.py").write_text(_SHELL)
    for name in ("one", "two"):
        lctl("run", "-o", f"{name}.lctl.json", "agent.py")
    said = lctl("diff", "one.lctl.json", "two.lctl.json").stdout
    assert "gave.stdout" in said and "echo x >> ran" in said


@pytest.mark.slow
def test_forked_workers_run_again_beside_a_log_of_any_name(lctl: Run, tmp_path: Path) -> None:
    program = """
import multiprocessing, subprocess
from concurrent.futures import ProcessPoolExecutor

def draw(n):
    command = "head -c 4 /dev/urandom | od -An -tx1"
    return n, subprocess.run(command, shell=True, capture_output=True, text=True).stdout

if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        print(list(pool.map(draw, range(4))))
"""
    (tmp_path / "agent.py").write_text(program)
    recorded = lctl("run", "-o", "run.json", "agent.py")
    again = lctl("rerun", "run.json", "-o", "again.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert again.stderr.count("rerun exact") == len(list(tmp_path.glob("run*.json"))) > 1
