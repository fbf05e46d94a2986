"""What each key of the interactive replay does."""

from __future__ import annotations

import pytest

from lctl.cli.stepper import Stepper
from lctl.codec import open_log
from tests.golden import logs


def stepper(seq: int = 1, events: list[logs.Event] | None = None) -> Stepper:
    import orjson

    document = {"lctl": "4.0", "chain": {"id": "c"}, "events": events or logs.security_review()}
    return Stepper(open_log(orjson.dumps(document)), seq)


def press(at: Stepper, *keys: str) -> Stepper:
    for key in keys:
        assert at.press(key)
    return at


@pytest.mark.parametrize(
    ("start", "keys", "seq"),
    [
        (1, ["right"], 2),
        (1, ["down", " ", "j", "l"], 5),
        (5, ["left", "up", "k"], 2),
        (1, ["left"], 1),
        (25, ["right"], 25),
        (3, ["G"], 25),
        (3, ["end", "home"], 1),
        (1, ["1", "2", "enter"], 12),
        (1, [":", "9", "enter"], 9),
        (5, [":", "+", "4", "enter"], 9),
        (9, [":", "-", "4", "enter"], 5),
        (1, [":", "9", "9", "enter"], 25),
        (1, [":", "9", "backspace", "7", "enter"], 7),
        (1, [":", "9", "escape"], 1),
        (1, ["pagedown"], 11),
        (20, ["pageup"], 10),
        (1, ["s", "s"], 11),
        (25, ["S"], 11),
    ],
)
def test_moves(start: int, keys: list[str], seq: int) -> None:
    """Keys move through the events and stop at either end."""
    assert press(stepper(start), *keys).seq == seq


def test_search_goes_round() -> None:
    """A search goes to the next event that fits, repeats with n, and goes on from the other end."""
    at = press(stepper(), "/", *"type:checkpoint", "enter")
    assert at.seq == 5
    assert press(at, "n").seq == 24
    assert press(at, "n").seq == 5
    assert at.note == "past the end, from the start"
    assert press(at, "N").seq == 24


def test_search_without_result_stays() -> None:
    """Nothing found: the position stays and the reader is told."""
    at = press(stepper(4), "/", *"nowhere", "enter")
    assert (at.seq, at.note) == (4, "no other event that fits 'nowhere'")


def test_unclosed_quote_is_said() -> None:
    """A query that cannot be read is a note, not a crash."""
    assert "quote" in press(stepper(), "/", '"', "a", "enter").note


def test_next_error() -> None:
    """e goes to what failed: error events, failed tools, steps that ended in error."""
    at = press(stepper(1, logs.assistant()), "e")
    assert at.seq == 6
    assert press(at, "e").note == "no other error"


def test_one_failure_is_one_stop() -> None:
    """Its attempt and the ends of its steps say it again; a step that failed without an error is one."""
    log = logs.Script()
    agent = log.add(0, "a", "step_start", kind="agent")
    call = log.add(1, "a", "step_start", agent, kind="llm", model="m")
    log.add(2, "a", "exchange", call, status=500)
    error = log.add(3, "a", "error", call, category="execution_error", type="server_error")
    log.add(4, "a", "step_end", call, outcome="error")
    log.add(5, "a", "step_end", agent, outcome="error")
    silent = log.add(6, "a", "step_start", kind="agent")
    alone = log.add(7, "a", "step_end", silent, outcome="error")
    at = press(stepper(1, log.events), "e")
    assert at.seq == error
    assert press(at, "e").seq == alone
    assert press(at, "E").seq == error


def test_gaps_are_stepped_over() -> None:
    """Numbers that are missing from a log are passed over, in both directions and by a jump."""
    events = [e for e in logs.security_review() if e["seq"] not in (3, 4, 5)]
    at = stepper(2, events)
    assert press(at, "right").seq == 6
    assert press(at, "left").seq == 2
    assert press(at, ":", "4", "enter").seq == 6


def test_inspecting_and_leaving() -> None:
    """Enter shows one event, its arrows scroll, Escape goes back, q ends."""
    at = press(stepper(3), "enter", "down")
    assert (at.mode, at.scroll, at.seq) == ("event", 1, 3)
    assert press(at, "right").seq == 4
    assert press(at, "r").raw
    assert press(at, "escape").mode == "events"
    assert not at.press("q")


def test_a_window_of_a_long_log() -> None:
    """Only the events on screen are read, with the position among them."""
    script = logs.Script()
    for n in range(5000):
        script.add(n, "a", "fact_added", id=str(n))
    at = stepper(4000, script.events)
    assert [event.seq for event in at.window(10)] == list(range(3997, 4007))
    at.jump(5000)
    assert [event.seq for event in at.window(10)] == list(range(4991, 5001))
