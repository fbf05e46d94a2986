"""`lctl runs`: recordings, and the reruns, forks and child processes that came of each, as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lctl.analysis.pauses import duration_of
from lctl.analysis.run import STOPPED, origin, tree
from lctl.analysis.wording import count, plain, seconds
from lctl.cli.listing import Costs, _ago, ending_mark, open_mark, open_note
from lctl.cli.options import Folder, screened
from lctl.cli.screen import Column, Piece, Screen, Style
from lctl.kinship import parents
from lctl.values import items, mapping

if TYPE_CHECKING:
    from lctl.cli.runs import Run

_ON_A_TERMINAL = 40

_COLUMNS = [
    Column(),
    Column("RUN", flexible=True),
    Column("STARTED", spare=1),
    Column("EVENTS", right=True, spare=5),
    Column("LIVE", right=True, spare=3),
    Column("COST", right=True, spare=2),
    Column("TIME", right=True, spare=4),
    Column("WHAT", flexible=True),
]


@click.command()
@click.argument("folder", required=False, type=Folder())
@click.option("-n", "--limit", type=click.IntRange(1), metavar="N", help="Of the newest N runs.")
@click.option(
    "--all", "everything", is_flag=True, help=f"All, also on a terminal (default there: {_ON_A_TERMINAL})."
)
@click.option("--store", metavar="URL", help="Runs of a store, not of a folder (default: LCTL_STORE).")
@screened("Print one JSON line a run.")
def runs(
    screen: Screen, folder: str | None, limit: int | None, everything: bool, store: str | None = None
) -> None:
    """Show the runs in FOLDER (default: LCTL_DIR and .lctl) as a tree: what came of which.

    Under a recording stand its forks (where they part, what was changed), its reruns (how exact) and the
    runs of its child processes. LIVE are the model calls that were really sent, COST is of those alone.
    """
    from lctl.cli.listing import known_runs

    if limit is None and screen.terminal and not everything and not screen.json:
        limit = _ON_A_TERMINAL
    known = list(known_runs(folder, store, limit)[1])
    if not known and not screen.json:
        screen.line("No recorded runs here.")
        return
    costs, placed = Costs(), list(tree(known))
    above = parents_of(known)
    if screen.json:
        for run, depth in placed:
            screen.json_line(_document(run, depth, costs))
        return
    screen.table(_COLUMNS, [_row(run, depth, costs, above.get(run.place)) for run, depth in placed])


def parents_of(known: list[Run]) -> dict[str, Run]:
    """Of the run at a place the one it came of, if that is there."""
    found = parents([run.born for run in known])
    return {known[at].place: known[above] for at, above in enumerate(found) if above is not None}


def is_nested(run: Run, parent: Run | None) -> bool:
    """Whether it is of a session that the process of its parent has opened itself."""
    first = mapping(run.chain.get("with")).get("id")
    if parent is None:
        return bool(first) and first == run.parent.get("id")
    return bool(first) and first == (mapping(parent.chain.get("with")).get("id") or parent.id)


def facts(run: Run, parent: Run | None = None) -> str:
    """In a line: what was changed and where, or how exact it was."""
    made = run.chain.get("fork")
    if isinstance(made, dict):
        edits = [str(edit) for edit in items(made.get("edits"))]
        said = "; ".join(plain(edit, 60) for edit in edits) or "nothing changed"
        return f"fork at {plain(run.parent.get('seq'), 12)}: {said}{_loose_ends(run)}"
    if isinstance(run.chain.get("rerun"), dict):
        ending = run.certificate
        if not ending:
            return "rerun, not finished"
        if ending.get("ok"):
            return "rerun, exact"
        return f"rerun, not exact{_loose_ends(run)}"
    if run.is_child:
        what = "nested session, opened" if is_nested(run, parent) else "child process, started"
        return f"{what} at {plain(run.parent.get('seq'), 12)}"
    return f"of {plain(origin(run), 60)}" if origin(run) else ""


def _what(run: Run, parent: Run | None) -> Piece:
    """`facts`; of one that has not ended, or was stopped, that too."""
    said, outcome = facts(run, parent), run.summary.get("outcome")
    if not run.open and outcome not in STOPPED:
        return (said, "dim")
    how, style = open_note(run) if run.open else (str(outcome), "yellow")
    return (f"{said}; {how}" if said else how, style)


def _loose_ends(run: Run) -> str:
    ending = run.certificate
    said = [
        f"{count(len(value) if isinstance(value, list) else value)} {word}"
        for key, word in (
            ("drift", "drifted"),
            ("unmatched", "refused"),
            ("dry", "dry-run"),
            ("violations", "out of order"),
        )
        if (value := ending.get(key))
    ]
    stopped = ending.get("stopped")
    return f" ({', '.join([*said, *(['stopped'] if stopped else [])])})" if said or stopped else ""


def _live(run: Run) -> int | None:
    """Model calls that were sent."""
    calls = run.summary.get("llm_calls")
    if "fork" in run.chain or "rerun" in run.chain:
        calls = run.certificate.get("live", 0)
    return calls if isinstance(calls, int) else None


def _row(run: Run, depth: int, costs: Costs, parent: Run | None) -> list[Piece]:
    mark: tuple[str, Style] = (
        ("✗", "red") if run.problem else open_mark(run) if run.open else ending_mark(run)
    )
    live, took = _live(run), duration_of(run)
    if "fork" not in run.chain and "seconds" in run.certificate:  # its events have the recording's times
        took = run.certificate["seconds"] * 1000
    return [
        mark,
        ("  " * (depth - 1) + "└ " if depth else "") + plain(run.id, 200),
        (_ago(run.started), "dim"),
        "" if run.events is None else count(run.events),
        count(live) if live else "",
        costs.text(run),
        seconds(took) if isinstance(took, int | float) else "",
        (plain(run.problem, 200), "red") if run.problem else _what(run, parent),
    ]


def _document(run: Run, depth: int, costs: Costs) -> dict[str, Any]:
    made = run.chain.get("fork")
    return {
        "id": run.id,
        "path": run.place,
        "of": origin(run) or None,
        "depth": depth,
        "kind": "fork" if "fork" in run.chain else "rerun" if "rerun" in run.chain
        else "child" if run.is_child else "recording",
        "parted_at": run.parent.get("seq") if "fork" in run.chain else None,
        "edits": made.get("edits") if isinstance(made, dict) else None,
        "events": run.events,
        "live": _live(run),
        "cost": costs.of(run),
        "outcome": run.summary.get("outcome"),
        "certificate": run.certificate or None,
        "problem": run.problem or None,
    }  # fmt: skip
