"""Recording calls given what they do not expect: none raises, and what can be kept is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.codec import open_log

ODD: list[Any] = ["3", [1], {"a": 1}, 1.5, object(), b"x", True]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_streams_and_steps(tmp_path: Path, odd: Any) -> None:
    with lctl.LCTLSession(path=tmp_path / "run.lctl.json") as session:
        stream = session.stream_start()
        assert session.stream_chunk("a", tokens=odd)
        assert session.stream_chunk("b", index=odd)
        assert session.stream_chunk("c", stream=odd)
        assert session.stream_chunk("d", tokens=2)
        assert session.stream_end(stream=odd)
        assert session.stream_end(stream=stream)
        step = session.step_start("agent", "work")
        assert session.step_end(step=odd)
        assert session.step_end(step=step)
    ended = [event.data for event in open_log(session.path).events() if event.type == "stream_end"]
    assert ended[1]["total_tokens"] == 2 + (odd is True)


def test_a_lone_surrogate_in_a_model_call(tmp_path: Path) -> None:
    with lctl.LCTLSession(path=tmp_path / "run.lctl.json") as session:
        assert session.llm_trace("ask caf\udce9", "file caf\udce9.txt", "m")
    assert session.lost == 0
    said = [event.data["content"] for event in open_log(session.path).events() if event.type == "message"]
    assert said == ["ask caf\\udce9", "file caf\\udce9.txt"]
