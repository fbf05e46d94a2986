"""Times that libraries read and the program prints, and what the bodies of tools read often."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from tests.unit.rerun.commands import Run, Twice

pytestmark = [pytest.mark.slow, pytest.mark.interpreter]


def _sources(folder: Path) -> list[str]:
    return [e.data["source"] for e in open_log(folder / "run.lctl.json").events() if e.type == "ambient"]


def test_a_tool_that_reads_the_clock_often(twice: Twice) -> None:
    """Its reads are gathered, and are of its call, which is served."""
    recorded, again = twice("""
import threading, time
import lctl

@lctl.tool
def wait(count: int) -> float:
    def look():
        for _ in range(count):
            time.time()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    look()
    return time.time()

for count in (3, 20, 700):
    print(wait(count), time.time())
""")
    assert again.stdout == recorded.stdout
    assert "unused" not in again.stderr
    assert "log equal, output equal" in again.stderr, again.stderr


LOGS = """
import asyncio, logging, sys, time
import lctl
logging.basicConfig(stream={stream}, level=logging.DEBUG, format={form!r})

@lctl.tool
def nap() -> None:
    asyncio.run(asyncio.sleep(0))

asyncio.run(asyncio.sleep(0))
nap()
logging.info("own")
asyncio.run(asyncio.sleep(0))
print(time.time())
"""


def test_the_time_of_a_library_s_log_line_on_standard_output(twice: Twice, tmp_path: Path) -> None:
    recorded, again = twice(
        LOGS.format(stream="sys.stdout", form="%(created)f %(asctime)s %(name)s %(message)s")
    )
    assert recorded.stdout.count(" asyncio Using selector") == 3
    assert again.stdout == recorded.stdout
    assert "log equal, output equal" in again.stderr, again.stderr
    events = [event.data for event in open_log(tmp_path / "run.lctl.json").events()]
    assert sum(len(data["steps"]) for data in events if data.get("source") == "log") == 3


@pytest.mark.parametrize(
    ("stream", "form"), [("sys.stdout", "%(name)s %(message)s"), ("sys.stderr", "%(asctime)s %(message)s")]
)
def test_a_time_that_is_not_shown_is_not_recorded(
    stream: str, form: str, twice: Twice, tmp_path: Path
) -> None:
    recorded, again = twice(LOGS.format(stream=stream, form=form))
    assert again.stdout == recorded.stdout
    assert "log equal, output equal" in again.stderr, again.stderr
    assert "log" not in _sources(tmp_path)


def test_a_rerun_need_not_have_the_same_lines(twice: Twice, tmp_path: Path) -> None:
    """A line that is not said again is passed over; the program's own reads are as they were."""
    recorded, again = twice("""
import asyncio, logging, os, pathlib, sys, time
logging.basicConfig(stream=sys.stdout, level=logging.DEBUG, format="%(asctime)s %(name)s")
if not os.access("again", os.F_OK):
    asyncio.run(asyncio.sleep(0))
    logging.disable(logging.DEBUG)
    pathlib.Path("again").mkdir()
asyncio.run(asyncio.sleep(0))
print(time.time())
""")
    assert "rerun stopped" not in again.stderr
    assert "Using selector" not in again.stdout.splitlines()[-1]
    assert again.stdout.splitlines()[-1] == recorded.stdout.splitlines()[-1]


def test_what_is_logged_as_the_interpreter_ends(twice: Twice, tmp_path: Path) -> None:
    """Modules are known by no name then, and objects that go with it say so."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "somebody.py").write_text(
        'import logging\ndef say(word, log=logging.getLogger("somebody")): log.warning(word)\n'
    )
    recorded, again = twice("""
import sys, time
sys.path.insert(0, "site-packages")
import logging, somebody
logging.basicConfig(format="%(message)s")
print(time.time())
del sys.modules["logging"]
somebody.say("goes")
sys.modules["logging"] = logging
""")
    assert "goes" in recorded.stderr
    assert "goes" in again.stderr


@pytest.mark.skipif(importlib.util.find_spec("rich") is None, reason="rich is not installed")
def test_what_a_console_of_rich_logs(twice: Twice) -> None:
    recorded, again = twice("""
from rich.console import Console
import lctl
console = Console(log_time_format="[%X.%f]")

@lctl.tool
def look() -> int:
    console.log("looking")
    return 1

console.log("begins")
console.log("found", look())
""")
    assert recorded.stdout.count("agent.py:") == 3
    assert again.stdout == recorded.stdout
    assert "log equal, output equal" in again.stderr, again.stderr


STAMPED = """
import sys
sys.path.insert(0, "site-packages")
from autogen_agentchat.messages import Message
from threading import Thread

print(Message(), Message())
made = []
threads = [Thread(target=lambda: made.append(Message())) for _ in range(4)]
for thread in threads:
    thread.start()
    thread.join()
print(made)
"""

_MESSAGES = """
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone

@dataclass
class Message:
    created_at: datetime = field(default_factory=lambda: datetime.now(timezone.utc))
    seconds: float = field(default_factory=lambda: time.time())
    nanoseconds: int = field(default_factory=lambda: time.time_ns())
"""


def test_times_that_frameworks_put_into_what_they_give(twice: Twice, tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "autogen_agentchat"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "messages.py").write_text(_MESSAGES)
    recorded, again = twice(STAMPED)
    assert again.stdout == recorded.stdout
    assert "log equal, output equal" in again.stderr, again.stderr
    assert set(_sources(tmp_path)) == {"seed", "log"}


_TASK_RUN = """
import time

def timed(function):
    began, at = time.perf_counter(), time.perf_counter_ns()
    function()
    return time.perf_counter() - began, time.perf_counter_ns() - at
"""


def evaluating(folder: Path, program: str) -> str:
    """A program that has a library for evaluations say how long something took."""
    package = folder / "site-packages" / "pydantic_evals"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "_task_run.py").write_text(_TASK_RUN)
    return (
        'import sys\nsys.path.insert(0, "site-packages")\n'
        f"from pydantic_evals._task_run import timed\n{program}"
    )


def test_how_long_evaluations_took(twice: Twice, tmp_path: Path) -> None:
    recorded, again = twice(evaluating(tmp_path, "print(timed(lambda: sum(range(10**6))), timed(list))"))
    assert again.stdout == recorded.stdout
    assert "log equal, output equal" in again.stderr, again.stderr


RECORDS = """
import sys
sys.path.insert(0, "site-packages")
from crewai.memory.types import remember
print(remember(), remember())
"""

_RECORDS = """
from datetime import datetime
from pydantic import BaseModel, Field

class Record(BaseModel):
    created_at: datetime = Field(default_factory=datetime.utcnow)

def remember():
    return Record()
"""


def test_times_that_pydantic_reads_for_them(twice: Twice, tmp_path: Path) -> None:
    """As the default of a field: what makes the object is the framework's own."""
    package = tmp_path / "site-packages" / "crewai" / "memory"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "types.py").write_text(_RECORDS)
    recorded, again = twice(RECORDS)
    assert again.stdout == recorded.stdout
    assert "log equal, output equal" in again.stderr, again.stderr
    assert set(_sources(tmp_path)) == {"seed", "log"}


def test_jobs_of_schedule_are_due_when_they_were(twice: Twice) -> None:
    """By the world's clock, and with sleeps that take no time, its loop turned some 160,000 times."""
    pytest.importorskip("schedule", reason="needs: pip install schedule")
    recorded, again = twice("""
import time
import schedule

def job():
    print("job", len(done))
    done.append(time.time())
    return schedule.CancelJob if len(done) == 2 else None

done = []
schedule.every(1).seconds.do(job)
while schedule.get_jobs():
    schedule.run_pending()
    time.sleep(0.2)
print(*done)
""")
    assert again.stdout == recorded.stdout
    assert "log equal, output equal" in again.stderr, again.stderr


@pytest.mark.parametrize(
    "style", ["%(process)d:%(thread)d %(name)s %(message)s", "{process}:{thread} {name}"]
)
def test_numbers_of_threads_and_processes_in_log_lines(style: str, twice: Twice) -> None:
    """The program's own lines, a library's, and what a thread says of itself."""
    recorded, again = twice(f"""
import asyncio, logging, os, sys, threading, time
sign = "%" if "%" in {style!r} else "{{"
logging.basicConfig(stream=sys.stdout, level=logging.DEBUG, format={style!r}, style=sign)
log = logging.getLogger("app")

def work():
    log.info("own")
    asyncio.run(asyncio.sleep(0))
    print(threading.current_thread(), threading.main_thread())
    assert threading.get_ident() == threading.current_thread().ident

for n in range(3):
    thread = threading.Thread(target=work, daemon=n == 1)
    thread.start()
    thread.join()
    print(thread, os.getpid())
""")
    assert again.stdout.splitlines()[0] == recorded.stdout.splitlines()[0]
    assert "log equal, output equal" in again.stderr, again.stderr


def test_how_long_a_line_took_in_ipython(lctl: Run, tmp_path: Path) -> None:
    """Its history is a database in the user's folder, which a rerun does not touch."""
    pytest.importorskip("IPython", reason="needs: pip install ipython")
    (tmp_path / "agent.ipy").write_text("import time\n%time time.sleep(0.2)\nprint(time.time())\n")
    ipython = (sys.executable, "-m", "IPython", "--HistoryManager.enabled=False", "agent.ipy")
    recorded = lctl("run", "-o", "run.lctl.json", "--", *ipython)
    assert recorded.returncode == 0, recorded.stderr
    assert "Wall time" in recorded.stdout
    again = lctl("rerun", "run.lctl.json")
    assert again.stdout == recorded.stdout
    assert "log equal, output equal" in again.stderr, again.stderr


@pytest.mark.skipif(importlib.util.find_spec("loguru") is None, reason="loguru is not here")
def test_what_loguru_says_of_a_line(twice: Twice) -> None:
    """Its time, how long the program has run, the numbers of process and thread."""
    recorded, again = twice("""
import sys, threading
from loguru import logger

logger.remove()
form = "{time:HH:mm:ss.SSSSSS} {elapsed} {process.id} {thread.id} {thread.name} {message}"
logger.add(sys.stdout, format=form)
logger.info("first")
other = threading.Thread(target=logger.info, args=("in a thread",), name="other")
other.start()
other.join()
""")
    assert recorded.stdout.count("\n") == 2 and " other in a thread" in recorded.stdout
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "log equal, output equal" in again.stderr


def test_dates_and_ids_of_mails_that_the_program_writes(twice: Twice) -> None:
    """`email.utils` reads clock, chance, process and host for its caller; and how full a disk is."""
    recorded, again = twice("""
import os
from email.utils import formatdate, localtime, make_msgid

print(formatdate(), formatdate(localtime=True), localtime())
print(make_msgid(), make_msgid("a", domain="here"))
print(os.statvfs("."), os.statvfs(".").f_bavail)
""")
    assert recorded.stdout.count("@") == 2
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "log equal, output equal" in again.stderr
