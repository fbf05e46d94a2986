"""The event: one numbered line of the log.

An `Event` is a frozen value. `data` is the payload as it stands in the log, unknown keys included;
`payloads.payload(event)` gives the typed view. A step is named by the `seq` of the event that began
it; every event inside carries that number as `step` (ARCHITECTURE section 3).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import msgspec

#: Version this lctl writes.
VERSION = "4.0"


class EventType(StrEnum):
    """The types of the protocol, by family. A log may hold others: they are kept and passed over."""

    # core
    STEP_START = "step_start"
    STEP_END = "step_end"
    FACT_ADDED = "fact_added"
    FACT_MODIFIED = "fact_modified"
    TOOL_CALL = "tool_call"
    ERROR = "error"
    CHECKPOINT = "checkpoint"
    # streams
    STREAM_START = "stream_start"
    STREAM_CHUNK = "stream_chunk"
    STREAM_END = "stream_end"
    # conversation
    MESSAGE = "message"
    MESSAGE_ALIAS = "message_alias"
    SESSION_START = "session_start"
    SESSION_END = "session_end"
    VIEW_SELECT = "view_select"
    # coordination
    HANDOFF = "handoff"
    FACT_READ = "fact_read"
    MODEL_ROUTING = "model_routing"
    CONTRACT_VALIDATION = "contract_validation"
    ASSESSMENT = "assessment"
    GATE = "gate"
    # tape
    EXCHANGE = "exchange"
    AMBIENT = "ambient"
    OUTPUT = "output"
    BLOB = "blob"


CORE_TYPES = frozenset(
    {"step_start", "step_end", "fact_added", "fact_modified", "tool_call", "error", "checkpoint"}
)
#: Needed only to run the program again; a log without them still shows everything else.
TAPE_TYPES = frozenset({"exchange", "ambient", "output", "blob"})
KNOWN_TYPES = frozenset(t.value for t in EventType)


#: What every JSON reader takes for a whole number, and every table: longer ones name no step.
Step = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

#: A decoder takes this from no line: none has so many keys.
_Unread = Annotated[dict[str, Any], msgspec.Meta(min_length=1 << 40)]


class Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One event. `extra` holds envelope keys this version does not know, so that they survive rewriting.

    A decoder of this type takes a line with nothing unusual about it; see `codec.eventfile.events_of`.
    """

    seq: int
    type: str
    timestamp: str = ""
    agent: str = ""
    step: Step | None = None
    data: dict[str, Any] = msgspec.field(default_factory=dict)
    extra: _Unread = msgspec.field(default_factory=dict, name="(extra)")

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> Event:
        """The event a decoded JSON object stands for.

        Tolerant: a key that is missing takes its default; a key of the wrong type takes its default
        too (`type` its text) and the original stays in `extra` under the same name, so that
        `to_dict` gives it back and `payloads.check` can say what is wrong with it. `seq` must be
        there and is taken as it is. Raises KeyError without `seq` or `type`.
        """
        extra = {k: v for k, v in raw.items() if k not in _ENVELOPE}
        type = raw["type"]
        if not isinstance(type, str):
            extra["type"] = type
        timestamp = raw.get("timestamp", "")
        if not isinstance(timestamp, str):
            extra["timestamp"] = timestamp
            timestamp = ""
        agent = raw.get("agent", "")
        if not isinstance(agent, str):
            extra["agent"] = agent
            agent = ""
        step = raw.get("step")
        whole = isinstance(step, int) and not isinstance(step, bool)
        if step is not None and not (whole and -(2**63) <= step < 2**63):
            extra["step"] = step
            step = None
        data = raw.get("data", _NOTHING)
        if not isinstance(data, dict):
            if data is not _NOTHING:
                extra["data"] = data
            data = {}
        return cls(
            seq=raw["seq"],
            type=str(type),
            timestamp=timestamp,
            agent=agent,
            step=step,
            data=data,
            extra=extra,
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of this event, keys in canonical order."""
        raw: dict[str, Any] = {
            "seq": self.seq,
            "type": self.type,
            "timestamp": self.timestamp,
            "agent": self.agent,
        }
        if self.step is not None:
            raw["step"] = self.step
        raw["data"] = self.data
        raw.update(self.extra)
        return raw


_NOTHING: Any = object()
_ENVELOPE = frozenset({"seq", "type", "timestamp", "agent", "step", "data"})
