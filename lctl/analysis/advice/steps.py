"""Steps that need not wait for one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lctl.analysis.advice.piece import WORTH, Advice
from lctl.analysis.flow import Flow
from lctl.analysis.prices import Prices
from lctl.analysis.spans import StepSpan
from lctl.analysis.survey import Survey
from lctl.analysis.wording import plain, seconds


def parallelize(found: Survey, flow: Flow, prices: Prices, wall: float) -> Iterator[Advice]:
    for run in flow.independent_runs():
        total = sum(step.wall_ms for step in run)
        saving = total - max(step.wall_ms for step in run)
        if saving < wall * WORTH:
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
