"""What a chain was: how long, how many tokens, how much money, who, with what, and what went wrong."""

from __future__ import annotations

import msgspec

from lctl.analysis import rows
from lctl.analysis.intervals import length, percentile
from lctl.analysis.log import Log
from lctl.analysis.prices import Prices
from lctl.analysis.rows import Routing, Row
from lctl.analysis.survey import Survey
from lctl.analysis.surveying import survey
from lctl.state.model import Tokens, total_tokens

__all__ = ["Routing", "Row", "Stats", "of_survey", "stats"]


class Stats(msgspec.Struct, frozen=True):
    """Everything `lctl stats` shows.

    Attributes:
        duration_ms: from the earliest timestamp to the latest.
        apart_ms: what that leaves out of a fork or rerun: from what it has of its recording to its own.
        cost: US dollars of the calls whose price is known; None when no price is of the tokens that were
            used, or no call says how many those are.
        unpriced: models whose calls `cost` leaves out, with how many calls.
        silent_calls: model calls that gave some answer and do not say how many tokens they used.
        confidence: mean of the facts' confidence as it stood at the end; None without one.
        errors: error events, those of attempts that were retried, and of steps around one that failed, too.
        errors_by_category: (category/type, count), most first.
        failures: what failed, each once, as `lctl errors` lists it: errors, tool calls, and steps of whose
            failure nothing else tells.
        first_chunk_p50_ms: time to the first chunk of streamed model calls.
        inherited_calls: model calls of a rerun or fork that were answered from the tape. Their tokens and
            cost are in the recording it was made of, and not in `tokens` and `cost`.
        roles: models by what they are used for, `gpt-4 (planning)`; empty where no step says.
        routings: models that were chosen among others.
        commands: how many the program ran itself, and heard of.
        commands_ms: for how long any of them ran.
    """

    chain_id: str
    events: int
    duration_ms: float
    tokens: Tokens
    cost: float | None
    unpriced: tuple[tuple[str, int], ...]
    agents: tuple[Row, ...]
    models: tuple[Row, ...]
    tools: tuple[Row, ...]
    steps: int
    open_steps: int
    llm_calls: int
    tool_calls: int
    retries: int
    errors: int
    errors_by_category: tuple[tuple[str, int], ...]
    facts: int
    confidence: float | None
    messages: int
    first_chunk_p50_ms: float | None
    first_chunk_p95_ms: float | None
    silent_calls: int = 0
    inherited_calls: int = 0
    inherited_tokens: Tokens = Tokens()
    inherited_cost: float | None = None
    roles: tuple[Row, ...] = ()
    routings: tuple[Routing, ...] = ()
    commands: int = 0
    commands_ms: float = 0.0
    failures: int = 0
    apart_ms: float = 0.0

    @property
    def tokens_known(self) -> bool:
        """False where calls were made, and none of them says what it used."""
        return bool(self.tokens.total) or not self.silent_calls

    @property
    def used_tokens(self) -> int | None:
        """What the run's model calls used, those answered from the tape too; None where none of them says."""
        used = self.tokens.total + self.inherited_tokens.total
        return used if used or self.tokens_known else None

    @property
    def worth(self) -> float | None:
        """What the run costs as a whole, US dollars: what a rerun or fork has of its recording is no less of
        it."""
        inherited = self.inherited_cost if self.inherited_tokens.total else 0.0
        return None if self.cost is None or inherited is None else self.cost + inherited

    @property
    def cost_is_partial(self) -> bool:
        return self.cost is not None and bool(self.unpriced or self.silent_calls)


def stats(log: Log, prices: Prices | None = None) -> Stats:
    """Statistics of a log, in one pass over it. `prices` may be shared between calls."""
    return of_survey(survey(log, prices or Prices()))


def of_survey(found: Survey) -> Stats:
    """Statistics of what a survey found."""
    used = [span for span in found.steps.values() if span.counted and span.tokens is not None]
    spent = [span for span in used if not span.inherited]
    inherited = [span for span in used if span.inherited]
    calls = found.model_calls
    chunks = [call.first_chunk_ms for call in calls if call.first_chunk_ms is not None]
    silent = rows.silent_calls(calls)
    confident = [confidence for confidence in found.facts.values() if confidence is not None]
    return Stats(
        chain_id=found.chain_id,
        events=found.events,
        duration_ms=found.duration_ms,
        tokens=total_tokens([*(span.tokens for span in spent), *found.streamed.values()]),
        cost=rows.total_cost(spent) if spent or found.streamed else None if silent else 0.0,
        unpriced=tuple(sorted(found.unpriced.items(), key=lambda item: (-item[1], item[0]))),
        agents=rows.agents(found),
        models=rows.models(found),
        tools=rows.tools(found),
        steps=len(found.steps),
        open_steps=sum(span.open for span in found.steps.values()),
        llm_calls=len(calls),
        tool_calls=len(found.tools),
        retries=sum(rows.retries_of(call) for call in calls),
        errors=len(found.errors),
        errors_by_category=_categories(found),
        facts=len(found.facts),
        confidence=sum(confident) / len(confident) if confident else None,
        messages=len(found.messages),
        first_chunk_p50_ms=percentile(chunks, 0.5),
        first_chunk_p95_ms=percentile(chunks, 0.95),
        silent_calls=silent,
        inherited_calls=sum(call.inherited for call in calls),
        inherited_tokens=total_tokens(span.tokens for span in inherited),
        inherited_cost=rows.total_cost(inherited) if inherited else None,
        roles=rows.roles(found),
        routings=rows.routings(found),
        commands=len(found.commands),
        commands_ms=length(span.interval for span in found.commands.values()),
        failures=found.failures,
        apart_ms=found.apart_ms or 0.0,
    )


def _categories(found: Survey) -> tuple[tuple[str, int], ...]:
    totals = rows.counts(f"{error.category}/{error.type}" for error in found.errors)
    return tuple(sorted(totals.items(), key=lambda item: (-item[1], item[0])))
