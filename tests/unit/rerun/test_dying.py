"""Programs that die of an exception run again as they died."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.rerun.commands import Run

pytestmark = [pytest.mark.slow, pytest.mark.interpreter]

_CALLS = {
    "at once": "refuse()",
    "in a loop": "import asyncio\nasync def main():\n    refuse()\nasyncio.run(main())",
    "with a hook of its own": "def say(kind, error, trace):\n    print('died:', error, file=sys.stderr)\n"
    "sys.excepthook = say\nrefuse()",
    "in a thread": "import threading\nlast = threading.Thread(target=refuse)\nlast.start()\nlast.join()",
}
_TOOLS = {
    "dies of it": "use('tool')",
    "prints it": "import traceback\ntry:\n    use('tool')\nexcept LookupError:\n    traceback.print_exc()\n"
    "    print(traceback.format_exc())\nuse('door')",
}
_PROGRAM = """\
import random, sys
import lctl

@lctl.tool
def look(place):
    return f"{place} {random.random()}"

found = look("door")
print(found)

def refuse():
    raise ValueError(f"nothing at {found}")

"""


@pytest.mark.parametrize("how", _CALLS)
def test_what_a_program_dies_of_is_the_same(lctl: Run, tmp_path: Path, how: str) -> None:
    """Its last words, too: they are its own, whoever writes them."""
    (tmp_path / "agent.py").write_text(_PROGRAM + _CALLS[how])
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    again = lctl("rerun", "run.lctl.json", "-o", "again.lctl.json")
    assert again.stdout == recorded.stdout
    assert "nothing at door" in recorded.stderr
    assert "log equal, output equal" in again.stderr, again.stderr
    assert again.returncode == recorded.returncode == (0 if "thread" in how else 1)
    words = recorded.stderr.partition("lctl:")[0]
    assert again.stderr.startswith(words)
    errors = [
        [
            event["data"]
            for event in json.loads((tmp_path / name).read_text())["events"]
            if event["type"] == "error"
        ]
        for name in ("run.lctl.json", "again.lctl.json")
    ]
    assert errors[0] == errors[1]
    (error,) = errors[0]
    assert error["context"]["ends"] == ("thread" if "thread" in how else "program")


@pytest.mark.parametrize("how", [("agent.py",), ("-m", "agent")])
@pytest.mark.parametrize(
    ("last", "code", "said"),
    [
        ("sys.exit(3)", 3, "exit code 3"),
        ("raise SystemExit(2 if found else 0)", 2, "exit code 2"),
        ("sys.exit(found)", 1, "door "),
    ],
)
def test_what_a_program_exits_with_is_the_same(
    lctl: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: tuple[str, ...],
    last: str,
    code: int,
    said: str,
) -> None:
    """Its code is the last error of both logs. (What Python itself does behind a program, it does of one that
    it has started.)"""
    monkeypatch.delenv("WARM_PYTHON", raising=False)
    (tmp_path / "agent.py").write_text(f"{_PROGRAM}def main():\n    {last}\n\nmain()\n")
    recorded = lctl("run", "-o", "run.lctl.json", *how)
    again = lctl("rerun", "run.lctl.json", "-o", "again.lctl.json")
    assert again.returncode == recorded.returncode == code
    assert "log equal, output equal" in again.stderr, again.stderr
    assert again.stderr.startswith(recorded.stderr.partition("lctl:")[0])
    for name in ("run.lctl.json", "again.lctl.json"):
        document = json.loads((tmp_path / name).read_text())
        (error,) = [event["data"] for event in document["events"] if event["type"] == "error"]
        assert error["message"].startswith(said) and error["context"]["exit_code"] == code
        assert error["context"]["traceback"][-1].endswith("in main")
        assert document["summary"]["outcome"] == "error"


def test_nobody_answers(lctl: Run, tmp_path: Path) -> None:
    """What the client's error was raised from has a traceback, too, as every one that was raised."""
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n"
        "OpenAI(api_key='x', base_url='http://127.0.0.1:9', max_retries=0).models.list()\n"
    )
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.returncode == 1 and "ConnectError" in recorded.stderr
    again = lctl("rerun", "run.lctl.json")
    assert again.returncode == 1 and "output equal" in again.stderr, again.stderr


def test_lines_that_moved_change_nothing(lctl: Run, python: Run, tmp_path: Path) -> None:
    """A comment more in a program that one line records: it dies of the same at another place."""
    program = (
        "import lctl\nlctl.auto_instrument()\nimport random, sys\n"
        + _PROGRAM.partition("\n")[2]
        + "refuse()\n"
    )
    (tmp_path / "agent.py").write_text(program)
    assert python("agent.py").returncode == 1
    (tmp_path / "agent.py").write_text("# more\n" + program)
    again = lctl("rerun", "last")
    assert "log equal" in again.stderr, again.stderr


def test_threads_that_die_beside_others(lctl: Run, tmp_path: Path) -> None:
    """Each tells of it in the step that it was started in; the others and the program go on."""
    (tmp_path / "agent.py").write_text(
        _PROGRAM + "import threading, time\n"
        "def work(n):\n    look(n)\n    if n % 2:\n        raise KeyError(n)\n    look(n)\n"
        "threading.excepthook = lambda args: None\n"
        "with lctl.get_session().step('crew'):\n"
        "    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]\n"
        "    for thread in threads:\n        thread.start()\n"
        "    for thread in threads:\n        thread.join()\n"
        "print(look('end'))\n"
    )
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.returncode == 0, recorded.stderr
    events = json.loads((tmp_path / "run.lctl.json").read_text())["events"]
    [step] = [event["seq"] for event in events if event["type"] == "step_start"]
    died = [event for event in events if event["type"] == "error"]
    assert sorted(event["data"]["message"] for event in died) == ["1", "3", "5"]
    assert {(event["step"], event["data"]["context"]["ends"]) for event in died} == {(step, "thread")}
    for _ in range(3):
        again = lctl("rerun", "run.lctl.json")
        assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("how", _TOOLS)
def test_what_a_tool_raises_ends_the_program_again(lctl: Run, tmp_path: Path, how: str) -> None:
    """The tool's body does not run, so the traceback has not its lines; those do not count."""
    (tmp_path / "agent.py").write_text(
        _PROGRAM + "@lctl.tool\ndef use(name):\n    with open('ran', 'a') as ran:\n        ran.write('x')\n"
        "    if name == 'tool':\n        raise LookupError(name)\n" + _TOOLS[how]
    )
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert "LookupError: tool" in recorded.stderr
    ran = (tmp_path / "ran").read_text()
    again = lctl("rerun", "run.lctl.json")
    assert "log equal, output equal" in again.stderr, again.stderr
    assert (tmp_path / "ran").read_text() == ran
    assert "LookupError: tool" in again.stderr


def test_a_program_that_kills_itself(lctl: Run, tmp_path: Path) -> None:
    """So it did when it was recorded; where it does that elsewhere, there is a certificate all the same."""
    program = _PROGRAM + "import os, signal\nprint('bye', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    (tmp_path / "agent.py").write_text(program)
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    again = lctl("rerun", "run.lctl.json")
    assert again.returncode == 0 and again.stdout.startswith(recorded.stdout), again.stderr
    assert "killed itself, as it did when it was recorded" in again.stderr
    assert "exact: up to event" in again.stderr and "no certificate" not in again.stderr
    (tmp_path / "agent.py").write_text(
        program.replace("\nfound", "\nos.kill(os.getpid(), 9)\nfound", 1).replace(
            "import random", "import os, random"
        )
    )
    sooner = lctl("rerun", "run.lctl.json")
    assert sooner.returncode == 1
    assert "not exact" in sooner.stderr and "as it did" not in sooner.stderr
