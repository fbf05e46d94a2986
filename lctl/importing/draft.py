"""`Draft`: an imported log being put together, message by message, in whatever order the source has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lctl.conversation.node import LOG_KEYS
from lctl.importing.losses import Losses
from lctl.importing.times import stamp
from lctl.payloads.conversation import Message

#: Keys of a message whose kind the protocol fixes, with the types that fit.
_TYPES: dict[str, tuple[type, ...]] = {
    "role": (str,),
    "name": (str,),
    "tool_calls": (list,),
    "tool_call_id": (str,),
}
_OURS = (LOG_KEYS | set(Message.__struct_fields__)) - {
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
}


@dataclass(slots=True)
class Call:
    """The model call that a message came from, as far as the source tells.

    Attributes:
        key: messages with the same key (not None) came from one call.
        tokens: input, output, cache_read, cache_write, reasoning, as the protocol counts them.
    """

    key: str | None = None
    model: str | None = None
    provider: str | None = None
    tokens: dict[str, int] | None = None
    finish_reason: str | None = None
    duration_ms: float | None = None
    response_id: str | None = None
    params: dict[str, Any] | None = None
    error: str | None = None
    first_chunk_ms: float | None = None


@dataclass(slots=True)
class Said:
    """One message to be recorded. `message` is in a provider's dialect."""

    id: str
    message: dict[str, Any]
    parent: str | None
    at: str = ""
    agent: str = ""
    call: Call | None = None
    place: dict[str, Any] = field(default_factory=dict)  # conversation_id, nested_in, carry, ...
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Fact:
    """Something the source says about a message."""

    id: str
    text: str
    about: str | None
    value: Any = None
    source: str = ""
    at: str = ""


@dataclass(slots=True)
class Failed:
    """A model call that gave no message."""

    call: Call
    at: str
    agent: str


@dataclass(slots=True)
class Agent:
    """A sub-agent: a conversation that a tool call began.

    Attributes:
        name: who acts.
        intent: what it was started for.
        call: id of that tool call; "" where it is not known.
        over: it has ended, as the source says.
    """

    name: str
    intent: str = ""
    call: str = ""
    over: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """What a tool call did to a file. `lines` are those added and removed, where the source tells."""

    path: str
    created: bool
    lines: tuple[int, int] | None = None


@dataclass(slots=True)
class Noted:
    """An event that no message tells of."""

    type: str
    at: str
    agent: str
    data: dict[str, Any]


class Draft:
    """What an importer fills.

    Attributes:
        format: name of the importer.
        about: what the source says of itself: session ids, titles, ...
        failed: id of a prompt's last message -> the calls with that prompt that failed.
        losses: what could not be taken over.
        selected: (view, message id) the source was showing.
        events: of a form that tells of steps: the lines of the events, ready; what was said is among them.
        agents: conversation -> the sub-agent whose it is: a step of its own.
        durations: tool call id -> milliseconds, where the source measured them.
        edits: tool call id -> what it did to a file.
        noted: events that no message tells of, placed among the messages by their times.
        tools: names of the tool definitions that some message has already.
    """

    def __init__(self, format: str, agent: str = "assistant") -> None:
        self.format = format
        self.agent = agent
        self.about: dict[str, Any] = {}
        self.losses = Losses()
        self.said: list[Said] = []
        self.facts: list[Fact] = []
        self.failed: dict[str, list[Failed]] = {}
        self.selected: list[tuple[str, str]] = []
        self.events = bytearray()
        self.agents: dict[str, Agent] = {}
        self.durations: dict[str, float] = {}
        self.edits: dict[str, Edit] = {}
        self.noted: list[Noted] = []
        self.tools: set[str] = set()
        self._known: dict[str, Said] = {}

    def __len__(self) -> int:
        return len(self.said)

    def __contains__(self, id: object) -> bool:
        return id in self._known

    def message(self, id: str) -> Said:
        return self._known[id]

    def lose(self, what: str, where: str = "", count: int = 1) -> None:
        self.losses.note(what, where, count)

    def add(
        self,
        id: str,
        message: Mapping[str, Any],
        parent: str | None,
        *,
        at: object = None,
        agent: str = "",
        call: Call | None = None,
        conversation: str | None = None,
        details: Mapping[str, Any] | None = None,
        where: str = "",
        **place: Any,
    ) -> Said:
        """One message below `parent` (None: it begins a conversation).

        A message delivered again is passed over and counted; one of the same id that says something else
        is kept, the log's reader says which stands.

        Args:
            at: its time as the source has it.
            where: its place in the source.
            place: keys of the message event that say where it belongs: nested_in, fork_of, status, carry.
        """
        told = dict(details or {})
        said = Said(id, self._fitting(message, told, where), parent, stamp(at), agent, call, place, told)
        if conversation not in (None, "main"):
            said.place["conversation_id"] = conversation
        known = self._known.get(id)
        if known is None:
            self._known[id] = said
        elif known.message == said.message and known.parent == parent:
            self.lose("message there twice, taken once", where)
            return known
        else:
            self.lose("message whose id was used before for another one; the first stands", where)
        self.said.append(said)
        return said

    def fail(self, prompt: str, call: Call, *, at: object = None, agent: str = "") -> None:
        """A model call that failed; `call.error` says how."""
        self.failed.setdefault(prompt, []).append(Failed(call, stamp(at), agent))

    def fact(
        self, id: str, text: str, about: str | None, *, value: Any = None, source: str = "", at: object = None
    ) -> None:
        """Something about a message: a rating, a score, a label."""
        self.facts.append(Fact(id, text, about, value, source or self.format, stamp(at)))

    def select(self, id: str, view: str = "main") -> None:
        """The source shows the branch of this message."""
        self.selected.append((view, id))

    def _fitting(self, message: Mapping[str, Any], details: dict[str, Any], where: str) -> dict[str, Any]:
        """The message without keys that the log needs for itself, or of another kind than it demands: those
        are kept beside it, in `details`."""
        fitting: dict[str, Any] = {}
        aside: dict[str, Any] = {}
        for key, value in message.items():
            types = _TYPES.get(key)
            if key in _OURS or (types is not None and value is not None and not isinstance(value, types)):
                aside[str(key)] = value
            else:
                fitting[str(key)] = value
        if aside:
            details["source"] = {**details.get("source", {}), **aside}
            for key in aside:
                self.lose(
                    f"key {key!r} of a message has another meaning in a log; kept in its details", where
                )
        return fitting


def ordered(said: Iterable[Said]) -> list[Said]:
    """Every message after its parent, else as they came. Those in a circle come last."""
    every = list(said)
    there = {one.id for one in every}
    given: set[str] = set()
    waiting: dict[str, list[Said]] = {}
    found: list[Said] = []
    for one in every:
        if one.parent is not None and one.parent in there and one.parent not in given:
            waiting.setdefault(one.parent, []).append(one)
            continue
        ready = [one]
        while ready:
            next_one = ready.pop()
            found.append(next_one)
            given.add(next_one.id)
            ready += reversed(waiting.pop(next_one.id, ()))
    return found + [one for several in waiting.values() for one in several]
