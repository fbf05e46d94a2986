"""The tape: what entered a recorded program from outside, by lane, ready to be served.

Made of an opened log. One pass reads what the crossings were and in which order they came; bodies and
prompts are read from the log when one is served or compared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from lctl.codec import Log, open_log
from lctl.errors import RerunError
from lctl.instrument.bodies import rebuild_body, rebuild_chunks
from lctl.payloads.tape import reads_of
from lctl.rerun.entries import Entry, Read, is_cancellation, lane_of
from lctl.rerun.ordering import Delivery, deliveries, in_order
from lctl.session import pooljobs, receiving, reported, returns
from lctl.session.border import LOGGED, NAMED, SHOWN

if TYPE_CHECKING:
    from lctl.conversation.tree import Tree

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

#: Sources of reads that every recording has.
_SAID = frozenset({"mcp", NAMED, SHOWN})
#: Of processes that make model calls themselves, as of mcp: every recording holds what they say.
_SPAWN = "SPAWN"


class Tape:
    """The crossings of one log.

    Attributes:
        log: the log itself.
        lanes: entries of each lane by kind ("exchange", "tool"), in order of start.
        shown: the data of the events that say the times that libraries showed.
        jobs: the data of the event that says what was seen of pool jobs.
        reads: of each lane and source, the recorded reads of its surroundings.
        pending: model calls of which the log has the beginning only, in order of start.
        mark: tells the deliveries of several tapes in one process apart.
        resumed: by seq, what was recorded together with others, and when the program went on with it.
        outputs: seqs of what the program (libraries left out) wrote to its standard streams.
        inside: seqs of what the bodies of tools recorded that a rerun serves.
    """

    def __init__(self, log: Log) -> None:
        self.log = log
        self.lanes: dict[tuple[str, str], list[Entry]] = {}
        self.reads: dict[tuple[str, str], list[Read]] = {}
        self.shown: list[dict[str, Any]] = []
        self.jobs: dict[str, Any] = {}
        self.pending: list[Entry] = []
        self.outputs: list[int] = []
        self.inside: set[int] = set()
        self.resumed: dict[int, tuple[Entry, float]] = {}
        self.mark = ""
        self._messages: dict[str, int] = {}
        self._parents: dict[str, str | None] = {}
        self._has_copies = False  # messages that repeat others: only the tree knows what they say
        self._blobs: dict[str, int] = {}
        self._tools: dict[str, int] = {}
        self.entries: list[Entry] = []
        self._ended: list[Entry] = []  # pool jobs, which are no crossings
        self._kept: dict[int, bytes] = {}
        self._newest: tuple[int, dict[str, Any]] = (0, {})
        self._read()

    @classmethod
    def load(cls, path: str | Path) -> Tape:
        """The tape in a file.

        Raises:
            LogError: it cannot be read.
            RerunError: it holds nothing that could be served.
        """
        tape = cls(open_log(path))
        tape.check()
        return tape

    @classmethod
    def empty(cls) -> Tape:
        """Of a process that recorded nothing."""
        return cls(open_log(b'{"lctl":"4.0","chain":{"id":""},"events":[\n]}'))

    def check(self) -> None:
        """Say at once what can never be served.

        Raises:
            RerunError: the tape was stripped from the log, or the log was imported from traces.
        """
        called = self.calls_without_exchange()
        if called and not any(entry.kind == "exchange" for entry in self.entries):
            if called == 1 and self.pending and self.log.open:
                return  # killed during its only call
            raise RerunError(
                f"{self.log.name}: its {called} model call{'' if called == 1 else 's'} cannot be served: "
                "the log holds no exchange (an imported trace, or its tape was stripped); "
                "lctl show and lctl replay work on it"
            )

    def calls_without_exchange(self) -> int:
        return len(self.pending)

    # -- reading ---------------------------------------------------------------------------

    def _read(self) -> None:
        starts: dict[int, int] = {}  # step -> position of its next attempt
        answered: set[int] = set()
        opened: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        found: list[Entry] = []
        resumed: dict[int, float] = {}
        cancelled: set[int | None] = set()
        told: dict[str, list[int]] = {}  # of each lane: seqs of what it recorded of itself
        room = _ROOM
        for line in self.log.lines():
            kind = _type_of(line)
            if kind is None:
                continue
            if kind == "reported" and b'"lane":"' not in line:
                continue
            if kind == "step_end" and b'"cancelled"' not in line and b'"lane":"' not in line:
                continue
            event = orjson.loads(line)
            seq, data = event["seq"], event.get("data")
            if not isinstance(data, dict):
                continue
            if (event["type"] in reported.TYPES or data.get("subagent")) and "lane" in data and "at" in data:
                found.append(_reported(event, data))
                continue
            if kind in _KEPT and room > 0:
                self._kept[seq] = line
                room -= len(line)
            if kind == "message":
                self._note_message(seq, data)
            elif kind == "step_start":
                if "operation" in data and data.get("kind") in ("llm", "embedding"):
                    starts[seq] = seq
                    opened[seq] = event, data
                if "tool_definitions" in data:
                    self._tools.setdefault(str(data.get("tools")), seq)
            elif kind == "exchange":
                step = event.get("step")
                begins, retry = seq, step in answered
                if data.get("kind") != "http" and step in starts:
                    begins, starts[step] = starts[step], seq
                    answered.add(step)
                found.append(_exchange(event, data, begins))
                found[-1].retry = retry and begins != seq
            elif kind == "tool_call":
                if not (data.get("derived") or data.get("subagent")):
                    found.append(_tool(event, data))
                    self.inside |= _inside(data)
            elif kind == "ambient" and data.get("source") in ("sleep", "wake"):
                found.append(_waited(event, data))
            elif kind == "ambient" and data.get("source") == returns.SOURCE:
                resumed |= {int(seq): float(at) for seq, at in data.get("value") or ()}
            elif kind == "ambient" and data.get("source") == pooljobs.SOURCE:
                self.jobs = data
                self._note_ends(event, data)
            elif kind == "ambient":
                lane = lane_of(data)
                if data.get("source") == LOGGED:
                    self.shown.append(dict(data))
                else:
                    told.setdefault(lane, []).append(seq)
                for source, key, value, place in reads_of(data):
                    self.reads.setdefault((lane, source), []).append(Read(key, value, place, seq))
                if data.get("source") == "mcp":
                    found.append(_waited(event, data))
            elif kind == "blob":
                self._blobs.setdefault(str(data.get("hash")), seq)
            elif kind == "step_end":
                if data.get("outcome") == "cancelled":
                    cancelled.add(event.get("step"))
            elif kind == "output" and "by" not in data:
                self.outputs.append(seq)
        for seq, (event, data) in opened.items():
            if seq not in answered:
                self.pending.append(_begun(event, data))
        for entry in found:
            if entry.step in cancelled and entry.kind == "exchange" and not (entry.plain or entry.cancelled):
                entry.lingering = entry.whole
            told.setdefault(entry.lane, []).append(entry.begins)
        _continue_clock(self.log, found)
        for seqs in told.values():
            seqs.sort()
        retried = {entry.begins for entry in found if entry.kind == "exchange" and entry.begins != entry.seq}
        for entry in in_order(found):
            self.entries.append(entry)
            row = self.lanes.setdefault((entry.lane, entry.kind), [])
            row.append(entry)
            entry.number = len(row)
            if entry.at is not None and entry.seq in resumed:
                entry.resumed = resumed[entry.seq]
                self.resumed[entry.seq] = entry, entry.resumed
                seqs = told[entry.lane]
                after = bisect_right(seqs, entry.seq)
                if after < len(seqs) and entry.seq not in retried:  # a retry begins, and records nothing then
                    entry.told = seqs[after]

    def _note_ends(self, event: dict[str, Any], data: dict[str, Any]) -> None:
        for lane, at, seq in (data.get("value") or {}).get("ended") or ():
            entry = Entry(pooljobs.SOURCE, lane, seq, seq)
            entry.number, entry.at, entry.used = 1, float(at), True  # nobody asks for it
            entry.timestamp = str(event.get("timestamp") or "")
            self._ended.append(entry)
            self.lanes[lane, entry.kind] = [entry]

    def _note_message(self, seq: int, data: dict[str, Any]) -> None:
        id = data.get("message_id")
        if isinstance(id, str):
            self._messages[id] = seq
            self._has_copies = self._has_copies or "carry" in data or "copy_of" in data
            parent = data.get("parent_id")
            self._parents[id] = parent if isinstance(parent, str) else None

    def run_bodies_of(self, calls: Collection[int]) -> None:
        """These tool calls are not served: their bodies run again, and record what happens in them."""
        self.inside = self.inside_others(calls)

    def inside_others(self, calls: Collection[int]) -> set[int]:
        """Seqs of what is recorded in the bodies of other tool calls than these."""
        found: set[int] = set()
        for entry in self.entries:
            if entry.kind == "tool" and entry.seq not in calls:
                found |= _inside(self._data(entry.seq))
        return found

    # -- what was recorded, in full ------------------------------------------------------------

    def data(self, entry: Entry) -> dict[str, Any]:
        """The data of the entry's event."""
        seq, data = self._newest  # a call is asked for its head, then for its body
        if seq != entry.seq:
            data = self._data(entry.seq)
            self._newest = entry.seq, data
        return data

    def _data(self, seq: int) -> dict[str, Any]:
        line = self._kept.get(seq) or next(self.log.lines(seq, seq + 1), b'{"data":{}}')
        data: dict[str, Any] = orjson.loads(line)["data"]
        return data

    def message(self, id: str) -> dict[str, Any] | None:
        """The data of a `message` event."""
        seq = self._messages.get(id)
        return None if seq is None else self._data(seq)

    def body(self, entry: Entry) -> bytes:
        """The bytes of the recorded response.

        Raises:
            RerunError: a message or blob that the body refers to is not in the log.
        """
        data = self.data(entry)
        if data.get("dropped"):
            raise RerunError(
                f"{self.log.name}: the answer of event {entry.seq} was too long to be kept whole: "
                f"{data['dropped']} bytes of it are missing"
            )
        named = data.get("body")
        if isinstance(named, dict) and "blob" in named:
            return self._blob(str(named["blob"]), entry)
        try:
            return rebuild_body(data, _Lazily(self))
        except KeyError as error:
            raise RerunError(
                f"{self.log.name}: the answer of event {entry.seq} cannot be put together again: "
                f"message {error} is not in the log"
            ) from None

    def chunks(self, entry: Entry) -> list[tuple[float, bytes]]:
        """(milliseconds since the request, bytes) of each chunk; one of a response that was no stream."""
        data = self.data(entry)
        if "chunks" in data:
            return rebuild_chunks(data)
        body = self.body(entry)
        return [(entry.duration, body)] if body else []

    def is_whole(self, entry: Entry) -> bool:
        """Whether all of the recorded response is in the log; of a log that was cut off it may not be."""
        try:
            self.chunks(entry)
        except RerunError:
            return False
        return True

    def prompt(self, leaf: str) -> list[dict[str, Any]]:
        """The messages from the root of the conversation to `leaf`, as far as they are in the log."""
        if self._has_copies:
            tree = self._tree
            return [node.message for node in tree.path(leaf, strict=False)] if leaf in tree else []
        path: list[dict[str, Any]] = []
        at: str | None = leaf
        while at is not None and len(path) <= len(self._messages):
            message = self.message(at)
            if message is None:
                break
            path.append(message)
            at = self._parents.get(at)
        path.reverse()
        return path

    @cached_property
    def _tree(self) -> Tree:
        from lctl.chain import tree_of

        return tree_of(self.log)

    def tool_definitions(self, name: str) -> list[Any] | None:
        """The definitions that have this hash."""
        seq = self._tools.get(name)
        found = None if seq is None else self.log.event(seq).data.get("tool_definitions")
        return found if isinstance(found, list) else None

    def _blob(self, hash: str, entry: Entry) -> bytes:
        import base64

        seq = self._blobs.get(hash)
        if seq is None:
            raise RerunError(
                f"{self.log.name}: the answer of event {entry.seq} is in blob {hash}, which is not in the log"
            )
        data = self.log.event(seq).data
        content = str(data.get("content", ""))
        return base64.b64decode(content) if data.get("encoding") == "base64" else content.encode()

    # -- order -----------------------------------------------------------------------------------

    @cached_property
    def deliveries(self) -> list[Delivery]:
        """Everything that was delivered to the program, in the order in which that happened."""
        entries = in_order(self.entries + self._ended) if self._ended else self.entries
        # A fork took them over from its recording as they were, with the tools that it served.
        apart = self.inside if self.log.chain.get("fork") else ()
        return deliveries(entries, self.mark, apart)

    @property
    def has_ambient(self) -> bool:
        """Whether reads of clock, random and the like were recorded."""
        return any(source not in _SAID for _, source in self.reads)

    @property
    def full(self) -> bool:
        """Whether exchanges that are no model call were recorded."""
        program = self.log.chain.get("program")
        recorded = program.get("record") if isinstance(program, dict) else None
        if recorded is not None:
            return bool(recorded == "full")
        if self.has_ambient:
            return True
        return any(entry.plain and self.data(entry).get("method") != _SPAWN for entry in self.entries)


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


class _Lazily(Mapping[str, Mapping[str, Any]]):
    """The messages of a tape by id, each read when asked for."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def __getitem__(self, id: str) -> Mapping[str, Any]:
        data = self._tape.message(id)
        if data is None:
            raise KeyError(id)
        return data

    def __iter__(self) -> Iterator[str]:
        return iter(self._tape._messages)

    def __len__(self) -> int:
        return len(self._tape._messages)


def _type_of(line: bytes) -> str | None:
    head = line[:64]  # no event's line has anything of the user's before its type
    for mark, kind in _TYPES.items():
        if mark in head:
            return kind
    return None


def _exchange(event: dict[str, Any], data: dict[str, Any], begins: int) -> Entry:
    request = data.get("request")
    request = request if isinstance(request, dict) else {}
    error = data.get("error")
    chunks = data.get("chunks")
    entry = Entry("exchange", lane_of(data), event["seq"], begins)
    entry.step = event.get("step")
    entry.agent = str(event.get("agent") or "")
    entry.name = f"{data.get('method')} {data.get('url')}"
    entry.plain = data.get("kind") == "http"
    entry.hash = request.get("hash")
    entry.at = _number(data.get("at"))
    entry.duration = _number(data.get("duration_ms")) or 0.0
    entry.timestamp = str(event.get("timestamp") or "")
    entry.status = data.get("status")
    entry.turn = _count(data.get("turn"))
    if isinstance(error, dict):
        entry.cancelled = is_cancellation(str(error.get("type")))
    entry.whole = entry.status == 200 and data.get("complete") is True and error is None
    entry.left = data.get("left") is True
    if isinstance(chunks, list):
        entry.times = [float(chunk[0]) for chunk in chunks]
        entry.turns = _counts(data.get("turns"), len(chunks))
    return entry


def _reported(event: dict[str, Any], data: dict[str, Any]) -> Entry:
    entry = Entry("event", lane_of(data), event["seq"], event["seq"])
    entry.step = event.get("step")
    entry.agent = str(event.get("agent") or "")
    entry.name = str(event["type"])
    entry.at = _number(data.get("at"))
    entry.timestamp = str(event.get("timestamp") or "")
    entry.used = True  # the program itself makes it: there is nothing to serve
    return entry


def _waited(event: dict[str, Any], data: dict[str, Any]) -> Entry:
    entry = Entry(str(data["source"]), lane_of(data), event["seq"], event["seq"])
    entry.cancelled = data.get("cancelled") is True
    entry.used = entry.kind != "sleep"  # nobody asks for it, or as for what is read
    entry.turn = _count(data.get("turn"))
    entry.ahead = _count(data.get("ahead"))
    entry.step = event.get("step")
    entry.agent = str(event.get("agent") or "")
    entry.name = str(data.get("key"))
    entry.at = _number(data.get("at"))
    entry.duration = _number(data.get("duration_ms")) or 0.0
    entry.timestamp = str(event.get("timestamp") or "")
    return entry


def body_of(data: Mapping[str, Any]) -> list[tuple[int, int]]:
    """First and last seqs of what the body of a tool recorded, of its `tool_call`."""
    tape = data.get("tape")
    inside = tape.get("inside") if isinstance(tape, dict) else None
    return [(int(first), int(last)) for first, last in inside or ()]


def _inside(data: Mapping[str, Any]) -> set[int]:
    """Seqs of the events of a tool's body; none of a tool that runs again."""
    tape = data.get("tape")
    if isinstance(tape, dict) and "executed" in tape:
        return set()
    return {seq for first, last in body_of(data) for seq in range(first, last + 1)}


def _tool(event: dict[str, Any], data: dict[str, Any]) -> Entry:
    entry = Entry("tool", lane_of(data), event["seq"], event["seq"])
    entry.step = event.get("step")
    entry.agent = str(event.get("agent") or "")
    entry.name = str(data.get("tool"))
    entry.turn = _count(data.get("turn"))
    entry.began = _count(data.get("began"))
    tape = data.get("tape")
    if isinstance(tape, dict) and "executed" not in tape:
        entry.received = [(one.ms, one.turn) for one in receiving.messages(tape)]
    entry.at = _number(data.get("at"))
    entry.duration = _number(data.get("duration_ms")) or 0.0
    entry.timestamp = str(event.get("timestamp") or "")
    error = data.get("error")
    if isinstance(error, dict):
        entry.cancelled = is_cancellation(str(error.get("type")).rpartition(".")[2])
    return entry


def _begun(event: dict[str, Any], data: dict[str, Any]) -> Entry:
    entry = Entry("exchange", lane_of(data), event["seq"], event["seq"])
    entry.step = event["seq"]
    entry.agent = str(event.get("agent") or "")
    entry.name = str(data.get("operation"))
    entry.cancelled = True
    return entry


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _counts(value: Any, length: int) -> list[int] | None:
    """As many as there are, or none at all."""
    whole = isinstance(value, list) and len(value) == length and all(isinstance(one, int) for one in value)
    return value if whole else None
