"""`lctl import`: a conversation of another program as a log."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lctl.cli.options import screened
from lctl.cli.screen import Screen
from lctl.cli.text import plain, plural
from lctl.errors import NotImportable, UsageError
from lctl.importing.registry import FORMS

if TYPE_CHECKING:
    from lctl.events import Event
    from lctl.importing import Imported

_LIST = "\n".join(f"  {name:<14} {form.about}" for name, form in FORMS.items())


@click.command(
    "import",
    help=f"""Write the conversations in FILE as a log, which every command opens.

OpenTelemetry's traces can be taken from a file or as they are sent (--otlp-listen).

Without -o it goes where recorded runs are kept, and is 'last' then. What FILE holds that a log does
not is counted and listed. The log is written whole or not at all.

\b
{_LIST}
""",
)
@click.argument("file", type=click.Path(), required=False)
@click.option(
    "--from", "form", type=click.Choice(["auto", *FORMS]), default="auto", show_default=True, metavar="FORM",
    help="What FILE is, of the list above; auto finds it out and says by what.",
)  # fmt: skip
@click.option(
    "-o", "--output", metavar="LOG", type=click.Path(dir_okay=False), help="Write to LOG; '-': to stdout."
)
@click.option(
    "--otlp-listen", "address", metavar="HOST:PORT", is_flag=False, flag_value="127.0.0.1:4318",
    help="Instead of FILE, take what is sent here over OTLP/HTTP, until Ctrl-C (127.0.0.1:4318).",
)  # fmt: skip
@click.option("--no-redact", is_flag=True, help="Keep keys, tokens and passwords as they are.")
@click.option("--idle", type=float, metavar="SECONDS", help="With it: until nothing has come for so long.")
@screened()
def import_(
    screen: Screen,
    file: str | None,
    form: str,
    output: str | None,
    address: str | None,
    no_redact: bool,
    idle: float | None,
) -> None:
    from lctl.cli.target import output as writable
    from lctl.codec import write_log
    from lctl.state.summary import tail_of

    if output == "-" and screen.json:
        raise UsageError("-o - writes the log to standard output, and so does --json with what it says of it")
    if (file is None) == (address is None):
        raise UsageError("give a FILE to import, or --otlp-listen")
    if address is not None:
        file = _received(address, idle)
    assert file is not None
    found = _imported(file, form if address is None else "otlp", no_redact)
    tail = tail_of(found.log, found.log.chain)
    if output == "-":
        from lctl.cli.converting import print_log

        print_log(found.log, "json", tail)
        path, screen.out = None, sys.stderr
    else:
        path = writable(output or str(_place(found.log.id)), file, chain=found.log.id)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_log(found.log, path, format="json", tail=tail)
    if address is not None:
        Path(file).unlink(missing_ok=True)
    if screen.json and path is not None:
        screen.json_value(_document(found, path))
    else:
        _say(screen, found, file, path)


def _imported(file: str, form: str, keeps_secrets: bool) -> Imported:
    """The log of the file; the same file gives the same one, placeholders for secrets too."""
    from lctl.importing import convert
    from lctl.importing.source import Source
    from lctl.session import Redactor

    source = Source.open(file)
    cleaner = None if keeps_secrets else Redactor(key=hashlib.sha256(source.data).digest()[:16])
    return convert(source, form, cleaner)


def _received(address: str, idle: float | None) -> str:
    """The file of what exporters sent."""
    import os

    from lctl.importing.receiving import Receiver
    from lctl.session.naming import folder

    folder().mkdir(parents=True, exist_ok=True)
    spool = folder() / f"otlp-{os.getpid()}.jsonl"
    with Receiver(address, spool) as receiver:
        sys.stderr.write(f"lctl: OTLP is taken at {receiver.url}/v1/traces; Ctrl-C writes the log\n")
        try:
            receiver.wait(idle)
        except KeyboardInterrupt:
            sys.stderr.write("\n")
    if not receiver.spans:
        spool.unlink(missing_ok=True)
        raise NotImportable(f"{address}: no spans came")
    return str(spool)


def _place(id: str) -> Path:
    """Among the recorded runs."""
    from lctl.session.naming import folder

    return folder() / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', id)}.lctl.json"


def _counts(found: Imported) -> dict[str, int]:
    from lctl.chain import tree_of

    tree = tree_of(found.log)
    events = list(found.log.events())
    return {
        "messages": len(tree),
        "conversations": len(tree.roots),
        "branches": len(tree.leaves),
        "model_calls": sum(_is_model_call(event) for event in events),
        "tool_calls": sum(event.type == "tool_call" for event in events),
        "events": len(events),
    }


def _is_model_call(event: Event) -> bool:
    return event.type == "step_start" and event.data.get("kind") in ("llm", "embedding")


def _document(found: Imported, path: Path) -> dict[str, Any]:
    return {
        "form": found.form,
        "shown": found.shown,
        "log": str(path),
        "chain": found.log.id,
        **_counts(found),
        "lost": [loss.to_dict() for loss in found.lost],
    }


def _say(screen: Screen, found: Imported, file: str, path: Path | None) -> None:
    counts = _counts(found)
    by = f": {found.shown}" if found.shown else ""
    screen.line((f"{plain(Path(file).name)}", "bold"), f" is {found.form}", (by, "dim"))
    said = [plural(counts["messages"], "message"), f"in {plural(counts['conversations'], 'conversation')}"]
    if counts["branches"] > counts["conversations"]:
        said.append(f"with {plural(counts['branches'], 'branch', 'branches')}")
    calls = [
        plural(counts[key], noun)
        for key, noun in (("model_calls", "model call"), ("tool_calls", "tool call"))
        if counts[key]
    ]
    screen.line("  " + ", ".join([" ".join(said), *calls]))
    if found.lost:
        screen.line()
        screen.line(("Not in the log, or not as it was", "bold"))
        for loss in found.lost:
            more = ", ..." if loss.times > len(loss.where) else ""
            where = f"  ({plain(', '.join(loss.where))}{more})" if loss.where else ""
            screen.line(f"  {loss.times:>5}  {plain(loss.what)}", (where, "dim"))
    if path is not None:
        screen.line()
        screen.line(f"Written to {plain(str(path))}")
