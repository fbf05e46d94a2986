"""What the bodies of tools print is written again where a rerun serves them, though none of them runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.rerun.commands import Run, Twice

_HEAD = """\
import contextlib, io, logging, sys, threading, time, warnings
from pathlib import Path
import lctl

def body():  # only when it really runs
    with open("ran", "a") as file:
        file.write("x")
"""


@pytest.fixture
def twice(twice: Twice) -> Twice:
    return lambda program: twice(_HEAD + program)


def _wrote(folder: Path) -> list[list[object]]:
    log = json.loads((folder / "run.lctl.json").read_text())
    calls = [event["data"] for event in log["events"] if event["type"] == "tool_call"]
    return [call.get("tape", {}).get("wrote") for call in calls]


def test_a_tool_that_prints_runs_again_exactly(twice: Twice, tmp_path: Path) -> None:
    recorded, again = twice("""
@lctl.tool
def look(place):
    body()
    print("looking at", place)
    print("careful", file=sys.stderr)
    return place

print("first")
look("the door")
print("last")
""")
    assert (again.returncode, again.stdout) == (0, recorded.stdout)
    assert recorded.stdout == "first\nlooking at the door\nlast\n"
    assert again.stderr.startswith("careful\n") and "log equal, output equal" in again.stderr
    assert (tmp_path / "ran").read_text() == "x"
    assert _wrote(tmp_path) == [[["stdout", 6, "looking at the door\n"], ["stderr", 0, "careful\n"]]]


@pytest.mark.slow
def test_a_recording_by_one_line_alone(python: Run, lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        _HEAD
        + """
print("before")
lctl.auto_instrument()

@lctl.tool
def work(name, pause):
    for n in range(5):
        print(name, n)
        time.sleep(pause)

print("first")
threads = [threading.Thread(target=work, args=(name, pause)) for name, pause in (("a", .005), ("b", .007))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("last")
lctl.uninstrument()
print("write" in vars(sys.stdout))
"""
    )
    recorded = python("agent.py")
    assert recorded.stdout.endswith("last\nFalse\n"), recorded.stderr
    again = lctl("rerun", "last")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


@pytest.mark.slow
def test_of_tools_at_once_the_lines_come_in_the_recorded_order(twice: Twice) -> None:
    recorded, again = twice("""
@lctl.tool
def work(name, pause):
    for n in range(8):
        print(name, n)
        time.sleep(pause)

threads = [threading.Thread(target=work, args=(name, pause)) for name, pause in (("a", .005), ("b", .007))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
""")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


@pytest.mark.slow
def test_a_tool_within_a_tool_prints_once(twice: Twice, tmp_path: Path) -> None:
    recorded, again = twice("""
@lctl.tool
def inner():
    print("inner")

@lctl.tool
def outer():
    print("begin")
    inner()
    print("end")

outer()
inner()
""")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert _wrote(tmp_path) == [
        [["stdout", 6, "inner\n"]],
        [["stdout", 0, "begin\ninner\nend\n"]],
        [["stdout", 16, "inner\n"]],
    ]


@pytest.mark.slow
def test_logging_and_warnings_of_the_program_are_written_again(twice: Twice) -> None:
    _, again = twice("""
logging.basicConfig(format="%(message)s")

@lctl.tool
def look():
    logging.warning("logged")
    warnings.warn("warned")

look()
""")
    assert again.returncode == 0, again.stderr
    assert again.stderr.startswith("logged\n") and "UserWarning: warned" in again.stderr


@pytest.mark.slow
def test_what_cannot_be_written_fails_as_it_does_without_lctl(python: Run, tmp_path: Path) -> None:
    program = """
def show(text):
    print(text)

sys.stdout.reconfigure(encoding="ascii")
for text in ("☕", "{"):
    try:
        show(text)
    except UnicodeEncodeError:
        traceback.print_exc()
sys.stdout.close()
print("too late")
"""
    (tmp_path / "without.py").write_text("import sys, traceback\nimport lctl\n" + program)
    (tmp_path / "with.py").write_text(
        "import sys, traceback\nimport lctl; lctl.auto_instrument()\n" + program
    )
    without, recorded = python("without.py"), python("with.py")
    told = [
        line for line in recorded.stderr.replace("with.py", "without.py").splitlines() if line[:5] != "lctl:"
    ]
    assert recorded.stdout == without.stdout == "{\n"
    assert "writing.py" not in recorded.stderr and "ValueError: I/O operation" in recorded.stderr
    assert told == without.stderr.splitlines()


@pytest.mark.slow
def test_what_is_redirected_is_no_output(twice: Twice, tmp_path: Path) -> None:
    recorded, again = twice("""
@lctl.tool
def look():
    with contextlib.redirect_stdout(io.StringIO()) as held:
        print("held")
    return held.getvalue()

print(look())
""")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert _wrote(tmp_path) == [None]


@pytest.mark.slow
def test_a_secret_that_a_tool_prints_is_in_no_log(twice: Twice, tmp_path: Path) -> None:
    secret = "sk-proj-" + "a1B2" * 12
    recorded, again = twice(f"""
@lctl.tool
def look():
    print("the key is " + {secret!r}[:20] + {secret!r}[20:])

look()
""")
    assert secret in recorded.stdout
    assert secret not in (tmp_path / "run.lctl.json").read_text()
    assert again.stdout.startswith("the key is ") and "the output is not the recorded one" in again.stderr


@pytest.mark.slow
def test_text_beyond_what_is_kept_is_told(twice: Twice, lctl: Run, tmp_path: Path) -> None:
    recorded, again = twice("""
@lctl.tool
def shout():
    for n in range(1100):
        print("x" * 999)
    return 7

print(shout())
""")
    assert len(recorded.stdout) > 1_100_000
    assert again.stdout == "7\n" and again.returncode != 0
    assert _wrote(tmp_path) == [None]
    told = lctl("doctor", "--no-import", "run.lctl.json").stdout
    assert "tools that wrote more than is kept" in told and "shout (1)" in told


@pytest.mark.slow
def test_a_generator_that_is_left_has_printed_what_it_had(twice: Twice) -> None:
    recorded, again = twice("""
@lctl.tool
def count():
    for n in range(9):
        print("making", n)
        yield n

for n in count():
    print("got", n)
    if n == 2:
        break
""")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


@pytest.mark.slow
def test_a_tool_whose_result_is_edited_prints_nothing(twice: Twice, lctl: Run) -> None:
    recorded, again = twice("""
@lctl.tool
def look():
    print("seven")
    return 7

@lctl.tool
def tell():
    print("told")

tell()
print(look())
""")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert recorded.stdout == "told\nseven\n7\n"
    fork = lctl("fork", "run.lctl.json", "--at", "2", "--result", "tool:look=8", "--yes")
    assert fork.stdout == "told\n8\n", fork.stderr


_THREADS = """
import os

again = os.access("again", os.F_OK)  # which no recording holds: the threads fall out in another order
other, mine = threading.Event(), threading.Event()

def panel():
    if not again:
        mine.wait()
    print("panel")
    print("of", "the", "thread")
    other.set()

@lctl.tool
def look():
    print("looking")
    body()
    return 1

thread = threading.Thread(target=panel)
thread.start()
if again:
    other.wait()
print("asked")
look()
mine.set()
thread.join()
print("end")
"""


def test_threads_print_in_the_recorded_order(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(_HEAD + _THREADS)
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.stdout == "asked\nlooking\npanel\nof the thread\nend\n", recorded.stderr
    (tmp_path / "again").mkdir()
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "output equal" in again.stderr


_FLUSHES = """
def chat(name):
    for number in range(300):
        print(name * (number % 7 * 90), number, flush=True)

threads = [threading.Thread(target=chat, args=name) for name in "abcd"]
sys.setswitchinterval(1e-5)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_the_order_that_is_kept_is_that_of_the_output(lctl: Run, tmp_path: Path) -> None:
    """Where one thread empties what has been printed while others print."""
    (tmp_path / "agent.py").write_text(_HEAD + "lctl.tool(len)('')\n" + _FLUSHES)
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


def test_a_fork_says_in_which_order_a_served_tool_and_threads_printed(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(f"{_HEAD}{_THREADS}\nprint(lctl.tool(len)('seven..'))\n")
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    log = json.loads((tmp_path / "run.lctl.json").read_text())
    last = [event["seq"] for event in log["events"] if event["type"] == "tool_call"][-1]
    fork = (
        "fork",
        "run.lctl.json",
        "-o",
        "fork.lctl.json",
        "--at",
        str(last),
        "--result",
        "tool:len=8",
        "--yes",
    )
    forked = lctl(*fork)
    assert forked.stdout == recorded.stdout.replace("7", "8"), forked.stderr
    (tmp_path / "again").mkdir()
    again = lctl("rerun", "fork.lctl.json")
    assert (again.returncode, again.stdout) == (0, forked.stdout), again.stderr


def test_a_program_of_one_thread_has_no_order_of_writers(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(_HEAD + "print('one')\nlctl.tool(print)('two')\n")
    lctl("run", "-o", "run.lctl.json", "agent.py")
    log = json.loads((tmp_path / "run.lctl.json").read_text())
    assert ["lanes" in event["data"] for event in log["events"] if event["type"] == "output"] == [False]


def test_text_that_does_not_come_holds_nothing_back(lctl: Run, tmp_path: Path) -> None:
    """A thread that prints no more what it printed: the rest is there, and the rerun is not exact."""
    program = _THREADS.replace('    print("panel")', '    print("" if again else "panel", end="")')
    program = program.replace('    print("of", "the", "thread")', "    if not again:\n        print()")
    (tmp_path / "agent.py").write_text(_HEAD + program)
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.stdout == "asked\nlooking\npanel\nend\n", recorded.stderr
    (tmp_path / "again").mkdir()
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (1, "asked\nlooking\nend\n"), again.stderr


def test_where_objects_are_in_memory_is_not_compared(twice: Twice) -> None:
    """Of what is printed in one piece or in several, and a line of text that only looks so."""
    recorded, again = twice("""
lctl.tool(len)([])
shown = repr(body)
print(shown, [object()], "meet at 0x11")
for end in range(1, len(shown)):
    sys.stdout.write(shown[:end])
    sys.stdout.flush()
    sys.stdout.write(shown[end:] + " at 0x")
    sys.stdout.flush()
""")
    assert recorded.stdout != again.stdout
    assert again.returncode == 0, again.stderr
    assert "log equal, output equal" in again.stderr
