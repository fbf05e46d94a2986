"""What could be faster or cheaper, each piece with what in the log says so and what it would save.

Every rule reads evidence and stays silent without it. Savings are estimates from what was measured in this
run; those of several pieces may overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import msgspec

from lctl.analysis.flow import Flow
from lctl.analysis.intervals import length, percentile
from lctl.analysis.prices import Prices
from lctl.analysis.spans import StepSpan, ToolSpan
from lctl.analysis.survey import Survey
from lctl.analysis.wording import count, percent, plain, plural, seconds

#: Least part of the chain's time a saving must be to be worth a line.
_WORTH = 0.02
#: Providers cache a prompt's beginning from about this many tokens on.
_CACHEABLE_TOKENS = 1024


class Advice(msgspec.Struct, frozen=True):
    """One thing to do.

    Attributes:
        kind: "parallelize", "slow_tool", "retries", "cache_miss", "repeated_tool_call", "slow_first_chunk",
            "growing_context" or "dominant_step".
        text: the sentence to show.
        evidence: what was seen, a line each.
        seqs: the steps or tool calls it is about.
        saving_ms: time it would save at most; None where it saves none.
        saving_usd: money it would save; None where that cannot be told.
    """

    kind: str
    text: str
    evidence: tuple[str, ...]
    seqs: tuple[int, ...]
    saving_ms: float | None = None
    saving_usd: float | None = None


def advise(found: Survey, flow: Flow, prices: Prices) -> tuple[Advice, ...]:
    """All that the log gives reason for; what saves most time first, then most money."""
    start, end = found.span
    wall = end - start
    rules: tuple[Callable[[Survey, Flow, Prices, float], Iterator[Advice]], ...] = (
        _parallelize,
        _tools_asked_at_once,
        _slow_tool,
        _retries,
        _repeated,
        _cache_misses,
        _slow_first_chunk,
        _growing_context,
    )
    pieces = [piece for rule in rules for piece in rule(found, flow, prices, wall)]
    pieces.sort(key=lambda piece: (-(piece.saving_ms or 0.0), -(piece.saving_usd or 0.0), piece.seqs))
    return tuple(pieces)


def _parallelize(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
    for run in flow.independent_runs():
        total = sum(step.wall_ms for step in run)
        saving = total - max(step.wall_ms for step in run)
        if saving < wall * _WORTH:
            continue
        names = _names(run)
        yield Advice(
            "parallelize",
            f"Run {names} at once: one waited for the other and nothing in the log shows it had to.",
            (
                f"steps {_listed([str(step.seq) for step in run])} ran one after the other: "
                + _listed([seconds(step.wall_ms) for step in run]),
                "no output, fact, message or hand-off of an earlier one appears in the input of a later one",
            ),
            tuple(step.seq for step in run),
            saving,
        )


def _tools_asked_at_once(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
    """Calls that one model message asked for together, run one by one."""
    for calls in flow.asked_together():
        timed = [call for call in calls if call.duration_ms]
        spent = sum(call.duration_ms or 0.0 for call in timed)
        if len(timed) < 2 or length(call.interval for call in timed) < spent * 0.99:
            continue
        saving = spent - max(call.duration_ms or 0.0 for call in timed)
        if saving < wall * _WORTH:
            continue
        yield Advice(
            "parallelize",
            f"Run the {len(timed)} tool calls the model asked for together at once.",
            (
                f"one message asked for {', '.join(plain(call.tool, 30) for call in timed)}",
                f"one by one they took {' + '.join(seconds(call.duration_ms or 0) for call in timed)}",
            ),
            tuple(call.seq for call in timed),
            saving,
        )


def _slow_tool(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
    tools: dict[str, list[ToolSpan]] = {}
    for call in found.tools:
        if call.duration_ms:
            tools.setdefault(call.tool, []).append(call)
    for tool, calls in tools.items():
        spent = length(call.interval for call in calls)
        if wall <= 0 or spent < wall * 0.2:
            continue
        durations = [call.duration_ms or 0.0 for call in calls]
        usual = percentile(durations, 0.5) or 0.0
        slowest = max(calls, key=lambda call: call.duration_ms or 0.0)
        outliers = sum(max(0.0, duration - usual) for duration in durations)
        evidence = [
            (
                f"{plural(len(calls), 'call')}, {seconds(spent)} of {seconds(wall)}; "
                f"half take under {seconds(usual)}"
            )
        ]
        if outliers > spent * 0.5 and len(calls) > 2:
            evidence.append(f"the slowest, event {slowest.seq}, took {seconds(max(durations))}")
            saving = min(outliers, spent)
        else:
            saving = spent
        yield Advice(
            "slow_tool",
            f"{plain(tool, 40)} takes {percent(min(1.0, spent / wall))} of the time: make it faster or rare.",
            tuple(evidence),
            tuple(call.seq for call in sorted(calls, key=lambda call: -(call.duration_ms or 0.0))[:5]),
            saving,
        )


def _retries(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
    retried = [call for call in found.model_calls if call.attempts > 1]
    waits = [max(0.0, call.wall_ms - (call.last_attempt_ms or 0.0)) for call in retried]
    if not retried or sum(waits) < wall * _WORTH:
        return
    kinds: dict[str, int] = {}
    inside = {call.seq for call in retried}
    for error in found.errors:
        if error.step in inside:
            kinds[error.type] = kinds.get(error.type, 0) + 1
    attempts = sum(call.attempts - 1 for call in retried)
    why = ", ".join(f"{n} {plain(kind, 30)}" for kind, n in sorted(kinds.items(), key=lambda item: -item[1]))
    yield Advice(
        "retries",
        f"{seconds(sum(waits))} went into {_many(attempts, 'failed attempt')} and waiting to try again"
        + (": stay under the provider's rate limit." if _is_limited(kinds) else "."),
        (f"{_many(len(retried), 'model call')} needed more than one attempt" + (f" ({why})" if why else ""),),
        tuple(call.seq for call in retried),
        sum(waits),
    )


def _is_limited(kinds: dict[str, int]) -> bool:
    """Whether most of the failures are refusals of too many requests."""
    return 2 * kinds.get("rate_limited", 0) > sum(kinds.values())


def _repeated(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
    same: dict[tuple[int, int], list[ToolSpan]] = {}
    for call in found.tools:
        if not call.failed:
            same.setdefault((call.asked, call.got), []).append(call)
    for calls in same.values():
        if len(calls) < 2:
            continue
        saving = sum(call.duration_ms or 0.0 for call in calls[1:])
        if saving < wall * _WORTH and len(calls) < 3:
            continue
        yield Advice(
            "repeated_tool_call",
            f"Keep the answer of {plain(calls[0].tool, 40)}: called {len(calls)} times with the same input, "
            "it answered the same.",
            (f"events {', '.join(str(call.seq) for call in calls[:8])}{', …' if len(calls) > 8 else ''}",),
            tuple(call.seq for call in calls),
            saving or None,
        )


def _cache_misses(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
    missed: dict[str, list[tuple[StepSpan, int]]] = {}
    for call, repeated in flow.repeated_prefixes():
        tokens = call.tokens
        if tokens is None or tokens.cache_read or repeated < _CACHEABLE_TOKENS:
            continue
        missed.setdefault(call.model or "?", []).append((call, repeated))
    for model, calls in missed.items():
        resent = sum(repeated for _, repeated in calls)
        savings = [
            prices.cached_saving(
                call.model,
                repeated,
                prompt=call.tokens.input,
                provider=call.provider,
                at=call.timestamp,
                url=call.url,
            )
            for call, repeated in calls
            if call.tokens is not None
        ]
        known = [saving for saving in savings if saving is not None]
        if known and sum(known) == 0:
            continue
        yield Advice(
            "cache_miss",
            f"Let {plain(model, 40)} cache the prompt: about {count(resent)} input tokens were paid again.",
            (
                (
                    f"{plural(len(calls), 'call begins', 'calls begin')} with messages an earlier call sent, "
                    "and read nothing cached"
                ),
                f"the longest repeated beginning is about {plural(max(size for _, size in calls), 'token')}",
            ),
            tuple(call.seq for call, _ in calls),
            None,
            sum(known) if known else None,
        )


def _slow_first_chunk(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
    models: dict[str, list[StepSpan]] = {}
    for call in found.model_calls:
        if call.first_chunk_ms is not None and call.wall_ms > 0:
            models.setdefault(call.model or "?", []).append(call)
    for model, calls in models.items():
        slow = [call for call in calls if (call.first_chunk_ms or 0) >= max(1000.0, call.wall_ms * 0.5)]
        waited = sum(call.first_chunk_ms or 0.0 for call in slow)
        if not slow or waited < wall * 0.1:
            continue
        best = min(call.first_chunk_ms or 0.0 for call in calls)
        saving = sum((call.first_chunk_ms or 0.0) - best for call in slow)
        yield Advice(
            "slow_first_chunk",
            f"{plain(model, 40)} is slow to begin: {seconds(waited)} passed before first chunks. "
            "A shorter or cached prompt, or less reasoning, begins sooner.",
            (
                f"{len(slow)} of {len(calls)} streamed calls spent at least half their time before that",
                f"the quickest began after {seconds(best)}",
            ),
            tuple(call.seq for call in slow),
            saving or None,
        )


def _growing_context(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
    agents: dict[tuple[str, str | None], list[StepSpan]] = {}
    for call in found.model_calls:
        if call.tokens is not None and call.tokens.input and call.kind == "llm":
            agents.setdefault((call.agent, call.model), []).append(call)
    for (agent, model), calls in agents.items():
        sizes = [call.tokens.input for call in calls if call.tokens is not None]
        growing = sum(b > a for a, b in pairwise(sizes))
        if len(sizes) < 4 or sizes[-1] < 2 * sizes[0] or sizes[-1] < 4000 or growing < 0.8 * (len(sizes) - 1):
            continue
        extra = sum(size - sizes[0] for size in sizes)
        uncached = [
            prices.cost(
                call.model,
                msgspec.structs.replace(
                    call.tokens, input=max(0, call.tokens.input - sizes[0]), output=0, reasoning=0
                ),
                provider=call.provider,
                at=call.timestamp,
                url=call.url,
            )
            for call in calls
            if call.tokens is not None
        ]
        known = [cost for cost in uncached if cost is not None]
        yield Advice(
            "growing_context",
            f"{plain(agent, 40)}'s prompt grows from {count(sizes[0])} to {plural(sizes[-1], 'token')}: "
            "summarise or drop what is no longer needed.",
            (
                (
                    f"{plural(len(calls), 'call')} of {plain(model or '?', 40)} "
                    f"read {plural(extra, 'token')} beyond it"
                ),
            ),
            tuple(call.seq for call in calls),
            None,
            sum(known) if known else None,
        )


def _many(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


#: So many of a list are written out.
_LISTED = 20


def _listed(words: Sequence[str]) -> str:
    rest = len(words) - _LISTED
    return ", ".join(words) if rest <= 0 else f"{', '.join(words[:_LISTED])} and {rest:,} more"


def _names(run: Sequence[StepSpan]) -> str:
    names = [f"{plain(step.agent, 30)} (step {step.seq})" for step in run[:4]]
    if len(run) > 4:
        names.append(f"{len(run) - 4} more")
    return ", ".join(names[:-1]) + f" and {names[-1]}"
