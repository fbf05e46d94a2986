"""The one pass over a log that finds its crossings: which they were, and in which order they came."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import orjson

from lctl.codec import Log
from lctl.codec.lines import decode
from lctl.errors import RerunError
from lctl.payloads.tape import reads_of
from lctl.rerun.order.ordering import in_order
from lctl.rerun.tape import crossings
from lctl.rerun.tape.entries import Entry, Ran, Read, lane_of
from lctl.session import reported
from lctl.session.concurrency import pooljobs, returns
from lctl.session.concurrency.arrivals import OUTSIDE
from lctl.session.sources import (
    CELL,
    COMMAND,
    GONE,
    HEARD,
    KEYS,
    LOGGED,
    MCP,
    PROMPT,
    REQUEST,
    SIGNAL,
    WEBSOCKET,
)

#: What a line must hold to matter here; all other events are passed over unread.
_TYPES = {
    b'"type":"exchange"': "exchange",
    b'"type":"step_start"': "step_start",
    b'"type":"step_end"': "step_end",
    b'"type":"message"': "message",
    b'"type":"tool_call"': "tool_call",
    b'"type":"ambient"': "ambient",
    b'"type":"blob"': "blob",
    b'"type":"output"': "output",
    **{f'"type":"{kind}"'.encode(): "reported" for kind in reported.TYPES - {"step_start", "step_end"}},
}

#: Lines of what is served are kept, up to so many bytes of them; the rest is read when it is wanted.
_KEPT = frozenset({"exchange", "message", "tool_call"})
_ROOM = 1 << 26
#: What is referred to by later events.
_REFERRED = frozenset({"step_start", "message", "blob"})


def _oddly_written(line: bytes) -> Any:
    """The event of a line that another writer made (numbers without end, halves of characters); None of one
    that is damaged, which readers of the log say."""
    try:
        return decode(line)
    except ValueError:
        return None


class FirstPass:
    """What it found.

    Attributes:
        entries: all of them, in order of start.
        ended: the ends of pool jobs, which are no crossings.
        lanes, reads, shown, jobs, timers, pending, outputs, arrivals, heard, cut_off, is_terminated, inside,
            resumed: see `Tape`.
        messages, blobs, tools: seqs of what is referred to: by id, by hash, by the definitions' hash.
        parents: of each message.
        has_copies: messages repeat others: only the tree knows what they say.
        cells: see `Tape`.
        kept: lines of what is served, by seq.
    """

    def __init__(self, log: Log) -> None:
        self.entries: list[Entry] = []
        self.ended: list[Entry] = []
        self.lanes: dict[tuple[str, str], list[Entry]] = {}
        self.reads: dict[tuple[str, str], list[Read]] = {}
        self.shown: list[dict[str, Any]] = []
        self.jobs: dict[str, Any] = {}
        self.timers: dict[tuple[str, int], Entry] = {}
        self.pending: list[Entry] = []
        self.outputs: list[int] = []
        self.arrivals: list[int] = []
        self.heard: list[int] = []
        self.cut_off: dict[str, tuple[int, str]] = {}
        self.is_terminated = False
        self.inside: set[int] = set()
        self.resumed: dict[int, tuple[Entry, float]] = {}
        self.messages: dict[str, int] = {}
        self.blobs: dict[str, int] = {}
        self.tools: dict[str, int] = {}
        self.parents: dict[str, str | None] = {}
        self.has_copies = False
        self.cells: list[Ran] = []
        self.kept: dict[int, bytes] = {}
        self._starts: dict[int, int] = {}  # step -> position of its next attempt
        self._answered: set[int] = set()
        self._opened: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._found: list[Entry] = []
        self._went_on: dict[int, float] = {}
        self._cancelled: set[int | None] = set()
        self._told: dict[str, list[int]] = {}  # of each lane: seqs of what it recorded of itself
        self._copied = int(log.chain.get("copied") or 0)  # events of another log, which it begins with
        self._at: int | None = None  # the event that is looked at
        try:
            self._go_through(log)
            self._finish(log)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise _unusable(log, self._at, error) from error

    def _go_through(self, log: Log) -> None:
        note = {
            "exchange": self._exchange,
            "step_start": self._step_start,
            "step_end": self._step_end,
            "message": self._message,
            "tool_call": self._tool_call,
            "ambient": self._ambient,
            "blob": self._blob,
            "output": self._output,
        }
        room = _ROOM
        for line in log.lines():
            kind = _type_of(line)
            if kind is None:
                continue
            if kind == "reported" and b'"lane":"' not in line:
                continue
            if kind == "step_end" and b'"cancelled"' not in line and b'"lane":"' not in line:
                continue
            try:
                event = orjson.loads(line)
            except ValueError:
                event = _oddly_written(line)
                if event is None:
                    continue
            seq, data = event["seq"], event.get("data")
            if not isinstance(data, dict) or (seq <= self._copied and kind not in _REFERRED):
                continue
            if (event["type"] in reported.TYPES or data.get("subagent")) and "lane" in data and "at" in data:
                self._found.append(crossings.reported(event, data))
                continue
            if kind in _KEPT and room > 0:
                self.kept[seq] = line
                room -= len(line)
            noting = note.get(kind)
            if noting is not None:
                self._at = seq
                noting(event, seq, data)
        self._at = None

    # -- events ------------------------------------------------------------------------------

    def _message(self, event: dict[str, Any], seq: int, data: dict[str, Any]) -> None:
        id = data.get("message_id")
        if isinstance(id, str) and ("role" in data or id not in self.messages):
            # Else it says only whose a message is that the log has already.
            self.messages[id] = seq
            self.has_copies = self.has_copies or "carry" in data or "copy_of" in data
            parent = data.get("parent_id")
            self.parents[id] = parent if isinstance(parent, str) else None

    def _step_start(self, event: dict[str, Any], seq: int, data: dict[str, Any]) -> None:
        if seq > self._copied and "operation" in data and data.get("kind") in ("llm", "embedding"):
            self._starts[seq] = seq
            self._opened[seq] = event, data
        if "tool_definitions" in data:
            self.tools.setdefault(str(data.get("tools")), seq)

    def _step_end(self, event: dict[str, Any], seq: int, data: dict[str, Any]) -> None:
        if data.get("outcome") == "cancelled":
            self._cancelled.add(event.get("step"))

    def _exchange(self, event: dict[str, Any], seq: int, data: dict[str, Any]) -> None:
        step = event.get("step")
        begins, retry = seq, step in self._answered
        if step in self._starts:
            if (
                data.get("kind") != "http"
            ):  # which brings an answer that began in the background, begins itself
                begins, self._starts[step] = self._starts[step], seq
            self._answered.add(step)
        entry = crossings.exchange(event, data, begins)
        entry.retry = retry and begins != seq
        self._found.append(entry)

    def _tool_call(self, event: dict[str, Any], seq: int, data: dict[str, Any]) -> None:
        if not (data.get("derived") or data.get("subagent")):
            self._found.append(crossings.tool(event, data))
            self.inside |= crossings.inside(data)

    def _ambient(self, event: dict[str, Any], seq: int, data: dict[str, Any]) -> None:
        source = data.get("source")
        value = data.get("value")
        if source == GONE and isinstance(value, dict) and "error" in value:
            self.cut_off[str(value.get("over"))] = int(value.get("sent") or 0), str(value["error"])
            self._found.append(crossings.reported(event, data))
        elif source in ("sleep", "wake", REQUEST, WEBSOCKET, GONE, KEYS, HEARD):
            if source == HEARD:
                self.heard.append(seq)
            if source in (REQUEST, WEBSOCKET, GONE, KEYS):
                self.arrivals.append(seq)
            self._found.append(crossings.waited(event, data))
        elif source == SIGNAL:
            self.is_terminated = data.get("key") != "SIGINT"
            if data.get("value"):  # clients of its WebSockets said something after it
                self.arrivals.append(seq)
                self._found.append(crossings.waited(event, data))
        elif source == crossings.TIMER:
            timer = crossings.waited(event, data)
            self.timers[timer.lane, timer.number] = timer
            self._found.append(timer)
        elif source == returns.SOURCE:
            self._went_on |= {int(seq): float(at) for seq, at in data.get("value") or ()}
        elif source == pooljobs.SOURCE:
            self.jobs = data
            self._note_ends(event, data)
        elif source == CELL:
            self.cells.append(Ran(str(data.get("key")), str(data.get("value")), seq))
        else:
            self._read(event, seq, data)

    def _read(self, event: dict[str, Any], seq: int, data: dict[str, Any]) -> None:
        lane = lane_of(data)
        if data.get("source") == LOGGED:
            self.shown.append(dict(data))
        else:
            self._told.setdefault(lane, []).append(seq)
        for source, key, value, place in reads_of(data):
            self.reads.setdefault((lane, source), []).append(Read(key, value, place, seq))
        if data.get("source") in (MCP, PROMPT, COMMAND) and "duration_ms" in data:
            self._found.append(crossings.waited(event, data))

    def _blob(self, event: dict[str, Any], seq: int, data: dict[str, Any]) -> None:
        self.blobs.setdefault(str(data.get("hash")), seq)

    def _output(self, event: dict[str, Any], seq: int, data: dict[str, Any]) -> None:
        if "by" not in data:
            self.outputs.append(seq)

    def _note_ends(self, event: dict[str, Any], data: dict[str, Any]) -> None:
        value = data.get("value") or {}
        for kind, row in ((pooljobs.SOURCE, value.get("ended")), (pooljobs.HEARD, value.get("heard"))):
            for lane, at, seq, *where in row or ():
                entry = Entry(kind, lane, seq, seq)
                entry.number, entry.at, entry.used = 1, float(at), True  # nobody asks for it
                entry.timestamp = str(event.get("timestamp") or "")
                if where:
                    entry.turn, entry.behind = where
                self.ended.append(entry)
                self.lanes[lane, kind] = [entry]

    # -- all together ------------------------------------------------------------------------

    def _finish(self, log: Log) -> None:
        for seq, (event, data) in self._opened.items():
            if seq not in self._answered:
                self.pending.append(crossings.begun(event, data))
        for entry in self._found:
            if (
                entry.step in self._cancelled
                and entry.kind == "exchange"
                and not (entry.plain or entry.cancelled)
            ):
                entry.lingering = entry.whole
            self._told.setdefault(entry.lane, []).append(entry.begins)
        _continue_clock(log, self._found)
        for seqs in self._told.values():
            seqs.sort()
        for entry in in_order(self._found):
            self.entries.append(entry)
            row = self.lanes.setdefault((entry.lane, entry.kind), [])
            row.append(entry)
            entry.number = entry.number or len(row)
        self._order_arrivals()
        self._resume()

    def _order_arrivals(self) -> None:
        """Threads that heard of several at once looked at the clock in one order, and wrote in this."""
        row = self.lanes.get((OUTSIDE.path, "sleep"), [])
        row.sort(key=lambda entry: entry.seq)
        for number, entry in enumerate(row, 1):
            entry.number = number

    def _resume(self) -> None:
        """Say when the program went on with what it got, and with what."""
        retried = {one.begins for one in self._found if one.kind == "exchange" and one.begins != one.seq}
        for entry in self.entries:
            if entry.at is None or entry.seq not in self._went_on:
                continue
            entry.resumed = self._went_on[entry.seq]
            self.resumed[entry.seq] = entry, entry.resumed
            seqs = self._told[entry.lane]
            after = bisect_right(seqs, entry.seq)
            if after < len(seqs) and entry.seq not in retried:  # a retry begins, and records nothing then
                entry.told = seqs[after]


def _unusable(log: Log, seq: int | None, error: Exception) -> RerunError:
    """What a log holds that no recorder wrote."""
    what = "what its events say of each other" if seq is None else f"event {seq}"
    return RerunError(
        f"{log.path or 'the log'}: {what} is not as lctl records it, and cannot be served "
        f"({type(error).__name__}: {error}); 'lctl verify' says whether the log was changed"
    )


def _type_of(line: bytes) -> str | None:
    head = line[:64]  # no event's line has anything of the user's before its type
    for mark, kind in _TYPES.items():
        if mark in head:
            return kind
    return None


def _continue_clock(log: Log, entries: list[Entry]) -> None:
    """In a fork, moments behind the fork point are of its own clock: put them behind those before it."""
    above = log.chain.get("parent")
    if "fork" not in log.chain or not isinstance(above, dict):
        return
    at = int(above.get("seq") or 0)
    before = [one.at + one.duration for one in entries if one.at is not None and one.seq <= at]
    behind = [one for one in entries if one.at is not None and one.seq > at]
    shift = max(before, default=0.0) - min((one.at or 0.0 for one in behind), default=0.0)
    for one in behind if shift > 0 else ():
        one.at = (one.at or 0.0) + shift
