"""Reads that recordings by `auto_instrument()` hold, too."""

from __future__ import annotations

import itertools
import signal
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.instrument.ambient import reads
from lctl.payloads.tape import reads_of
from lctl.session import LCTLSession, sources
from tests.unit.ambient.conftest import Run


def test_many_in_a_row_are_all_in_the_log(tmp_path: Path) -> None:
    """From the ninth on they are gathered; what is gathered when the recording ends is written."""
    number = itertools.count()
    with LCTLSession("c", tmp_path / "c.lctl.json"):
        for _ in range(40):
            reads.read(sources.NAMED, "ids", sys._getframe(), number.__next__, always=True)
    events = [event for event in open_log(tmp_path / "c.lctl.json").events() if event.type == "ambient"]
    assert [value for event in events for _, _, value, _ in reads_of(event.data)] == list(range(40))
    assert len(events) == 10


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="a limit of time by a signal of POSIX")
@pytest.mark.parametrize("after", [0.0005, 0.002, 0.3])
def test_a_limit_of_time_in_a_sleep_has_the_lines_of_its_handler(run: Run, after: float) -> None:
    """And none of lctl's, in whose function the program slept, however far that had come."""
    code = (
        "import signal, sys, time, traceback\n"
        "def over(number, frame): raise TimeoutError\n"
        "signal.signal(signal.SIGALRM, over)\n"
        "try:\n"
        "    signal.setitimer(signal.ITIMER_REAL, {after})\n"
        "    time.sleep(5)\n"
        "except TimeoutError as error:\n"
        "    print(*(frame.name for frame in traceback.extract_tb(error.__traceback__)))\n"
    )
    assert run(code.replace("{after}", str(after))).out == "<module> over\n"


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals that can be put off")
def test_a_limit_of_time_is_no_failure_to_open_the_log(run: Run) -> None:
    """A `TimeoutError` is an OSError, as much takes for an answer that is asked while a log is opened."""
    code = (
        "import os, signal, sys, time, traceback\n"
        "def over(number, frame): raise TimeoutError\n"
        "def hear(event, args):\n"
        "    if event == 'open' and str(args[0]).endswith('.lctl.json'):\n"
        "        signal.raise_signal(signal.SIGALRM)\n"
        "signal.signal(signal.SIGALRM, over)\n"
        "sys.addaudithook(hear)\n"
        "try:\n"
        "    time.sleep(0.01)\n"
        "except TimeoutError as error:\n"
        "    print(*(frame.name for frame in traceback.extract_tb(error.__traceback__)))\n"
        "time.sleep(0.02)\n"
    )
    result = run(code)
    assert (result.out, result.err) == ("<module> over\n", "")
    slept = [event["data"]["value"] for event in result.events if event["data"].get("source") == "sleep"]
    assert slept[-1] == 0.02
