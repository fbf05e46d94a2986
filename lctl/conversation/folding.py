"""From events to the forest: one handler for each type that says something about messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lctl.conversation import copies, streams
from lctl.conversation.forest import Forest
from lctl.conversation.placing import hang, join, place, reorder

Data = Mapping[str, Any]

#: Keys of a message event that say where it stands and not what it says.
PLACE_KEYS = frozenset(
    {
        "message_id",
        "parent_id",
        "conversation_id",
        "turn_id",
        "session_id",
        "message_number",
        "serial",
        "status",
    }
)


def fold_event(forest: Forest, seq: int, type: str, agent: str, data: Data) -> None:
    """Take one event. Events come in the order of seq; of types without messages nothing is kept."""
    forest.seq = seq
    handler = HANDLERS.get(type)
    if handler is not None:
        handler(forest, seq, agent, data)


def message(forest: Forest, seq: int, agent: str, data: Data) -> None:
    id = data.get("message_id") or f"#{seq}"
    known = forest.numbers.get(id, -1)
    if known < 0 and forest.aliases:
        known = forest.find(id)
    if known < 0:
        known = _delivered(forest, data)
    if known >= 0:
        _again(forest, known, seq, data)
        return
    number = place(forest, id, seq, data, seq)
    status = data.get("status")
    if status is not None and status != "complete":
        forest.statuses.record(number, seq, status)
        if status == "streaming":
            streams.open_text(forest, number)
    if data.get("sampled") is True:
        forest.sampled.add(number)
    if "copy_of" in data or "carry" in data:
        copies.copy(forest, number, seq, data)
    if forest.listeners:
        forest.tell("message", number, seq)


def _delivered(forest: Forest, data: Data) -> int:
    """(session, number) is the key of a message that was delivered again under a fresh id (row S3)."""
    number = data.get("message_number")
    if number is None:
        return -1
    return forest.by_number.get((data.get("session_id"), number), -1)


# -- again -----------------------------------------------------------------------------------


def _again(forest: Forest, number: int, seq: int, data: Data) -> None:
    """A message that is there already: its end, a delivery repeated, its serial, or a contradiction."""
    serial = data.get("serial")
    changed = False
    if serial is not None and number not in forest.serials:
        forest.serials.record(number, seq, serial)
        parent = forest.parents[number]
        if parent >= 0:
            reorder(forest, parent, seq)
        changed = True
    if forest.statuses.last(number, "complete") == "streaming":
        streams.finish(forest, number, seq, data)
        changed = True
    elif not _same(forest, number, data):
        forest.note(
            seq,
            "msg_conflict",
            f"message {forest.ids[number]} was complete at {forest.contents[number]}; that one stands",
        )
        return
    if not changed:
        forest.repeats += 1
    elif forest.listeners:
        forest.tell("update", number, seq)


def _same(forest: Forest, number: int, data: Data) -> bool:
    """Whether a delivery says what the first one said, place and order aside."""
    known = forest.data_at(forest.contents[number]) if forest.contents[number] else {}
    keys = (known.keys() | data.keys()) - PLACE_KEYS
    if any(_filled(known.get(key)) != _filled(data.get(key)) for key in keys):
        return False
    if "parent_id" not in data or "parent_id" not in known:
        return True
    one, other = known["parent_id"], data["parent_id"]
    if one is None or other is None:
        return one is other
    return forest.resolve(one) == forest.resolve(other)


def _filled(value: Any) -> Any:
    """null, [] and {} are the same as nothing (D9)."""
    return None if value in (None, [], {}) else value


# -- aliases and views -----------------------------------------------------------------------


def alias(forest: Forest, seq: int, agent: str, data: Data) -> None:
    name, target = data.get("alias"), data.get("message_id")
    if not name or not target:
        return
    known = forest.aliases.get(name)
    if known is not None:
        if forest.resolve(known[0]) == forest.resolve(target):
            forest.repeats += 1
        else:
            forest.note(seq, "alias_conflict", f"{name} stands for {known[0]} already")
        return
    if name in forest.numbers:
        forest.note(seq, "alias_conflict", f"{name} is a message of its own")
        return
    final = forest.resolve(target)
    if final == name:
        forest.note(seq, "alias_conflict", f"{name} would stand for itself")
        return
    forest.aliases[name] = (target, seq)
    number = forest.numbers.get(final, -1)
    waiters = forest.waiting.pop(name, [])
    forks = forest.forks_waiting.pop(name, [])
    if number < 0:
        if waiters:
            forest.waiting.setdefault(final, []).extend(waiters)
        if forks:
            forest.forks_waiting.setdefault(final, []).extend(forks)
        return
    for waiter in waiters:
        hang(forest, waiter, number, seq)
    for waiter in forks:
        join(forest, waiter, number, seq)
    if forest.listeners:
        forest.tell("alias", number, seq)


def select(forest: Forest, seq: int, agent: str, data: Data) -> None:
    id = data.get("message_id")
    if id:
        forest.selections.setdefault(str(data.get("view") or "main"), []).append((seq, str(id)))


HANDLERS: dict[str, Callable[[Forest, int, str, Data], None]] = {
    "message": message,
    "message_alias": alias,
    "view_select": select,
    "stream_start": streams.start,
    "stream_chunk": streams.chunk,
    "stream_end": streams.end,
}
