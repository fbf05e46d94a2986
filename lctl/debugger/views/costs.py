"""Cost and time: who used what, what the run waited for, what the cache did, what was wasted."""

from __future__ import annotations

from collections.abc import Iterable

from lctl.analysis.bottleneck import Bottleneck, bottleneck
from lctl.analysis.critical import Segment as Stretch
from lctl.analysis.log import Log, UpTo
from lctl.analysis.prices import Prices
from lctl.analysis.stats import Row, of_survey
from lctl.analysis.surveying import survey
from lctl.debugger.asking import OfRun
from lctl.debugger.moments import moment
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.findings import Cache, CacheUse, Costs, Inherited, Segment, Slow, Usage, Waste
from lctl.debugger.views.rows import cost_of
from lctl.debugger.views.state import totals
from lctl.state.model import Tokens
from lctl.state.model import Usage as Used

_SLOWEST = 50
_SEGMENTS = 2000
_SEQS = 50
_TITLES = {
    "parallelize": "Waits that need not be",
    "slow_tool": "Slow tool",
    "retries": "Retries",
    "cache_miss": "Prompt not read from the cache",
    "repeated_tool_call": "The same tool call again",
    "slow_first_chunk": "Slow first chunk",
    "growing_context": "Context that grows",
    "dominant_step": "One step dominates",
}


class CostsAsked(OfRun, kw_only=True):
    at: int | None = None


def costs(run: Opened, asked: CostsAsked) -> Costs:
    """Of the run up to a seq; of a long one the sums at once, the rest when it has been worked out."""
    at = run.seq(asked.at)
    if run.is_long and run.costing is not None:
        return run.costing.want(at) or sums_at(run, at)
    log: Log = run.log if at >= run.log.last_seq else UpTo(run.log, at)
    return run.kept(("costs", at), lambda: worked_out(log, run.prices))


def sums_at(run: Opened, at: int) -> Costs:
    """What the state at a seq says of it."""
    found = moment(run, at)
    now = found.state
    said = totals(run, now)
    models = []
    for name, one in sorted(now.models.items()):
        paid = cost_of(run, name, one, now)
        unpriced = one.calls if paid is None and one.tokens.total else 0
        models.append(_use(name, one, paid, unpriced, llm_calls=one.calls))
    return Costs(
        duration_ms=said.duration_ms,
        cost=said.cost,
        unpriced=[(one.name, one.unpriced) for one in models if one.unpriced],
        tokens=said.tokens,
        inherited=Inherited(calls=0, tokens=Tokens(), cost=None),
        agents=[_use(name, one, None) for name, one in now.agents.items()],
        models=models,
        tools=[_use(name, one, None, tool_calls=one.calls) for name, one in sorted(now.tools.items())],
        critical=[],
        slowest=[],
        idle_ms=0.0,
        recommendation=None,
        cache=_cache(said.tokens, models, run.prices),
        waste=[],
        confidence=None,
        first_chunk_p50_ms=None,
        progress=0.5,
        since=found.since,
    )


def _use(
    name: str,
    one: Used,
    paid: float | None,
    unpriced: int = 0,
    llm_calls: int = 0,
    tool_calls: int = 0,
) -> Usage:
    return Usage(
        name=name,
        calls=one.calls,
        errors=one.errors,
        retries=0,
        llm_calls=llm_calls,
        tool_calls=tool_calls,
        p50_ms=None,
        p95_ms=None,
        wall_ms=one.wall_ms,
        exclusive_ms=0.0,
        tokens=one.tokens,
        cost=paid,
        unpriced=unpriced,
    )


def worked_out(log: Log, prices: Prices) -> Costs:
    """Everything of the panel, of one log."""
    found = survey(log, prices)
    sums, slow = of_survey(found), bottleneck(log, prices, found)
    return Costs(
        duration_ms=sums.duration_ms,
        cost=sums.cost,
        unpriced=list(sums.unpriced),
        tokens=sums.tokens,
        inherited=Inherited(
            calls=sums.inherited_calls, tokens=sums.inherited_tokens, cost=sums.inherited_cost
        ),
        agents=[_usage(one) for one in sums.agents],
        models=[_usage(one) for one in sums.models],
        tools=[_usage(one) for one in sums.tools],
        critical=[
            Segment(step=one.step, agent=one.agent, name=one.name, start_ms=one.start_ms, end_ms=one.end_ms)
            for one in _longest(slow)
        ],
        slowest=[
            Slow(**{name: getattr(one, name) for name in Slow.__struct_fields__})
            for one in slow.slowest[:_SLOWEST]
        ],
        idle_ms=slow.idle_ms,
        recommendation=slow.recommendation,
        cache=_cache(sums.tokens, sums.models, prices),
        waste=_waste(slow),
        confidence=sums.confidence,
        first_chunk_p50_ms=sums.first_chunk_p50_ms,
    )


def _usage(row: Row) -> Usage:
    return Usage(**{name: getattr(row, name) for name in Usage.__struct_fields__})


def _longest(slow: Bottleneck) -> list[Stretch]:
    """The critical path; of a very long one its longest parts, in order of time."""
    path = list(slow.path)
    if len(path) > _SEGMENTS:
        least = sorted((one.duration_ms for one in path), reverse=True)[_SEGMENTS - 1]
        path = [one for one in path if one.duration_ms >= least][:_SEGMENTS]
    return path


def _cache(used: Tokens, models: Iterable[Row | Usage], prices: Prices) -> Cache:
    saved: float | None = None
    by_model = []
    for row in models:
        tokens = row.tokens
        by_model.append(
            CacheUse(
                name=row.name,
                input=tokens.input,
                read=tokens.cache_read,
                write=tokens.cache_write,
                share=_share(tokens.cache_read, tokens.input),
            )
        )
        prompt = tokens.input // max(1, row.llm_calls)
        less = prices.cached_saving(row.name, tokens.cache_read, prompt=prompt) if tokens.cache_read else 0.0
        if less is not None:
            saved = (saved or 0.0) + less
    return Cache(
        input=used.input,
        read=used.cache_read,
        write=used.cache_write,
        share=_share(used.cache_read, used.input),
        saved=saved,
        by_model=by_model,
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _waste(slow: Bottleneck) -> list[Waste]:
    return [
        Waste(
            what=one.kind,
            title=_TITLES.get(one.kind, one.kind),
            text=" ".join([one.text, *one.evidence])
            if len(one.evidence) == 1
            else "\n".join([one.text, *one.evidence]),
            times=len(one.seqs),
            tokens=None,
            cost=one.saving_usd,
            ms=one.saving_ms,
            seqs=list(one.seqs[:_SEQS]),
        )
        for one in slow.advice
    ]
