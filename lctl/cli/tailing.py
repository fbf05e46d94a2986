"""`lctl tail`: the last events, and with -f those to come."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lctl.cli.options import screened, target
from lctl.cli.screen import Screen
from lctl.cli.text import plain, plural
from lctl.errors import LogNotFound, UsageError
from lctl.events import Event

if TYPE_CHECKING:
    from lctl.stores.source import StoredEvents

_NOTES = {
    "closed": "the run has ended",
    "reopened": "the run goes on: its log was reopened",
    "replaced": "the file was replaced; from its start:",
    "gone": "the file is gone",
    "abandoned": "the program is gone, without closing its log",
}


@click.command()
@target()
@click.option(
    "-n", "--lines", type=click.IntRange(0), default=10, show_default=True, help="Events to begin with."
)
@click.option("-f", "--follow", is_flag=True, help="Go on with new events until the run ends.")
@click.option("--store", metavar="URL", help="TARGET is in this store (default: LCTL_STORE).")
@screened("Print the events as JSON lines.")
def tail(screen: Screen, target: str, lines: int, follow: bool, store: str | None) -> None:
    """Print the last events of TARGET; with -f, those of a running program as they are recorded."""
    if follow and target == "-":
        raise UsageError("-f follows a file; standard input ('-') is read to its end without it")
    from lctl.cli.target import opened
    from lctl.stores.source import StoredEvents

    log = opened(target, store=store)
    start = max(log.last_seq - lines + 1, 1)
    for event in log.events(start) if lines else ():
        _print(screen, event)
    if follow and isinstance(log.source, StoredEvents):
        screen.flush()
        _follow_stored(screen, log.source, log.last_seq)
    elif follow:
        screen.flush()
        _follow(screen, Path(str(log.path)), log.last_seq, log.open)
    elif not len(log):
        sys.stderr.write("lctl: no events yet\n" if log.open else "lctl: no events\n")


def _follow_stored(screen: Screen, source: StoredEvents, seen: int) -> None:
    from lctl.cli.stored import follow
    from lctl.codec.lines import decode

    def show(line: bytes) -> None:
        _print(screen, Event.from_dict(decode(line)))
        screen.flush()

    last = follow(source.store, source.chain_id, seen, show)
    sys.stderr.write(f"lctl: {_NOTES['closed']} ({plural(last, 'event')})\n")


def _follow(screen: Screen, path: Path, seen: int, is_open: bool) -> None:
    from lctl.cli.following import Follower, Note

    if not is_open:
        sys.stderr.write(f"lctl: {_NOTES['closed']} ({plural(seen, 'event')})\n")
        return
    try:
        follower = Follower(path, seen)
    except FileNotFoundError:
        raise LogNotFound(f"{path}: no such file") from None
    try:
        for item in follower.follow():
            if isinstance(item, Note):
                screen.flush()
                ended = f" ({plural(follower.seen, 'event')})" if item.what in ("closed", "abandoned") else ""
                sys.stderr.write(f"lctl: {_NOTES[item.what]}{ended}\n")
            else:
                _print(screen, item)
                screen.flush()
    finally:
        follower.close()


def _print(screen: Screen, event: Event) -> None:
    from lctl.cli.eventview import numbered

    if screen.json:
        screen.json_line(event.to_dict())
        return
    clock = plain(event.timestamp)[11:19] if screen.terminal else ""
    screen.line((clock + " " if clock else "", "dim"), *numbered(event))
