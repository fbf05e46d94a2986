"""The tape: what entered a recorded program from outside, by lane, ready to be served.

Made of an opened log. One pass reads what the crossings were and in which order they came; bodies and
prompts are read from the log when one is served or compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from lctl.codec import Log, open_log
from lctl.codec.lines import decode
from lctl.errors import RerunError
from lctl.instrument import traffic
from lctl.instrument.bodies import rebuild_body, rebuild_chunks
from lctl.rerun.order.ordering import Delivery, deliveries, in_order
from lctl.rerun.tape.crossings import inside
from lctl.rerun.tape.firstpass import FirstPass
from lctl.session.concurrency.queueorder import Act
from lctl.session.sources import MCP, NAMED, SETTINGS, SHOWN

if TYPE_CHECKING:
    from lctl.conversation.tree import Tree
    from lctl.rerun.tape.entries import Entry

#: Sources of reads that every recording has.
_SAID = frozenset({MCP, NAMED, SETTINGS, SHOWN})
#: Of processes that make model calls themselves, as of mcp: every recording holds what they say.
_SPAWN = "SPAWN"


class Tape:
    """The crossings of one log.

    Attributes:
        log: the log itself.
        lanes: entries of each lane by kind ("exchange", "tool"), in order of start.
        shown: the data of the events that say the times that libraries showed.
        jobs: the data of the event that says what was seen of pool jobs.
        timers: of the program's own code that went off, by lane and number; None where none is kept.
        reads: of each lane and source, the recorded reads of its surroundings.
        pending: model calls of which the log has the beginning only, in order of start.
        mark: tells the deliveries of several tapes in one process apart.
        resumed: by seq, what was recorded together with others, and when the program went on with it.
        arrivals: seqs of the requests that came from outside to its servers, of what came over WebSockets
            that those opened, and of how a server was ended with such open.
        heard: seqs of the signals from outside that handlers of the program heard.
        cut_off: answers of a server's threads whose clients had gone, by lane: how many pieces were sent, and
            by which error the next failed.
        is_terminated: the program was ended by SIGTERM, or killed.
        outputs: seqs of what the program (libraries left out) wrote to its standard streams.
        inside: seqs of what the bodies of tools recorded that a rerun serves.
        cells: those that the program ran, where its code came in cells.
    """

    def __init__(self, log: Log) -> None:
        found = FirstPass(log)
        self.log = log
        self.lanes = found.lanes
        self.reads = found.reads
        self.shown = found.shown
        self.jobs = found.jobs
        self.timers = found.timers if found.timers or self._keeps_timers() else None
        self.pending = found.pending
        self.outputs = found.outputs
        self.arrivals = found.arrivals
        self.heard = found.heard
        self.cut_off = found.cut_off
        self.is_terminated = found.is_terminated or self.log.tail is None
        self.inside = found.inside
        self.cells = found.cells
        self.resumed = found.resumed
        self.entries = found.entries
        self.mark = ""
        self._messages = found.messages
        self._parents = found.parents
        self._has_copies = found.has_copies
        self._blobs = found.blobs
        self._tools = found.tools
        self._ended = found.ended
        self._kept = found.kept
        self._newest: tuple[int, dict[str, Any]] = (0, {})

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
    def empty(cls, *, full: bool = False) -> Tape:
        """Of a process that recorded nothing. `full`: as that of its parent."""
        record = b'"full"' if full else b"null"
        return cls(
            open_log(b'{"lctl":"4.0","chain":{"id":"","program":{"record":%b}},"events":[\n]}' % record)
        )

    def check(self) -> None:
        """Say at once what can never be served.

        Raises:
            RerunError: the tape was stripped from the log, or the log was imported from traces.
        """
        called = len(self.pending)
        if called and not any(entry.kind == "exchange" for entry in self.entries):
            steps = {entry.seq for entry in self.pending}
            if not any(event.type == "step_end" and event.step in steps for event in self.log.events()):
                return  # killed during its first calls, or over before they were
            raise RerunError(
                f"{self.log.name}: its {called} model call{'' if called == 1 else 's'} cannot be served: "
                "the log holds no exchange (an imported trace, or its tape was stripped); "
                "lctl show and lctl replay work on it"
            )

    def run_bodies_of(self, calls: Collection[int]) -> None:
        """These tool calls are not served: their bodies run again, and record what happens in them."""
        self.inside = self.inside_others(calls)

    def inside_others(self, calls: Collection[int]) -> set[int]:
        """Seqs of what is recorded in the bodies of other tool calls than these."""
        found: set[int] = set()
        for entry in self.entries:
            if entry.kind == "tool" and entry.seq not in calls:
                found |= inside(self._data(entry.seq))
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
        try:
            data: dict[str, Any] = orjson.loads(line)["data"]
        except ValueError:  # as others write JSON: lone surrogates, NaN
            data = decode(line)["data"]
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
            return self.blob(str(named["blob"]), entry)
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
            from lctl.conversation.node import stored_of

            tree = self._tree
            return (
                [stored_of(tree, node.number) for node in tree.path(leaf, strict=False)]
                if leaf in tree
                else []
            )
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

    def blob(self, hash: str, entry: Entry) -> bytes:
        """What the log has under a hash, which an entry names.

        Raises:
            RerunError: it has none.
        """
        found = self.kept(hash)
        if found is None:
            raise RerunError(
                f"{self.log.name}: the answer of event {entry.seq} is in blob {hash}, which is not in the log"
            )
        return found

    def kept(self, hash: str) -> bytes | None:
        """What the log has under a hash, if anything."""
        import base64

        seq = self._blobs.get(hash)
        if seq is None:
            return None
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
    def counted(self) -> list[str]:
        """The lanes of the jobs from whose handing in on turns of their loops are counted."""
        found = (self.jobs.get("value") or {}).get("counted")
        found = [found] if isinstance(found, str) else found
        return [lane for lane in found if isinstance(lane, str)] if isinstance(found, list) else []

    @cached_property
    def queues(self) -> dict[tuple[str, int], list[Act]]:
        """What was done with each queue, by the lane that made it and which of that lane's it is."""
        rows = (self.jobs.get("value") or {}).get("queues") or ()
        try:
            return {(lane, number): [Act(*act) for act in acts] for lane, number, acts in rows}
        except (TypeError, ValueError):
            return {}

    @property
    def tells_files(self) -> bool:
        """Whether what the program's own code read in files is in the log."""
        return self._keeps("files")

    @property
    def tells_commands(self) -> bool:
        """Whether what commands gave that the program's own code had run is."""
        return self._keeps("commands")

    def _keeps_timers(self) -> bool:
        """Whether a timer of the program's own code that went off would be in the log."""
        return self._keeps("timers")

    def _keeps(self, what: str) -> bool:
        program = self.log.chain.get("program")
        return isinstance(program, dict) and program.get(what) is True

    @property
    def is_nobodys(self) -> bool:
        """Whether it is that of a process that recorded nothing."""
        return not self.log.chain.get("id")

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
        return any(entry.plain and not _always_kept(self.data(entry)) for entry in self.entries)


def _always_kept(data: Mapping[str, Any]) -> bool:
    """Whether any recording holds an exchange like this one, which is no model call."""
    method = str(data.get("method"))
    return method == _SPAWN or traffic.is_kept(method, str(data.get("url")))


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
