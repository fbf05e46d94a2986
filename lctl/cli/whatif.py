"""`lctl what-if`: one event changed, the log folded again, nothing executed."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lctl.analysis.wording import dollars, plain
from lctl.cli import DIFFERENCE, OK
from lctl.cli.options import screened, target
from lctl.cli.screen import Column, Piece, Screen
from lctl.cli.text import plural

if TYPE_CHECKING:
    from lctl.analysis.whatif import Change, WhatIf

_MOST = 40


@click.command(name="what-if")
@target()
@click.option("--at", type=int, metavar="N", help="The event that --set changes and --insert goes behind.")
@click.option(
    "--set", "sets", multiple=True, metavar="EDIT", help="Change it: data.confidence=0.3. Repeatable."
)
@click.option("--drop", type=int, multiple=True, metavar="N", help="Event N never happened. Repeatable.")
@click.option(
    "--insert", "inserts", multiple=True, metavar="JSON", help="This event happened, too; @FILE reads it."
)
@click.option("--to-seq", type=int, metavar="M", help="Compare after event M, not at the end.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write the changed log to FILE; '-': to stdout, and nothing else.",
)
@click.option("--full", is_flag=True, help="Every difference.")
@screened()
def what_if(
    screen: Screen,
    target: str,
    at: int | None,
    sets: tuple[str, ...],
    drop: tuple[int, ...],
    inserts: tuple[str, ...],
    to_seq: int | None,
    output: str | None,
    full: bool,
) -> int:
    """Change events of TARGET and see what follows, without running anything.

    \b
      lctl what-if last --at 8 --set data.confidence=0.3
      lctl what-if last --drop 12 --to-seq 30
      lctl what-if last --at 8 --insert '{"type": "error", "data": {"category": "output_error"}}'
      lctl what-if last --set 'agent=reviewer data.confidence-=0.2'

    Facts and the gates they pass, hand-offs, steps, messages, prompts, tokens and costs are worked out
    again and compared. Edits are those of spec/patch.md. Exits with 1 when something differs.
    """
    from lctl.analysis.whatif import what_if as asked
    from lctl.cli.target import opened
    from lctl.cli.target import output as writable
    from lctl.errors import UsageError

    if not (sets or drop or inserts):
        raise UsageError("what if what? give --set data.confidence=0.3, --drop N or --insert JSON")
    log = opened(target)
    found = asked(log, at, set=list(sets), drop=drop, insert=[_event(one) for one in inserts], to_seq=to_seq)
    if output not in (None, "-"):
        found.chain.save(writable(output, log.name, chain=found.chain.id))
    if output == "-":
        found.chain.save("-")
    elif screen.json:
        screen.json_value(_document(found))
    else:
        _say(screen, found, log, full)
    return DIFFERENCE if found else OK


def _event(given: str) -> dict[str, Any]:
    import orjson

    from lctl.errors import UsageError

    try:
        value = orjson.loads(Path(given[1:]).read_bytes() if given.startswith("@") else given)
    except ValueError as error:
        raise UsageError(f"--insert: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise UsageError("--insert: an event is a JSON object with type and data")
    return value


def _say(screen: Screen, found: WhatIf, log: Any, full: bool) -> None:
    from lctl.analysis.describe import describe

    new = {old: event for event in found.altered.events if (old := found.altered.origins.get(event.seq))}
    for event in log.events():
        if event.seq not in found.altered.touched:
            continue
        said = new.get(event.seq)
        sign, style = (
            ("-", "red") if said is None else ("~", "yellow") if said.data != event.data else (" ", "dim")
        )
        screen.line((sign, style), " ", (f"[{event.seq}] ", "dim"), describe(event))  # type: ignore[arg-type]
        if said is not None and describe(said) != describe(event):
            screen.line(("+", "green"), " ", (f"[{event.seq}] ", "dim"), describe(said))
    for event in found.altered.events:
        if event.seq not in found.altered.origins:
            screen.line(("+", "green"), " ", describe(event))
    screen.line()
    if found.spans:
        rows: list[list[Piece]] = [_span(span) for span in found.spans]
        screen.line(("Confidence on the way", "bold"))
        screen.table([Column(), Column(), Column(), Column(optional=True)], rows, indent=2)
    _changes(screen, found, log.last_seq, full)


def _span(span: Any) -> list[Piece]:
    before, after = span.gates
    when = f"at {span.first}" if span.first == span.last else f"from {span.first} to {span.last}"
    gates = f"{before or '-'} → {after or '-'}" if before != after else ""
    return [
        plain(span.fact, 40),
        f"{_value(span.before)} → {_value(span.after)}",
        (when, "dim"),
        (gates, "yellow"),
    ]


def _changes(screen: Screen, found: WhatIf, last: int, full: bool) -> None:
    where = "at the end" if found.to_seq == last else f"after event {found.to_seq}"
    changes = found.changes
    if not changes:
        screen.line((f"Nothing would be otherwise {where}.", "green"))
        return
    screen.line((f"Otherwise {where}", "bold"), (f"  ({plural(len(changes), 'difference')})", "dim"))
    for section, some in groupby(changes[: None if full else _MOST], key=lambda change: change.section):
        rows = [_row(change) for change in some]
        screen.line("  ", (section, "dim"))
        screen.table([Column(optional=True), Column(optional=True), Column(flexible=True)], rows, indent=4)
    if not full and len(changes) > _MOST:
        screen.line(("  … ", "dim"), (f"{len(changes) - _MOST} more; --full shows them", "dim"))


def _row(change: Change) -> list[Piece]:
    if change.field:
        sides = f"{_value(change.before, change.field)} → {_value(change.after, change.field)}"
        return [plain(change.name, 40), (change.field, "dim"), sides]
    gone = change.after is None
    said = ", ".join(
        f"{key} {plain(value, 40)}" for key, value in (change.before or change.after or {}).items()
    )
    return [(plain(change.name, 40), "red" if gone else "green"), ("gone" if gone else "added", "dim"), said]


def _value(value: Any, field: str = "") -> str:
    if value is None:
        return "(none)"
    if isinstance(value, float):
        return dollars(value) if field == "cost" else f"{round(value, 4):g}"
    return plain(value, 100)


def _document(found: WhatIf) -> dict[str, Any]:
    return {
        "to_seq": found.to_seq,
        "changes": list(found.changes),
        "confidence": [
            {
                "fact": span.fact, "first": span.first, "last": span.last, "before": span.before,
                "after": span.after, "gates": span.gates,
            }
            for span in found.spans
        ],
        "events": len(found.altered.events),
        "touched": sorted(found.altered.touched),
    }  # fmt: skip
