"""Random logs for property tests: what recorders write, and what nobody should."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from lctl.codec.bytesource import MemoryBytes
from lctl.codec.eventfile import event_of
from lctl.codec.log import Lines
from lctl.events import Event
from lctl.state.model import Tokens
from lctl.state.source import MemorySource

AGENTS = st.sampled_from(["a", "b", "c", ""])
IDS = st.sampled_from(["m1", "m2", "m3", "m4", "x"])
FACTS = st.sampled_from(["F1", "F2", "F3"])
MODELS = st.sampled_from(["gpt", "claude"])
JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, -1, 350, 1.5, 10**30, "high", "", [], {}, {"id": 7}, {"input": "x"}, [1]]
)
STEPS = st.one_of(st.none(), st.integers(1, 40))


def _data(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of these fields, each now and then with junk for its value."""
    return st.fixed_dictionaries({}, optional={k: v | JUNK if k != "role" else v for k, v in fields.items()})


TOKENS = st.fixed_dictionaries(
    {},
    optional={name: st.integers(0, 900) for name in Tokens.__struct_fields__},
)
DATA: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "step_start": _data(
        intent=st.just("work"),
        kind=st.sampled_from(["agent", "llm", "tool"]),
        model=MODELS,
        tool=st.just("grep"),
    ),
    "step_end": _data(
        outcome=st.sampled_from(["success", "error"]),
        duration_ms=st.floats(0, 1e4) | st.integers(0, 5),
        tokens=TOKENS,
        model=MODELS | st.fixed_dictionaries({"id": MODELS}),
    ),
    "fact_added": _data(id=FACTS, text=st.text(max_size=5), confidence=st.floats(0, 1), source=st.just("s")),
    "fact_modified": _data(
        id=FACTS, text=st.text(max_size=5), confidence=st.floats(0, 1), reason=st.just("r")
    ),
    "tool_call": _data(
        tool=st.sampled_from(["grep", "ls"]), duration_ms=st.integers(0, 9), error=st.just("no")
    ),
    "error": _data(category=st.just("execution_error")),
    "checkpoint": _data(state_hash=st.just("h")),
    "message": _data(
        message_id=IDS,
        parent_id=IDS | st.none(),
        role=st.sampled_from(["user", "assistant"]),
        sampled=st.booleans(),
        conversation_id=st.sampled_from(["main", "side"]),
        status=st.sampled_from(["complete", "streaming", "aborted"]),
    ),
    "message_alias": _data(alias=IDS, message_id=IDS),
    "stream_start": _data(message_id=IDS, parent_id=IDS | st.none(), role=st.just("assistant")),
    "stream_chunk": _data(message_id=IDS, index=st.integers(0, 3), tokens=st.integers(0, 5)),
    "stream_end": _data(
        message_id=IDS,
        total_chunks=st.integers(0, 3),
        total_tokens=st.integers(0, 9),
        tokens=TOKENS | st.integers(0, 9),
        status=st.sampled_from(["complete", "aborted"]),
    ),
    "handoff": _data(to=AGENTS),
    "fact_read": _data(id=FACTS),
    "exchange": _data(status=st.integers(200, 500)),
    "banana": _data(peel=st.integers()),
}


@st.composite
def raw_events(draw: st.DrawFn, most: int = 40) -> list[dict[str, Any]]:
    """Decoded events with ascending seqs, mostly without gaps, mostly well formed."""
    log: list[dict[str, Any]] = []
    seq, at = 0, 0
    for type in draw(st.lists(st.sampled_from(sorted(DATA)), max_size=most)):
        seq += draw(st.sampled_from([1, 1, 1, 1, 1, 1, 3]))
        at += draw(st.integers(-3, 50))
        event: dict[str, Any] = {
            "seq": seq,
            "type": type,
            "timestamp": draw(
                st.sampled_from([f"2026-01-01T00:{at // 60 % 60:02d}:{at % 60:02d}.5Z"] * 8 + ["", "noon"])
            ),
            "agent": draw(AGENTS),
        }
        step = draw(STEPS | JUNK)
        if step is not None or draw(st.booleans()):
            event["step"] = step
        event["data"] = draw(DATA[type] if draw(st.integers(0, 20)) else JUNK)
        for key in draw(st.sampled_from([(), (), (), (), (), (), (), ("timestamp",), ("agent", "data")])):
            del event[key]
        log.append(event)
    return log


def decoded(raw: list[dict[str, Any]]) -> list[Event]:
    return [Event.from_dict(event) for event in raw]


class LinesSource(MemorySource):
    """A log that offers its lines, as a file does. `lines` are taken as they are."""

    def __init__(self, lines: list[bytes], chain: dict[str, Any] | None = None) -> None:
        super().__init__([event for line in lines if (event := event_of(line))], chain)
        self._data = b"".join(line + b",\n" for line in lines)

    def buffer(self) -> Lines | None:
        return Lines(MemoryBytes(self._data), 0, len(self._data))


def as_lines(raw: list[dict[str, Any]]) -> list[bytes]:
    """Lines of events, with numbers no orjson would write."""
    return [json.dumps(event, separators=(",", ":")).encode() for event in raw]


def events(*drafts: tuple[Any, ...], agent: str = "a") -> list[Event]:
    """Events from (type, data) or (type, step, data) or (type, step, data, agent), one second apart."""
    made = []
    for n, draft in enumerate(drafts, 1):
        if len(draft) == 2:
            draft = (draft[0], None, draft[1])
        type, step, data, *who = draft
        stamp = f"2026-01-01T00:{n // 60:02d}:{n % 60:02d}Z"
        made.append(
            Event(seq=n, type=type, timestamp=stamp, agent=who[0] if who else agent, step=step, data=data)
        )
    return made
