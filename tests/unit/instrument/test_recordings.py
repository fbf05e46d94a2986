"""What capture remembers of a session: one memory, whoever asks first."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lctl.instrument.recordings import Recording, recording_of
from lctl.session import LCTLSession


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
def test_first_calls_of_several_threads_have_one_memory(tmp_path: Path) -> None:
    """Two would not know of each other's messages: a prompt that both hold would be two conversations."""
    for n in range(40):
        with LCTLSession("c", tmp_path / f"{n}.lctl.json") as session:
            found = _asked_at_once(session)
            assert len({id(one) for one in found}) == 1
            assert session.on_tool_call == found[0].conversations.note_tool_event


def _asked_at_once(session: LCTLSession) -> list[Recording]:
    found: list[Recording] = []
    start = threading.Barrier(4)

    def ask() -> None:
        start.wait()
        found.append(recording_of(session))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
