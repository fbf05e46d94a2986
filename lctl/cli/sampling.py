"""`lctl samples`: the rows of training data a log gives, what they train, and why they broke."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lctl.analysis.wording import count, plain
from lctl.cli.options import screened, target
from lctl.cli.screen import Column, Piece, Screen
from lctl.cli.text import plural

if TYPE_CHECKING:
    from lctl.training.planning import Plan
    from lctl.training.sample import Sample

_COLUMNS = [
    Column("SAMPLE", flexible=True),
    Column("MESSAGES", right=True),
    Column("TRAINED", right=True),
    Column("TOKENS", right=True),
    Column("MODEL"),
    Column("WHY IT BROKE", optional=True),
]


@click.command()
@target()
@click.option("--to-seq", type=click.IntRange(0), metavar="N", help="What the log gave after event N.")
@screened()
def samples(screen: Screen, target: str, to_seq: int | None) -> None:
    """List the training samples of TARGET: each row, what it trains, and why it broke off.

    Calls whose prompt holds the one before unchanged are one row; each answer of the model is trained in
    one row. TOKENS are those of the trained messages. 'lctl export --format openai' writes the rows.
    """
    from lctl.chain import Chain
    from lctl.cli.target import opened
    from lctl.training.planning import Plan
    from lctl.training.sampling import rows

    log = opened(target)
    tree = Chain.of(log).tree
    plan = Plan(tree if to_seq is None else tree.at(to_seq))
    found = list(map(_short, rows(plan)))
    if screen.json:
        screen.json_value(_document(log.id, plan, found))
        return
    if not found:
        screen.line(_nothing(plan))
    else:
        screen.table(_COLUMNS, [_row(one) for one in found])
        screen.line()
        screen.line(_sum(plan))
    for reason, number in sorted(plan.skipped.items()):
        screen.line(("not trained: ", "dim"), f"{plural(number, 'answer')}, {_why(reason)}")


def _short(sample: Sample) -> dict[str, Any]:
    return {
        "sample": sample.id,
        "messages": len(sample.messages),
        "trained": sample.trained,
        "tokens": sample.trained_tokens,
        "model": sample.model,
        "break_reason": sample.break_reason,
        "trajectory": sample.trajectory_id,
        "reward": sample.reward,
        "seq": sample.seq,
    }


def _row(one: dict[str, Any]) -> list[Piece]:
    tokens = one["tokens"]
    return [
        plain(one["sample"], 80),
        count(one["messages"]),
        count(one["trained"]),
        ("?", "dim") if tokens is None else count(tokens),
        plain(one["model"], 60) if one["model"] else ("(not named)", "dim"),
        (one["break_reason"] or "", "yellow"),
    ]


def _sum(plan: Plan) -> str:
    ratio = plan.trained / len(plan)
    trained = f"{plural(plan.trained, 'answer')} trained in {plural(len(plan), 'row')}"
    return f"{trained}, {ratio:.1f} a row; {plural(plan.calls, 'answer')} in all"


def _nothing(plan: Plan) -> str:
    if plan.calls:
        return f"No samples: none of {plural(plan.calls, 'answer')} can be trained."
    return "No samples: the log has no answers of a model."


def _why(reason: str) -> str:
    from lctl.training.failing import SKIPS

    return f"{reason}: {SKIPS.get(reason, reason)}"


def _document(chain: str, plan: Plan, found: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "chain": chain,
        "calls": plan.calls,
        "trained": plan.trained,
        "rows": len(plan),
        "breaks": dict(sorted(plan.breaks.items())),
        "skipped": dict(sorted(plan.skipped.items())),
        "samples": found,
    }
