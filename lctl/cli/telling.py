"""What `lctl export` does for OpenTelemetry and for warehouses: `--format otlp`, `--otlp URL`, `parquet`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lctl.cli.text import plain, plural
from lctl.errors import UsageError

if TYPE_CHECKING:
    from lctl.codec import Log


def otlp(log: Log, name: str, content: bool) -> Iterable[bytes]:
    """The log's spans as an OTLP file, in pieces: `otlp` is JSON, `otlp-proto` protobuf."""
    from lctl.spans import spans_of
    from lctl.spans.otlp import binary, document, pieces

    spans = spans_of(log, content=content)
    about = {"service.name": str(log.chain.get("name") or "lctl")}
    return pieces(spans, about) if name == "otlp" else [binary(document(spans, about))]


def send(log: Log, url: str, headers: Sequence[str], content: bool) -> None:
    """Send the log's spans to a back end, and say so."""
    from lctl.otel.sending import send as send_spans

    pairs: dict[str, str] = {}
    for header in headers:
        key, sign, value = header.partition("=")
        if not sign:
            raise UsageError(f"--header {header}: is NAME=VALUE")
        pairs[key.strip()] = value.strip()
    count = send_spans(log, url, headers=pairs or None, content=content)
    sys.stderr.write(f"lctl: {plural(count, 'span')} of {plain(log.id, 80)} sent to {plain(url, 200)}\n")


def write(path: Path | None, pieces: Iterable[bytes]) -> None:
    """The file whole, or not at all; None is standard output."""
    if path is None:
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
        return
    from lctl.codec.wholefile import writing

    with writing(path) as file:
        file.writelines(pieces)


def parquet(log: Log, output: str | None) -> None:
    """The log as Parquet: a file where OUTPUT ends so, else a dataset in that folder or under that URL."""
    from lctl.warehouse import write_dataset, write_file

    if output is None:
        raise UsageError("--format parquet: give a file, a folder or a URL with -o")
    write_log = write_file if output.endswith(".parquet") else write_dataset
    count = write_log([log], output)
    sys.stderr.write(f"lctl: {plural(count, 'event')} of {plain(log.id, 80)} in {plain(output, 200)}\n")
