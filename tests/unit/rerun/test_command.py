"""`lctl rerun` as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.unit.rerun.commands import Twice

pytestmark = pytest.mark.slow

PROGRAM = """\
import asyncio, threading, random
from openai import AsyncOpenAI, OpenAI

def ask(client, text):
    answer = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": text}])
    return answer.choices[0].message.content

async def many():
    async with AsyncOpenAI() as client:
        async def one(n):
            message = {"role": "user", "content": f"the same {n % 2}"}
            made = await client.chat.completions.create(model="gpt-4o", messages=[message])
            order.append(n)
            return made.choices[0].message.content
        return await asyncio.gather(*(one(n) for n in range(10)))

order = []
client = OpenAI()
print(ask(client, f"first {random.random()}"))
print(asyncio.run(many()), order)
told = []
threads = [threading.Thread(target=lambda n=n: told.append(ask(client, f"thread {n}"))) for n in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(told)
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def lctl(tmp_path: Path) -> Run:
    (tmp_path / "agent.py").write_text(PROGRAM)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "ANTHROPIC", "LCTL"))}

    def run(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "lctl", *words]
        env = {**clean, **environ}
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)

    return run


@pytest.fixture
def recorded(lctl: Run) -> str:
    with ModelServer(random_answers=True, latency=(0.0, 0.05)) as server:
        made = lctl("run", "-o", "run.lctl.json", "agent.py", **server.environ)
    assert made.returncode == 0, made.stderr
    return made.stdout


def test_a_program_with_tasks_and_threads_is_the_same_with_the_server_gone(
    lctl: Run, recorded: str, tmp_path: Path
) -> None:
    for n in range(5):
        again = lctl("rerun", "run.lctl.json", "-o", f"again-{n}.lctl.json")
        assert again.returncode == 0, again.stderr
        assert again.stdout == recorded
        assert "lctl: rerun exact: " in again.stderr
        assert "log equal, output equal" in again.stderr
        lines = [
            list(open_log(tmp_path / name).lines()) for name in ("run.lctl.json", f"again-{n}.lctl.json")
        ]
        assert lines[0] == lines[1]
    assert lctl("rerun", "--verify", "again-0.lctl.json").returncode == 0


def test_stops_at_an_event_with_its_state_and_the_users_line(lctl: Run, recorded: str) -> None:
    stopped = lctl("rerun", "run.lctl.json", "--to", "4")
    assert stopped.returncode == 0, stopped.stderr
    assert "State at seq 4: " in stopped.stdout
    assert "at agent.py:5 in ask:" in stopped.stdout
    assert "rerun exact: up to event 4" in stopped.stderr


def test_says_it_as_json(lctl: Run, recorded: str) -> None:
    made = json.loads(lctl("rerun", "run.lctl.json", "--json").stdout)
    assert made["ok"] is True
    assert made["exact"] == 13


def test_a_program_that_ends_by_an_exception_does_so_again(lctl: Run, tmp_path: Path) -> None:
    """Its last words are its own, in a rerun too."""
    (tmp_path / "agent.py").write_text(
        PROGRAM.partition("print(ask")[0] + "ask(client, 'x')\nraise ValueError('no')\n"
    )
    with ModelServer() as server:
        made = lctl("run", "-o", "run.lctl.json", "agent.py", **server.environ)
    assert made.returncode == 1
    again = lctl("rerun", "run.lctl.json")
    assert again.returncode == 1
    assert "log equal, output equal" in again.stderr, again.stderr
    assert again.stderr.partition("lctl: ")[0] == made.stderr.partition("lctl: ")[0]


def test_an_edited_program_stops_without_a_traceback(lctl: Run, recorded: str, tmp_path: Path) -> None:
    edited = PROGRAM.replace("thread {n}", "strand {n}")
    (tmp_path / "agent.py").write_text(edited)
    stopped = lctl("rerun", "run.lctl.json")
    assert stopped.returncode == 1
    assert "Traceback" not in stopped.stderr
    assert "-  thread " in stopped.stderr
    assert "+  strand " in stopped.stderr


def test_what_cannot_be_run_again_is_said_in_one_line(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "old.lctl.json").write_text('{"lctl":"4.0","chain":{"id":"old"},"events":[\n]}\n')
    refused = lctl("rerun", "old.lctl.json")
    assert refused.returncode == 3
    assert "does not say how its program was started" in refused.stderr
    assert lctl("rerun", "old.lctl.json", "--pdb").returncode == 2


@pytest.mark.parametrize("call", ["{}", "(lambda: {})()"], ids=["in a line", "where a function returns"])
def test_a_debugger_in_the_live_program_leaves_no_trace(lctl: Run, tmp_path: Path, call: str) -> None:
    """What is typed and shown there, and what it reads of the clock, is none of the program's."""
    (tmp_path / "asking.py").write_text(
        "import random, sys\n"
        "from openai import OpenAI\n"
        "MODEL = 'gpt-4o'\n"
        "text = sys.stdin.readline() + str(random.random())\n"
        'said = [{"role": "user", "content": text}]\n'
        f"answer = {call.format('OpenAI().chat.completions.create(model=MODEL, messages=said)')}\n"
        "print(answer.choices[0].message.content, sys.stdin.readline(), random.random())\n"
    )
    with ModelServer(random_answers=True) as server:
        made = subprocess.run(
            [sys.executable, "-m", "lctl", "run", "-o", "asking.lctl.json", "asking.py"],
            cwd=tmp_path,
            env={**os.environ, **server.environ},
            input="first\nsecond\n",
            capture_output=True,
            text=True,
        )
    assert made.returncode == 0, made.stderr
    recorded = open_log(tmp_path / "asking.lctl.json")
    seq = next(event.seq for event in recorded.events() if event.type == "exchange")
    again = subprocess.run(
        [sys.executable, "-m", "lctl", "rerun", "asking.lctl.json", "--to", str(seq), "--pdb"],
        cwd=tmp_path,
        env={k: v for k, v in os.environ.items() if not k.startswith("OPENAI")},
        input="p text[:5]\np random.random() < 2\np sys.stdin is None\nc\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert again.returncode == 0, (again.stdout, again.stderr)
    assert "'first'" in again.stdout
    assert "log equal, output equal" in again.stderr
    assert again.stdout.endswith(made.stdout)


def test_what_is_asked_in_a_tool_and_beside_it(tmp_path: Path) -> None:
    """A served tool does not ask; what was piped in for it is not the program's next line. `input` may be
    what a thread runs itself (AutoGen's `input_func`)."""
    (tmp_path / "asking.py").write_text(
        "import asyncio, lctl, sys\n"
        "from openai import OpenAI\n"
        "@lctl.tool\n"
        "def ask(question): return input(question)\n"
        "print(ask('name? '), asyncio.run(asyncio.to_thread(input, 'more? ')), ask('and? '))\n"
        'said = [{"role": "user", "content": input()}]\n'
        'answer = OpenAI().chat.completions.create(model="gpt-4o", messages=said)\n'
        "print(answer.choices[0].message.content, [line.strip() for line in sys.stdin])\n"
    )
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "LCTL"))}
    with ModelServer(random_answers=True) as server:
        made = subprocess.run(
            [sys.executable, "-m", "lctl", "run", "-o", "asking.lctl.json", "asking.py"],
            cwd=tmp_path,
            env={**clean, **server.environ},
            input="Ada\nyes\nno\nhello\nfirst\nlast\n",
            capture_output=True,
            text=True,
        )
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("name? more? and? Ada yes no\n")
    assert made.stdout.endswith("['first', 'last']\n")
    again = subprocess.run(
        [sys.executable, "-m", "lctl", "rerun", "asking.lctl.json"],
        cwd=tmp_path,
        env=clean,
        input="",
        capture_output=True,
        text=True,
    )
    assert again.returncode == 0, again.stderr
    assert again.stdout == made.stdout
    assert "log equal, output equal" in again.stderr


def test_output_that_is_missing_is_told(lctl: Run, tmp_path: Path) -> None:
    """Also where libraries say something at the end, in its place."""
    noisy = (
        "import logging\nfrom openai import OpenAI\nlogging.basicConfig(level=logging.INFO)\n"
        'said = [{"role": "user", "content": "hello"}]\n'
        'answer = OpenAI().chat.completions.create(model="gpt-4o", messages=said)\n'
    )
    (tmp_path / "agent.py").write_text(noisy + "print(answer.choices[0].message.content)\n")
    with ModelServer(random_answers=True) as server:
        first = lctl("run", "-o", "run.lctl.json", "agent.py", **server.environ)
    assert first.stdout
    (tmp_path / "agent.py").write_text(noisy)
    again = lctl("rerun", "run.lctl.json")
    assert again.returncode == 1, again.stderr
    assert "output of main was recorded and did not happen" in again.stderr


def test_what_libraries_log_with_the_time_does_not_count(lctl: Run, tmp_path: Path) -> None:
    """httpx tells of each request; a client that was not closed complains when it is thrown away."""
    program = (
        "import logging, sys\nlogging.basicConfig(format='%(asctime)s %(message)s', level=logging.INFO)\n"
    )
    (tmp_path / "agent.py").write_text(program + PROGRAM + "print('mine', file=sys.stderr)\n")
    with ModelServer(random_answers=True) as server:
        first = lctl("run", "-o", "run.lctl.json", "agent.py", **server.environ)
    assert "HTTP Request: POST" in first.stderr
    again = lctl("rerun", "run.lctl.json", "-o", "again.lctl.json")
    assert again.returncode == 0, again.stderr
    assert "libraries wrote something else to stderr (not counted): line 1: '20" in again.stderr
    lines = [list(open_log(tmp_path / name).lines()) for name in ("run.lctl.json", "again.lctl.json")]
    assert lines[0] == lines[1]
    (tmp_path / "agent.py").write_text(program + PROGRAM + "print('other', file=sys.stderr)\n")
    changed = lctl("rerun", "run.lctl.json")
    assert changed.returncode == 1
    assert "the output is not the recorded one" in changed.stderr


def test_the_new_log_is_named_as_who_asked_finds_it(lctl: Run, recorded: str, tmp_path: Path) -> None:
    """Also from another folder than the program's, which keeps it among its own runs."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "LCTL"))}
    command = [sys.executable, "-m", "lctl", "rerun", "../run.lctl.json"]
    for folder, options in ((elsewhere, ["--json"]), (elsewhere, []), (tmp_path, [])):
        command[-1] = "run.lctl.json" if folder == tmp_path else "../run.lctl.json"
        done = subprocess.run(
            [*command, *options], cwd=folder, env=clean, capture_output=True, text=True, check=True
        )
        named = json.loads(done.stdout)["log"] if options else done.stderr.splitlines()[-1].strip()
        assert len(open_log(folder / named)) == len(open_log(tmp_path / "run.lctl.json")), named
        assert Path(named).is_absolute() == (folder == elsewhere)


def test_a_file_that_the_recording_wrote_is_named_where_its_rerun_differs(
    twice: Twice, lctl: Run, tmp_path: Path
) -> None:
    """The second run finds the first one's answers in it, if files are as they are now; and what nobody has
    written is not named."""
    (tmp_path / "settings.json").write_text("{}")
    os.utime(tmp_path / "settings.json", (1, 1))
    twice("""
import json, pathlib, time
json.loads(pathlib.Path("settings.json").read_text())
kept = pathlib.Path("kept.json")
if not kept.exists():
    kept.write_text(json.dumps(time.time()))
print(json.loads(kept.read_text()))
""")
    said = "\n  opened, and written since the recording began: kept.json (not on the tape: "
    again = lctl("rerun", "run.lctl.json", "--files", "now")
    assert again.returncode == 1
    assert said in again.stderr
    assert said in lctl("fork", "run.lctl.json", "--at", "6", "--files", "now").stderr


def test_a_program_that_goes_through_all_of_the_environment_again_finds_the_same(
    lctl: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rerun has folders of its own for temporary files, which it names there."""
    for name in ("TMPDIR", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    program = (
        "import os\nfirst = dict(os.environ)\nfor _ in range(3):\n    print(dict(os.environ) == first)\n"
    )
    (tmp_path / "agent.py").write_text(program)
    assert lctl("run", "-o", "run.lctl.json", "agent.py").stdout == "True\n" * 3
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, "True\n" * 3), again.stderr
