"""Columns of a log that the time bar is drawn from: for each event its kind and its agent, for some its time.

One pass decodes nothing but the envelope and a few words of the data, three bytes are kept of an event, and
counting in them is what bytes do in C: a million events take half a second to read and 20 ms to draw.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from lctl.analysis.asked import is_asked
from lctl.analysis.log import text
from lctl.analysis.pauses import NO_PAUSE, pause_of
from lctl.codec import Log
from lctl.debugger.heads import Head, heads_from
from lctl.state.model import MODEL_KINDS
from lctl.state.times import millis

#: Times are kept of every event of a log of up to this many, of every `_STRIDE`-th of a longer one.
_EVERY = 200_000
_STRIDE = 16

#: Kinds of an event beside its type: a model call begins; it tells of a failure, of what was asked.
PLAIN, MODEL, FAILED, ASKING = range(4)

_NOTHING = (b"null", b"false")
_LOOKED_INTO = frozenset({"step_start", "step_end", "tool_call", "error", "checkpoint", "handoff", "ambient"})
_FAILURES = frozenset({"error", "failed", "failure", "aborted", "cancelled"})


class Piece(NamedTuple):
    """What columns that are read elsewhere have grown by. `kinds` and `names` are all of them."""

    codes: bytearray
    agents: array[int]
    kinds: list[tuple[str, int]]
    names: list[str]
    errors: array[int]
    checkpoints: array[int]
    handoffs: array[int]
    clock: array[float]
    seqs: array[int] | None
    first: int
    last: int


class Columns:
    """What is known of a log as far as it has been read. Rows are in order of seq.

    Attributes:
        codes: of each row, an index into `kinds`.
        agents: of each row, an index into `names`.
        kinds: (type, PLAIN, MODEL, FAILED or ASKING).
        seqs: of each row, where they do not ascend one by one; else None and row i is first + i.
        clock: of every `stride`-th row its time in ms since the epoch, never going back, without the pause.
        pause: between what a fork or rerun has of its recording and what is its own.
        errors, checkpoints, handoffs: their seqs.
        total: events there are to read.
    """

    def __init__(self, log: Log) -> None:
        self.lock = threading.Lock()
        self.codes = bytearray()
        self.agents = array("H")
        self.kinds: list[tuple[str, int]] = []
        self.names: list[str] = []
        self.errors = array("q")
        self.checkpoints = array("q")
        self.handoffs = array("q")
        self.clock = array("d")
        self.seqs: array[int] | None = None
        self.first = log.first_seq
        self.last = self.first - 1  # seq read last
        self.pause = NO_PAUSE
        self._kind_codes: dict[tuple[str, int], int] = {}
        self._plain: dict[str, int] = {}  # codes of types whose events are all alike
        self._agent_codes: dict[str, int] = {}
        self._now = float("-inf")
        self._second: tuple[str, float] = ("", 0.0)
        self.grow(log)
        self.stride = 1 if self.total <= _EVERY else _STRIDE

    def grow(self, log: Log) -> None:
        """Go on with a log that begins with what was read."""
        self._log = log
        if self.pause is NO_PAUSE:
            self.pause = pause_of(log)
            if self.last > self.pause.seq > 0:  # of a rerun it is known at the end
                self.clock = array("d", map(self.pause.without, self.clock))
                self._now = self.pause.without(self._now)
        self.total = len(log)
        self.ended = self.last >= log.last_seq or not self.total

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def progress(self) -> float:
        return 1.0 if self.ended or not self.total else min(1.0, len(self.codes) / self.total)

    def seq(self, row: int) -> int:
        """Of a row; one past the last of the log for the row after the last."""
        if row >= len(self.codes):
            return self.last + 1
        return self.seqs[row] if self.seqs is not None else self.first + row

    def row(self, seq: int) -> int:
        """The first row whose seq is `seq` or higher."""
        if self.seqs is not None:
            return bisect_left(self.seqs, seq)
        return min(max(0, seq - self.first), len(self.codes))

    def codes_of(self, *wanted: str, flavour: int | None = None) -> list[int]:
        """Codes of these types."""
        return [
            code
            for code, (type, kind) in enumerate(self.kinds)
            if type in wanted and (flavour is None or kind == flavour)
        ]

    def row_at(self, time: float) -> int:
        """The first row at or after a time, to the stride."""
        return min(len(self.codes), bisect_left(self.clock, time) * self.stride)

    def time(self, row: int) -> float | None:
        """Time of a row in ms since the epoch, to the stride; None where nothing has one."""
        at = row // self.stride
        if not self.clock:
            return None
        value = self.clock[min(at, len(self.clock) - 1)]
        return None if value == float("-inf") else value

    # -- reading -----------------------------------------------------------------------------

    def read(self) -> Iterator[None]:
        """Read on to the end; gives way after every piece, and may be left there."""
        for heads in heads_from(self._log, self.last + 1):
            with self.lock:
                self._take(heads)
            yield
        self.ended = True

    def _take(self, heads: list[Head]) -> None:
        """One loop with everything at hand: it runs once for every event of a log."""
        codes, agents, stride = self.codes, self.agents, self.stride
        known, named, plain = self._kind_codes, self._agent_codes, self._plain
        last, at = self.last, len(codes)
        for head in heads:
            seq, type, agent = head.seq, head.type, head.agent
            if seq != last + 1 or self.seqs is not None:
                if seq <= last:
                    continue
                self._number(seq)
            code = plain.get(type)
            if code is None:
                flavour = self._flavour(head)
                code = known.get((type, flavour))
                if code is None:
                    code = self._new_kind(type, flavour)
            who = named.get(agent)
            if who is None:
                who = self._new_agent(agent)
            if at % stride == 0:
                self._tick(head.timestamp)
            codes.append(code)
            agents.append(who)
            at += 1
            self.last = last = seq

    def _flavour(self, head: Head) -> int:
        type, data = head.type, head.data
        if type == "step_start":
            return MODEL if text(data.kind) in MODEL_KINDS else PLAIN
        if type == "ambient":
            return ASKING if is_asked(data.source, data.key) else PLAIN
        if type == "tool_call":
            failed = data.error is not msgspec.UNSET and bytes(data.error) not in _NOTHING
        elif type == "step_end":
            failed = text(data.outcome) in _FAILURES
        else:
            failed = type == "error"
        if failed:
            self.errors.append(head.seq)
        elif type == "checkpoint":
            self.checkpoints.append(head.seq)
        elif type == "handoff":
            self.handoffs.append(head.seq)
        elif type not in _LOOKED_INTO and len(self.kinds) < 255:
            code = self._kind_codes.get((type, PLAIN))
            self._plain[type] = self._new_kind(type, PLAIN) if code is None else code
        return FAILED if failed else PLAIN

    def _new_kind(self, type: str, flavour: int) -> int:
        if len(self.kinds) >= 255:  # a byte holds no more; who has so many types gets them as one
            type, flavour = "...", PLAIN
            if (type, flavour) in self._kind_codes:
                return self._kind_codes[type, flavour]
        code = self._kind_codes[type, flavour] = len(self.kinds)
        self.kinds.append((type, flavour))
        return code

    def _new_agent(self, name: str) -> int:
        if len(self.names) >= 65_535:
            return 65_534
        code = self._agent_codes[name] = len(self.names)
        self.names.append(name)
        return code

    def _tick(self, timestamp: str) -> None:
        now = self._millis(timestamp)
        if now is not None:
            now = self.pause.without(now)
            self._now = max(self._now, now)
        self.clock.append(self._now)

    def _millis(self, timestamp: str) -> float | None:
        """As `millis`; events of one second share the reading of it."""
        head = timestamp[:19]
        if head == self._second[0] and len(timestamp) == 27 and timestamp[26] == "Z":
            try:
                return self._second[1] + int(timestamp[20:26]) / 1000
            except ValueError:
                pass
        found = millis(timestamp)
        if found is not None and len(timestamp) == 27 and timestamp[26] == "Z" and timestamp[19] == ".":
            whole = millis(head + "Z")
            if whole is not None:
                self._second = (head, whole)
        return found

    def _number(self, seq: int) -> None:
        if self.seqs is None:
            if not self.codes:
                self.first = seq
                return
            self.seqs = array("q", range(self.first, self.first + len(self.codes)))
        self.seqs.append(seq)

    # -- handing on --------------------------------------------------------------------------

    def since(self, other: Columns) -> Piece:
        """What `other`, that has taken every piece so far, lacks."""
        numbered = self.seqs
        if numbered is not None and other.seqs is not None:
            numbered = numbered[len(other.seqs) :]
        return Piece(
            self.codes[len(other.codes) :],
            self.agents[len(other.agents) :],
            self.kinds,
            self.names,
            self.errors[len(other.errors) :],
            self.checkpoints[len(other.checkpoints) :],
            self.handoffs[len(other.handoffs) :],
            self.clock[len(other.clock) :],
            numbered,
            self.first,
            self.last,
        )

    def take(self, piece: Piece) -> None:
        """Grow by what was read elsewhere."""
        with self.lock:
            self.codes += piece.codes
            self.agents.extend(piece.agents)
            for kind in piece.kinds[len(self.kinds) :]:
                self._new_kind(*kind)
            for name in piece.names[len(self.names) :]:
                self._new_agent(name)
            self.errors.extend(piece.errors)
            self.checkpoints.extend(piece.checkpoints)
            self.handoffs.extend(piece.handoffs)
            self.clock.extend(piece.clock)
            self._now = self.clock[-1] if self.clock else self._now
            if piece.seqs is not None:
                self.seqs = (self.seqs or array("q")) + piece.seqs
            self.first, self.last = piece.first, piece.last
            self.ended = self.last >= self._log.last_seq

    # -- counting ----------------------------------------------------------------------------

    def next_of(self, codes: list[int], row: int, back: bool) -> int | None:
        """The nearest row of one of these codes, from `row` on (or before it)."""
        found = []
        for code in codes:
            at = self.codes.rfind(code, 0, row) if back else self.codes.find(code, row)
            if at >= 0:
                found.append(at)
        return (max(found) if back else min(found)) if found else None

    def types(self) -> dict[str, int]:
        """Events of each type, most first."""
        counts: dict[str, int] = {}
        for code, (type, _) in enumerate(self.kinds):
            counts[type] = counts.get(type, 0) + self.codes.count(code)
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    def between(self, seqs: array[int], first: int, last: int, most: int) -> tuple[list[int], bool]:
        """Those of `seqs` from first to last, and whether they are more than `most`; of more, as many, evenly
        over the stretch."""
        a, b = bisect_left(seqs, first), bisect_right(seqs, last)
        if b - a <= most:
            return list(seqs[a:b]), False
        return [seqs[a + (b - a) * n // most] for n in range(most)], True
