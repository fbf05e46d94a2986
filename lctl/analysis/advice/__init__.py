"""What could be faster or cheaper, each piece with what in the log says so and what it would save.

Every rule reads evidence and stays silent without it. Savings are estimates from what was measured in this
run; those of several pieces may overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lctl.analysis.advice import modelcalls, steps, tools
from lctl.analysis.advice.piece import Advice
from lctl.analysis.flow import Flow
from lctl.analysis.prices import Prices
from lctl.analysis.survey import Survey

__all__ = ["Advice", "advise"]


def advise(found: Survey, flow: Flow, prices: Prices) -> tuple[Advice, ...]:
    """All that the log gives reason for; what saves most time first, then most money."""
    start, end = found.span
    wall = end - start
    rules: tuple[Callable[[Survey, Flow, Prices, float], Iterator[Advice]], ...] = (
        steps.parallelize,
        tools.tools_asked_at_once,
        tools.slow_tool,
        modelcalls.retries,
        tools.repeated,
        modelcalls.cache_misses,
        modelcalls.slow_first_chunk,
        modelcalls.growing_context,
    )
    pieces = [piece for rule in rules for piece in rule(found, flow, prices, wall)]
    pieces.sort(key=lambda piece: (-(piece.saving_ms or 0.0), -(piece.saving_usd or 0.0), piece.seqs))
    return tuple(pieces)
