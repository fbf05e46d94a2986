"""`lctl stats` and `lctl bottleneck`: what a run cost, and where its time went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from lctl.analysis.wording import count, dollars, plain, seconds
from lctl.cli.options import screened, target
from lctl.cli.screen import Column, Piece, Screen
from lctl.cli.text import plural

if TYPE_CHECKING:
    from lctl.analysis.advice import Advice
    from lctl.analysis.bottleneck import Bottleneck
    from lctl.analysis.stats import Routing, Row, Stats


#: A narrow terminal does without the spare ones, those of the highest number first.
_TIMES = (
    Column("TIME", right=True),
    Column("P50", right=True, spare=4),
    Column("P95", right=True, spare=3),
)


@click.command()
@target()
@click.option(
    "--full", is_flag=True, help="Also by agent, model and tool (on a terminal that is the default)."
)
@screened()
def stats(screen: Screen, target: str, full: bool) -> None:
    """Sum up TARGET: duration, tokens, cost, agents, errors, confidence.

    Cost is in US dollars, at the prices of the time the run was recorded; models without a known price
    are named. Errors are error events, those of attempts that were retried too. Steps and calls that
    failed, or were stopped, are told apart from them; 'lctl errors' lists each failure once.
    """
    from lctl.analysis.stats import stats as counted
    from lctl.analysis.statstext import lines
    from lctl.cli.target import opened

    value = counted(opened(target))
    if screen.json:
        screen.json_value(value)
        return
    for line in lines(value):
        name, colon, rest = line.partition(": ")
        screen.line((name + colon, "dim"), rest)
    if full or screen.terminal:
        _tables(screen, value)


def _tables(screen: Screen, value: Stats) -> None:
    _table(screen, [Column("AGENT", flexible=True), *_columns("STEPS")], value.agents)
    _table(screen, [Column("MODEL", flexible=True), *_columns("CALLS")], value.models)
    _table(screen, [Column("MODEL (ROLE)", flexible=True), *_columns("CALLS")], value.roles)
    if value.routings:
        screen.line()
        screen.table(
            [Column("ROUTED TO"), Column("TIMES", right=True), Column("INSTEAD OF", flexible=True)],
            [[plain(one.choice, 60), count(one.count), _instead(one)] for one in value.routings],
        )
    tools = [Column("TOOL", flexible=True), Column("CALLS", right=True), *_TIMES]
    if value.tools:
        screen.line()
        screen.table(
            [*tools, Column("", optional=True)],
            [
                [plain(row.name, 60), count(row.calls), *_times(row), _failed(row, is_tool=True)]
                for row in value.tools
            ],
        )
    if value.errors_by_category:
        screen.line()
        screen.table(
            [Column("ERROR"), Column("COUNT", right=True)],
            [[plain(name, 80), count(number)] for name, number in value.errors_by_category],
        )


def _instead(routing: Routing) -> str:
    return ", ".join(
        plain(name, 40) + (f" ({times})" if times > 1 else "") for name, times in routing.alternatives
    )


def _columns(calls: str) -> list[Column]:
    return [
        Column(calls, right=True),
        *_TIMES,
        Column("TOKENS IN", right=True, spare=1),
        Column("OUT", right=True, spare=2),
        Column("COST", right=True),
        Column("", optional=True),
    ]


def _table(screen: Screen, columns: Sequence[Column], rows: Sequence[Row]) -> None:
    if not rows:
        return
    screen.line()
    screen.table(
        columns,
        [
            [
                plain(row.name, 60) or ("(no name)", "dim"),
                count(row.calls),
                *_times(row),
                count(row.tokens.input) if row.tokens.total else "",
                count(row.tokens.output) if row.tokens.total else "",
                _cost(row),
                _failed(row),
            ]
            for row in rows
        ],
    )


def _times(row: Row) -> list[Piece]:
    return [
        seconds(row.wall_ms) if row.wall_ms else "",
        "" if row.p50_ms is None else seconds(row.p50_ms),
        "" if row.p95_ms is None else seconds(row.p95_ms),
    ]


def _cost(row: Row) -> Piece:
    if not row.tokens.total:
        return ""
    return ("?", "dim") if row.cost is None else dollars(row.cost)


def _failed(row: Row, *, is_tool: bool = False) -> Piece:
    parts = [f"{row.failed} failed"] if row.failed else []
    if row.errors and not is_tool:
        parts.append(plural(row.errors, "error"))
    parts += [f"{row.retries} retried"] if row.retries else []
    return (", ".join(parts), "red" if row.failed or row.errors else "yellow") if parts else ""


@click.command()
@target()
@click.option("-n", "--limit", type=click.IntRange(1), default=10, show_default=True, help="Steps to list.")
@click.option("--full", is_flag=True, help="Also the critical path, and what the advice rests on.")
@screened()
def bottleneck(screen: Screen, target: str, limit: int, full: bool) -> None:
    """Find where the time of TARGET went, and what would help.

    A step's time is its own: what its children took is theirs, and what ran at once is shared. Advice
    follows from what the log shows: work that could run at once, one slow tool, retries, missed caches.
    """
    from lctl.analysis.bottleneck import bottleneck as found
    from lctl.analysis.bottleneck import lines
    from lctl.cli.target import opened

    value = found(opened(target))
    if screen.json:
        screen.json_value(value)
        return
    for line in lines(value, limit):
        screen.line((line, "bold") if line.endswith(":") else line)
    if value.advice:
        screen.line()
    for piece in value.advice:
        screen.line(("• ", "yellow"), plain(piece.text, 400), (_saving(piece), "green"))
        screen.lines(
            f"    {screen.paint(plain(seen, 200), 'dim')}" for seen in (piece.evidence if full else ())
        )
    if full and value.path:
        _path(screen, value)


def _saving(piece: Advice) -> str:
    parts = [f"saves up to {seconds(piece.saving_ms)}"] if piece.saving_ms else []
    parts += [f"saves up to {dollars(piece.saving_usd)}"] if piece.saving_usd else []
    return f"  ({', '.join(parts)})" if parts else ""


def _path(screen: Screen, value: Bottleneck) -> None:
    screen.line()
    screen.line(("Critical path", "bold"), (f"  of {seconds(value.wall_ms)}", "dim"))
    steps = {step.seq: step for step in value.slowest}
    rows: list[list[Piece]] = []
    for segment in value.path:
        step = steps.get(segment.step) if segment.step is not None else None
        name = (
            "(waiting)" if step is None else f"{plain(step.agent, 40)}: {plain(step.intent or step.kind, 60)}"
        )
        rows.append([seconds(segment.duration_ms), f"[{segment.step}]" if step else "", name])
    screen.table([Column(right=True), Column(), Column(flexible=True)], rows, indent=2)
