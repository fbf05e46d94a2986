"""The events of a recording by the calls they belong to, and the lanes those were made in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from heapq import merge
from itertools import islice
from typing import Any

from lctl.events import Event
from lctl.instrument.nameless import BY_NAME
from lctl.instrument.toolmessages import Asked, asked_in
from lctl.rerun.tape.crossings import body_of
from lctl.rerun.tape.entries import Entry
from lctl.rerun.tape.tape import Tape
from lctl.state.model import MODEL_KINDS


class CallIndex:
    """Of one tape.

    Attributes:
        events, crossings: by seq.
        by_step: crossings by their step, in order of seq.
        calls: the step_start of each model call, by seq.
        ends: seq of the step_end of each step.
        opened_by: of prompt messages and derived tool calls: the model call they were written with.
    """

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self.events: dict[int, Event] = {event.seq: event for event in self._tape.log.events()}
        self.crossings = {entry.seq: entry for entry in self._tape.entries}
        self.by_step: dict[int | None, list[Entry]] = {}
        for entry in self._tape.entries:
            self.by_step.setdefault(entry.step, []).append(entry)
        for row in self.by_step.values():
            row.sort(key=lambda entry: entry.seq)
        self.calls = {
            event.seq: event
            for event in self.events.values()
            if event.type == "step_start" and event.data.get("kind") in MODEL_KINDS
        }
        self.ends = {
            event.step: event.seq for event in self.events.values() if event.type == "step_end" and event.step
        }
        self.opened_by = self._openings()
        # The seqs of the tool calls, in order: by name, those without an id by name, and the others by id.
        self._named: dict[str, list[int]] = {}
        self._nameless: dict[str, list[int]] = {}
        self._identified: dict[str, list[int]] = {}
        for seq in sorted(entry.seq for entry in self._tape.entries if entry.kind == "tool"):
            tool, id = (self.events[seq].data.get(key) for key in ("tool", "call_id"))
            self._named.setdefault(str(tool), []).append(seq)
            rows, key = (self._nameless, tool) if id is None else (self._identified, id)
            rows.setdefault(str(key), []).append(seq)

    def _openings(self) -> dict[int, int]:
        """Prompt messages and derived tool calls -> the model call they were written with."""
        found: dict[int, int] = {}
        for seq, start in self.calls.items():
            at = seq - 1
            while (event := self.events.get(at)) is not None and at not in found:
                of_prompt = event.type in ("message", "blob") and event.data.get("sampled") is not True
                of_prompt = of_prompt or (event.type == "tool_call" and event.data.get("derived") is True)
                if not of_prompt or event.step != start.step or event.agent != start.agent:
                    break
                found[at] = seq
                at -= 1
        return found

    def call_of(self, seq: int) -> int | None:
        """The seq of the crossing an event belongs to: itself, or the exchange of its model call."""
        event = self.events.get(seq)
        if event is None:
            return None
        if seq in self.crossings:
            return seq
        step = seq if event.type == "step_start" else self.opened_by.get(seq, event.step)
        inside = [entry.seq for entry in self.by_step.get(step, ()) if entry.kind == "exchange"]
        if step not in self.calls or not inside:
            return None
        return max((one for one in inside if one <= seq), default=inside[-1])

    def beginning(self, call: int) -> int:
        """The first event of a call: of a tool, what its body recorded stands before its own."""
        return min([call, *(first for first, _ in body_of(self.events[call].data))])

    def is_in_body(self, entry: Entry, asked: int) -> bool:
        """Whether that event was recorded by the body of a tool."""
        return any(first <= asked <= last for first, last in body_of(self.events[entry.seq].data))

    def batch(self, message: Event) -> list[int]:
        """The seqs of the tool calls that answer what a sampled message asked for."""
        found: list[int] = []
        for asked in asked_in(dict(message.data)):
            for seq in self._may_answer(asked, message.seq):
                if seq not in found and _answers(self.events[seq].data, asked):
                    found.append(seq)
                    break
        return found

    def _may_answer(self, asked: Asked, after: int) -> Iterator[int]:
        """The seqs of tool calls, in order, that have the id, or the name where the id tells nothing."""
        if asked.id.startswith(BY_NAME):
            rows = [self._named.get(str(asked.tool), [])]
        else:
            rows = [self._identified.get(str(asked.id), []), self._nameless.get(str(asked.tool), [])]
        return merge(*(islice(row, bisect_left(row, after), None) for row in rows))

    def asking(self, call: Event) -> Event | None:
        """The sampled message that asked for a tool call."""
        for event in reversed(self.events.values()):
            if event.seq > call.seq or event.type != "message" or event.data.get("sampled") is not True:
                continue
            if any(_answers(call.data, asked) for asked in asked_in(dict(event.data))):
                return event
        return None

    def lane_of(self, seq: int) -> str:
        """The lane an event happened in: of the crossing nearest to it in its step, or the steps around."""
        event = self.events.get(seq)
        if event is None:
            return "0"
        if seq in self.crossings:
            return self.crossings[seq].lane
        step: int | None = seq if event.type == "step_start" else event.step
        while step is not None:
            near = self._within(step)
            if near:
                before = [entry for entry in near if entry.seq <= seq]
                return (before[-1] if before else near[0]).lane
            around = self.events.get(step)
            step = around.step if around is not None else None
        return "0"

    def _within(self, step: int) -> list[Entry]:
        """The crossings of a step and of the model calls directly in it."""
        found = list(self.by_step.get(step, ()))
        for seq, event in self.calls.items():
            if event.step == step:
                found += self.by_step.get(seq, ())
        return sorted(found, key=lambda entry: entry.seq)


def _answers(data: Mapping[str, Any], asked: Asked) -> bool:
    # To a call that the model gave no id frameworks give one of their own, or the tool's name.
    if data.get("call_id") is not None and not asked.id.startswith(BY_NAME):
        return bool(data["call_id"] == asked.id)
    if data.get("tool") != asked.tool:
        return False
    input, given = asked.input, data.get("input")
    if isinstance(input, dict) and isinstance(given, dict):
        return all(name in given and given[name] == value for name, value in input.items())
    return bool(given == input)
