"""What libraries do for themselves is no hindrance to a rerun."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.testing import ModelServer
from tests.unit.rerun.commands import ASKING, Run, Twice
from tests.warm.starting import warmth

pytestmark = [pytest.mark.slow, pytest.mark.interpreter]

_NEWS = """\
import os
os.environ["https_proxy"] = "http://127.0.0.1:9"  # no network, here too
import urllib.request
import lctl
lctl.auto_instrument()

@lctl.tool
def look():
    return 1

look()
for url in ("https://pypi.org/pypi/crewai/json", "https://raw.githubusercontent.com/BerriAI/litellm/main/prices.json"):
    try:
        urllib.request.urlopen(url, timeout=5)
    except OSError:
        print("no news", look())
"""

_IDS = """\
import sys
sys.path.insert(0, "site-packages")
import uuid
import crewai, litellm
print(crewai.Crew().id, crewai.made().id, crewai.drawn(), uuid.uuid4())
print(crewai.made().copied().id, *litellm.calls())
"""

_FRAMEWORK = """\
import uuid
from pydantic import BaseModel, Field

class Crew(BaseModel):
    id: uuid.UUID = Field(default_factory=uuid.uuid4)
    def copied(self):
        return Crew()

def made():
    return Crew()

def drawn():
    return uuid.uuid4()
"""

_CALLS = """\
import fastuuid

def calls():
    made = fastuuid.uuid4()
    assert type(made) is fastuuid.UUID
    return f"call_{made.hex[:28]}", fastuuid.uuid4()
"""

_FASTUUID = """\
import os

class UUID:
    def __init__(self, hex=None, int=None):
        self.hex = hex or f"{int:032x}"
    def __str__(self):
        return self.hex

def uuid4():
    return UUID(os.urandom(16).hex())
"""


def _lctl(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("LCTL", "PYTHON"))} | warmth()
    command = [sys.executable, *words]
    environ["LCTL_DIR"] = str(folder / "logs")
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=60)


def test_a_look_for_a_newer_version_does_not_stop_a_rerun_of_what_holds_model_calls(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(_NEWS)
    recorded = _lctl(tmp_path, "agent.py")
    assert recorded.stdout == "no news 1\n" * 2, recorded.stderr
    (log,) = (tmp_path / "logs").glob("*.lctl.json")
    again = _lctl(tmp_path, "-m", "lctl", "rerun", str(log))
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "lctl: rerun exact" in again.stderr


def test_ids_that_models_of_frameworks_draw_by_default_are_the_same_again(tmp_path: Path) -> None:
    pytest.importorskip("pydantic")
    (tmp_path / "agent.py").write_text(_IDS)
    package = tmp_path / "site-packages" / "crewai"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(_FRAMEWORK)
    (tmp_path / "site-packages" / "litellm.py").write_text(_CALLS)
    (tmp_path / "site-packages" / "fastuuid.py").write_text(_FASTUUID)
    recorded = _lctl(tmp_path, "-m", "lctl", "run", "-o", "run.lctl.json", "agent.py")
    again = _lctl(tmp_path, "-m", "lctl", "rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "output equal" in again.stderr
    ids = recorded.stdout.split()
    assert len(set(ids)) == len(ids) == 7


_MEMORY = """\
import uuid

class Memory:
    def __init__(self):
        self.rows = {}
    def add(self, text):
        self.rows[str(uuid.uuid4())] = text
        return list(self.rows)[-1]
"""

_REMEMBERS = f"""
import sys
sys.path.insert(0, "site-packages")
{ASKING}
import threading
import somestore
memory = somestore.Memory()
print(memory.add("one"))
print(answer([{{"role": "user", "content": "hello"}}]))
thread = threading.Thread(target=lambda: print(memory.add("two")))
thread.start()
thread.join()
print(memory.add("three"))
"""


def test_ids_of_any_library_are_the_same_again_and_new_behind_a_fork_point(
    twice: Twice, lctl: Run, server: ModelServer, tmp_path: Path
) -> None:
    """What a library makes in the world needs another id than the recorded run's."""
    package = tmp_path / "site-packages"
    package.mkdir()
    (package / "somestore.py").write_text(_MEMORY)
    recorded, again = twice(_REMEMBERS)
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    ids = recorded.stdout.splitlines()
    assert len({*ids}) == len(ids) == 4, ids
    forked = lctl("fork", "run.lctl.json", "--at", "1", "--all-live").stdout.splitlines()
    assert len({*forked}) == 4 and forked[0] == ids[0], (forked, ids)  # before the first live call
    assert not {*forked[2:]} & {*ids}, (forked, ids)


_NAMING = """
import nanoid, shortuuid
print(nanoid.generate(), nanoid.generate("abc", 9), shortuuid.uuid(), shortuuid.random(length=8))
"""


def test_what_libraries_that_make_ids_draw_the_program_draws(twice: Twice) -> None:
    pytest.importorskip("nanoid")
    pytest.importorskip("shortuuid")
    recorded, again = twice(_NAMING)
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


_TRACKER = """\
import subprocess

def look():
    return subprocess.run(["uname", "-s"], capture_output=True, text=True).stdout

def make():
    subprocess.run(["touch", "made"])
"""


@pytest.mark.parametrize(
    ("more", "refused"),
    [("", False), ("tracker.make()", True), ("import subprocess; subprocess.run(['uname', '-s'])", False)],
)
def test_commands_by_which_a_library_looks_around(
    more: str, refused: bool, twice: Twice, tmp_path: Path
) -> None:
    """They are started, and no others of the library; those of the program's own code are on the tape."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "tracker.py").write_text(_TRACKER)
    recorded, again = twice(
        "import sys, lctl\nsys.path.insert(0, 'site-packages')\nimport tracker\n"
        f"print(tracker.look())\nlctl.tool(len)([])\n{more}\n"
    )
    assert again.stdout.splitlines()[0] == recorded.stdout.splitlines()[0]
    assert again.returncode == (1 if refused else 0), again.stderr
    assert ("is refused" in again.stderr) is refused


_UPLOAD = """\
import requests

def send():
    try:
        requests.post("https://api.segment.io/v1/batch", json={}, proxies={"https": "http://127.0.0.1:9"})
    except requests.exceptions.ProxyError:  # not so in a rerun, which answers uploads of telemetry
        pass
"""


def test_no_tunnel_is_made_for_what_is_not_sent(twice: Twice, tmp_path: Path) -> None:
    """urllib3 connects to a proxy before it makes the request, which a rerun answers."""
    pytest.importorskip("requests")
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "analytics.py").write_text(_UPLOAD)
    recorded, again = twice(
        "import sys, lctl\nsys.path.insert(0, 'site-packages')\nimport analytics\n"
        "lctl.tool(len)([])\nanalytics.send()\nprint('done')\n"
    )
    assert again.stdout == recorded.stdout == "done\n"
    assert "blocked" not in again.stderr
    assert "log equal" in again.stderr


_DRAWING = """\
import random, time

def draw(wait=0.0):
    time.sleep(wait)
    return random.getrandbits(64)
"""

_DRAWN = """\
import sys, threading, time, lctl
sys.path.insert(0, "site-packages")
import drawing

@lctl.tool
def look():
    return drawing.draw()

looked = [drawing.draw(), look(), drawing.draw()]
drawn = {}

def beside(n):
    drawn[n] = drawing.draw(0.02 * (time.time_ns() // 1000 % 7))

threads = [threading.Thread(target=beside, args=(n,)) for n in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
print(*looked, *(drawn[n] for n in range(4)))
"""


def test_what_a_library_draws_after_a_served_tool_and_beside_threads(twice: Twice, tmp_path: Path) -> None:
    """As the ids of LangGraph's tasks, where a tool ran a graph of its own: in a rerun its body does not."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "drawing.py").write_text(_DRAWING)
    recorded, again = twice(_DRAWN)
    assert again.stdout == recorded.stdout, again.stderr
    assert "output equal" in again.stderr
    drawn = recorded.stdout.split()
    assert len(set(drawn)) == len(drawn) == 7


_FONTS = """\
import os, subprocess, threading

def look():
    if not os.path.exists("fonts.json"):
        told = threading.Timer(5, print, ["this takes a while"])
        told.start()
        subprocess.run(["uname"], stdout=subprocess.DEVNULL)
        told.cancel()
        with open("fonts.json", "w") as file:
            file.write("[]")

look()
"""


def test_a_look_for_fonts_where_nobody_has_looked_yet(twice: Twice, tmp_path: Path) -> None:
    """As matplotlib does, once a machine: what the program starts after it counts as if nobody had."""
    package = tmp_path / "site-packages" / "matplotlib"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "font_manager.py").write_text(_FONTS)
    recorded, again = twice(
        "import sys, threading\nsys.path.insert(0, 'site-packages')\n"
        "import matplotlib.font_manager\nimport lctl\n"
        "look = lctl.tool(lambda: print('looked') or 7)\n"
        "thread = threading.Thread(target=lambda: print(look()))\n"
        "thread.start()\nthread.join()\n"
    )
    assert again.stdout == recorded.stdout == "looked\n7\n", again.stderr
    assert "rerun exact" in again.stderr


def test_what_a_library_writes_in_jobs_of_a_pool_is_refused(twice: Twice, tmp_path: Path) -> None:
    """No code of the program's is around it there: pools of threads, and of processes."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "keeping.py").write_text(
        "def keep(n):\n    with open(f'kept {n}', 'a') as file:\n        file.write('once')\n"
    )
    recorded, again = twice(
        "import sys, multiprocessing, lctl\nsys.path.insert(0, 'site-packages')\n"
        "from multiprocessing.pool import ThreadPool\nimport keeping\nlctl.tool(len)([])\n"
        "for n, pools in enumerate((ThreadPool, multiprocessing.get_context('fork').Pool)):\n"
        "    with pools(1) as pool:\n"
        "        try:\n            pool.map(keeping.keep, [n])\n"
        "        except Exception as error:\n            print(type(error).__name__)\n"
    )
    assert (recorded.returncode, recorded.stdout) == (0, ""), recorded.stderr
    assert again.returncode == 1
    assert [(tmp_path / f"kept {n}").read_text() for n in (0, 1)] == ["once", "once"]
    assert "blocked: writing" in again.stderr and "keeping.py" in again.stderr


_ASKS_FOR_THE_TIME = """\
import datetime
import sys
import time
sys.path.insert(0, "site-packages")
from smolagents.local_python_executor import call
from runs_text import run
print(call(datetime.datetime.now), call(time.time))
run("import datetime, time\\nprint(datetime.datetime.now(), time.time())")
"""


def test_times_that_code_of_models_asks_for_are_as_recorded(tmp_path: Path) -> None:
    """Smolagents' interpreter calls the clock for it; another library runs the text."""
    package = tmp_path / "site-packages" / "smolagents"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package.parent / "runs_text.py").write_text("def run(text):\n    exec(text, {})\n")
    (package / "local_python_executor.py").write_text("def call(function):\n    return function()\n")
    (tmp_path / "agent.py").write_text(_ASKS_FOR_THE_TIME)
    recorded = _lctl(tmp_path, "-m", "lctl", "run", "-o", "run.lctl.json", "agent.py")
    again = _lctl(tmp_path, "-m", "lctl", "rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
