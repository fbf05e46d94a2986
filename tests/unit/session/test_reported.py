"""Steps and facts of threads say where and when they were reported, where a run is to be run again."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.instrument import settings
from lctl.session import LCTLSession


@pytest.mark.parametrize("full", [True, False])
def test_threads_stamp_what_they_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    monkeypatch.setattr(settings, "full", full)
    with LCTLSession("c", tmp_path / "c.lctl.json") as session:
        session.add_fact("F1", "by the main thread")
        thread = threading.Thread(target=session.add_fact, args=("F2", "by another"))
        thread.start()
        thread.join()
    one, other = (event.data for event in open_log(tmp_path / "c.lctl.json").events())
    assert "lane" not in one
    assert "at" not in one
    assert other.get("lane") == ("0.1" if full else None)
    assert ("at" in other) is full
