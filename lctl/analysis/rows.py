"""Agents, models and tools of a chain, a row each: how often, how long, how many tokens, how much money."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from lctl.analysis.failures import FAILED
from lctl.analysis.intervals import length, percentile
from lctl.analysis.spans import StepSpan, ToolSpan
from lctl.analysis.survey import NAMELESS, Survey
from lctl.state.model import Tokens, total_tokens


class Row(msgspec.Struct, frozen=True):
    """One agent, model or tool.

    Attributes:
        calls: steps of the agent, calls of the model, calls of the tool.
        errors: error events of the agent, or in the model's calls, those of attempts that were retried too;
            calls of the tool that failed.
        failed: of `calls`, those that failed, or were stopped before their end.
        p50_ms, p95_ms: of their durations; None where the log has none.
        wall_ms: time in which at least one of them ran.
        exclusive_ms: their part of the chain's time; adds up over agents. 0 for tool rows that are events
            and no steps.
        cost: US dollars; None when no part of it is known.
        unpriced: calls with tokens whose price is not known; `cost` leaves them out.
    """

    name: str
    calls: int = 0
    errors: int = 0
    retries: int = 0
    llm_calls: int = 0
    tool_calls: int = 0
    p50_ms: float | None = None
    p95_ms: float | None = None
    wall_ms: float = 0.0
    exclusive_ms: float = 0.0
    tokens: Tokens = Tokens()
    cost: float | None = None
    unpriced: int = 0
    first_chunk_p50_ms: float | None = None
    failed: int = 0

    @property
    def tokens_known(self) -> bool:
        """False where calls were made, and none of them says what it used."""
        return bool(self.tokens.total) or self.cost is not None


class Routing(msgspec.Struct, frozen=True):
    """Choices of one model (or decision): how often, and what else was considered, with how often each."""

    choice: str
    count: int
    alternatives: tuple[tuple[str, int], ...]


def agents(found: Survey) -> tuple[Row, ...]:
    steps: dict[str, list[StepSpan]] = {agent: [] for agent in found.agents}
    for span in found.steps.values():
        steps.setdefault(span.agent, []).append(span)
    tools = counts(tool.agent for tool in found.tools)
    errors = counts(error.agent for error in found.errors)
    return tuple(
        msgspec.structs.replace(
            row,
            tokens=total_tokens([row.tokens, found.streamed.get(agent)]),
            errors=errors.get(agent, 0),
            tool_calls=tools.get(agent, 0),
            llm_calls=sum(span.is_model_call for span in mine),
        )
        for agent, mine in steps.items()
        for row in (_row(agent, mine),)
    )


def models(found: Survey) -> tuple[Row, ...]:
    models: dict[str, list[StepSpan]] = {}
    for span in found.steps.values():
        if span.model and (span.is_model_call or (span.tokens is not None and span.counted)):
            models.setdefault(span.model, []).append(span)
    return tuple(
        msgspec.structs.replace(_row(model, mine), llm_calls=len(mine))
        for model, mine in sorted(models.items())
    )


def roles(found: Survey) -> tuple[Row, ...]:
    """A model call has the role of the nearest step around it that names one. A step that does, and in which
    no call of a model was recorded, stands for one itself."""
    rows: dict[str, list[StepSpan]] = {}
    served: set[int] = set()
    for span in found.model_calls:
        above: StepSpan | None = span
        while above is not None and above.role is None:
            above = found.steps.get(above.parent) if above.parent is not None else None
        if above is not None:
            served.add(above.seq)
            rows.setdefault(f"{span.model or NAMELESS} ({above.role})", []).append(span)
    for span in found.steps.values():
        if span.role is not None and span.model and span.seq not in served and not span.is_model_call:
            rows.setdefault(f"{span.model} ({span.role})", []).append(span)
    return tuple(
        msgspec.structs.replace(_row(name, mine), llm_calls=len(mine)) for name, mine in sorted(rows.items())
    )


def routings(found: Survey) -> tuple[Routing, ...]:
    chosen: dict[str, list[tuple[str, ...]]] = {}
    for choice, others in found.routings:
        chosen.setdefault(choice, []).append(others)
    return tuple(
        Routing(
            choice,
            len(lists),
            tuple(
                sorted(
                    counts(one for others in lists for one in others).items(), key=lambda kv: (-kv[1], kv[0])
                )
            ),
        )
        for choice, lists in sorted(chosen.items(), key=lambda kv: (-len(kv[1]), kv[0]))
    )


def tools(found: Survey) -> tuple[Row, ...]:
    tools: dict[str, list[ToolSpan]] = {}
    for call in found.tools:
        tools.setdefault(call.tool, []).append(call)
    steps: dict[str, float] = {}
    for span in found.steps.values():
        if span.kind == "tool":
            name = span.tool or span.intent
            steps[name] = steps.get(name, 0.0) + span.exclusive_ms
    return tuple(
        Row(
            name=name,
            calls=len(mine),
            errors=(failed := sum(call.failed for call in mine)),
            failed=failed,
            tool_calls=len(mine),
            p50_ms=percentile(_durations(mine), 0.5),
            p95_ms=percentile(_durations(mine), 0.95),
            wall_ms=length(call.interval for call in mine),
            exclusive_ms=steps.get(name, 0.0),
        )
        for name, mine in sorted(tools.items())
    )


def _row(name: str, spans: Sequence[StepSpan]) -> Row:
    ended = [span.wall_ms for span in spans if not span.open]
    chunks = [span.first_chunk_ms for span in spans if span.first_chunk_ms is not None]
    spent = [span for span in spans if span.counted and span.tokens is not None and not span.inherited]
    return Row(
        name=name,
        calls=len(spans),
        errors=sum(len(span.errors) for span in spans),
        failed=sum(span.outcome.lower() in FAILED for span in spans),
        retries=sum(retries_of(span) for span in spans),
        p50_ms=percentile(ended, 0.5),
        p95_ms=percentile(ended, 0.95),
        wall_ms=length(span.interval for span in spans),
        exclusive_ms=sum(span.exclusive_ms for span in spans),
        tokens=total_tokens(span.tokens for span in spent),
        cost=total_cost(spent) if spent else None if silent_calls(spans) else 0.0,
        unpriced=sum(span.cost is None for span in spent),
        first_chunk_p50_ms=percentile(chunks, 0.5),
    )


#: Operation of a call that counts the tokens of a prompt, and uses none.
_FREE = "messages.count_tokens"


def silent_calls(spans: Iterable[StepSpan]) -> int:
    """Model calls whose use of tokens nobody knows."""
    return sum(map(is_silent, spans))


def is_silent(span: StepSpan) -> bool:
    """A model call that used tokens, and does not say how many: one that gave an answer, though it may have
    been left in the middle of that."""
    if not span.is_model_call or span.tokens is not None or span.inherited or span.intent == _FREE:
        return False
    return span.outcome == "success" or span.message is not None


def total_cost(spans: Sequence[StepSpan]) -> float | None:
    known = [span.cost for span in spans if span.cost is not None]
    return sum(known) if known else None


def retries_of(span: StepSpan) -> int:
    return max(0, span.attempts - 1)


def _durations(calls: Sequence[ToolSpan]) -> list[float]:
    return [call.duration_ms for call in calls if call.duration_ms is not None]


def counts(names: Iterable[str]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for name in names:
        totals[name] = totals.get(name, 0) + 1
    return totals
