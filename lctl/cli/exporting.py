"""`lctl export`: what a log says, for other tools."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lctl.cli.options import output_option, target
from lctl.cli.screen import Screen
from lctl.errors import LogError

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
    "markdown": "a report to read",
    "transcript": "the newest conversation as text",
    "messages": "the conversations, one a line, as lists of OpenAI messages",
}
_JSON = ("json", "jsonl", "chrome", "messages")
_LIST = "\n".join(f"  {name:<11} {text}" for name, text in FORMATS.items())


@click.command(
    help=f"""Write TARGET for other tools.

    \b
{_LIST}
"""
)
@target()
@click.option("--format", "-f", "name", type=click.Choice(list(FORMATS)), default="json", show_default=True)
@output_option
def export(target: str, name: str, output: str | None) -> None:
    from lctl.cli.target import opened
    from lctl.cli.target import output as writable

    text = _exported(opened(target), name)
    if output is not None:
        _write(writable(output), text)
    else:
        Screen().document(text, json=name in _JSON)


def _exported(log: Log, name: str) -> str:
    from lctl.analysis import exports
    from lctl.codec.lines import encode_value

    whole: dict[str, Format] = {"json": "json", "yaml": "yaml", "jsonl": "jsonl"}
    if name in whole:
        return _document(log, whole[name])
    if name == "messages":
        return _messages(log)
    made: Callable[[Log], object] = exports.FORMATS[name]
    value = made(log)
    return value if isinstance(value, str) else encode_value(value).decode() + "\n"


def _document(log: Log, form: Format) -> str:
    """The log written anew, its state and summary worked out from the events."""
    from lctl.codec import write_log
    from lctl.state.summary import tail_of

    held = io.BytesIO()
    write_log(log, held, format=form, tail=None if form == "jsonl" else tail_of(log, log.chain))
    return held.getvalue().decode("utf-8", "replace")


def _messages(log: Log) -> str:
    """`{"chain", "leaf", "agent", "messages"}` a line; what conversations share is in each of them."""
    from lctl.analysis.transcripts import transcript_json
    from lctl.codec.lines import encode_value

    lines = ({"chain": log.id, **conversation} for conversation in transcript_json(log))
    return "".join(encode_value(line).decode() + "\n" for line in lines)


def _write(path: Path, text: str) -> None:
    """The file whole, or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", errors="replace", newline="")
        part.replace(path)
    except OSError as error:
        raise LogError(f"{path}: cannot be written ({(error.strerror or str(error)).lower()})") from None
    finally:
        part.unlink(missing_ok=True)
