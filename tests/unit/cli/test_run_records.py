"""`lctl run` end to end: real HTTP, real file. (Of the SDKs: tests/integrations.)"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import orjson
import pytest

from lctl.codec import open_log
from lctl.kinship import link_to
from lctl.testing import ModelServer
from tests.unit.cli.conftest import process

AGENT = """
import json, subprocess, sys
from urllib.request import Request, urlopen
from lctl.testing import ModelServer
with ModelServer(1) as server:
    headers = {"authorization": "Bearer sk-secret-of-mine-0123456789abcdef"}
    headers["content-type"] = "application/json"
    prompt = {"role": "user", "content": sys.argv[1]}
    asked = json.dumps({"model": "gpt-4o-mini", "messages": [prompt]}).encode()
    urlopen(Request(server.openai_url + "/chat/completions", asked, headers)).close()
    for word in sys.argv[2:]:
        subprocess.run([sys.executable, __file__, word], check=True)
"""


@pytest.fixture
def agent(place: Path) -> Path:
    path = place / "agent.py"
    path.write_text(AGENT)
    return path


def recorded(folder: Path) -> list[Path]:
    return sorted((folder / ".lctl").glob("*.lctl.json"))


def test_a_script(agent: Path) -> None:
    """One line at exit says how many events there are, where, and what to type."""
    got = process("run", "agent.py", "hello", cwd=agent.parent)
    (path,) = recorded(agent.parent)
    log = open_log(path)
    assert (got.code, got.out) == (0, "")
    assert got.err == f"lctl: {len(log)} events in .lctl/{path.name}  (lctl replay last)\n"
    assert log.chain["name"] == "agent"
    assert [e.data["content"] for e in log.events() if e.data.get("role") == "user"] == ["hello"]
    assert not log.open


def test_children_have_chains_of_their_own(agent: Path) -> None:
    """A child's run is linked to its parent's; only the parent says its line; nothing is written twice."""
    got = process(
        "run", "--chain", "mine", "-o", "out/run.lctl.json", "agent.py", "one", "two", cwd=agent.parent
    )
    assert got.err.count("lctl: ") == 1
    assert "(lctl replay out/run.lctl.json)" in got.err
    parent = open_log(agent.parent / "out/run.lctl.json")
    (path,) = set((agent.parent / "out").glob("*.lctl.json")) - {agent.parent / "out/run.lctl.json"}
    child = open_log(path)
    assert parent.id == "mine"
    assert child.id.startswith("agent-")
    # The second thing the program started: a process, after the thread of its model server.
    assert child.chain["parent"] == {**link_to(parent.chain, "mine", parent.last_seq), "lane": "0.2"}
    said = [
        e.data["content"] for log in (parent, child) for e in log.events() if e.data.get("role") == "user"
    ]
    assert said == ["one", "two"]


def test_a_command_of_two_programs(agent: Path) -> None:
    """Of several programs a command starts, the first to record gets the output file, the next its own
    beside it."""
    command = f"{sys.executable} agent.py one; {sys.executable} agent.py two"
    got = process("run", "-o", "run.lctl.json", "--", "sh", "-c", command, cwd=agent.parent)
    assert got.code == 0
    assert len(list(agent.parent.glob("*.lctl.json"))) == 2 and not (agent.parent / ".lctl").exists()
    assert [
        e.data["content"] for e in open_log("run.lctl.json").events() if e.data.get("role") == "user"
    ] == ["one"]


def test_options(agent: Path) -> None:
    """--no-redact keeps what is otherwise taken out; --durability reaches the writer."""
    agent.write_text(AGENT.replace("sys.argv[1]}", '"my key is sk-secret-of-mine-0123456789abcdef"}'))
    process("run", "-o", "safe.lctl.json", "agent.py", "x", cwd=agent.parent)
    process(
        "run",
        "--no-redact",
        "--durability",
        "buffered",
        "-o",
        "raw.lctl.json",
        "agent.py",
        "x",
        cwd=agent.parent,
    )
    assert b"sk-secret-of-mine" not in (agent.parent / "safe.lctl.json").read_bytes()
    assert b"my key is sk-secret-of-mine" in (agent.parent / "raw.lctl.json").read_bytes()


@pytest.mark.slow
def test_everything_else_on_demand(agent: Path) -> None:
    """--record full also keeps exchanges that are no model calls; otherwise they are counted for doctor."""
    with ModelServer(1) as other:  # of another process: what the program's own one answers is no exchange
        asked = f'    urlopen("{other.openai_url}/other").close()\n'
        asked += '    urlopen(server.openai_url + "/other").close()'
        agent.write_text(AGENT.replace("    for word", f"{asked}\n    for word"))
        process("run", "-o", "full.lctl.json", "--record", "full", "agent.py", "x", cwd=agent.parent)
        process("run", "-o", "calls.lctl.json", "--record", "calls", "agent.py", "x", cwd=agent.parent)
    assert [e.data["kind"] for e in open_log(agent.parent / "full.lctl.json").events() if "kind" in e.data][
        -1
    ] == "http"
    report = orjson.loads(process("doctor", "--no-import", "--json", "calls.lctl.json", cwd=agent.parent).out)
    assert report["run"]["other_traffic"] == {"127.0.0.1": 1}
    assert report["run"]["missed"] == []


def test_a_program_that_opens_sessions_of_its_own(place: Path) -> None:
    """What `lctl run` was asked for is said: where the log is. Nothing more for a program run by itself."""
    (place / "own.py").write_text(
        "import lctl, sys\n"
        "for n in range(int(sys.argv[1])):\n"
        "    with lctl.LCTLSession(f'own{n}', f'own{n}.lctl.json') as session:\n"
        "        session.add_fact('F1', 'x', 0.5)\n"
    )
    one, two = (process("run", "own.py", n, cwd=place) for n in ("1", "2"))
    assert one.err.splitlines() == ["lctl: 2 events in own0.lctl.json  (lctl replay own0.lctl.json)"]
    assert two.err.splitlines() == [
        "lctl: 2 events in own1.lctl.json  (lctl replay own1.lctl.json)",
        "lctl: and 1 before it",
    ]


def test_a_program_that_dies_while_others_work_on_has_not_ended_well(place: Path) -> None:
    """Its failure is told by the step that it left; a thread's step ended after that."""
    (place / "dies.py").write_text(
        "import lctl, threading\n"
        "failed = threading.Event()\n"
        "def audit():\n"
        "    failed.wait()\n"
        "    with lctl.traced_step('auditor', 'audit'):\n"
        "        pass\n"
        "auditor = threading.Thread(target=audit)\n"
        "auditor.start()\n"
        "try:\n"
        "    with lctl.traced_step('loader', 'load'):\n"
        "        raise ValueError('gone')\n"
        "finally:\n"
        "    failed.set()\n"
        "    auditor.join()\n"
    )
    assert process("run", "dies.py", cwd=place).code == 1
    log = open_log(recorded(place)[0])
    assert log.tail is not None
    assert [log.tail["summary"][key] for key in ("errors", "outcome")] == [1, "error"]


def test_nothing_to_record(place: Path) -> None:
    """A program without model calls leaves no file, and one line says so."""
    (place / "idle.py").write_text("print('done')")
    got = process("run", "idle.py", cwd=place)
    assert got.out == "done\n"
    assert got.err.startswith("lctl: nothing was recorded")
    assert process("run", "idle.py", cwd=place, LCTL_QUIET="1").err == ""
    assert not (place / ".lctl").exists()


def test_a_log_that_cannot_be_opened_is_all_that_is_said(place: Path) -> None:
    """Not also that no call was seen."""
    (place / "agent.py").write_text("import lctl\nlctl.get_session()\nprint('done')")
    (place / "file").touch()
    got = process("run", "agent.py", cwd=place, LCTL_DIR=str(place / "file"), LCTL_STRICT="")
    assert got.out == "done\n"
    assert got.err.startswith("lctl: could not record this program") and got.err.count("lctl:") == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_log_that_is_no_longer_there_is_not_said_to_be(place: Path) -> None:
    (place / "agent.py").write_text(
        "import shutil\nfrom lctl import get_session\nget_session().step_start('plan', 'think')\n"
        "shutil.rmtree('.lctl')\n"
    )
    got = process("run", "agent.py", cwd=place)
    assert (got.code, got.out) == (0, "")
    assert got.err.startswith("lctl: .lctl/") and got.err.count("lctl: ") == 1
    assert got.err.endswith(".lctl.json was removed while the program ran: 3 events lost\n")
    assert not (place / ".lctl").exists()


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("os.unlink(path)", "was removed while the program ran: {} events lost"),
        ("os.unlink(path); open(path, 'w').close()", "was removed while the program ran: {} events lost"),
        ("os.rename(path, 'b.lctl.json')", "was moved while the program ran, with its {} events"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="no open file can be removed")
def test_a_log_of_the_program_s_own_session_that_goes_astray(place: Path, does: str, said: str) -> None:
    """What was lost is said, also without `lctl run` (whose logs begin with what was read of chance)."""
    (place / "agent.py").write_text(
        "import os\nfrom lctl import LCTLSession\npath = 'a.lctl.json'\n"
        f"with LCTLSession('mine', path) as session:\n    session.step_start('plan', 'think')\n    {does}\n"
    )
    for before, events in (((), 2), (("-m", "lctl", "run"), 3)):
        got = subprocess.run(
            [sys.executable, *before, "agent.py"], cwd=place, capture_output=True, text=True, check=True
        )
        assert (got.stdout, got.stderr) == ("", f"lctl: a.lctl.json {said.format(events)}\n")
        for left in place.glob("*.lctl.json"):
            left.unlink()


def test_what_forked_processes_recorded_is_not_nothing(place: Path) -> None:
    """As of a server whose workers alone ask models."""
    (place / "agent.py").write_text(
        "import os, sys\npid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\n    sys.exit()\n"
        "import lctl\nlctl.get_session().emit('fact_added', {'id': 'F', 'text': 'x'})"
    )
    got = process("run", "--record", "calls", "agent.py", cwd=place)
    (log,) = (place / ".lctl").iterdir()
    assert got.err == f"lctl: 1 event in .lctl/{log.name}  (lctl replay last)\n"


def test_a_process_is_forked_while_threads_print(place: Path) -> None:
    """It prints, too, whoever was printing at that moment, and before anything is recorded."""
    (place / "agent.py").write_text(
        "import os, threading\ndone = threading.Event()\n"
        "def chat():\n    while not done.is_set():\n        print('.' * 100, flush=True)\n"
        "threads = [threading.Thread(target=chat) for _ in range(3)]\n"
        "for thread in threads:\n    thread.start()\n"
        "for _ in range(40):\n"
        "    pid = os.fork()\n"
        "    if not pid:\n        print('child', flush=True)\n        os._exit(0)\n"
        "    os.waitpid(pid, 0)\n"
        "done.set()\n"
    )
    got = process("run", "--", sys.executable, "-W", "ignore", "agent.py", cwd=place)
    assert (got.code, got.out.count("child")) == (0, 40)


@pytest.mark.parametrize("option", ["-I", "-uE", "-S"])
def test_a_python_that_cannot_be_recorded(option: str, place: Path) -> None:
    """It runs, and one line says so."""
    got = process("run", "--", sys.executable, "-X", "utf8", option, "-c", "print('done')", cwd=place)
    assert got.out == "done\n" and got.code == 0
    assert got.err.startswith(f"lctl: this program is not recorded: {option} keeps {sys.executable}")
    assert got.err.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no exec")
def test_a_program_that_becomes_another_says_where_that_is(place: Path) -> None:
    """The first one cannot any more."""
    (place / "agent.py").write_text(
        "import os, sys, lctl\nlctl.get_session().emit('fact_added', {'id': 'F', 'text': 'x'})\n"
        "if len(sys.argv) == 1:\n    os.execv(sys.executable, [sys.executable, 'agent.py', 'again'])"
    )
    got = process("run", "--record", "calls", "agent.py", cwd=place)
    _, second = sorted((place / ".lctl").glob("*.json"), key=lambda log: log.stat().st_mtime_ns)
    assert got.err == f"lctl: 1 event in .lctl/{second.name}  (lctl replay .lctl/{second.name})\n"


def test_of_rays_processes_its_workers_record(place: Path) -> None:
    """The others log and count, a log of theirs each would hide those of the program's tasks."""
    folder = place / "site-packages" / "ray" / "_private"
    (folder / "workers").mkdir(parents=True)
    scripts = [folder / "log_monitor.py", folder / "workers" / "default_worker.py"]
    for script in scripts:
        script.write_text("import lctl\nif session := lctl.get_session():\n    session.add_fact('F', 'x')\n")
    starting = "".join(f"subprocess.run([sys.executable, '-u', {str(one)!r}])\n" for one in scripts)
    (place / "agent.py").write_text(f"import subprocess, sys\n{starting}")
    got = process("run", "agent.py", cwd=place)
    assert got.code == 0, got.err
    [child] = [path.name for path in recorded(place) if "agent" not in path.name]
    assert "default_worker" in child


def test_a_sub_interpreter_prints_as_ever(place: Path) -> None:
    """It is not recorded: the streams are the first interpreter's."""
    modules = [name for name in ("_interpreters", "_xxsubinterpreters") if find_spec(name)]
    if not modules:
        pytest.skip("this Python has no sub-interpreters")
    (place / "agent.py").write_text(
        f"import {modules[0]} as inner\none = inner.create()\n"
        "inner.run_string(one, 'print(\"inside\")')\ninner.destroy(one)\nprint('outside')"
    )
    got = process("run", "agent.py", cwd=place)
    assert got.out.split() == ["inside", "outside"]
    assert got.err.count("lctl:") == 1


def test_pytest_does_not_warn_of_us(place: Path) -> None:
    """That it finds loaded what is a plugin, too."""
    (place / "test_it.py").write_text("def test_it():\n    assert True")
    (place / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider -p no:randomly\n")
    got = process("run", "--", sys.executable, "-m", "pytest", "-q", "test_it.py", cwd=place)
    assert got.code == 0 and "1 passed in" in got.out and "warning" not in got.out, got.out
