"""`lctl ls`: the recorded runs, newest first, from their summaries alone."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from lctl.analysis.pauses import duration_of
from lctl.analysis.run import FAILED, STOPPED, lost_of, tree
from lctl.analysis.wording import count, dollars, plain, seconds
from lctl.cli import DIFFERENCE, OK
from lctl.cli.options import Folder, screened
from lctl.cli.runs import is_live
from lctl.cli.screen import Column, Piece, Screen, Style
from lctl.cli.text import plural
from lctl.kinship import parent_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lctl.cli.runs import Run

_ON_A_TERMINAL = 20
#: Bytes of logs that one list looks through for damage, the newest first: some tenths of a second.
_LOOKED_THROUGH = 32 << 20

_COLUMNS = [
    Column(),
    Column("RUN", flexible=True),
    Column("STARTED", spare=1),
    Column("DURATION", right=True, spare=5),
    Column("EVENTS", right=True, spare=6),
    Column("CALLS", right=True, spare=4),
    Column("TOKENS", right=True, spare=3),
    Column("COST", right=True, spare=2),
    Column("", flexible=True, optional=True),
]


@click.command()
@click.argument("folder", required=False, type=Folder())
@click.option("-n", "--limit", type=click.IntRange(1), metavar="N", help="The newest N.")
@click.option(
    "--all", "everything", is_flag=True, help=f"All, also on a terminal (default there: {_ON_A_TERMINAL})."
)
@click.option("--store", metavar="URL", help="Runs of a store, not of a folder (default: LCTL_STORE).")
@click.option(
    "--verify", "every", is_flag=True, help="Look through every log for damage; exit with 1 if any is."
)
@screened("Print one JSON line a run.")
def ls(
    screen: Screen,
    folder: str | None,
    limit: int | None,
    everything: bool,
    store: str | None = None,
    every: bool = False,
) -> int:
    """List the runs recorded in FOLDER (default: LCTL_DIR and .lctl), newest first.

    CALLS are model calls. Runs of a child process stand under the run that started them, marked └. What a row
    says is from the end of its log; one that is not as it was written is marked !. Without --verify logs
    beyond 4 MB, and older ones after 32 MB in all, are not looked through for that.
    """
    if limit is None and screen.terminal and not everything and not screen.json:
        limit = _ON_A_TERMINAL
    found, shown = known_runs(folder, store, limit)
    costs, damage = Costs(), _Damage(every)
    if screen.json:
        for run in shown:
            screen.json_line(_document(run, costs, damage.of(run)))
        return damage.code
    if not found:
        _nothing(screen)
        return OK
    known = list(shown)
    damaged = {run.place: damage.of(run) for run in known}
    placed = tree(known, parent_of)
    screen.table(_COLUMNS, [_row(run, depth, costs, damaged[run.place]) for run, depth in placed])
    if screen.terminal and len(known) < len(found):
        screen.line((f"{plural(len(found) - len(known), 'older run')} not shown; lctl ls --all", "dim"))
    return damage.code


class _Damage:
    """What is wrong inside the logs of a list, asked in its order.

    Attributes:
        code: of the command.
    """

    def __init__(self, every: bool) -> None:
        self._every = every
        self._left = _LOOKED_THROUGH
        self.code = OK

    def of(self, run: Run) -> str | None:
        """ "" of a log that is as it was written; None of one that was not looked through."""
        from lctl.analysis.damage import damage_of, is_short

        if run.problem:
            self.code = DIFFERENCE if self._every else OK
            return None
        if not (self._every or (is_short(run) and run.size <= self._left)):
            return None
        self._left -= run.size
        said = damage_of(run)
        if said and self._every:
            self.code = DIFFERENCE
        return said


def known_runs(
    folder: str | None, store: str | None, limit: int | None
) -> tuple[list[tuple[float, Path]], Iterator[Run]]:
    """The files there are, and the runs to show; of a store only those."""
    from lctl.cli.runs import files, read_run
    from lctl.cli.stored import chosen
    from lctl.cli.stored import runs as stored_runs
    from lctl.stores.address import is_address

    if is_address(folder):
        folder, store = None, folder
    place = None if folder is not None else chosen(store)
    if place is not None:
        shown = list(stored_runs(place, limit))
        return [(run.started, run.path) for run in shown], iter(shown)
    found = files(folder)
    return found, (read_run(path) for _, path in islice(found, limit))


class Costs:
    """Dollars of a run from its tokens by model; the price list is loaded when a run needs it."""

    def __init__(self) -> None:
        self._prices: Any = None

    def of(self, run: Run) -> float | None:
        """None when nothing, or not everything, has a known price. Of a rerun or fork: of what it sent."""
        from lctl.analysis.runcosts import cost_of

        return cost_of(run, self._list())

    def text(self, run: Run) -> str:
        """As `of`; `≥$1.20` of a long run whose prompts may have been so long that tokens were dearer."""
        from lctl.analysis.runcosts import least_of

        cost = self.of(run)
        if cost is not None:
            return dollars(cost)
        least = least_of(run, self._list())
        return "" if least is None else f"≥{dollars(least)}"

    def _list(self) -> Any:
        from lctl.analysis.prices import Prices

        self._prices = self._prices or Prices()
        return self._prices


def _row(run: Run, depth: int, costs: Costs, damage: str | None) -> list[Piece]:
    if run.problem:
        return [
            ("✗", "red"),
            plain(run.path.name),
            _ago(run.started),
            *[""] * 5,
            (plain(run.problem, 200), "red"),
        ]
    sums = run.summary
    errors = _whole(sums.get("errors"))
    mark: Piece = ("!", "red") if damage else open_mark(run) if run.open else ending_mark(run)
    lineage = "  " * (depth - 1) + "└ " if depth else ""
    duration = duration_of(run)
    tokens = sums.get("tokens")
    total = (
        sum(_whole(tokens.get(key)) or 0 for key in ("input", "output")) if isinstance(tokens, dict) else 0
    )
    return [
        mark,
        lineage + plain(run.id, 200),
        (_ago(run.started), "dim"),
        "" if duration is None else seconds(duration),
        "" if run.events is None else count(run.events),
        _blank(_whole(sums.get("llm_calls"))),
        _blank(total),
        costs.text(run),
        (f"damaged: {plain(damage, 200)}", "red") if damage else _note(run, errors, depth),
    ]


def open_mark(run: Run) -> tuple[str, Style]:
    """Full while somebody writes, hollow where the writer is gone. In a store that cannot be seen."""
    if run.where:
        return ("●", "yellow")
    return ("●", "green") if is_live(run.path) else ("○", "yellow")


def open_note(run: Run) -> tuple[str, Style]:
    """What the mark says."""
    if run.where:
        return ("open", "yellow")
    return ("live", "green") if is_live(run.path) else ("not closed by its program", "yellow")


def ending_mark(run: Run) -> tuple[str, Style]:
    """Of a closed log: how the run ended. One that was stopped did not get to its end, and has not failed."""
    if run.outcome in STOPPED:
        return ("✗", "yellow")
    if run.is_unknown:
        return ("?", "dim")
    if run.is_unended:
        return ("○", "yellow")
    return ("✗", "red") if run.outcome in FAILED else ("✓", "green")


def _note(run: Run, errors: int | None, depth: int) -> Piece:
    if run.open:
        return open_note(run)
    told: list[str] = []
    outcome = run.outcome
    if outcome in STOPPED:
        told.append(str(outcome))
        errors = (errors or 0) - (outcome == "interrupted")  # what interrupted it is one of its errors
    if errors and errors > 0:
        told.append(plural(errors, "other error" if outcome == "interrupted" else "error"))
    lost = lost_of(run.summary)
    if lost:
        told.append(f"{plural(lost, 'event')} lost")
    if told:
        return (", ".join(told), "yellow")
    if run.events is None:
        return (f"{run.size >> 20} MB in another form than lctl writes: not counted here", "dim")
    if run.is_unended:
        return ("did not come to its end", "yellow")
    if run.is_unknown:
        return ("how it ended was not read", "dim")
    if run.parent and not depth:
        return (f"└ of {plain(run.parent.get('id'), 60)} at {plain(run.parent.get('seq'), 12)}", "dim")
    return ""


def _document(run: Run, costs: Costs, damage: str | None) -> dict[str, Any]:
    return {
        "id": run.id,
        "path": run.place,
        "started": datetime.fromtimestamp(run.started, UTC).isoformat().replace("+00:00", "Z")
        if run.started
        else None,
        "events": run.events,
        "size": run.size,
        "open": run.open,
        "live": None if run.where else run.open and is_live(run.path),
        "cost": costs.of(run),
        "chain": run.chain,
        "summary": run.summary or None,
        "problem": run.problem or None,
        "damage": damage,
    }


def _nothing(screen: Screen) -> None:
    screen.line("No recorded runs here.")
    screen.line(("Record one:  lctl run agent.py     Or see one:  lctl demo", "dim"))


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _blank(value: int | None) -> str:
    return count(value) if value else ""


def _ago(started: float) -> str:
    """`now`, `5 min ago`, `3 h ago`, then the date; nothing where it is not known."""
    if not started:
        return ""
    gone = time.time() - started
    if -60 < gone < 60:
        return "now"
    if 0 < gone < 3600:
        return f"{gone / 60:.0f} min ago"
    if 0 < gone < 86400:
        return f"{gone / 3600:.0f} h ago"
    return datetime.fromtimestamp(started).strftime("%Y-%m-%d %H:%M")
