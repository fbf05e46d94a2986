"""The log of a rerun, compared with the recorded one while it is written.

An event that says what the recorded one at its seq says is stored as the recorded line: an exact rerun's
events are the recording's to the byte, timestamps included. From the first difference on the new lines
stand, and that difference is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import orjson

from lctl.record.journal import Durability, JournalStore
from lctl.rerun.certificate import Difference, differing
from lctl.rerun.entries import is_cancellation
from lctl.rerun.halting import Halt
from lctl.rerun.requests import unplaced
from lctl.rerun.settings import DUMMY_KEY
from lctl.rerun.tape import Tape

#: How long things took is not what happened.
_VOLATILE = ("duration_ms", "first_chunk_ms", "at", "turn")
#: Request headers that are new in each run.
_NEW_HEADERS = ("idempotency-key", "x-request-id", "x-ms-client-request-id")
_FIELDS = 8
_TIMESTAMP = b'"timestamp":"'
_DURATION = b'"duration_ms":'
_TIMES = re.compile(rb'"(?:duration_ms|first_chunk_ms|at|turn)":[^,}]*,?')
_TIME = len("2024-01-15T10:30:00.123456Z")


class EchoStore(JournalStore):
    """The journal of one session of a rerun.

    Attributes:
        tape: what it is compared with; None for a recording that the tape does not know.
        difference: the first event that is not the recorded one.
        shared: of a fork: the last event that is stored as the recorded line. What comes after has its own
            times, also where it says the same: two clocks in one log would tell a wrong order.
        mark: `reached` is called once when this event has been stored: in the program's own thread, inside
            the recording of the event.
        cut: nothing after `mark` is stored.
        closing: gives the `rerun` part of the tail.
        halt: once the rerun has reached its end, what its program still does is not stored.
    """

    def __init__(
        self,
        path: Path,
        chain: dict[str, Any],
        tape: Tape | None,
        equivalent: Collection[int] = (),
        *,
        durability: Durability = "process",
    ) -> None:
        super().__init__(path, chain, durability=durability)
        self.tape = tape
        self.difference: Difference | None = None
        self.shared: int | None = None
        self.mark: int | None = None
        self.cut = False
        self.reached: Callable[[], None] | None = None
        self.closing: Callable[[EchoStore], dict[str, Any]] | None = None
        self.halt: Halt | None = None
        self.stored = 0
        self._equivalent = equivalent
        self._lines: Iterator[bytes] = tape.log.lines() if tape is not None else iter(())
        self._seen = 0 if tape is None else tape.log.first_seq - 1  # seq of the last line compared
        self._write = self.append
        self.append = self._echo  # type: ignore[method-assign]

    def _echo(self, block: bytes, count: int = 1) -> None:
        if self.halt is not None and self.halt.reached:
            return
        lines = [block] if count == 1 else [line.rstrip(b",") for line in block.split(b"\n")]
        if self.cut and self.mark is not None:
            lines = lines[: max(0, self.mark - self.stored)]
            if not lines:
                return
        if self.difference is None and self.tape is not None:
            lines = [self._compared(line) for line in lines]
        self._write(b",\n".join(lines), len(lines))
        self.stored += len(lines)
        if self.reached is not None and self.mark is not None and self.stored >= self.mark:
            reached, self.reached = self.reached, None
            reached()

    def _compared(self, line: bytes) -> bytes:
        if self.difference is not None:
            return line
        recorded = next(self._lines, None)
        if recorded is None:
            now = orjson.loads(line)
            self.difference = Difference(now["seq"], None, described(now))
            return line
        self._seen += 1
        self.difference = difference(recorded, line, self._equivalent)
        ours = self.difference is not None or (self.shared is not None and self._seen > self.shared)
        return line if ours else recorded

    def finish(self, reached: bool) -> Difference | None:
        """The first difference; what the recording has beyond this log's end counts too, unless it was to
        end there."""
        if self.difference is None and self.tape is not None and not reached:
            left = next(self._lines, None)
            if left is not None:
                event = orjson.loads(left)
                self.difference = Difference(event["seq"], described(event), None)
        return self.difference

    def close(self, tail: dict[str, Any] | None = None) -> None:
        made = tail or {}
        if self.closing is not None:
            closing, self.closing = self.closing, None
            made = {**made, "rerun": closing(self)}
        super().close(made)


def difference(recorded: bytes, now: bytes, equivalent: Collection[int] = ()) -> Difference | None:
    """In what two event lines differ, what is new in each run left out; None where they say the same.

    Args:
        equivalent: seqs of exchanges whose requests said the same in other bytes.
    """
    at = recorded.find(_TIMESTAMP) + len(_TIMESTAMP)
    if recorded[:at] == now[:at] and recorded[at + _TIME :] == now[at + _TIME :]:
        return None  # nearly every event but those that say how long something took
    if _alike(recorded, now, at):
        return None
    old, new = essence(recorded), essence(now)
    if old == new:
        return None
    if old["seq"] in equivalent:
        for event in (old, new):
            for name in ("request", "url"):
                event["data"].pop(name, None)
        if old == new:
            return None
    if not _matched(new):  # how a fork's call was answered is nothing that its rerun repeats
        _matched(old, forget=True)
    if old == new:
        return None
    fields = tuple(differing(old, new))[:_FIELDS]
    return Difference(new["seq"], described(old), described(new), fields)


def _alike(recorded: bytes, now: bytes, at: int) -> bool:
    """Whether two lines are the same but for the times at the end. False: look closer."""
    a, b = recorded.rfind(_DURATION), now.rfind(_DURATION)
    if a < 0 or recorded[:at] != now[:at] or recorded[at + _TIME : a] != now[at + _TIME : b]:
        return False
    old, new = recorded[a:], now[b:]
    if b"{" in old or b"[" in old:  # a key in there may be the user's
        return False
    return _TIMES.sub(b"", old) == _TIMES.sub(b"", new)


def essence(line: bytes) -> dict[str, Any]:
    """The event without what differs between two runs of the same program."""
    if b"[redacted:" in line or DUMMY_KEY.encode() in line:
        line = unplaced(line.decode()).encode()
    event: dict[str, Any] = orjson.loads(line)
    event.pop("timestamp", None)
    data = event.get("data")
    if isinstance(data, dict):
        for name in _VOLATILE:
            data.pop(name, None)
        if event["type"] == "exchange":
            _timeless(data)
    return event


def _matched(event: dict[str, Any], *, forget: bool = False) -> bool:
    """Whether the event says how a call was answered."""
    data = event.get("data")
    if not isinstance(data, dict) or "match" not in data:
        return False
    if forget:
        del data["match"]
    return True


def described(event: dict[str, Any]) -> str:
    """`tool_call of main`."""
    return f"{event.get('type')} of {event.get('agent')}"


def _timeless(data: dict[str, Any]) -> None:
    chunks = data.get("chunks")
    if isinstance(chunks, list):
        data["chunks"] = [chunk[1] for chunk in chunks]
    request = data.get("request")
    error = data.get("error")
    if isinstance(error, dict) and is_cancellation(str(error.get("type"))):
        error.pop("message", None)  # says which object it came from, by its address
    headers = request.get("headers") if isinstance(request, dict) else None
    if isinstance(headers, dict):
        for name in _NEW_HEADERS:
            headers.pop(name, None)
