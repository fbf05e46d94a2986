"""What a timeline remembers: the state after every block of events, as versions of what changed in it.

The same handlers that fold a state write here too, through one long-lived `Builder` whose base is the
newest version of everything. After each block what it changed is put away, small: a closed step is 150
bytes, a message 60. Lists that only grow (children, histories, seqs of tool calls) are kept once; an
earlier view cuts them at its seq.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

import msgspec

from lctl.errors import LogError
from lctl.state import intake
from lctl.state.builder import Builder
from lctl.state.forest import read_message
from lctl.state.kept import Kept
from lctl.state.layers import Runs
from lctl.state.marks import mark_of, read_mark
from lctl.state.model import Fact, Message, State, Step, Stream
from lctl.state.needs import Needs
from lctl.state.reducer import initial, reduce
from lctl.state.rows import Entry, FactRow, StepRow
from lctl.state.shelf import Shelf, Shelves
from lctl.state.sums import Sums
from lctl.state.tolerant import Odd, Taken
from lctl.state.unpacking import fact_of, fields_of_stream, itself, step_of, stream_of
from lctl.state.versions import Versions, stamp

#: Rows of facts that stay unpacked while a log is read: unpacking one is dearer than changing it.
_KEPT_FACTS = 1 << 13

_encode = msgspec.msgpack.Encoder().encode
_decode_children = msgspec.msgpack.Decoder(list[int]).decode
_decode_history = msgspec.msgpack.Decoder(list[tuple[int, float | None, str | None]]).decode


class Index:
    """States after each block, for any number of blocks.

    Args:
        read: the event of a seq that was in a block added before, or is in the one being added.
        shelves: where what is old goes: slower by half, and a tenth of the memory.

    `add` folds one more block; `state(n)` is the state after block n, counted from 0.
    """

    def __init__(
        self, chain_id: str, read: Callable[[int], Taken | None], shelves: Shelves | None = None
    ) -> None:
        self._kept_facts = _KEPT_FACTS >> 2 if shelves is not None else _KEPT_FACTS
        self._read = read
        self._shelved = shelves is not None
        self._start = initial(chain_id)
        self._children: MutableMapping[int, list[int]] = {}
        self._histories: MutableMapping[str, list[Entry]] = {}
        if shelves is not None:
            self._children = shelves.shelf(_encode, _decode_children)
            self._histories = shelves.shelf(_encode, _decode_history)
        self._steps: Versions[int, Step] = Versions(
            step_of, StepRow, self._children_of, shelves, beside=self._children
        )
        self._facts: Versions[str, Fact] = Versions(
            fact_of, FactRow, self._history_of, shelves, beside=self._histories, dated=True
        )
        self._agents, self._models, self._tools = Sums(), Sums(), Sums()
        self._messages: Kept[str, Message] = Kept(self._message, _seq, shelves)
        self._streams: Versions[int, Stream] = Versions(stream_of)
        self._aliases: Versions[str, str] = Versions(itself)
        self._tips: Versions[str, str] = Versions(itself)
        self._parked: Versions[str, int] = Versions(itself)
        self._every: tuple[Any, ...] = (
            self._steps,
            self._facts,
            self._messages,
            self._streams,
            self._aliases,
            self._tips,
            self._parked,
        )
        self._cells = [each.cells for each in self._every]
        self._marks: list[bytes] = []
        self._open_steps: list[Sequence[int]] = []
        self._open_streams: list[Sequence[int]] = []
        self._tool_calls = array("q")
        self._errors = array("q")
        self._checkpoints = array("q")
        self._handoffs = array("q")
        self._build_on(self._start)

    def _build_on(self, last: State) -> None:
        """Have a builder that goes on after the last block, of which `last` is the state."""
        self._builder = builder = Builder(self._newest(last), self._message)
        self._ledgers = (
            (self._agents, builder.agents),
            (self._models, builder.models),
            (self._tools, builder.tools),
        )
        #: What is put as it is, and where; the builder's dicts and lists are emptied, never replaced.
        self._small: tuple[tuple[Versions[str, Any], dict[str, Any]], ...] = (
            (self._aliases, builder.aliases.fresh),
            (self._tips, builder.tips.fresh),
            (self._parked, builder.parked.fresh),
        )
        # What is new in these goes to the end of them; a view is as long as they were.
        builder.tool_calls, builder.errors = self._tool_calls, self._errors
        builder.checkpoints, builder.handoffs = self._checkpoints, self._handoffs

    def __len__(self) -> int:
        return len(self._marks)

    def _newest(self, last: State) -> State:
        """The base of the builder: its mappings always show the newest versions."""
        return msgspec.structs.replace(
            last,
            steps=self._steps,
            facts=self._facts,
            agents=self._agents.base(last.agents),
            models=self._models.base(last.models),
            tools=self._tools.base(last.tools),
            messages=self._messages,
            streams=self._streams,
            aliases=self._aliases,
            tips=self._tips,
            parked=self._parked,
        )

    def _mappings(self) -> list[Any]:
        sums = [one.versions.cells for one in (self._agents, self._models, self._tools)]
        return [self._children, self._histories, self._facts.written, *sums, *self._cells]

    def packed(self) -> tuple[Any, ...]:
        """All there is that is not on the shelves, to be pickled; nothing is to be added afterwards."""
        cells = [one.packed() if isinstance(one, Shelf) else one for one in self._mappings()]
        lists = [self._tool_calls, self._errors, self._checkpoints, self._handoffs]
        opens = [self._open_steps, self._open_streams]
        return cells, lists, opens, self._marks, self._builder.diagnostics

    def take_up(self, packed: tuple[Any, ...]) -> None:
        """Be, over the same shelves, what was packed."""
        cells, lists, opens, self._marks, diagnostics = packed
        for own, known in zip(self._mappings(), cells, strict=True):
            if isinstance(own, Shelf):
                own.take_up(known)
            else:
                own.update(known)
        self._tool_calls, self._errors, self._checkpoints, self._handoffs = lists
        self._open_steps, self._open_streams = opens
        self._builder.diagnostics.extend(diagnostics)
        if self._marks:
            for (sums, _), kept in zip(self._ledgers, read_mark(self._marks[-1]).sums, strict=True):
                sums.take_up(kept)
        self._build_on(self.state(len(self) - 1))
        self._builder.diagnostics.extend(diagnostics)

    def add(self, block: Sequence[Taken]) -> bool:
        """Fold one more block, of at least one event. False if its events were not in order."""
        builder = self._builder
        known = len(builder.diagnostics)
        reduce(builder, block)
        now = stamp(len(self._marks))
        self._put_steps(builder, now)
        self._put_facts(builder, now)
        for versions, fresh in self._small:
            if fresh:
                versions.put(now, fresh)
                fresh.clear()
        self._put_tables(builder, now)
        self._open_steps.append(builder.open_steps.settled())
        self._open_streams.append(builder.open_streams.settled())
        counts = [*map(len, self._cells)]
        sums = [each.put(now, ledger.fresh) for each, ledger in self._ledgers]
        self._marks.append(mark_of(builder, counts, sums))
        notes = builder.diagnostics[known:]
        return not notes or all(note.code != "seq_order" for note in notes)

    def _put_steps(self, builder: Builder, now: bytes) -> None:
        self._steps.put(now, builder.changed)
        builder.changed.clear()
        builder.inherited.clear()
        for parent, children in builder.children.items():
            known = self._children.setdefault(parent, children)
            if known is not children:
                known += children
        builder.children.clear()

    def _put_facts(self, builder: Builder, now: bytes) -> None:
        rows = builder.facts
        if not rows:
            return
        for id, entries in builder.histories.items():
            fresh = [*builder.old_histories.get(id, ()), *entries]
            known = self._histories.setdefault(id, fresh)
            if known is not fresh:
                known.extend(entries)
        builder.histories.clear()
        builder.old_histories.clear()
        self._facts.put(now, rows)
        kept = builder.kept_facts
        if len(kept) > self._kept_facts:
            kept.clear()
        kept.update(rows)
        rows.clear()

    def _put_tables(self, builder: Builder, now: bytes) -> None:
        messages, streams = builder.messages, builder.streams.fresh
        if not messages.direct:
            self._messages.cells.update(messages.fresh)
            messages.fresh.clear()
        if messages.changed:
            before = read_mark(self._marks[-1]).seq if self._marks else None
            self._messages.change(before, builder.seq, messages.changed)
            messages.changed.clear()
        if streams:
            self._streams.put(now, {seq: fields_of_stream(one) for seq, one in streams.items()})
            streams.clear()

    def at_hand(self, events: Sequence[Taken]) -> None:
        """Have at hand what folding these looks up: in one go, where it is on disk."""
        if self._shelved:
            needs = Needs.of(events)
            self._steps.at_hand(needs.steps)
            self._facts.at_hand(needs.facts)
            self._messages.at_hand(needs.messages)

    def state(self, block: int) -> State:
        """The state after a block; before any for -1."""
        if block < 0:
            return self._start
        mark = read_mark(self._marks[block])
        seq, before = mark.seq, stamp(block + 1)
        sized = zip(self._every, mark.counts, strict=True)
        views = [each.at(before, seq, n) if n else {} for each, n in sized]  # most logs have none of some
        steps, facts, messages, streams, aliases, tips, parked = views
        agents, models, tools = mark.sums
        return State(
            seq=seq,
            chain_id=self._start.chain_id,
            facts=facts,
            steps=steps,
            open_steps=self._open_steps[block],
            agents=self._agents.at(agents, before, seq),
            models=self._models.at(models, before, seq),
            tools=self._tools.at(tools, before, seq),
            messages=messages,
            streams=streams,
            tool_calls=_first(self._tool_calls, mark.tool_calls),
            errors=_first(self._errors, mark.errors),
            checkpoints=_first(self._checkpoints, mark.checkpoints),
            totals=mark.totals(),
            diagnostics=_first(self._builder.diagnostics, mark.diagnostics),
            first_timestamp=mark.first_timestamp,
            last_timestamp=mark.last_timestamp,
            last_agent=mark.last_agent,
            handoffs=_first(self._handoffs, mark.handoffs),
            open_streams=self._open_streams[block],
            aliases=aliases,
            tips=tips,
            parked=parked,
            structural=mark.structural,
            interrupted=mark.interrupted,
        )

    def _children_of(self, seq: int, row: StepRow, upto: int) -> Sequence[int]:
        children = self._children.get(seq)
        return () if children is None else _first(children, bisect_right(children, upto))

    def _history_of(self, id: str, row: FactRow, upto: int) -> Sequence[Entry]:
        history = self._histories.get(id)
        if history is None or row.modified == row.added:
            return (row.entry(),)
        newest = history[-1][0] <= upto  # as in the fold, always: nothing to search for
        return _first(history, len(history) if newest else bisect_right(history, upto, key=_seq_of))

    def _message(self, id: str, seq: int) -> Message:
        event = self._read(seq)
        if isinstance(event, Odd):
            event = event.event
        if not isinstance(event, intake.Message):
            raise LogError(
                f"event {seq} is no longer message {id}: the log changed while it was read; open it again"
            )
        return read_message(id, event)


def _first(items: Sequence[Any], n: int) -> Sequence[Any]:
    return Runs(((items, n),)) if n else ()


def _seq_of(entry: Entry) -> int:
    return entry[0]


def _seq(message: Message) -> int:
    return message.seq
