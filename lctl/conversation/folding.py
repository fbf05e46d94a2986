"""From events to the forest: one handler for each type that says something about messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lctl.conversation import copies, nesting, streams
from lctl.conversation.fitting import fitting
from lctl.conversation.forest import Forest
from lctl.conversation.placing import hang, join, number_message, place, place_plain, reorder, sample

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
        "exact",
    }
)


#: What is folded as it stands: its keys are none of a message's.
_NOT_MESSAGES = frozenset(
    {
        "step_start",
        "step_end",
        "exchange",
        "tool_call",
        "session_start",
        "fact_added",
        "fact_modified",
        "blob",
    }
)


def fold_event(forest: Forest, seq: int, type: str, agent: str, data: Data, step: int | None = None) -> None:
    """Take one event, which happened in `step`. Events come in the order of seq; of what is not about
    messages nothing is kept."""
    if type == "message" and (number := place_plain(forest, seq, data)) >= 0:
        forest.tell("message", number)
    elif (handler := HANDLERS.get(type)) is not None:
        forest.step = step
        handler(forest, seq, agent, data if type in _NOT_MESSAGES else fitting(data))
    forest.publish(seq)


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
            streams.open_text(forest, number, data.get("content"))
            forest.starts[number] = seq
    if data.get("sampled") is True:
        sample(forest, number, seq, data)
    if "copy_of" in data or "carry" in data:
        copies.copy(forest, number, seq, data)
    forest.tell("message", number)


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
    if not data.keys() - PLACE_KEYS:
        _claim(forest, number, seq, data)
    if isinstance(serial, str | int) and number not in forest.serials:
        forest.serials.record(number, seq, serial)
        parent = forest.parents[number]
        if parent >= 0:
            reorder(forest, parent, seq)
        forest.news.moved.append(number)
        changed = True
    if streams.is_open(forest, number, data):
        streams.finish(forest, number, seq, data)
        changed = True
    elif not _same(forest, number, data):
        forest.note(
            seq,
            "msg_conflict",
            f"message {forest.ids[number]} was complete at {forest.contents[number]}; that one stands",
        )
        if not changed:
            return
    if not changed:
        forest.repeats += 1
    else:
        forest.tell("update", number)


def _claim(forest: Forest, number: int, seq: int, data: Data) -> None:
    """An event that says of a message no more than whose it is: it is that session's, and where its
    conversation has got to."""
    key = (data.get("session_id"), data.get("message_number"))
    if None in key or key in forest.by_number:
        return
    number_message(forest, number, seq, data)
    conversation = data.get("conversation_id")
    if conversation is not None:
        forest.lead(str(conversation), number, seq)


def _same(forest: Forest, number: int, data: Data) -> bool:
    """Whether a delivery says what the first one said, place and order aside."""
    if not data.keys() - PLACE_KEYS:
        return True  # it only says whose the message is
    seq = forest.contents[number]
    known = fitting(forest.data_at(seq)) if seq else forest.placed_by(number)
    keys = (known.keys() | data.keys() if seq else data.keys()) - PLACE_KEYS
    if any(_filled(known.get(key)) != _filled(data.get(key)) for key in keys):
        return False
    if "parent_id" not in data or "parent_id" not in known:
        return True
    one, other = known["parent_id"], data["parent_id"]
    if not isinstance(one, str) or not isinstance(other, str):
        return bool(one == other)
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
    forest.tell("alias", number)


def select(forest: Forest, seq: int, agent: str, data: Data) -> None:
    id = data.get("message_id")
    if id:
        forest.selections.setdefault(str(data.get("view") or "main"), []).append((seq, str(id)))


# -- model calls, facts ----------------------------------------------------------------------


def call_begins(forest: Forest, seq: int, agent: str, data: Data) -> None:
    forest.calls.begin(seq, data)


def call_ends(forest: Forest, seq: int, agent: str, data: Data) -> None:
    named = data.get("messages") or data.get("message")
    ids = named if isinstance(named, list) else [named] if named else []
    numbers = [number for id in ids if (number := forest.find(str(id))) in forest.sampled]
    forest.calls.end(seq, forest.step, data, numbers)


def exchange(forest: Forest, seq: int, agent: str, data: Data) -> None:
    forest.calls.exchange(seq, forest.step)


def tool_called(forest: Forest, seq: int, agent: str, data: Data) -> None:
    if "nested" in data or "tape" in data:
        nesting.adopt(forest, seq, data)


def session_begins(forest: Forest, seq: int, agent: str, data: Data) -> None:
    forest.calls.define(data.get("tools"))


def fact_added(forest: Forest, seq: int, agent: str, data: Data) -> None:
    forest.ratings.added(seq, data)


def fact_modified(forest: Forest, seq: int, agent: str, data: Data) -> None:
    forest.ratings.modified(seq, data)


def blob(forest: Forest, seq: int, agent: str, data: Data) -> None:
    forest.blobs.setdefault(str(data.get("hash")), seq)


def is_read_again(type: str, data: Data) -> bool:
    """Whether the data of an event is asked for after it has been folded."""
    if type == "step_start":
        return data.get("kind") == "llm"
    if type == "step_end":
        return "message" in data or "messages" in data
    return type in ("message", "stream_start") or (
        type == "blob" and data.get("media_type") == "application/json"
    )


HANDLERS: dict[str, Callable[[Forest, int, str, Data], None]] = {
    "message": message,
    "message_alias": alias,
    "view_select": select,
    "stream_start": streams.start,
    "stream_chunk": streams.chunk,
    "stream_end": streams.end,
    "step_start": call_begins,
    "step_end": call_ends,
    "exchange": exchange,
    "tool_call": tool_called,
    "session_start": session_begins,
    "fact_added": fact_added,
    "fact_modified": fact_modified,
    "blob": blob,
}
