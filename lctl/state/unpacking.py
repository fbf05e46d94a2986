"""Values of a state, made of their versions (see `Versions`): of what was put, and of what grows with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lctl.state.model import Fact, Step, Stream
from lctl.state.rows import Entry, FactRow, StepRow


def step_of(seq: int, row: StepRow, children: Sequence[int]) -> Step:
    return row.frozen(children)


def fact_of(id: str, row: FactRow, history: Sequence[Entry]) -> Fact:
    return row.frozen(history)


def fields_of_stream(one: Stream) -> tuple[Any, ...]:
    """What is put of a stream, whose key is its seq."""
    return one.agent, one.message_id, one.chunks, one.tokens, one.end_seq, one.status


def stream_of(seq: int, fields: Any, _: Sequence[Any]) -> Stream:
    return Stream(seq, *fields)


def itself(key: str, fields: Any, _: Sequence[Any]) -> Any:
    """Of what is put as it is."""
    return fields
