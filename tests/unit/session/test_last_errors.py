"""What a program dies of is the last error of its log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.session import LCTLSession
from tests.unit.session.test_processes import run

_DIES = """
import sys
import lctl
from lctl.session import default, get_session
default.enable()

def refuse(what):
    raise {error}

how = sys.argv[1]
if how == "after":
    with get_session().step("a"):
        pass
    refuse("late")
elif how == "within":
    with get_session().step("a"):
        refuse("in it")
elif how == "open":
    get_session().step_start("a")
    refuse("in it")
elif how == "caught":
    with get_session().step("a"):
        pass
    try:
        refuse("nothing")
    except ValueError:
        pass
elif how == "left":
    session = lctl.LCTLSession("mine", "mine.lctl.json")
    session.add_fact("F1", "x")
    refuse("left")
"""


def died(folder: Path, how: str, error: str = "ValueError(what)") -> tuple[list[dict[str, Any]], Any]:
    """Events but for facts, and the outcome in the summary."""
    done = run(_DIES.replace("{error}", error), how)
    assert ("Traceback" in done.stderr) == (how != "caught" and "Exit" not in error)
    (log,) = [folder / "mine.lctl.json"] if how == "left" else (folder / ".lctl").iterdir()
    document = json.loads(log.read_text())
    events = [event for event in document["events"] if event["type"] != "fact_added"]
    return events, document["summary"]["outcome"]


@pytest.mark.parametrize(("how", "text"), [("after", "late"), ("left", "left")])
def test_what_a_program_dies_of_is_its_last_error(folder: Path, how: str, text: str) -> None:
    """Of no step, with the places it passed; in a session that nobody closed, too."""
    events, outcome = died(folder, how)
    assert events[-1]["type"] == "error" and "step" not in events[-1]
    data = events[-1]["data"]
    assert (data["category"], data["type"], data["message"]) == ("execution_error", "ValueError", text)
    assert (data["context"]["ends"], data["context"]["exception"]) == ("program", "ValueError")
    first, last = data["context"]["traceback"]
    assert first.endswith(" in <module>") and last.endswith("program.py:8 in refuse")
    assert outcome == "error"


def test_what_a_step_has_told_is_not_told_again(folder: Path) -> None:
    """One error, in the step."""
    events, outcome = died(folder, "within")
    assert [event["type"] for event in events] == ["step_start", "error", "step_end"]
    assert outcome == "error"


def test_a_step_that_is_open_when_a_program_dies_has_failed(folder: Path) -> None:
    """It ends with the error, in it."""
    events, outcome = died(folder, "open")
    assert [(event["type"], event.get("step")) for event in events[1:]] == [("error", 1), ("step_end", 1)]
    assert events[-1]["data"]["outcome"] == outcome == "error"


@pytest.mark.parametrize(
    ("how", "error"),
    [("caught", "ValueError(what)"), ("after", "SystemExit(0)"), ("after", "SystemExit")],
)
def test_a_program_that_ends_otherwise_has_not_failed(folder: Path, how: str, error: str) -> None:
    """What is caught, an exit code that is none of a failure."""
    events, outcome = died(folder, how, error)
    assert outcome == "success"
    assert [event["type"] for event in events] == ["step_start", "step_end"]


@pytest.mark.parametrize(("how", "last"), [("after", "step_end"), ("within", "step_end"), ("left", None)])
def test_a_program_that_is_interrupted_says_so(folder: Path, how: str, last: str | None) -> None:
    """Between steps, in one (which is left, and has not failed), before any: it did not get to its end."""
    events, outcome = died(folder, how, "KeyboardInterrupt()")
    assert [event["type"] for event in events[-2:]] == [*([last] if last else []), "error"]
    assert events[-1]["data"]["type"] == "KeyboardInterrupt"
    assert events[-1]["data"]["context"]["ends"] == "program"
    assert outcome == "interrupted"


def test_how_a_long_run_ended(folder: Path) -> None:
    """Its log is not folded as it is closed, and says it all the same."""
    path = folder / "long.lctl.json"
    line = '{"seq":%d,"type":"tick","timestamp":"2026-01-01T00:00:00.000000Z","agent":"a","data":{}}'
    lines = ",\n".join(line % seq for seq in range(1, 100_002))
    path.write_text('{"lctl":"4.0","chain":{"id":"c"},"events":[\n' + lines)
    with pytest.raises(KeyError), LCTLSession(path=path), lctl.traced_step("a", "work"):
        raise KeyError("gone")
    summary = json.loads(path.read_text())["summary"]
    assert summary == {"events": 100_004, "outcome": "error"}


def test_a_session_that_an_exception_leaves_says_so(folder: Path) -> None:
    """Caught outside, it is still how the session ended; one that an inner block of it left is not."""
    session = LCTLSession("c", folder / "c.lctl.json")
    with pytest.raises(ValueError, match="out"), session:
        with pytest.raises(KeyError), session:
            raise KeyError("in")
        raise ValueError("out")
    document = json.loads((folder / "c.lctl.json").read_text())
    (error,) = document["events"]
    assert (error["data"]["message"], error["data"]["context"]["ends"]) == ("out", "session")
    assert document["summary"]["outcome"] == "error"


def test_the_error_of_a_step_says_where_it_came_from(folder: Path) -> None:
    """The program's own lines, and the one that raised; nothing of the libraries between."""

    def read() -> None:
        json.loads("{")

    session = LCTLSession("c", folder / "c.lctl.json")
    with session, pytest.raises(ValueError), session.step("a"):
        read()
    (error,) = [e for e in json.loads((folder / "c.lctl.json").read_text())["events"] if e["type"] == "error"]
    *own, last = error["data"]["context"]["traceback"]
    assert [place.rpartition(" in ")[2] for place in own][-1] == "read"
    assert last.endswith("raw_decode") and "decoder.py" in last
    assert "decode" not in [place.rpartition(" in ")[2] for place in own]
    assert "ends" not in error["data"]["context"]
