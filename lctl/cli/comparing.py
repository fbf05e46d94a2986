"""`lctl diff`: what one run did and the other did not."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from lctl.analysis.wording import block, count, dollars, plain, seconds
from lctl.cli import DIFFERENCE, OK
from lctl.cli.options import screened, target
from lctl.cli.screen import Screen, Style
from lctl.cli.text import plural

if TYPE_CHECKING:
    from lctl.analysis.changes import FieldChange
    from lctl.analysis.diff import Diff
    from lctl.analysis.differences import Difference
    from lctl.analysis.stats import Stats

_MOST = 20
_MOST_LINES = 24

_KINDS: dict[str, Style] = {"added": "green", "removed": "red", "changed": "yellow"}
_SIGNS: dict[str, Style] = {"+": "green", "-": "red", "@": "dim"}


@click.command()
@target("first", "last~1")
@target("second", "last")
@click.option("--full", is_flag=True, help="Every difference, each with what differs inside it.")
@screened()
def diff(screen: Screen, first: str, second: str, full: bool) -> int:
    """Compare run FIRST (v1) with run SECOND (v2) by what happened in them.

    Events are matched by agent, kind, tool, model and place among the steps; times, ids and the
    interleaving of parallel work make no difference. Without arguments: the last run with the one
    before. Exits with 1 when they differ.
    """
    from lctl.analysis.diff import diff as compared
    from lctl.analysis.forkpoint import fork_point
    from lctl.cli.target import opened
    from lctl.errors import UsageError

    if first == second == "-":
        raise UsageError("standard input ('-') can be only one of the two")
    left, right = opened(first), opened(second)
    is_alone = click.get_current_context().get_parameter_source("second") is ParameterSource.DEFAULT
    if is_alone and left.path not in (None, "-") and left.path == right.path:
        raise UsageError(f"{first}: is the last run itself; give the run to compare it with: lctl diff A B")
    found, parted = compared(left, right), fork_point(left, right)
    if screen.json:
        screen.json_value(_document(found) | ({} if parted is None else {"fork": parted}))
    else:
        if screen.terminal:
            screen.line(("v1 ", "dim"), plain(left.id, 60), ("  v2 ", "dim"), plain(right.id, 60))
        if parted is not None:
            screen.line((f"Forked at event {parted['seq']}", "bold"), _changed(parted))
        _say(screen, found, full)
    return DIFFERENCE if found else OK


def _changed(parted: dict[str, Any]) -> str:
    return "".join(f"; {plain(edit, 80)}" for edit in parted["edits"])


def _say(screen: Screen, found: Diff, full: bool) -> None:
    from lctl.analysis.diff import lines
    from lctl.analysis.differences import title

    styles: tuple[Style, ...] = ("bold", "red", "green")
    for text, style in zip(lines(found), styles, strict=False):
        screen.line((text, style if found else "green"))
    first = found.first_divergence
    if first is None:
        return
    if not _is_plain(first):
        _fields(screen, first, full)
    if len(found.differences) > 1:
        screen.line()
        screen.line((f"{plural(len(found.differences) - 1, 'more difference')}:", "bold"))
        for other in islice(found.differences, 1, None if full else 1 + _MOST):
            at = other.left or other.right
            screen.line("  ", (f"[{at.seq}] " if at else "", "dim"), (title(other), _KINDS[other.kind]))
            if full:
                _fields(screen, other, full, indent="      ")
        if not full and len(found.differences) > 1 + _MOST:
            screen.line("  ", (f"… {len(found.differences) - 1 - _MOST:,} more; --full shows them", "dim"))
    if full or screen.terminal or len(found.differences) > 1:
        _totals(screen, found)


def _is_plain(difference: Difference) -> bool:
    """The two lines above say all there is: one short field."""
    return len(difference.fields) <= 1 and not any(field.unified for field in difference.fields)


def _fields(screen: Screen, difference: Difference, full: bool, indent: str = "  ") -> None:
    for field in difference.fields:
        if not field.unified:
            screen.line(
                indent, (f"{plain(field.path, 80)}: ", "dim"), _side(field, field.left), (" → ", "dim"),
                _side(field, field.right),
            )  # fmt: skip
            continue
        screen.line(indent, (f"{plain(field.path, 80)}:", "dim"))
        shown = field.unified if full else field.unified[:_MOST_LINES]
        for text in shown:
            style = _SIGNS.get(text[:1], "")
            screen.line(
                indent, "  ", (plain(block(text[:1])) or " ", style), (" " + plain(text[1:], 400), style)
            )
        if len(shown) < len(field.unified):
            screen.line(indent, "  ", (f"… {plural(len(field.unified) - len(shown), 'line')} more", "dim"))


def _side(field: FieldChange, value: Any) -> str:
    if value is None:
        return "(none)"
    if field.path == "cost" and isinstance(value, float):
        return dollars(value)
    return plain(value, 100)


def _totals(screen: Screen, found: Diff) -> None:
    left, right = found.left, found.right
    pairs = [
        ("duration", seconds(left.duration_ms), seconds(right.duration_ms)),
        ("tokens", *(_tokens(one) for one in (left, right))),
        ("cost", *(_worth(one) for one in (left, right))),
        ("errors", count(left.errors), count(right.errors)),
    ]
    changed = ", ".join(f"{name} {a} → {b}" for name, a, b in pairs if a != b)
    screen.line()
    screen.line(
        (f"{plural(len(found.differences), 'difference')}, {plural(found.equal, 'event')} the same", "dim"),
        (f"; {changed}" if changed else "", "dim"),
    )


def _tokens(totals: Stats) -> str:
    used = totals.used_tokens
    return "?" if used is None else count(used)


def _worth(totals: Stats) -> str:
    return "?" if totals.worth is None else dollars(totals.worth)


def _document(found: Diff) -> dict[str, Any]:
    return {
        "same": not found,
        "equal": found.equal,
        "differences": [
            {
                "kind": one.kind,
                "events": one.events,
                "left": None if one.left is None else one.left.to_dict(),
                "right": None if one.right is None else one.right.to_dict(),
                "fields": list(one.fields),
            }
            for one in found.differences
        ],
        "left": found.left,
        "right": found.right,
    }
