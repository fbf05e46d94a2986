"""What a survey keeps of steps, tool calls, messages and errors. Times are milliseconds since the epoch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lctl.analysis.intervals import Interval, shares
from lctl.state.model import Tokens

MODEL_KINDS = frozenset({"llm", "embedding"})


@dataclass(slots=True)
class StepSpan:
    """A step and the time it took. `exclusive_ms` is its part of the chain's time (see `shares`), so it
    adds up over steps; `self_ms` is the time in which none of its child steps ran."""

    seq: int
    agent: str
    kind: str
    intent: str
    parent: int | None
    start: float
    end: float
    timestamp: str
    open: bool = True
    outcome: str = ""
    model: str | None = None
    provider: str | None = None
    tool: str | None = None
    url: str | None = None
    input_summary: str = ""
    output_summary: str = ""
    prompt: str | None = None
    message: str | None = None
    first_chunk_ms: float | None = None
    tokens: Tokens | None = None
    counted: bool = True  # False: its tokens are the sum of its descendants'
    inherited: bool = False  # of a rerun or fork: answered from the tape, paid for in the recording
    cost: float | None = None
    attempts: int = 0
    last_attempt_ms: float | None = None
    role: str | None = None  # what its model is used for
    errors: list[int] = field(default_factory=list)
    children: list[int] = field(default_factory=list)
    exclusive_ms: float = 0.0
    self_ms: float = 0.0

    @property
    def wall_ms(self) -> float:
        return self.end - self.start

    @property
    def interval(self) -> Interval:
        return (self.start, self.end)

    @property
    def is_model_call(self) -> bool:
        return self.kind in MODEL_KINDS


def exclusive(spans: Mapping[int, StepSpan]) -> list[float]:
    """Of each of them, by seq, its part of the time, in milliseconds (see `shares`)."""
    place = {seq: n for n, seq in enumerate(spans)}
    parents = [None if span.parent is None else place[span.parent] for span in spans.values()]
    return shares([span.interval for span in spans.values()], parents)


@dataclass(slots=True)
class ToolSpan:
    """A tool_call event. `duration_ms` is None where the log does not say it."""

    seq: int
    agent: str
    step: int | None
    tool: str
    call_id: str | None
    end: float
    duration_ms: float | None
    failed: bool
    asked: int = 0  # hash of tool and input
    got: int = 0  # hash of output or error

    @property
    def interval(self) -> Interval:
        return (self.end - (self.duration_ms or 0.0), self.end)


@dataclass(slots=True)
class MessageSpan:
    """A message node: who said it, where it hangs, how long it is."""

    id: str
    seq: int
    step: int | None
    role: str
    parent: str | None
    sampled: bool
    size: int  # characters of its content, roughly


@dataclass(slots=True)
class ErrorSpan:
    seq: int
    agent: str
    step: int | None
    category: str
    type: str
    recoverable: bool
