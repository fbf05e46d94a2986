"""Write a log in another form."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, cast, get_args

from lctl.codec import yamltext
from lctl.codec.hashing import ALGORITHM, RollingHash
from lctl.codec.lines import closing, decode, encode, encode_value, header
from lctl.codec.log import Log
from lctl.codec.opening import Source, open_log
from lctl.codec.wholefile import writing
from lctl.errors import UsageError
from lctl.events import VERSION, Event

Format = Literal["json", "jsonl", "yaml"]
Dest = str | os.PathLike[str] | IO[bytes]

#: Other names people give the forms.
_NAMES = {"v4": "json", "4": "json", "4.0": "json", "ndjson": "jsonl", "yml": "yaml", "journal": "json"}
_DERIVED = ("state", "summary")


def convert(source: Source, dest: Dest = "-", *, to: str = "json") -> Log:
    """Reads a log of any form and version and writes it as version 4.0; gives the log as read, whose
    `version`, `recovered` and `problems` say what it was.

    Raises:
        UsageError: `to` is not a form.
        LogError, MissingExtra: as `open_log` and `write_log`.
    """
    format = form(to)
    log = open_log(source)
    write_log(log, dest, format=format)
    return log


def form(name: str) -> Format:
    """The form a user means by `name`.

    Raises:
        UsageError: there is no such form.
    """
    known = _NAMES.get(name.lower(), name.lower())
    if known not in get_args(Format):
        raise UsageError(f"cannot write {name!r}; the forms are json, jsonl, yaml (v4 is json)")
    return cast("Format", known)


def write_log(log: Log, dest: Dest, *, format: Format = "json", tail: dict[str, Any] | None = None) -> None:
    """Writes every event of `log`, unknown types and keys with it, as version 4.0.

    "json" is a closed journal and carries the rolling hash; "yaml" is one document; "jsonl" is a header
    line and one event a line, without tail. A path is written whole or not at all, and may be the path
    the log was read from.

    Args:
        dest: a path, "-" for standard output, or a binary file.
        tail: state and summary to close with; None keeps those of the log.

    Raises:
        LogError: `dest` cannot be written.
        MissingExtra: YAML, and `pyyaml` is not installed.
    """
    kept = {**(log.tail or {}), **(tail or {})}
    kept.pop("hash", None)
    pieces = {"json": _json, "jsonl": _jsonl, "yaml": _yaml}[form(format)](log, kept)
    with _writing(dest) as out:
        for piece in pieces:
            out.write(piece)


def _json(log: Log, tail: dict[str, Any]) -> Iterator[bytes]:
    yield header(log.chain, log.extra)
    rolling = RollingHash()
    for line in _lines(log):
        yield b",\n" + line if rolling.count else b"\n" + line
        rolling.update(line)
    derived = {key: tail.pop(key) for key in _DERIVED if key in tail}
    seal = {"algorithm": ALGORITHM, "events": rolling.hexdigest(), "count": rolling.count}
    yield closing({**derived, **tail, "hash": seal})


def _jsonl(log: Log, tail: dict[str, Any]) -> Iterator[bytes]:
    yield encode_value({"lctl": VERSION, "chain": log.chain, **log.extra}) + b"\n"
    for line in _lines(log):
        yield line + b"\n"


def _yaml(log: Log, tail: dict[str, Any]) -> Iterator[bytes]:
    top = {"lctl": VERSION, "chain": log.chain, **log.extra}
    for text in yamltext.dump(top, (event.to_dict() for event in log.events()), tail):
        yield text.encode("utf-8", "surrogatepass")


def _lines(log: Log) -> Iterator[bytes]:
    """The original bytes of line-by-line logs, so that hashes stay what they were; else canonical."""
    return map(_canonical, log.lines()) if log.problems else log.lines()


def _canonical(line: bytes) -> bytes:
    return encode(Event.from_dict({"type": "", **decode(line, as_written=True)}))


@contextmanager
def _writing(dest: Dest) -> Iterator[IO[bytes]]:
    if dest == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif isinstance(dest, str | os.PathLike):
        with writing(Path(dest)) as file:
            yield file
    else:
        yield dest
