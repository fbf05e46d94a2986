"""`lctl push`, `lctl pull`, `lctl prune`: runs to and from a store, and out of it."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lctl.analysis.wording import count
from lctl.cli.options import screened
from lctl.cli.screen import Screen
from lctl.cli.text import plain, plural
from lctl.errors import LctlError, LogLocked, UsageError

if TYPE_CHECKING:
    from lctl.stores.contract import ChainStore
    from lctl.stores.outbox import Pushed

_AGE = re.compile(r"(\d{1,6})\s*([dhm])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}

store_option = click.option(
    "--store",
    metavar="URL",
    help="The store: sqlite:///FILE, postgresql://..., file:FOLDER (default: LCTL_STORE).",
)


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@store_option
@screened("Print one JSON line a log.")
def push(screen: Screen, targets: tuple[str, ...], store: str | None) -> int:
    """Bring logs to a store: what is not there yet, in order, once.

    Without TARGET, those that wait in the outbox because their store was away or their program was
    killed. A folder stands for the logs in it, RUN+ for a run and all that it started. Where another
    program has gone on with the same chain, the log is stored as a branch beside it.
    """
    from lctl.cli.stored import required
    from lctl.stores.opening import open_store

    there = open_store(required(store), create=True)
    failed = 0
    paths = [path for target in targets for path in _paths(target)]
    if not targets:
        failed = _push_outbox(screen, there)
    for path in paths:
        failed += _push_one(screen, there, path)
    return 1 if failed else 0


def _paths(target: str) -> list[Path]:
    from lctl.cli.target import resolve

    if target.endswith("+") and not Path(target).exists():
        return _tree(resolve(target[:-1] or "last"))
    if Path(target).is_dir():
        return sorted(path for path in Path(target).iterdir() if path.name.endswith(".lctl.json"))
    return [resolve(target)]


def _tree(root: Path) -> list[Path]:
    """A log and those of what its program started."""
    from lctl.cli.runs import files, read_run
    from lctl.kinship import family

    runs = [read_run(path) for _, path in files(str(root.parent or "."))]
    found = family(read_run(root).born, [run.born for run in runs])
    return [root, *(runs[at].path for at, _ in found)]


def _push_one(screen: Screen, store: ChainStore, path: Path) -> int:
    from lctl.codec import open_log
    from lctl.stores.outbox import push as pushed

    try:
        _say(screen, store, path, pushed(open_log(path), store))
    except LctlError as error:
        sys.stderr.write(f"lctl: {plain(str(error))}\n")
        return 1
    return 0


def _push_outbox(screen: Screen, store: ChainStore) -> int:
    from lctl.stores.outbox import deliver, waiting

    failed = seen = elsewhere = 0
    for one in waiting():
        if one.store != store.address.identity:
            elsewhere += 1
            continue
        seen += 1
        try:
            _say(screen, store, one.path, deliver(one.path, store))
        except LogLocked as error:
            sys.stderr.write(f"lctl: {plain(str(error))}: it is delivered by that program\n")
        except LctlError as error:
            sys.stderr.write(f"lctl: {plain(str(error))}\n")
            failed += 1
    if not seen and not screen.json:
        other = f" ({plural(elsewhere, 'log')} for another store)" if elsewhere else ""
        screen.line(f"Nothing waits for {plain(store.address.shown)}{other}.")
    return failed


def _say(screen: Screen, store: ChainStore, path: Path, done: Pushed) -> None:
    if screen.json:
        screen.json_line({"path": str(path), "store": store.address.shown, **done._asdict()})
        return
    what = f"{plural(done.new, 'new event')} of {count(done.events)}" if done.new else "all there already"
    if not done.events:
        what = "no events"
    screen.line(f"{plain(done.stored_as)}: {what}", (f"  {plain(str(path))}", "dim"))
    if done.chain_id and done.stored_as != done.chain_id:  # one without an id is stored by its file's name
        screen.line(
            f"  there, {plain(done.chain_id)} has other events: another program has gone on with it, or this "
            f"log was changed; it is the branch "
            f"{plain(done.stored_as)} beside it"
        )


@click.command()
@click.argument("target", default="last")
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(dir_okay=False), help="Write to FILE; '-': to stdout."
)
@click.option("--tree", is_flag=True, help="With all that came of it: forks, reruns, child processes.")
@store_option
def pull(target: str, output: str | None, tree: bool, store: str | None) -> None:
    """Write a run of a store to a file, among the recorded runs (LCTL_DIR or .lctl) unless -o says
    otherwise. What is there of it already is brought up to date. RUN+ stands for a run and all that it
    started."""
    from lctl.cli.stored import entry_of, opened, required, target_in
    from lctl.cli.stored import pull as pulled
    from lctl.stores.contract import descendants, lineage

    address = target_in(target, store) or required(store).at(target)
    there = opened(address)
    whole = address.chain.endswith("+")
    entry = entry_of(address.at(address.chain.removesuffix("+") or "last"))
    if (tree or whole) and output:
        raise UsageError(f"{'--tree' if tree else 'RUN+'} writes several files: it goes without -o")
    if output == "-":
        from lctl.cli.converting import print_log
        from lctl.stores.source import log_of

        print_log(log_of(there, entry), "json", None)
        return
    chains = [entry, *(one for one, _ in descendants(there, entry))] if whole else [entry]
    if tree:
        chains = [one for one, _ in lineage(there, entry.id)]
    for one in chains:
        path = pulled(there, one, Path(output) if output else None)
        click.echo(f"{plain(one.id)}: {plural(one.events, 'event')} in {plain(str(path))}")


@click.command()
@click.option("--older-than", "age", metavar="AGE", help="Runs whose last event is older: 90d, 12h, 30m.")
@click.option("--run", "chain", metavar="ID", help="This one run.")
@click.option("--dry-run", is_flag=True, help="Only say which.")
@store_option
@screened("Print the removed runs as JSON.")
def prune(screen: Screen, age: str | None, chain: str | None, dry_run: bool, store: str | None) -> None:
    """Remove runs from a store, with their sessions and all that was found by their words."""
    from lctl.cli.stored import entry_of, opened, required

    if (age is None) == (chain is None):
        raise UsageError("give --older-than AGE or --run ID")
    address = required(store)
    there = opened(address)
    if chain is not None:
        doomed = [entry_of(address.at(chain)).id]
    else:
        before = _before(str(age))
        doomed = [one.id for one in there.entries() if one.updated and one.updated < before]
    removed = doomed if dry_run else there.remove(doomed)
    if screen.json:
        screen.json_value({"removed": removed, "dry_run": dry_run})
        return
    for id in removed:
        screen.line(plain(id, 200))
    screen.line(f"{plural(len(removed), 'run')} {'would be removed' if dry_run else 'removed'}")


def _before(age: str) -> str:
    found = _AGE.fullmatch(age.strip())
    if found is None:
        raise UsageError(f"--older-than {age}: an age is a number and d, h or m, such as 90d")
    try:
        moment = datetime.now(UTC) - timedelta(**{_UNITS[found[2]]: int(found[1])})
    except OverflowError:  # before the year 1: nothing is as old
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
