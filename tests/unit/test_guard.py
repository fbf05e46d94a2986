"""What is said of a failure of ours: once."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.errors import RecordingError
from lctl.guard import Guard


class Meanwhile(io.StringIO):
    """A stderr while which is written to another thread fails, too."""

    def __init__(self, guard: Guard, place: str) -> None:
        super().__init__()
        self.guard, self.place = guard, place

    def write(self, text: str) -> int:
        place, self.place = self.place, ""
        if place:
            self.guard.failed(place, RecordingError("run.lctl.json: cannot be written"))
        return super().write(text)


@pytest.mark.parametrize("place", ["events", "the end"])
def test_a_refusal_is_said_once_though_threads_meet_it_at_once(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = Guard("report")
    said = Meanwhile(guard, place)
    monkeypatch.setattr(sys, "stderr", said)
    guard.failed("events", RecordingError("run.lctl.json: cannot be written"))
    assert said.getvalue().count("lctl: could not record") == 1
    assert guard.total() == 2


def test_each_place_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    guard = Guard("report")
    for place in ("a", "b", "a"):
        guard.failed(place, ValueError("x"))
    assert [line.partition(" (")[0] for line in capsys.readouterr().err.splitlines()] == [
        "lctl: could not record a",
        "lctl: could not record b",
    ]
    assert guard.failures == {"a": 2, "b": 1}


def test_a_daemon_thread_reports_without_the_lock_of_the_stream() -> None:
    """The end of the program may meet it there, and would wait for that lock in vain."""
    code = """
import sys, threading
from lctl.guard import Guard

written = []
sys.stderr.write = written.append
guard = Guard("report")
for daemon in (True, False):
    said = f"the work of a thread (daemon={daemon})"
    thread = threading.Thread(target=guard.failed, args=(said, ValueError("no")), daemon=daemon)
    thread.start()
    thread.join()
print(len(written), "daemon=False" in written[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "True"]
    assert "daemon=True" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
@pytest.mark.parametrize("said", ["Guard('report').failed('a', ValueError())", "tell('lctl: 1 event')"])
def test_what_cannot_be_said_is_nothing_to_the_program(said: str) -> None:
    """Its exit code is what it was: Python keeps what it could not write, tries again, and says 120."""
    code = f"from lctl.guard import Guard\nfrom lctl.notices import tell\n{said}"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-c", code], stderr=full, timeout=60)
    assert done.returncode == 0
