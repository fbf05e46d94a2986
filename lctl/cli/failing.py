"""`lctl errors`: what went wrong, the same failures together, over one run or many."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from lctl.analysis.wording import count, plain
from lctl.cli import DIFFERENCE, OK
from lctl.cli.options import screened
from lctl.cli.screen import Column, Piece, Screen
from lctl.cli.text import plural
from lctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lctl.analysis.failedruns import FailureGroup
    from lctl.codec import Log


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--all", "everything", is_flag=True, help="Every recorded run.")
@click.option("-n", "--limit", type=click.IntRange(1), default=30, show_default=True, help="Groups to list.")
@click.option("--category", metavar="NAME", help="Only this category, or category/type.")
@click.option("--rounds", type=click.IntRange(2), default=3, show_default=True, help="What makes a cycle.")
@click.option("--taxonomy", is_flag=True, help="Print the categories and types, and what they mean.")
@screened()
def errors(
    screen: Screen,
    targets: tuple[str, ...],
    everything: bool,
    limit: int,
    category: str | None,
    rounds: int,
    taxonomy: bool,
) -> int:
    """Group what went wrong in TARGETs (default: the last run): files, runs, or folders of runs.

    Of several logs of one run (copies, reruns, what a fork has of its recording) each failure counts once.
    Errors, failed tool calls, and steps that failed or were stopped, by category and type, with what to do
    about them; agents that do the same over and over are found too. What fails inside a step and leaves it is
    one failure, though 'lctl stats' counts each error event. Exits with 1 when there is any.
    """
    if taxonomy:
        _taxonomy(screen)
        return OK
    from lctl.analysis.failedruns import failed_runs
    from lctl.analysis.together import together

    logs = [one.log for one in together(logs_of(targets, everything))]
    groups = failed_runs(logs, rounds)
    found = [group for group in groups if _fits(group, category)]
    if category is not None and not found:
        _check(category, groups)
    if screen.json:
        screen.json_value({"runs": len(logs), "groups": [_document(group) for group in found]})
    else:
        _say(screen, found, len(logs), limit)
    return DIFFERENCE if found else OK


def logs_of(targets: tuple[str, ...], everything: bool) -> Iterator[Log]:
    """The logs that some targets name: files, runs, all runs of a folder; every recorded run with
    `everything`. What is among many and cannot be read, or not whole, is named on stderr."""
    from pathlib import Path

    from lctl.cli.target import opened

    if everything:
        yield from _logs_in(None)
        return
    for target in targets or ("last",):
        if Path(target).is_dir():
            yield from _logs_in(target)
        else:
            yield opened(target)


def _logs_in(folder: str | None) -> Iterator[Log]:
    from lctl.cli.runs import files
    from lctl.cli.target import report
    from lctl.codec import open_log
    from lctl.errors import LctlError

    for _, path in files(folder):
        try:
            log = open_log(path)
            report(log)
        except LctlError as error:
            sys.stderr.write(f"lctl: {plain(str(error))}; passed over\n")
        else:
            yield log


def _check(category: str, groups: list[FailureGroup]) -> None:
    """Who misspells a category is not told that nothing failed."""
    from lctl.trust.taxonomy import TAXONOMY

    name, _, type_ = category.partition("/")
    if name not in TAXONOMY and all(group.category != name for group in groups):
        raise UsageError(f"--category {category}: there is no such category; there are {', '.join(TAXONOMY)}")
    if type_ and type_ not in TAXONOMY.get(name, {}) and all(group.type != type_ for group in groups):
        sys.stderr.write(f"lctl: {plain(category, 80)}: this type is not in the taxonomy (--taxonomy)\n")


def _fits(group: FailureGroup, category: str | None) -> bool:
    return category is None or category in (group.category, f"{group.category}/{group.type}")


def _say(screen: Screen, found: list[FailureGroup], runs: int, limit: int) -> None:
    over = plural(runs, "run")
    if not found:
        screen.line(f"No errors in {over}.")
        return
    screen.line(f"{_total(found)} of {plural(len(found), 'kind')} in {over}")
    screen.line()
    rows: list[list[Piece]] = []
    for group in found[:limit]:
        mark: Piece = ("recoverable", "dim") if group.recoverable else ("", "")
        rows.append(
            [
                count(group.count),
                (f"{plain(group.category, 30)}/{plain(group.type, 30)}", "red"),
                plain(", ".join(group.agents), 40),
                (_places(group), "dim"),
                mark,
                plain(group.suggested_action or "", 40),
                plain(group.message, 200),
            ]
        )
    screen.table(
        [
            Column("COUNT", right=True),
            Column("ERROR"),
            Column("AGENT", spare=1),
            Column("WHERE", flexible=True),
            Column("", optional=True, spare=3),
            Column("TO DO", optional=True, spare=2),
            Column("FIRST MESSAGE", flexible=True),
        ],
        rows,
    )
    if len(found) > limit:
        screen.line((f"… {len(found) - limit} more; --limit shows them", "dim"))


#: Where failures are seen, and what one is called.
_SOURCES = {"error": "error", "tool_call": "tool call", "step": "step"}


def _total(found: list[FailureGroup]) -> str:
    """`9 failures (5 errors, 1 tool call, 3 steps) and 1 cycle`."""
    counts = Counter[str]()
    for group in found:
        counts[group.source] += group.count
    cycles = counts.pop("cycle", 0)
    parts = [plural(counts[source], word) for source, word in _SOURCES.items() if counts[source]]
    failures = f"{plural(counts.total(), 'failure')} ({', '.join(parts)})" if parts else ""
    return " and ".join(filter(None, (failures, plural(cycles, "cycle") if cycles else "")))


def _places(group: FailureGroup) -> str:
    """`run-a 5, 9; run-b 12`, shortened."""
    shown = [
        f"{plain(run, 30)} {', '.join(map(str, seqs[:3]))}{', …' if len(seqs) > 3 else ''}"
        for run, seqs in list(group.places.items())[:2]
    ]
    more = len(group.places) - 2
    return "; ".join(shown) + (f"; {plural(more, 'more run')}" if more > 0 else "")


def _document(group: FailureGroup) -> dict[str, Any]:
    return {
        "source": group.source, "category": group.category, "type": group.type, "message": group.message,
        "count": group.count, "agents": list(group.agents), "recoverable": group.recoverable,
        "suggested_action": group.suggested_action, "runs": group.places,
    }  # fmt: skip


def _taxonomy(screen: Screen) -> None:
    from lctl.trust.taxonomy import TAXONOMY

    if screen.json:
        screen.json_value(TAXONOMY)
        return
    for category, types in TAXONOMY.items():
        screen.line((f"{category}:", "bold"))
        screen.table(
            [Column(), Column(flexible=True)], [[name, said] for name, said in types.items()], indent=2
        )
