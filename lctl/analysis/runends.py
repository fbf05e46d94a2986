"""A run as the two ends of its file tell of it, so that ten thousand list at once."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from lctl.analysis.run import FAILED, STOPPED, UNKNOWN, Run
from lctl.analysis.starting import named_at, seconds_of, told_at
from lctl.codec.bytesource import FileBytes
from lctl.codec.forms import version_of
from lctl.codec.journal import beside, layout
from lctl.errors import LctlError

if TYPE_CHECKING:
    from lctl.codec import Log

_HEAD, _END = 1024, 8192
#: Bytes of a log without a summary up to which all its events are read for how it ended; events of others.
_SMALL, _LAST = 1 << 18, 64
#: Bytes of a log that nobody has closed up to which it is read for what it has come to.
_COUNTED = 1 << 20
_SEALED = re.compile(rb'"hash":\{"algorithm":"sha256","events":"[0-9a-f]{64}","count":(\d+)\}\}\s*$')
_SUMMARY = b',"summary":{'


def read_run(path: Path) -> Run:
    """What the ends of the file say."""
    named = named_at(path.name)
    try:
        fd = os.open(path, os.O_RDONLY)
        status = os.fstat(fd)
        data = FileBytes(fd, status.st_size)
        run = _closed(path, status.st_mtime, data) or _unclosed(path, status.st_mtime, data)
        began = told_at(data, run.chain) if named is None else named
    except OSError as error:
        return Run(path, {}, named or 0.0, 0, None, {}, False, (error.strerror or str(error)).lower())
    return run if began is None else run._replace(started=began)


def _closed(path: Path, started: float, data: FileBytes) -> Run | None:
    """A log with its tail, from two reads; None when it has no tail this can find."""
    end = data.read(max(0, data.size - _END), _END)
    sealed = _SEALED.search(end)
    if sealed is None:
        return None
    header = _header(data)
    if header is None:
        return None
    chain: dict[str, Any] = header["chain"]
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
    sums = summary if isinstance(summary, dict) else {}
    return Run(path, chain, started, data.size, int(sealed[1]), sums, False, _unread(header, path))


def _unclosed(path: Path, started: float, data: FileBytes) -> Run:
    found = layout(data) if data.size else None
    if found is not None and found.header:
        chain = found.header.get("chain")
        events = found.last_seq - found.first_seq + 1 if found.last_seq else 0
        if found.tail_at is None and _has_streams(path):
            events = _with_streams(path, events)
        return Run(
            path,
            chain if isinstance(chain, dict) else {},
            started,
            data.size,
            events,
            (so_far(path, data.size) if events else {}) if found.tail_at is None else _summary_of(path),
            found.tail_at is None,
            _unread(found.header, path),
            ending="" if found.tail_at is None else _ending_of(path, data.size),
        )
    return _foreign(path, started, data)


def _has_streams(path: Path) -> bool:
    try:
        return os.stat(beside(str(path))).st_size > 0  # noqa: PTH116  (its name is text)
    except OSError:
        return False


def _with_streams(path: Path, events: int) -> int:
    """How many there are with what came of streams that a killed program left: who opens the log sees it."""
    from lctl.codec import open_log

    try:
        return len(open_log(path))
    except LctlError:
        return events


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
    said = (log.tail or {}).get("summary")
    summary = said if isinstance(said, dict) else {}
    ending = "" if log.open or "outcome" in summary else ending_of(log, size)
    started = _first_moment(log) or started
    return Run(path, log.chain, started, size, len(log), summary, log.open, ending=ending)


def _first_moment(log: Log) -> float | None:
    """When the first of its first events was that tells; of a rerun or fork not, as in `told_at`."""
    if {"rerun", "fork"} & log.chain.keys():
        return None
    events = log.events(log.first_seq, log.first_seq + _LAST)
    return next((at for event in events if (at := seconds_of(event.timestamp))), None)


def so_far(path: Path, size: int) -> dict[str, Any]:
    """The summary of a log that nobody has closed (workers of a pool are ended so), if it is short: without
    its outcome, which nobody has seen."""
    from lctl.codec import open_log
    from lctl.state.summary import summary_of
    from lctl.state.timeline import Timeline

    if size > _COUNTED:
        return {}
    try:
        made = summary_of(Timeline(open_log(path)).last)
    except LctlError:
        return {}
    return {key: value for key, value in made.items() if key != "outcome"}


def _summary_of(path: Path) -> dict[str, Any]:
    """Of a log that was closed, and whose end is in other bytes than lctl writes (git has changed the ends of
    its lines)."""
    from lctl.codec import open_log

    try:
        said = (open_log(path).tail or {}).get("summary")
    except LctlError:
        return {}
    return said if isinstance(said, dict) else {}


def _ending_of(path: Path, size: int) -> str:
    from lctl.codec import open_log

    try:
        log = open_log(path)
    except LctlError:
        return UNKNOWN
    said = (log.tail or {}).get("summary")
    return "" if isinstance(said, dict) and "outcome" in said else ending_of(log, size)


def ending_of(log: Log, size: int) -> str:
    """How a log without a summary ended: `ending` of a run. Of a large one its last events are read."""
    if size > _SMALL:
        found = _last_outcome(log)
    else:
        from lctl.state.summary import outcome_of
        from lctl.state.timeline import Timeline

        found = outcome_of(Timeline(log).last) or ""
    is_cut = log.recovered is not None and found not in FAILED | STOPPED
    return "open" if is_cut else found


def _last_outcome(log: Log) -> str:
    """Of the step on top that ended last, where nothing came after that but what belongs to no step."""
    for event in reversed(list(log.events(max(log.first_seq, log.last_seq - _LAST)))):
        if event.type == "step_end" and event.step is not None:
            begun = next(iter(log.events(event.step, event.step + 1)), None)
            outcome = event.data.get("outcome")
            on_top = begun is not None and begun.type == "step_start" and begun.step is None
            return outcome if on_top and isinstance(outcome, str) else UNKNOWN
        if event.type in ("step_start", "error") or event.step is not None:
            return "error" if event.type == "error" and event.step is None else UNKNOWN
    return UNKNOWN


def _unread(header: Mapping[str, Any], path: Path) -> str:
    """Why this lctl does not read a log of the version its header says, "" if it does."""
    try:
        version_of(header.get("lctl"), str(path))
    except LctlError as error:
        return str(error)
    return ""


def _header(data: FileBytes) -> dict[str, Any] | None:
    """A journal's first line, with its chain; None where it has none."""
    head = data.read(0, _HEAD)
    while (stop := head.find(b"\n")) < 0:
        if len(head) >= data.size or len(head) > 1 << 22:
            return None
        head = data.read(0, len(head) * 8)
    try:
        header = orjson.loads(head[:stop].rstrip() + b"]}")
    except ValueError:
        return None
    return header if isinstance(header, dict) and isinstance(header.get("chain"), dict) else None
