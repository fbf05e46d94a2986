"""`lctl export`: what a log says, for other tools."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lctl.analysis.wording import plain
from lctl.cli.options import output_option, target
from lctl.cli.screen import Screen
from lctl.clock import monotonic
from lctl.errors import UsageError

if TYPE_CHECKING:
    from lctl.codec import Log
    from lctl.codec.conversion import Format

#: Format -> what it is good for. Three are the whole log, the others are made by `analysis`.
FORMATS = {
    "json": "one JSON document: chain, events, state, summary",
    "yaml": "the same as YAML (needs lctl[yaml])",
    "jsonl": "one event a line",
    "csv": "one event a row, for spreadsheets and data frames",
    "steps-csv": "one step a row, with its times, tokens and cost",
    "chrome": "a trace for ui.perfetto.dev or chrome://tracing",
    "html": "the debugger's page with the log in it, one file for any browser",
    "report": "a report of the run to read, in Markdown",
    "transcript": "the newest conversation as text",
    "messages": "the conversations, one a line, as lists of OpenAI messages",
    "otlp": "spans of OpenTelemetry, GenAI conventions, as OTLP/JSON",
    "otlp-proto": "the same in protobuf (needs lctl[otel])",
    "parquet": "one event a row, for warehouses (needs lctl[parquet])",
}
#: Training data that is made of two answers to one prompt.
PAIRS = ("dpo", "dpo-openai")
#: Format of training data -> whose it is.
TRAINING = {
    "calls": "all there is: messages, masks, calls, tokens",
    "openai": "messages with a weight on each answer (Azure, Together, Mistral too)",
    "hf": "TRL, Unsloth: messages, or prompt and completion",
    "axolotl": "messages, each with whether it trains",
    "sharegpt": "human and gpt turns (LLaMA-Factory)",
    "dpo": "TRL: prompt, chosen, rejected",
    "dpo-openai": "OpenAI: input, preferred and non-preferred output",
    "kto": "TRL: prompt, completion, label",
    "markdown": "the samples to read, in Markdown",
    "samples-html": "the same as a page (html is the debugger's)",
}
#: Seconds until how far a page is is said, and then from one time to the next.
_PATIENCE, _AGAIN = 0.5, 0.2
_JSON = ("chrome", "messages")
#: Those that are the whole log, and the form of it that each is.
_WHOLE: dict[str, Format] = {"json": "json", "yaml": "yaml", "jsonl": "jsonl"}


def _list(formats: dict[str, str]) -> str:
    return "\n".join(f"  {name:<11} {text}" for name, text in formats.items())


@click.command(
    help=f"""Write TARGET for other tools.

    \b
{_list(FORMATS)}

    Training data, a row a line; FILE.manifest.json says what became of each answer of the model:

    \b
{_list(TRAINING)}
"""
)
@target()
@click.option(
    "--format",
    "-f",
    "name",
    metavar="FORMAT",
    type=click.Choice([*FORMATS, *TRAINING]),
    default="json",
    show_default=True,
)
@click.option(
    "--partial",
    is_flag=True,
    help="Of a conversation that lacks a message, write what there is (transcript, messages).",
)
@click.option("--to-seq", type=click.IntRange(0), metavar="N", help="What the log was after event N.")
@click.option("--otlp", "url", metavar="URL", help="Send the spans to a receiver of OTLP (lctl[otel]).")
@click.option(
    "--header", "headers", metavar="NAME=VALUE", multiple=True, help="With --otlp: a header to send."
)
@click.option(
    "--no-content", is_flag=True, help="Of spans, leave out what was said: prompts, answers, arguments."
)
@output_option("Write to FILE, not to stdout; Parquet also to a folder or a URL.", folder=True)
@click.pass_context
def export(
    ctx: click.Context, /, target: str, name: str, partial: bool, to_seq: int | None, url: str | None,
    headers: tuple[str, ...], no_content: bool, output: str | None,
) -> None:  # fmt: skip
    from lctl.cli import telling
    from lctl.cli.target import opened
    from lctl.cli.target import output as writable

    is_named = ctx.get_parameter_source("name") is not click.core.ParameterSource.DEFAULT
    _check(name if is_named or url is None else None, url, headers, no_content, partial, output)
    log = opened(target)
    if url is not None or name in ("otlp", "otlp-proto", "parquet"):
        log = log if to_seq is None else _cut(log, to_seq)
        if url is not None:
            telling.send(log, url, headers, not no_content)
        elif name == "parquet":
            telling.parquet(log, output)
        else:
            path = None if output is None else writable(output, log.name)
            telling.write(path, telling.otlp(log, name, not no_content))
        return
    if name in TRAINING:
        _training(log, name, to_seq, None if output is None else writable(output, log.name))
        return
    log = log if to_seq is None else _cut(log, to_seq)
    if name in _WHOLE:
        _whole(log, _WHOLE[name], None if output is None else writable(output, log.name, chain=log.id))
        return
    pieces = _exported(log, name, partial)
    if output is not None:
        _write(writable(output, log.name), pieces)
        return
    screen = Screen()
    for piece in pieces:
        screen.document(piece, json=name in _JSON)


def _check(
    name: str | None,
    url: str | None,
    headers: tuple[str, ...],
    no_content: bool,
    partial: bool,
    output: str | None,
) -> None:
    """An option that would do nothing is an error: who leaves out what was said relies on it."""
    if url is not None and name not in (None, "otlp", "otlp-proto"):
        raise UsageError(f"--otlp sends spans; --format {name} is none: leave one of the two out")
    if url is not None and output is not None:
        raise UsageError("--otlp sends the spans; -o writes them to a file: leave one of the two out")
    if headers and url is None:
        raise UsageError("--header is sent with --otlp URL, which is not given")
    if no_content and url is None and name not in ("otlp", "otlp-proto"):
        raise UsageError(f"--no-content is of spans (otlp, otlp-proto, --otlp); --format {name} has it all")
    if partial and name not in ("transcript", "messages"):
        raise UsageError("--partial is of the formats transcript and messages")


def _exported(log: Log, name: str, partial: bool) -> Iterable[str]:
    """The text, in pieces where there may be much of it."""
    from lctl.analysis import exports
    from lctl.analysis.transcripts import transcript_text
    from lctl.codec.lines import encode_value

    if name == "html":
        from lctl.debugger.exporting import page_of

        return [page_of(log, _Making())]
    if name == "csv":
        return exports.events_csv_rows(log)
    if name == "messages":
        return _messages(log, partial)
    if name == "transcript":
        return [transcript_text(log, partial=partial)]
    made: Callable[[Log], object] = exports.FORMATS[name]
    value = made(log)
    return [value if isinstance(value, str) else encode_value(value).decode() + "\n"]


class _Making:
    """On a terminal: how much of a page has been made, once that takes long enough to be asked."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._next = monotonic() + _PATIENCE
        self._written = False

    def __call__(self, done: float) -> None:
        if done >= 1.0:
            if self._written:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
        elif self._shown and monotonic() >= self._next:
            self._next = monotonic() + _AGAIN
            self._written = True
            sys.stderr.write(f"\rlctl: making the page: {done:.0%}")
            sys.stderr.flush()


def _cut(log: Log, to_seq: int) -> Log:
    """The log as it was after an event."""
    from lctl.codec import open_log
    from lctl.codec.lines import encode_value

    events = [event.to_dict() for event in log.events(0, to_seq + 1)]
    cut = open_log(encode_value({"lctl": log.version, "chain": log.chain, **log.extra, "events": events}))
    cut.name = log.name
    return cut


def _training(log: Log, name: str, to_seq: int | None, path: Path | None) -> None:
    from lctl.cli.text import plural
    from lctl.training.exporting import Export, export_training

    name = name.removeprefix("samples-")
    if path is not None:
        made = export_training(log, path, name, to_seq=to_seq)
    else:
        export = Export(log, name, to_seq=to_seq)
        screen = Screen()
        for piece in export.pieces():
            screen.document(piece.decode(), json=name not in ("html", "markdown"))
        made = export.manifest("")
    said = plural(made["rows"], "row")
    if "calls" in made:
        said += f", {made['trained']} of {plural(made['calls'], 'answer')} trained"
    for kind in ("skipped", "excluded", "lost"):
        if made.get(kind):
            said += f"; {kind}: " + ", ".join(f"{reason} {number}" for reason, number in made[kind].items())
    if not (made["rows"] or made["refused"] or made.get("calls") or made.get("excluded")):
        said += "; " + ("no prompt in it has two answers that" if name in PAIRS else "no answer in it that")
        said += " a model gave, as far as the log says"
    if len(made.get("kinds", ())) > 1:
        said += "; of two kinds, messages and prompts with completions: a dataset takes one"
    if made["refused"]:
        said += f"; refused: {plural(len(made['refused']), 'row')} ({made['refused'][0]['problems'][0]})"
    files = plain(log.name) if path is None else f"{plain(log.name)} to {plain(str(path))}"
    sys.stderr.write(f"lctl: {files}: {plain(said, 2000)}\n")


def _whole(log: Log, form: Format, path: Path | None) -> None:
    """The log written anew, its state and summary worked out from the events."""
    from lctl.cli.converting import print_log
    from lctl.codec import write_log
    from lctl.state.summary import tail_of

    tail = None if form == "jsonl" else tail_of(log, log.chain)
    if path is None:
        print_log(log, form, tail)
    else:
        write_log(log, path, format=form, tail=tail)


def _messages(log: Log, partial: bool) -> Iterator[str]:
    """`{"chain", "leaf", "agent", "messages"}` a line; what conversations share is in each of them."""
    from lctl.analysis.transcripts import transcript_json
    from lctl.codec.lines import encode_value

    for conversation in transcript_json(log, partial=partial):
        yield encode_value({"chain": log.id, **conversation}).decode() + "\n"


def _write(path: Path, pieces: Iterable[str]) -> None:
    from lctl.codec.wholefile import writing

    with writing(path) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8", "replace"))
