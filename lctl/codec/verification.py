"""Is this log what was recorded, and is it what the protocol says?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from lctl.codec.hashing import ALGORITHM, RollingHash
from lctl.codec.lines import SEQ, decode
from lctl.codec.log import Log, Problem
from lctl.payloads import check, shown


class Verification(NamedTuple):
    """What `verify` found.

    Attributes:
        events: lines read.
        hash: the rolling hash they give.
        expected: the hash the tail carries; None without one, and then only checkpoints can tell.
        checkpoints: how many checkpoints carried an `events_hash`.
        first_bad: seq of the first event that may not be as recorded, where it can be told.
        problems: in words, in the order found.
    """

    events: int
    hash: str
    expected: str | None
    checkpoints: int
    first_bad: int | None
    problems: list[Problem]

    @property
    def ok(self) -> bool:
        """Nothing contradicts the log. Without `expected` and checkpoints nothing could."""
        return not self.problems


def verify(log: Log) -> Verification:
    """Holds the events against the hash in the tail, the hashes in checkpoints, the order of seq and the
    counts of the summary. Reads every line once and decodes hardly any."""
    return _Verifier(log).run()


def validate(log: Log) -> list[Problem]:
    """Everything in the log that is not as the protocol says, by place: what `Log.problems` lists and
    what `payloads.check` says of each event."""
    found = list(log.problems)
    said = {(p.seq, p.text) for p in found}
    for event in log.events():
        for text in check(event):
            if (event.seq, text) not in said:
                found.append(Problem(event.seq, log.line_of(event.seq), text))
    found.sort(key=lambda p: (p.line or 0, p.seq or 0))
    return found


class _Verifier:
    def __init__(self, log: Log) -> None:
        self.log = log
        self.rolling = RollingHash()
        self.problems: list[Problem] = []
        self.checkpoints = 0
        self.good_until = log.origin - 1  # every event up to here is vouched for
        self.first_bad: int | None = None
        self.contradicted = False

    def run(self) -> Verification:
        expected = self.log.origin
        for number, line in enumerate(self.log.stored(), 2):
            seq = _seq(line)
            place = number if self.log.form == "journal" else None
            if seq != expected:
                text = f"expected event {expected} here, got {_found(seq, line)}"
                self.bad(seq, place, text, expected if seq is None else seq)
            if b'"events_hash"' in line and seq is not None:
                self.checkpoint(seq, place, line)
            self.rolling.update(line)
            expected = (seq if seq is not None else expected) + 1
        tail = self.log.tail or {}
        self.tail_hash(tail.get("hash"))
        self.problems += _miscounted(tail.get("summary"), self.rolling.count)
        return Verification(
            self.rolling.count,
            self.rolling.hexdigest(),
            _hex(tail.get("hash")),
            self.checkpoints,
            self.first_bad,
            self.problems,
        )

    def bad(self, seq: int | None, line: int | None, text: str, first: int | None) -> None:
        """`first`: the first event that may be another; a line that is no event has no seq, but a place."""
        self.problems.append(Problem(seq, line, text))
        if self.first_bad is None:
            self.first_bad = first

    def checkpoint(self, seq: int, line: int | None, raw: bytes) -> None:
        claimed = _claimed(raw)
        if claimed is None:
            return
        self.checkpoints += 1
        if claimed == self.rolling.hexdigest():
            self.good_until = seq - 1
        elif not self.contradicted:  # every later one contradicts too: the hash runs on
            self.contradicted = True
            self.bad(
                self.good_until + 1,
                line,
                f"{_between(self.good_until + 1, seq - 1)} not as recorded: "
                f"checkpoint {seq} carries another hash",
                self.good_until + 1,
            )

    def tail_hash(self, claimed: Any) -> None:
        if claimed is None:
            return
        if not isinstance(claimed, dict):
            self.problems.append(Problem(None, None, f"hash: expected an object, got {shown(claimed)}"))
            return
        if claimed.get("algorithm") != ALGORITHM:
            text = f"hash: expected {ALGORITHM}, got {shown(claimed.get('algorithm'))}"
            self.problems.append(Problem(None, None, text))
            return
        count = claimed.get("count")
        if count != self.rolling.count:
            events = "event" if count == 1 else "events"
            text = f"hash: it was closed with {shown(count)} {events}, it has {self.rolling.count}"
            self.problems.append(Problem(None, None, text))
        if _hex(claimed) != self.rolling.hexdigest() and not self.contradicted:
            what = _between(self.good_until + 1, self.log.last_seq)
            first = self.good_until + 1 if self.checkpoints else None
            self.bad(first, None, f"{what} not as recorded: the hash it was closed with is another", first)


def _seq(line: bytes) -> int | None:
    found = SEQ.match(line)
    if found:
        return int(found[1])
    try:
        value = decode(line)
    except ValueError:
        return None
    seq = value.get("seq") if isinstance(value, dict) else None
    return seq if type(seq) is int else None


def _found(seq: int | None, line: bytes) -> str:
    """As text; a character that the cut goes through is left out, and other bytes are spelled out."""
    if seq is not None:
        return f"event {seq}"
    text = line[:24].decode("utf-8", "ignore" if _is_text(line) else "backslashreplace")
    told = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    return f"'{told}'" + ("…" if len(line) > 24 else "")


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except ValueError:
        return False
    return True


def _claimed(line: bytes) -> str | None:
    """The events_hash of a checkpoint's line."""
    try:
        value = decode(line)
    except ValueError:
        return None
    if not isinstance(value, dict) or value.get("type") != "checkpoint":
        return None
    data = value.get("data")
    claimed = data.get("events_hash") if isinstance(data, dict) else None
    return claimed.removeprefix(f"{ALGORITHM}:") if isinstance(claimed, str) else None


def _hex(claimed: Any) -> str | None:
    hexed = claimed.get("events") if isinstance(claimed, dict) else None
    return hexed if isinstance(hexed, str) else None


def _between(first: int, last: int) -> str:
    return f"event {first} is" if last <= first else f"something from event {first} to {last} is"


def _miscounted(summary: Any, events: int) -> Iterator[Problem]:
    """The summary's own number of events, wherever it keeps it."""
    if not isinstance(summary, dict):
        return
    totals = summary.get("totals")
    for name, place in (("summary", summary), ("summary.totals", totals)):
        count = place.get("events") if isinstance(place, dict) else None
        if type(count) is int and count != events:
            yield Problem(None, None, f"{name}.events: it says {count}, the log has {events}")
