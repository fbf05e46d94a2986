"""What tools of several threads changed of one object, in the order of their events."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.session import LCTLSession, tool


@pytest.fixture
def eager_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@tool
def note(notes: list[str], word: str) -> str:
    notes.append(word)
    return word


@pytest.mark.usefixtures("eager_switches")
def test_no_event_tells_of_less_than_the_one_before_it(tmp_path: Path) -> None:
    """A rerun puts the changes in place in this order: what came last must hold all of them."""
    notes: list[str] = []
    with LCTLSession("shared", tmp_path / "shared.lctl.json") as session:

        def work(name: str) -> None:
            with session:
                for n in range(150):
                    note(notes, f"{name}{n}")

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    calls = [e.data for e in open_log(session.path).events() if e.type == "tool_call"]
    told = [len(call["tape"]["after"][0][1]["items"]) for call in calls]
    assert len(told) == 600
    assert told == sorted(told)
    assert told[-1] == len(notes) == 600
