"""`lctl convert`: a log of any form and version, written again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from lctl.cli.options import output_option, target
from lctl.cli.text import plain

if TYPE_CHECKING:
    from lctl.codec import Log
    from lctl.codec.conversion import Format

_FROM = click.Choice(["auto", "v3", "v4", "json", "jsonl", "yaml"])
_TO = click.Choice(["v4", "json", "jsonl", "yaml"])


@click.command()
@target()
@click.option(
    "--from", "source", type=_FROM, default="auto", help="What TARGET is. It is found out; this checks it."
)
@click.option(
    "--to", type=_TO, default="v4", show_default=True, help="What to write; v4 is json, version 4.0."
)
@output_option()
def convert(target: str, source: str, to: str, output: str | None) -> None:
    """Write TARGET in another form, or from an older version (3.0 to 4.1) as 4.0.

    Event types and keys that lctl does not know are kept. The file is written whole or not at all.
    """
    from lctl.cli.target import opened
    from lctl.cli.target import output as writable
    from lctl.codec import write_log
    from lctl.codec.conversion import form
    from lctl.state.summary import tail_of

    log = opened(target)
    is_version = source in ("v3", "v4")
    actual = f"v{log.version.split('.')[0]}" if is_version else "json" if log.form == "journal" else log.form
    if source not in ("auto", actual):
        sys.stderr.write(f"lctl: {plain(log.name)} is {actual}, not {source}; converted as what it is\n")
    tail = None if (log.tail or {}).get("state") else tail_of(log, log.chain)
    if output is None:
        print_log(log, form(to), tail)
    else:
        write_log(log, writable(output, chain=log.id), format=form(to), tail=tail)


def print_log(log: Log, to: Format, tail: dict[str, Any] | None) -> None:
    """A log on standard output. On a terminal whole before it is shown: what drives a terminal must not reach
    it, wherever chunks are cut."""
    import io

    from lctl.cli.screen import Screen
    from lctl.codec import write_log

    if not sys.stdout.isatty():
        sys.stdout.flush()
        write_log(log, "-", format=to, tail=tail)
        return
    held = io.BytesIO()
    write_log(log, held, format=to, tail=tail)
    Screen().document(held.getvalue().decode("utf-8", "replace"), json=to != "yaml")
