"""What a run cost: from the sums at the end of its file where they say it, else from its events."""

from __future__ import annotations

from datetime import UTC, datetime

from lctl.analysis.log import tokens_of
from lctl.analysis.prices import Prices
from lctl.analysis.run import Run
from lctl.analysis.stats import stats
from lctl.errors import LctlError
from lctl.state.model import Tokens

#: Events of a run that is read for its cost: half a second.
LONGEST = 50_000


def cost_of(run: Run, prices: Prices) -> float | None:
    """US dollars; None when nothing, or not everything, has a known price, or when too much would have to be
    read for it. Of a rerun or fork: of what it sent."""
    is_again = bool(run.chain.keys() & {"fork", "rerun"})
    if not is_again and not _models(run):
        return None
    if not needs_events(run, prices):
        return of_sums(run, prices)
    if not is_again and is_long(run):
        return None
    try:
        return stats(run.log(), prices).cost
    except LctlError:
        return None


def least_of(run: Run, prices: Prices) -> float | None:
    """US dollars that a run cost at least of which `cost_of` would have to read too much: what it cost if no
    prompt was so long that a token was dearer. None for others."""
    if not is_long(run) or run.chain.keys() & {"fork", "rerun"} or not needs_events(run, prices):
        return None
    return of_sums(run, prices, read=0)


def is_long(run: Run) -> bool:
    """Whether it is too long to be read for its cost."""
    return (run.events or 0) > LONGEST


def needs_events(run: Run, prices: Prices) -> bool:
    """Whether the sums of its summary do not say what it cost: they count what another run has paid for, or
    calls of which some may have been so long that a token was dearer."""
    if run.chain.keys() & {"fork", "rerun"}:
        return True
    return not all(prices.is_even(name, tokens, calls, at=_at(run)) for name, tokens, calls in _models(run))


def of_sums(run: Run, prices: Prices, read: int | None = None) -> float | None:
    """From the summary alone; None where a model has no known price. `read` as of `Prices.of_calls`."""
    costs = [
        prices.of_calls(name, tokens, calls, at=_at(run), read=read) for name, tokens, calls in _models(run)
    ]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _models(run: Run) -> list[tuple[str, Tokens, int]]:
    models = run.summary.get("models")
    found = []
    for name, usage in models.items() if isinstance(models, dict) else ():
        tokens = tokens_of(usage) if isinstance(usage, dict) else None
        if tokens is not None and tokens.total:
            calls = usage.get("calls")
            found.append((str(name), tokens, calls if type(calls) is int and calls > 0 else 1))
    return found


def _at(run: Run) -> str:
    return datetime.fromtimestamp(run.started, UTC).isoformat()
