"""One recorded run: what its file says of it, whether it is being written, what it came of."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from lctl.analysis.starting import named_at
from lctl.errors import LctlError
from lctl.kinship import Born, Link, origin_of, parents
from lctl.values import whole_number

if TYPE_CHECKING:
    from lctl.codec import Log

SUFFIX = ".lctl.json"
#: Seconds since its last event for which an open run in a store is taken to be going on: a model may
#: think for minutes.
LATELY = 600.0
#: Outcomes of closed runs that failed, and of those that did not get to their end by no failure of theirs.
FAILED = frozenset({"error", "failed"})
STOPPED = frozenset({"interrupted", "aborted", "cancelled"})
UNKNOWN = "unknown"


class Run(NamedTuple):
    """One recorded run.

    Attributes:
        started: seconds since the epoch, from the file's name, else its first event, else when the file was
            written.
        events: how many; None where that cannot be told without reading all: of a large document that lctl
            has not written.
        summary: as its writer left it at the end; of a short open log, what its events come to so far,
            without an outcome; {} of a long one.
        open: without its end: being written, or its program ended abruptly.
        problem: why it could not be read, "" if it could.
        where: address of a run in a store, whose `path` is then no file.
        source: opens that one's log.
        updated: seconds since the epoch of that one's last event.
        ending: of a closed log without a summary the outcome its events tell, "open" where it was cut or a
            step has not ended, UNKNOWN where too much would have to be read.
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
    ending: str = ""

    @property
    def outcome(self) -> str | None:
        """How it ended: as its summary says, else its events."""
        said = self.summary.get("outcome")
        return said if isinstance(said, str) else self.ending or None

    @property
    def is_unended(self) -> bool:
        """Closed, as far as its form tells, and yet its events do not come to an end."""
        return not self.open and self.ending == "open"

    @property
    def is_unknown(self) -> bool:
        """How it ended would have to be read."""
        return not self.open and not self.problem and (self.events is None or self.ending == UNKNOWN)

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
    def born(self) -> Born:
        """What tells whose child it is. Of a rerun or fork whose name has no time, `started` is when its file
        was last written, which is when it ended."""
        took = self.summary.get("duration_ms")
        is_again = bool({"rerun", "fork"} & self.chain.keys())
        is_told = bool(self.where) or not is_again or named_at(self.path.name) is not None
        before = 0.0 if is_told or not isinstance(took, int | float) else took / 1000
        return Born(self.id, self.chain, self.started - before)

    @property
    def is_child(self) -> bool:
        """It is of a process that the program of another run started; a fork has a parent, too."""
        return bool(self.parent) and "fork" not in self.chain and not self.parent.get("fork")


def lost_of(summary: object) -> int:
    """How many events the writer of a log could not record, as its summary says."""
    return whole_number(summary.get("lost")) or 0 if isinstance(summary, Mapping) else 0


def origin(run: Run) -> str:
    """The id of the run it came of; "" for a recording."""
    link = origin_of(run.chain)
    return link.id if link is not None else ""


def tree(
    known: list[Run], relation: Callable[[Mapping[str, Any]], Link | None] = origin_of
) -> list[tuple[Run, int]]:
    """Each run with its depth: newest recording first, under each what came of it, oldest first.

    Args:
        known: newest first.
        relation: what of a header says which run came of which.
    """
    below: dict[int | None, list[int]] = {}
    for at, above in enumerate(parents([run.born for run in known], relation)):
        below.setdefault(above, []).append(at)
    placed: list[tuple[Run, int]] = []
    seen: set[str] = set()
    waiting = [(at, 0) for at in reversed(below.get(None, []))]
    while waiting:
        at, depth = waiting.pop()
        if known[at].place not in seen:
            seen.add(known[at].place)
            placed.append((known[at], depth))
            waiting += [(one, depth + 1) for one in below.get(at, [])]
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
