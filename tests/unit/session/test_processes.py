"""Child processes: a chain of their own, linked to their parent's; nothing twice, nothing lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.kinship import link_of, link_to, text_of
from lctl.session import LCTLSession
from lctl.session.concurrency import processes
from tests.warm.starting import python_path


def run(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in the current folder as users do: failures of ours do not raise."""
    kept = {k: v for k, v in os.environ.items() if k not in ("LCTL_STRICT", "LCTL_PARENT")}
    Path("program.py").write_text(code)
    return subprocess.run(
        [sys.executable, "program.py", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**kept, "PYTHONPATH": python_path(*sys.path), **environment},
    )


def load(path: Path) -> dict[str, Any]:
    """A log, closed or still open."""
    text = path.read_text()
    document: dict[str, Any] = json.loads(text if text.endswith("}\n") else text + "]}")
    return document


def agents(document: dict[str, Any]) -> list[str]:
    return [event["agent"] for event in document["events"]]


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@needs_fork
def test_a_fork_waits_for_what_another_thread_imports(folder: Path) -> None:
    """Its child would wait for ever for the lock of that module. Of one that lasts, as it runs the program,
    not each of a thousand forks is half a second late."""
    Path("slow.py").write_text("import time\ntime.sleep(0.2)\nwhole = 7\n")
    Path("lasting.py").write_text("import sys, time\nwhile not sys.argv[1:]:\n    time.sleep(0.01)\n")
    done = run(
        """
import faulthandler, os, sys, threading, time
from lctl.session import LCTLSession; from lctl.session.concurrency import processes
def importing(name):
    thread = threading.Thread(target=__import__, args=(name,))
    thread.start()
    time.sleep(0.05)
    return thread
def forked(work):
    pid = os.fork()
    if pid == 0:
        faulthandler.dump_traceback_later(5, exit=True)
        os._exit(work())
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
with LCTLSession("c", "run.lctl.json"):
    importing("slow")
    print(forked(lambda: __import__("slow").whole))
    thread = importing("lasting")
    for _ in range(3):
        print(forked(int), [name for name, _ in processes._lasting])
    sys.argv.append("over")
    thread.join()
"""
    )
    assert (done.returncode, done.stdout) == (0, "7\n" + "0 ['lasting']\n" * 3), done.stderr


@needs_fork
def test_a_fork_waits_for_what_another_thread_says_on_stderr(folder: Path) -> None:
    """Its child would wait for ever for the lock of the stream."""
    done = run(
        """
import faulthandler, io, os, sys, threading, time
from lctl.guard import guard
from lctl.session import LCTLSession

class Slow(io.RawIOBase):
    def writable(self):
        return True
    def write(self, text):
        time.sleep(0.2)
        return len(text)

faulthandler.enable(sys.__stderr__)
with LCTLSession("c", "run.lctl.json"):
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(Slow()), write_through=True, line_buffering=True)
    thread = threading.Thread(target=guard.failed, args=("a test", ValueError("so")))
    thread.start()
    time.sleep(0.05)
    pid = os.fork()
    if pid == 0:
        faulthandler.dump_traceback_later(5, exit=True, file=sys.__stderr__)
        sys.stderr.write("the child's")
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    thread.join()
"""
    )
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr


@needs_fork
@pytest.mark.parametrize("durability", ["process", "buffered"])
def test_fork(durability: str, folder: Path) -> None:
    """The child's events are in its own log, the parent's in the parent's, none in both."""
    done = run(
        """
import os, sys
from lctl.session import LCTLSession
with LCTLSession("c", "run.lctl.json", durability=sys.argv[1]) as session, session.step("parent"):
    session.emit("t", {"n": 1})
    pids = []
    for child in range(2):
        pid = os.fork()
        if pid == 0:
            with session.step(f"child{child}"):
                session.emit("t", {"n": 2})
            session.close()
            os._exit(0)
        pids.append(pid)
    silent = os.fork()
    if silent == 0:
        os._exit(0)
    for pid in [*pids, silent]:
        assert os.waitpid(pid, 0)[1] == 0
    session.emit("t", {"n": 3})
print(*pids)
""",
        durability,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    pids = done.stdout.split()
    assert sorted(p.name for p in folder.glob("*.json")) == sorted(
        ["run.lctl.json", *(f"run-{pid}.lctl.json" for pid in pids)]
    )
    parent = load(folder / "run.lctl.json")
    assert agents(parent) == ["parent"] * 4
    for n, pid in enumerate(pids):
        child = load(folder / f"run-{pid}.lctl.json")
        assert child["chain"].pop("seed") != parent["chain"]["seed"]
        above = {**link_to(parent["chain"], "c", 2), "lane": f"0.{n + 1}"}
        assert child["chain"] == {"id": f"c-{pid}", "parent": above}
        assert agents(child) == [f"child{n}"] * 3
        assert [e["seq"] for e in child["events"]] == [1, 2, 3]
        assert "step" not in child["events"][0]  # the parent's step 1 is not this chain's
        assert child["hash"]["count"] == 3
    assert list(folder.glob(".*.lock")) == []


@needs_fork
@pytest.mark.slow
def test_a_forked_process_that_leaves_hard_closes_its_log(folder: Path) -> None:
    """As workers of task queues do. From a handler of a signal that came as something was recorded it leaves
    all the same. Of the program itself it is a crash."""
    done = run(
        """
import os, signal
from lctl.session import LCTLSession
session = LCTLSession("c", "run.lctl.json").__enter__()
session.emit("t", {"n": 1})
for how in ("here", "handler"):
    pid = os.fork()
    if pid == 0:
        session.emit("child", {"how": how})
        if how == "handler":
            signal.signal(signal.SIGALRM, lambda *_: os._exit(7))
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            while True:
                session.emit("more", {"text": "x" * 1000})
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
os._exit(9)
"""
    )
    assert (done.returncode, done.stderr) == (9, "")
    assert not (folder / "run.lctl.json").read_text().endswith("}}\n")
    children = [load(path) for path in folder.glob("run-*.lctl.json")]
    by_how = {one["events"][0]["data"]["how"]: one for one in children}
    assert by_how.keys() == {"here", "handler"}
    assert by_how["here"]["summary"]["events"] == by_how["here"]["hash"]["count"] == 1
    assert len(by_how["handler"]["events"]) > 1  # closed, or not where the handler came in the midst of it


@needs_fork
def test_fork_while_threads_record(folder: Path) -> None:
    """A lock another thread holds at the fork hangs nothing in the child."""
    done = run(
        """
import os, threading
from lctl.session import LCTLSession
with LCTLSession("c", "run.lctl.json") as session:
    stop = threading.Event()
    def work():
        while not stop.is_set():
            session.emit("t", {"x": "y" * 200})
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(12):
        pid = os.fork()
        if pid == 0:
            session.emit("child", {})
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    stop.set()
    for thread in threads:
        thread.join()
"""
    )
    assert done.returncode == 0, done.stderr
    logs = [load(path) for path in folder.glob("*.lctl.json")]
    assert len(logs) == 13
    for log in logs:
        assert [e["seq"] for e in log["events"]] == list(range(1, len(log["events"]) + 1))
    assert sum(e["type"] == "child" for log in logs for e in log["events"]) == 12


_WORKERS = """
import multiprocessing, sys
from lctl.session import LCTLSession, get_session

def work(n):
    session = get_session()
    if session is None:
        with LCTLSession(f"worker{n}") as session, session.step(f"worker{n}"):
            session.emit("t", {"n": n})
    else:
        with session.step(f"worker{n}"):
            session.emit("t", {"n": n})

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with LCTLSession("c") as session, session.step("parent"):
        workers = [context.Process(target=work, args=(n,)) for n in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
            assert worker.exitcode == 0
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(method: str, folder: Path) -> None:
    """Forked workers inherit the session, spawned ones learn of it; all their logs are closed."""
    if method == "fork" and not hasattr(os, "fork"):
        pytest.skip("needs fork")
    done = run(_WORKERS, method)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    logs = [load(path) for path in (folder / ".lctl").glob("*.lctl.json")]
    assert len(logs) == 3
    by_agent = {agents(log)[0]: log for log in logs}
    assert agents(by_agent["parent"]) == ["parent"] * 2
    for n in range(2):
        child = by_agent[f"worker{n}"]
        assert agents(child) == [f"worker{n}"] * 3
        assert child["chain"]["parent"]["id"] == "c"
        assert child["hash"]["count"] == 3


def test_a_started_process_is_linked_to_where_it_was_started(session: LCTLSession, folder: Path) -> None:
    """`LCTL_PARENT` names the chain and its newest event; grandchildren name the child."""
    session.emit("t", {})
    session.emit("t", {})
    code = """
import subprocess, sys
from lctl.session import LCTLSession
with LCTLSession(sys.argv[1], sys.argv[1] + ".lctl.json") as session:
    session.emit("t", {})
    if sys.argv[1] == "child":
        subprocess.run([sys.executable, sys.argv[0], "grandchild"], check=True)
"""
    Path("child.py").write_text(code)
    subprocess.run([sys.executable, "child.py", "child"], check=True)
    child, grandchild = (load(folder / f"{name}.lctl.json")["chain"] for name in ("child", "grandchild"))
    assert child["parent"] == {**link_to(session.store.chain, "c", 2), "lane": "0.1"}
    assert grandchild["parent"] == {**link_to(child, "child", 1), "lane": "0.1"}


def test_the_environment_is_left_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions that overlap in any order give back what they found."""
    monkeypatch.setenv(processes.VARIABLE, "outer:7")
    first = LCTLSession("a", "a.lctl.json")
    second = LCTLSession("b", "b.lctl.json")
    told = text_of(link_to(second.store.chain, "b", 0))
    assert os.environ[processes.VARIABLE] == told
    first.close()
    assert os.environ[processes.VARIABLE] == told
    second.close()
    assert os.environ[processes.VARIABLE] == "outer:7"
    assert load(folder / "a.lctl.json")["chain"]["parent"] == {"id": "outer", "seq": 7}


def test_two_processes_record_at_once_into_their_own_files(folder: Path) -> None:
    """Started in the same second with the same program: the names differ."""
    code = """
from lctl.session import LCTLSession
with LCTLSession() as session:
    for n in range(200):
        session.emit("t", {"n": n})
"""
    Path("same.py").write_text(code)
    both = [subprocess.Popen([sys.executable, "same.py"]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    logs = [load(path) for path in (folder / ".lctl").glob("*.lctl.json")]
    assert [len(log["events"]) for log in logs] == [200, 200]


def test_a_child_with_an_older_environment_is_linked_to_the_newest_seq(folder: Path) -> None:
    """An `env` copied when the program began names the seq of then."""
    with LCTLSession("c", "run.lctl.json") as session:
        session.emit("t", {})
        env = {**os.environ, "A": "b"}
        session.emit("t", {})
        told = subprocess.run(
            [sys.executable, "-c", "import os; print(os.environ['LCTL_PARENT'])"],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        link = link_to(session.store.chain, "c", 2)
        assert told.stdout.strip() == text_of({**link, "lane": "0.1"})
        with LCTLSession("inner", "inner.lctl.json") as inner:
            assert inner.parent == link
        assert link_of(env["LCTL_PARENT"]) == {**link, "seq": 0}


def test_an_environment_that_is_read_while_a_session_closes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`dict(os.environ)` in another thread takes the names first, then one value after the other."""
    monkeypatch.delenv("LCTL_PARENT", raising=False)
    with LCTLSession("c", "run.lctl.json") as session:
        session.emit("t", {})
        names = list(os.environ)
    assert "LCTL_PARENT" in names
    assert {name: os.environ[name] for name in names}["LCTL_PARENT"] == ""
    assert processes.parent() is None


@needs_fork
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_a_worker_closes_the_log_that_it_opened_itself(method: str, folder: Path) -> None:
    """Though its parent records nothing, and multiprocessing's workers leave without exit functions."""
    done = run(
        """
import multiprocessing, sys
from lctl.session import default, get_session
default.enable()

def work():
    get_session().emit("t", {})

if __name__ == "__main__":
    child = multiprocessing.get_context(sys.argv[1]).Process(target=work)
    child.start()
    child.join()
    print(child.exitcode)
""",
        method,
    )
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    (log,) = (folder / ".lctl").iterdir()
    assert json.loads(log.read_text())["hash"]["count"] == 1
    assert done.stderr == f"lctl: 1 event in .lctl/{log.name}  (lctl replay last)\n"
