"""What statistics and bottlenecks are worked out from. Times are milliseconds since the epoch; those of a
fork's own events are as if it had gone on at once from what it has of the recording."""

from __future__ import annotations

from dataclasses import dataclass, field

from lctl.analysis.intervals import Interval
from lctl.analysis.spans import ErrorSpan, MessageSpan, StepSpan, ToolSpan
from lctl.state.model import Tokens
from lctl.state.moments import Span, elapsed_ms

#: Stands for the model of calls that name none.
NAMELESS = "(no model named)"


@dataclass(slots=True)
class Survey:
    """What one pass found. Mappings are by seq (or id) in the order of the log."""

    chain_id: str
    events: int = 0
    first: float | None = None  # earliest and latest timestamp
    last: float | None = None
    stamps: Span = (None, None)  # the same as they are written
    apart_ms: float | None = None  # of a fork: from the newest of those events to the first of its own
    steps: dict[int, StepSpan] = field(default_factory=dict)
    commands: dict[int, StepSpan] = field(default_factory=dict)  # that the program ran, as steps are kept
    tools: list[ToolSpan] = field(default_factory=list)
    errors: list[ErrorSpan] = field(default_factory=list)
    failures: int = 0  # as `lctl errors` counts them
    messages: dict[str, MessageSpan] = field(default_factory=dict)
    facts: dict[str, float | None] = field(default_factory=dict)  # confidence as it stands
    fact_steps: dict[str, int | None] = field(default_factory=dict)  # step that added the fact
    handoffs: list[tuple[int, str, str]] = field(default_factory=list)  # seq, from, to
    agents: dict[str, int] = field(default_factory=dict)  # events that are work, by agent
    unpriced: dict[str, int] = field(default_factory=dict)  # model -> calls without a price
    streamed: dict[str, Tokens] = field(default_factory=dict)  # of streams outside any step, by agent
    streams: bool = False  # there are any
    routings: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)  # choice, what else there was

    @property
    def duration_ms(self) -> float:
        """Of the log: from its earliest timestamp to its latest."""
        return max(0.0, (elapsed_ms(*self.stamps) or 0.0) - (self.apart_ms or 0.0))

    @property
    def span(self) -> Interval:
        """From the first moment the log knows of to the last, the stated durations of steps and commands
        included."""
        spans = [*self.steps.values(), *self.commands.values()]
        starts = [s.start for s in spans] + ([self.first] if self.first is not None else [])
        ends = [s.end for s in spans] + ([self.last] if self.last is not None else [])
        return (min(starts), max(ends)) if starts and ends else (0.0, 0.0)

    @property
    def timed(self) -> dict[int, StepSpan]:
        """Steps and commands, by seq, in the order in which they began."""
        if not self.commands:
            return self.steps
        both = [*self.steps.values(), *self.commands.values()]
        return {span.seq: span for span in sorted(both, key=lambda span: (span.start, span.seq))}

    @property
    def model_calls(self) -> list[StepSpan]:
        return [step for step in self.steps.values() if step.is_model_call]
