"""Agent sessions as rows: status, totals, high-water mark, seeds; folded from lines as they come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from lctl.codec.lines import decode, encode_value
from lctl.conversation.ledger import Ledger
from lctl.conversation.sessionfolding import TYPES, Folding
from lctl.values import whole_number

_MARK = b'"session_id"'
_NEVER = 1 << 62
_TYPES = tuple(b'"type":"%s"' % type.encode() for type in sorted(TYPES))


class Row(NamedTuple):
    """One session; columns as the table has them, JSON as text."""

    session_id: str
    conversation_id: str
    parent_conversation_id: str | None
    trigger_type: str | None
    trigger_id: str | None
    model_id: str | None
    model_context_window: int | None
    status: str
    policy: str | None
    state: str | None
    tool_names: str | None
    seed_message_count: int
    to_message_number: int
    total_turns: int
    total_input_tokens: int
    total_output_tokens: int
    total_cached_tokens: int
    total_cost: float | None
    started_at: str
    completed_at: str | None
    error: str | None
    last_seq: int


class Seed(NamedTuple):
    """One message of those a session began with."""

    session_id: str
    ordinal: int
    role: str
    content: str
    is_new: bool
    timestamp: str | None
    details: str | None


class _Places:
    """Stands where the folding of sessions asks a forest for a message's place: any number does."""

    def __init__(self) -> None:
        self.by_number: dict[tuple[Any, Any], int] = {}
        self._places: dict[str, int] = {}

    def find(self, name: Any) -> int:
        return self._places.setdefault(str(name), len(self._places))


class SessionFold:
    """What the lines of one chain, given in order, say of its sessions.

    Args:
        seq: the last line before them; those up to it name no session.
    """

    def __init__(self, seq: int = 0) -> None:
        self.seq = seq
        self._data: dict[int, Mapping[str, Any]] = {}
        places: Any = _Places()
        self._folding = Folding(places, self._data.__getitem__)
        self._touched: dict[str, int] = {}
        self._seeds: list[Seed] = []
        self._begun = False

    def add(self, first: int, lines: Sequence[bytes]) -> None:
        """Fold lines numbered from `first`. Before the first that names a session there is nothing to do."""
        self.seq = first + len(lines) - 1
        if not self._begun:
            if _MARK not in b"\n".join(lines):  # twice as fast as line by line
                return
            self._begun = True
        for line in lines:
            head = line[:64]
            if any(type in head for type in _TYPES):
                self._fold(decode(line))

    def changes(self) -> tuple[list[Row], list[Seed]]:
        """Rows of the sessions that changed since the last call, and the new seeds."""
        ledgers = self._folding.ledgers
        rows = [self._row(ledgers[id], seq) for id, seq in self._touched.items() if id in ledgers]
        seeds, self._seeds, self._touched = self._seeds, [], {}
        return rows, seeds

    def _fold(self, event: Any) -> None:
        if not isinstance(event, dict) or not isinstance(event.get("data"), dict):
            return
        data, seq = event["data"], event["seq"]
        if event["type"] in ("session_start", "checkpoint", "step_end"):
            self._data[seq] = data
        self._folding.append(event)
        self._note(event, data, seq)
        if event["type"] in ("checkpoint", "step_end") and "state" not in data:
            del self._data[seq]

    def _note(self, event: Mapping[str, Any], data: Mapping[str, Any], seq: int) -> None:
        folding = self._folding
        step = event.get("step")
        owner = folding._step_session.get(step) if isinstance(step, int) else None
        id = data.get("session_id") if data.get("session_id") is not None else owner and owner.id
        if id is None and event["type"] in ("session_end", "checkpoint"):
            running = folding._running()
            id = running and running.id
        ledger = folding.ledgers.get(str(id)) if id is not None else None
        if ledger is None:
            return
        self._touched[ledger.id] = seq
        if event["type"] == "session_start" and ledger.start == seq:
            self._inline_seeds(ledger, data)
        number = whole_number(data.get("message_number"))
        if event["type"] == "message" and number is not None and number <= ledger.seeds:
            self._seeds.append(_seed(ledger.id, number, data))

    def _inline_seeds(self, ledger: Ledger, data: Mapping[str, Any]) -> None:
        seeds = data.get("seed_messages")
        for n, seed in enumerate(seeds if isinstance(seeds, list) else (), 1):
            if isinstance(seed, Mapping) and ("message_id" not in seed or "content" in seed):
                self._seeds.append(_seed(ledger.id, n, seed))

    def _row(self, ledger: Ledger, seq: int) -> Row:
        start = self._data.get(ledger.start, {})
        status, sums = ledger.status_at(_NEVER), ledger.meter.at(_NEVER)
        model, trigger = start.get("model"), start.get("trigger")
        model = model if isinstance(model, Mapping) else {"id": model}
        trigger = trigger if isinstance(trigger, Mapping) else {"type": trigger}
        window = model.get("context_window")
        state = self._data.get(ledger.states[-1], {}).get("state") if ledger.states else None
        return Row(
            ledger.id,
            ledger.conversation,
            _text(start.get("parent_conversation_id")),
            _text(trigger.get("type")),
            _text(trigger.get("id")),
            _text(model.get("id")),
            window if isinstance(window, int) else None,
            status.status,
            _json(start.get("policy")),
            _json(state),
            _json(start.get("tool_names")),
            ledger.seeds,
            ledger.last,
            sums.turns,
            sums.input,
            sums.output,
            sums.cached,
            sums.cost,
            ledger.statuses[0].timestamp if ledger.statuses else "",
            None if status.status == "running" else status.timestamp,
            _json(status.error),
            seq,
        )


def fold_all(lines: Iterable[bytes], first: int) -> SessionFold:
    """The fold of a chain's lines from its beginning."""
    fold, block = SessionFold(), list[bytes]()
    for line in lines:
        block.append(line)
        if len(block) == 1000:
            fold.add(first, block)
            first, block = first + len(block), []
    if block:
        fold.add(first, block)
    return fold


def _seed(session_id: str, number: int, data: Mapping[str, Any]) -> Seed:
    content = data.get("content")
    return Seed(
        session_id,
        number,
        _text(data.get("role")) or "",
        _clean(content) if isinstance(content, str) else _json(content) or "",
        bool(data.get("is_new")),
        _text(data.get("timestamp")),
        _json(data.get("details")),
    )


def _text(value: Any) -> str | None:
    return None if value is None else _clean(str(value))


def _json(value: Any) -> str | None:
    if value is None:
        return None
    text = encode_value(value, option=orjson.OPT_NON_STR_KEYS).decode()
    return text.replace("\\u0000", "\\ufffd")


def _clean(text: str) -> str:
    """PostgreSQL keeps no NUL in text."""
    return text.replace("\0", "\ufffd")
