"""A run as the two ends of its file tell of it, so that ten thousand list at once."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from lctl.analysis.run import Run
from lctl.codec.bytesource import FileBytes
from lctl.codec.journal import layout
from lctl.errors import LctlError

_TIME = re.compile(r"(\d{8})[-T]?(\d{6})")
_HEAD, _END = 1024, 8192
_SEALED = re.compile(rb'"hash":\{"algorithm":"sha256","events":"[0-9a-f]{64}","count":(\d+)\}\}\s*$')
_SUMMARY = b',"summary":{'


def read_run(path: Path, started: float | None = None) -> Run:
    """What the ends of the file say."""
    try:
        fd = os.open(path, os.O_RDONLY)
        status = os.fstat(fd)
        data = FileBytes(fd, status.st_size)
        began = started_at(path.name, status.st_mtime) if started is None else started
        return _closed(path, began, data) or _unclosed(path, began, data)
    except OSError as error:
        return Run(path, {}, started or 0.0, 0, None, {}, False, (error.strerror or str(error)).lower())


def started_at(name: str, modified: float) -> float:
    """The UTC time a run's file name says, else `modified`."""
    found = _TIME.search(name)
    if found is None:
        return modified
    try:
        return datetime.strptime(found[1] + found[2], "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return modified


def _closed(path: Path, started: float, data: FileBytes) -> Run | None:
    """A log with its tail, from two reads; None when it has no tail this can find."""
    end = data.read(max(0, data.size - _END), _END)
    sealed = _SEALED.search(end)
    if sealed is None:
        return None
    chain = _chain(data)
    if chain is None:
        return None
    at = end.rfind(_SUMMARY)
    while at < 0 and len(end) < data.size:  # a summary longer than one read
        end = data.read(max(0, data.size - len(end) * 8), len(end) * 8)
        at = end.rfind(_SUMMARY)
    summary: Any = None
    if at >= 0:
        try:
            summary = orjson.loads(b"{" + end[at + 1 :]).get("summary")
        except ValueError:
            return None
    return Run(
        path, chain, started, data.size, int(sealed[1]), summary if isinstance(summary, dict) else {}, False
    )


def _unclosed(path: Path, started: float, data: FileBytes) -> Run:
    found = layout(data) if data.size else None
    if found is not None and found.header:
        chain = found.header.get("chain")
        events = found.last_seq - found.first_seq + 1 if found.last_seq else 0
        return Run(
            path,
            chain if isinstance(chain, dict) else {},
            started,
            data.size,
            events,
            {},
            found.tail_at is None,
        )
    return _foreign(path, started, data)


def _foreign(path: Path, started: float, data: FileBytes) -> Run:
    """A log in another form than lctl writes: opened whole, where it is not too large for that."""
    from lctl.analysis.foreign import beginning
    from lctl.codec import open_log

    size = data.size
    large = beginning(data, str(path))
    if large is not None:
        return Run(path, large.chain, started, size, None, {}, False, large.problem)
    try:
        log = open_log(path)
    except LctlError as error:
        return Run(path, {}, started, size, None, {}, False, str(error))
    summary = (log.tail or {}).get("summary")
    return Run(
        path, log.chain, started, size, len(log), summary if isinstance(summary, dict) else {}, log.open
    )


def _chain(data: FileBytes) -> dict[str, Any] | None:
    """The chain of a journal's first line."""
    head = data.read(0, _HEAD)
    while (stop := head.find(b"\n")) < 0:
        if len(head) >= data.size or len(head) > 1 << 22:
            return None
        head = data.read(0, len(head) * 8)
    try:
        chain = orjson.loads(head[:stop].rstrip() + b"]}")["chain"]
    except (ValueError, KeyError, TypeError):
        return None
    return chain if isinstance(chain, dict) else None
