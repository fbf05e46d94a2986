"""What keeps its order in a rerun, where concurrent tasks tell of themselves in another."""

from __future__ import annotations

from typing import Any

from lctl.rerun.order.borders import Told, in_order


def crossing(seq: int, kind: str, lane: str, **data: Any) -> dict[str, Any]:
    return {"seq": seq, "type": kind, "step": None, "data": {"lane": lane, **data}}


def told(*events: dict[str, Any]) -> bool:
    """Of events by their recorded places, in the order of the rerun."""
    return in_order([Told(event, event["seq"], event["data"]["lane"]) for event in events], [])


WAKE = {"source": "wake", "key": "call_soon_threadsafe"}


def test_answers_and_tools_keep_their_order() -> None:
    answer, tool = crossing(1, "exchange", "0.1"), crossing(2, "tool_call", "0.2")
    assert told(answer, tool) and not told(tool, answer)


def test_an_answer_is_written_later_than_what_its_sdk_had_threads_do_with_it() -> None:
    """That it came before is known of their deliveries; what threads hand over keeps its order."""
    first, second = crossing(1, "ambient", "0.1.2", **WAKE), crossing(2, "ambient", "0.2.2", **WAKE)
    answer = crossing(3, "exchange", "0.1")
    assert told(answer, first, second) and not told(answer, second, first)


def test_a_stream_that_nobody_reads_on_has_no_end_that_waits() -> None:
    tool, left = crossing(1, "tool_call", "0.1.1"), crossing(2, "exchange", "0.2", left=True)
    assert told(left, tool)
