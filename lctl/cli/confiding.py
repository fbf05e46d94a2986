"""`lctl confidence`: how sure each fact is, how that came, and which are blocked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lctl.cli import DIFFERENCE, OK
from lctl.cli.options import screened, target
from lctl.cli.screen import Column, Piece, Screen, Style
from lctl.cli.text import plain

if TYPE_CHECKING:
    from lctl.analysis.confidence import Confidence
    from lctl.trust.timeline import Way


@click.command()
@target()
@click.option("--at", type=click.IntRange(0), metavar="N", help="As it was after event N.")
@click.option("--fact", "facts", multiple=True, metavar="ID", help="Only this fact. Repeatable.")
@click.option("--causes", is_flag=True, help="Also what happened to each: who, at which event, why.")
@click.option("--plot", is_flag=True, help="Draw it; with -o FILE as SVG.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write the drawing to FILE; '-': to stdout.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 when a fact is blocked.")
@screened()
def confidence(
    screen: Screen,
    target: str,
    at: int | None,
    facts: tuple[str, ...],
    causes: bool,
    plot: bool,
    output: str | None,
    strict: bool,
) -> int:
    """Show how sure each fact of TARGET is, and how that came.

    A confidence decays with each hop: the fact crossing from one agent to another, by a read or a hand-off.
    Rates and thresholds are those of the log's header (chain.confidence), else 0.95 a hop and 0.80, 0.60,
    0.40.
    """
    from lctl.analysis.confidence import confidence as found_in
    from lctl.analysis.confidence import lines
    from lctl.cli.target import opened

    log = opened(target)
    found = _only(found_in(log, at), facts)
    code = DIFFERENCE if strict and found.blocked else OK
    if screen.json:
        screen.json_value(_document(found))
        return code
    if output is not None:
        _write(screen, found, output, log.name)
        return code
    if plot:
        from lctl.analysis.confidenceplot import terminal_plot

        room = min(screen.columns, 100) if screen.terminal else 72
        screen.lines(plain_line(line) for line in terminal_plot(found, room))
        screen.line()
    by_line = {way.line: way for way in found.ways}
    for line in lines(found):
        screen.line((plain(line), _style(line, by_line)))
        if causes and line in by_line:
            _causes(screen, by_line[line])
    return code


def plain_line(line: str) -> str:
    """A drawn line made safe, its blanks kept."""
    return " ".join(plain(part) for part in line.split(" "))


def _only(found: Confidence, facts: tuple[str, ...]) -> Confidence:
    if not facts:
        return found
    import msgspec

    from lctl.errors import UsageError

    known = {way.id: way for way in found.ways}
    for id in facts:
        if id not in known:
            raise UsageError(f"there is no fact {id!r}; there are {', '.join(list(known)[:20]) or 'none'}")
    return msgspec.structs.replace(found, ways=tuple(known[id] for id in facts))


def _style(line: str, ways: dict[str, Way]) -> Style:
    if line.startswith("Warning:"):
        return "yellow"
    way = ways.get(line)
    if way is None:
        return "bold" if line.endswith(":") else ""
    return "red" if way.blocked is not None else "green" if way.label == "verified" else ""


def _causes(screen: Screen, way: Way) -> None:
    from lctl.trust.numbers import shown
    from lctl.trust.timeline import cause_of

    rows: list[list[Piece]] = [
        [(f"[{point.seq}]", "dim"), shown(point.confidence), plain(point.agent, 40), plain(cause_of(point))]
        for point in way.points
    ]
    screen.table([Column(right=True), Column(right=True), Column(), Column(flexible=True)], rows, indent=2)


def _write(screen: Screen, found: Confidence, output: str, read: str) -> None:
    from lctl.analysis.confidenceplot import svg_plot
    from lctl.cli.target import output as writable
    from lctl.codec.wholefile import writing

    if output == "-":
        screen.document(svg_plot(found))
        return
    with writing(writable(output, read)) as file:
        file.write(svg_plot(found).encode())
    screen.line(f"Wrote {plain(output)}")


def _document(found: Confidence) -> dict[str, Any]:
    return {
        "chain_id": found.chain_id,
        "seq": found.last,
        "policy": found.policy,
        "facts": [
            {
                "id": way.id, "confidence": way.confidence, "label": way.label, "blocked": way.blocked,
                "timeline": way.marks, "points": list(way.points),
            }
            for way in found.ways
        ],
    }  # fmt: skip
