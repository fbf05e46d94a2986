"""The recorded runs of a folder, read from the two ends of each file so that ten thousand list at once."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from lctl.codec.bytesource import FileBytes
from lctl.codec.journal import layout
from lctl.errors import LctlError

if TYPE_CHECKING:
    from lctl.codec import Log

SUFFIX = ".lctl.json"
#: Seconds since its last event for which an open run in a store is taken to be going on: a model may
#: think for minutes.
LATELY = 600.0
#: Outcomes of closed runs that failed, and of those that did not get to their end by no failure of theirs.
FAILED = frozenset({"error", "failed"})
STOPPED = frozenset({"interrupted", "aborted", "cancelled"})
_TIME = re.compile(r"(\d{8})[-T]?(\d{6})")
_HEAD, _END = 1024, 8192
_SEALED = re.compile(rb'"hash":\{"algorithm":"sha256","events":"[0-9a-f]{64}","count":(\d+)\}\}\s*$')
_SUMMARY = b',"summary":{'


class Run(NamedTuple):
    """One recorded run.

    Attributes:
        started: seconds since the epoch, from the file's name, else its modification time.
        events: how many; None where that cannot be told without reading all: of a large document that lctl
            has not written.
        summary: as its writer left it at the end; {} in an open log.
        open: without its end: being written, or its program ended abruptly.
        problem: why it could not be read, "" if it could.
        where: address of a run in a store, whose `path` is then no file.
        source: opens that one's log.
        updated: seconds since the epoch of that one's last event.
    """

    path: Path
    chain: dict[str, Any]
    started: float
    size: int
    events: int | None
    summary: dict[str, Any]
    open: bool
    problem: str = ""
    where: str = ""
    source: Callable[[], Log] | None = None
    updated: float = 0.0

    @property
    def live(self) -> bool:
        """A program is writing it. In a store that cannot be seen: there it is open and has grown lately."""
        if not self.open:
            return False
        return time.time() - self.updated < LATELY if self.where else is_live(self.path)

    @property
    def place(self) -> str:
        """Its path, or its address in a store."""
        return self.where or str(self.path)

    def log(self) -> Log:
        """Raises LogError."""
        from lctl.codec import open_log

        return open_log(self.path) if self.source is None else self.source()

    @property
    def id(self) -> str:
        return str(self.chain.get("id") or "") or self.path.name.removesuffix(SUFFIX)

    @property
    def parent(self) -> dict[str, Any]:
        parent = self.chain.get("parent")
        return parent if isinstance(parent, dict) else {}

    @property
    def certificate(self) -> dict[str, Any]:
        """How exact a rerun or fork was, as the end of its log says; {} of a recording."""
        if self.open or not ({"fork", "rerun"} & self.chain.keys()):
            return {}
        try:
            found = (self.log().tail or {}).get("rerun")
        except LctlError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def is_child(self) -> bool:
        """It is of a process that the program of another run started; a fork has a parent, too."""
        return bool(self.parent) and "fork" not in self.chain and not self.parent.get("fork")


def folders() -> list[Path]:
    """Where runs are looked for: LCTL_STORE where it is a folder, LCTL_DIR, then `.lctl` under the working
    directory."""
    named = os.environ.get("LCTL_DIR")
    places = [*_stored(), *([Path(named)] if named else []), Path(".lctl")]
    # one folder by two names (LCTL_DIR=/home/me/app/.lctl, in /home/me/app) is one: its runs are counted once
    found: dict[tuple[int, int], Path] = {}
    for place in filter(Path.is_dir, places):
        status = place.stat()
        found.setdefault((status.st_dev, status.st_ino), place)
    return list(found.values())


def _stored() -> list[Path]:
    """The folder that LCTL_STORE names. (What else an address may be is said in `lctl.stores.address`.)"""
    text = os.environ.get("LCTL_STORE", "")
    if not text.lower().startswith("file:"):
        return []
    place = text[5:].partition("?")[0].removeprefix("//").removeprefix("localhost")
    return [Path(place)] if place else []


def files(only: str | None = None) -> list[tuple[float, Path]]:
    """(started, path) of every run, or of those in one folder, newest first."""
    found = []
    for folder in folders() if only is None else [Path(only)]:
        with os.scandir(folder) as entries:
            for entry in entries:
                modified = _modified(entry) if entry.name.endswith(SUFFIX) else None
                if modified is not None:
                    found.append((_started(entry.name, modified), modified, Path(entry.path)))
    found.sort(key=lambda one: (one[0], one[1], str(one[2])), reverse=True)
    return [(started, path) for started, _, path in found]


def _modified(entry: os.DirEntry[str]) -> float | None:
    """When a file was written; None of what is none: a folder, a link to nothing or to itself, a file that is
    gone meanwhile."""
    try:
        return entry.stat().st_mtime if entry.is_file() else None
    except OSError:
        return None


def runs() -> Iterator[Run]:
    """Every run, newest first, each read when it is asked for."""
    for started, path in files():
        yield read_run(path, started)


def read_run(path: Path, started: float | None = None) -> Run:
    """What the ends of the file say."""
    try:
        fd = os.open(path, os.O_RDONLY)
        status = os.fstat(fd)
        data = FileBytes(fd, status.st_size)
        began = _started(path.name, status.st_mtime) if started is None else started
        return _closed(path, began, data) or _unclosed(path, began, data)
    except OSError as error:
        return Run(path, {}, started or 0.0, 0, None, {}, False, (error.strerror or str(error)).lower())


def origin(run: Run) -> str:
    """The id of the run it came of; "" for a recording."""
    again = run.chain.get("rerun")
    if isinstance(again, dict):
        return str(again.get("of") or "")
    return str(run.parent.get("id") or "")


def tree(known: list[Run]) -> list[tuple[Run, int]]:
    """Each run with its depth: newest recording first, under each what came of it, oldest first."""
    ids = {run.id for run in known}
    below: dict[str, list[Run]] = {}
    tops = []
    for run in known:
        above = origin(run)
        if above in ids and above != run.id:
            below.setdefault(above, []).insert(0, run)
        else:
            tops.append(run)
    placed: list[tuple[Run, int]] = []
    seen: set[str] = set()
    waiting = [(run, 0) for run in reversed(tops)]
    while waiting:
        run, depth = waiting.pop()
        if run.place not in seen:
            seen.add(run.place)
            placed.append((run, depth))
            waiting += [(one, depth + 1) for one in reversed(below.pop(run.id, []))]
    # Runs that are each other's origin have no top.
    return placed + [(run, 0) for run in known if run.place not in seen]


def is_live(path: Path) -> bool:
    """Whether the process that opened the log for writing still runs. Its lock is not tried: that could
    make a writer which opens the log at this moment fail."""
    try:
        note = orjson.loads((path.parent / f".{path.name}.lock").read_bytes())
        pid = int(note["pid"])
        if os.name != "nt":
            os.kill(pid, 0)
    except PermissionError:
        return True  # there is such a process, of another user
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return False
    return _has_open(pid, path)


def _has_open(pid: int, path: Path) -> bool:
    """Whether the process has the file open, as the holder of its lock has; True where that cannot be seen.
    A writer that was killed leaves its note, and its number may be another process's by now."""
    try:
        log = path.stat()
        with os.scandir(f"/proc/{pid}/fd") as opened:
            return any(_is(entry, log) for entry in opened)
    except OSError:
        return True


def _is(entry: os.DirEntry[str], log: os.stat_result) -> bool:
    try:
        return os.path.samestat(entry.stat(), log)
    except OSError:
        return False  # closed meanwhile, or no file


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


def _started(name: str, modified: float) -> float:
    """The UTC time a run's file name says, else `modified`."""
    found = _TIME.search(name)
    if found is None:
        return modified
    try:
        return datetime.strptime(found[1] + found[2], "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return modified
