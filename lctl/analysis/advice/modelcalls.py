"""Model calls that fail at first, begin late, or read again what they have read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import msgspec

from lctl.analysis.advice.piece import WORTH, Advice
from lctl.analysis.flow import Flow
from lctl.analysis.prices import Prices
from lctl.analysis.spans import StepSpan
from lctl.analysis.survey import Survey
from lctl.analysis.wording import count, plain, plural, seconds

#: Providers cache a prompt's beginning from about this many tokens on.
_CACHEABLE_TOKENS = 1024


def retries(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
    retried = [call for call in found.model_calls if call.attempts > 1]
    waits = [max(0.0, call.wall_ms - (call.last_attempt_ms or 0.0)) for call in retried]
    if not retried or sum(waits) < wall * WORTH:
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


def cache_misses(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
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


def slow_first_chunk(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
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


def growing_context(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
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
