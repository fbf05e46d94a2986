"""Where a message belongs: below its parent, in its turn's tool results, among its versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.conversation.forest import ROOT, UNKNOWN, Forest
from lctl.conversation.numbers import joined
from lctl.conversation.toolsets import ToolSet

Data = Mapping[str, Any]


def place(forest: Forest, id: str, seq: int, data: Data, content: int) -> int:
    """A new message where its event says it belongs; its number."""
    role = data.get("role") or ""
    conversation, declared, parent = _above(forest, id, data)
    call_id = data.get("tool_call_id") if role == "tool" else None
    above = parent
    chained = call_id is not None or parent in forest.tool_sets or parent in forest.set_of
    if parent >= 0 and chained and data.get("exact") is not True:
        parent = _in_set(forest, parent, len(forest.ids), seq, call_id)
    number = forest.add(id, seq, role, parent, content)
    if parent == ROOT:
        forest.roots_in.setdefault(conversation, []).append(number)
    serial = data.get("serial")
    if isinstance(serial, str | int):
        forest.serials.record(number, seq, serial)
        if above >= 0:
            reorder(forest, above, seq)
    if conversation != "main":
        forest.conversations[number] = conversation
    if parent == UNKNOWN and declared is not None:
        _wait(forest, number, seq, id, str(declared))
    _describe(forest, number, seq, data, conversation)
    if forest.waiting:
        arrived(forest, id, number, seq)
    if forest.forks_waiting and id in forest.forks_waiting:
        for waiter in forest.forks_waiting.pop(id):
            join(forest, waiter, number, seq)
    return number


#: What a message's event may say that takes more than a look at its parent.
_MORE = frozenset(
    {
        *("serial", "status", "sampled", "copy_of", "carry", "nested_in", "turn_id", "message_number"),
        "tool_call_id",
    }
)


def place_plain(forest: Forest, seq: int, data: Data) -> int:
    """`place` for what most messages are, in half the time: a new one with nothing about it, whose parent
    is known. Its number; -1, and nothing done, where more has to be looked at."""
    if not _MORE.isdisjoint(data):
        return -1
    id, role = data.get("message_id"), data.get("role")
    conversation, fork_of = data.get("conversation_id"), data.get("fork_of")
    if id is None:
        id = f"#{seq}"
    if type(id) is not str or type(role) is not str or not id:
        return -1
    if (conversation is not None and type(conversation) is not str) or (
        fork_of is not None and type(fork_of) is not str
    ):
        return -1
    if id in forest.numbers or id in forest.waiting or id in forest.forks_waiting or id in forest.aliases:
        return -1
    parent = ROOT
    if "parent_id" not in data:
        parent = forest.newest.get(conversation or "main", ROOT)
    elif (declared := data["parent_id"]) is not None:
        parent = forest.numbers.get(declared, -1) if type(declared) is str else -1
        if parent < 0:
            return -1
    if parent in forest.tool_sets or parent in forest.set_of:
        return -1
    if not conversation:
        conversation = forest.conversations.get(parent, "main")
    number = forest.add(id, seq, role, parent, seq)
    if len(data) == 4 and type(data.get("content")) is str and "message_id" in data and "parent_id" in data:
        forest.plain[number] = 1
    if parent == ROOT:
        forest.roots_in.setdefault(conversation, []).append(number)
    if conversation != "main":
        forest.conversations[number] = conversation
    forest.lead(conversation, number, seq)
    if fork_of is not None:
        _fork(forest, number, seq, fork_of)
    return number


def fill(forest: Forest, number: int, seq: int, data: Data) -> None:
    """Pieces of a message came before the event that says whose they are and where they belong."""
    id = forest.ids[number]
    forest.roles[number] = data.get("role") or "assistant"
    forest.named[number] = seq
    conversation, declared, parent = _above(forest, id, data)
    if conversation != "main":
        forest.conversations[number] = conversation
    if forest.parents[number] == UNKNOWN:
        if declared is None and parent >= 0 and number in forest.up(parent, seq):
            parent = ROOT  # what came last is below it
        if parent == ROOT:
            forest.attach(number, ROOT, seq)
            forest.roots_in.setdefault(conversation, []).append(number)
        elif parent >= 0:
            hang(forest, number, parent, seq, data)
        else:
            _wait(forest, number, seq, id, str(declared))
    serial = data.get("serial")
    if serial is not None and number not in forest.serials:
        forest.serials.record(number, seq, serial)
        if forest.parents[number] >= 0:
            reorder(forest, forest.parents[number], seq)
    _describe(forest, number, seq, data, conversation)


def _above(forest: Forest, id: str, data: Data) -> tuple[str, str | None, int]:
    """Conversation, the parent that is named, and its number, ROOT or UNKNOWN.

    What names no conversation is in its parent's; a sub-agent's first message begins one of its own.
    """
    conversation = data.get("conversation_id")
    if not conversation and isinstance(data.get("nested_in"), Mapping):
        conversation = id
    if "parent_id" not in data:
        conversation = conversation or "main"
        return conversation, None, forest.newest.get(conversation, ROOT)
    declared = data["parent_id"]
    if declared is None:
        return conversation or "main", None, ROOT
    parent = forest.find(declared)
    if parent < 0:
        return conversation or "main", declared, UNKNOWN
    return conversation or forest.conversations.get(parent, "main"), declared, parent


def _describe(forest: Forest, number: int, seq: int, data: Data, conversation: str) -> None:
    """What else the event says of a message that has its place."""
    nested = data.get("nested_in")
    if isinstance(nested, Mapping):
        forest.nested_under(number, str(nested.get("message_id") or ""))
    turn = data.get("turn_id")
    if isinstance(turn, str):
        forest.turns.setdefault(turn, []).append(number)
    if "message_number" in data:
        number_message(forest, number, seq, data)
    forest.lead(conversation, number, seq)
    fork_of = data.get("fork_of")
    if isinstance(fork_of, str):
        _fork(forest, number, seq, fork_of)


def sample(forest: Forest, number: int, seq: int, data: Data) -> None:
    """A model call produced this message."""
    forest.sampled.setdefault(number, seq)
    parent = forest.parents[number]
    prompt = forest.calls.prompt(forest.step) if forest.step is not None else None
    last = -1 if prompt is None else forest.find(prompt)
    strayed = parent >= 0 and last >= 0 and last != parent and not forest.calls.is_of(parent, forest.step)
    forest.calls.sampled(number, forest.step, data, strayed)


# -- parents ---------------------------------------------------------------------------------


def _wait(forest: Forest, number: int, seq: int, id: str, parent: str) -> None:
    wanted = forest.resolve(parent)
    if wanted == id or parent == id:
        forest.attach(number, number, seq)
        return
    forest.waiting.setdefault(wanted, []).append(number)


def arrived(forest: Forest, id: str, number: int, seq: int) -> None:
    """Messages may have been waiting for this one."""
    for waiter in forest.waiting.pop(id, ()):
        hang(forest, waiter, number, seq)


def hang(forest: Forest, number: int, parent: int, seq: int, data: Data | None = None) -> None:
    """Attach a message that waited, as if its parent had been there first; `data` placed it."""
    role = forest.roles[number]
    call_id = None
    if role == "tool" or parent in forest.tool_sets or parent in forest.set_of:
        if data is None:
            data = forest.placed_by(number)
        call_id = data.get("tool_call_id") if role == "tool" else None
        call_id = None if call_id is None else str(call_id)
        chained = call_id is not None or parent in forest.tool_sets or parent in forest.set_of
        if chained and data.get("exact") is not True:
            target = _in_set(forest, parent, number, seq, call_id)
            forest.attach(number, target, seq)
            reorder(forest, parent, seq)
            return
    forest.attach(number, parent, seq)


def _in_set(forest: Forest, parent: int, number: int, seq: int, call_id: str | None) -> int:
    above = forest.set_of.get(parent, parent)
    found = forest.tool_sets.get(above)
    if found is None:
        found = forest.tool_sets[above] = ToolSet(above)
        # Children that were there before are told, in case a serial puts them after.
        for child in forest.children_at(above, seq):
            found.tell(child, None)
    found.tell(number, call_id)
    target = found.place(number, call_id)
    if call_id is not None:
        forest.set_of.setdefault(number, above)
        if found.tail != number:
            del forest.set_of[number]  # another answer to a call: a branch of its own
    return target


def reorder(forest: Forest, parent: int, seq: int) -> None:
    """A serial has come: the chain of tool results is the one it asks for."""
    above = forest.set_of.get(parent, parent)
    found = forest.tool_sets.get(above)
    if found is None:
        return
    last = len(forest.ids)
    ordered = sorted(
        (item for item in found.below if item[0] < last), key=lambda item: forest.order_key(item[0], seq)
    )
    for number, parent_now in found.replace(ordered):
        forest.move(number, parent_now, seq)


# -- order, numbers, versions ----------------------------------------------------------------


def number_message(forest: Forest, number: int, seq: int, data: Data) -> None:
    session, count = data.get("session_id"), data["message_number"]
    forest.by_number[(session, count)] = number
    before = forest.high_water.get(session)
    if before is not None and isinstance(count, int) and count > before + 1:
        forest.note(seq, "number_gap", f"message {count} of session {session} came after {before}")
    if isinstance(count, int):
        forest.high_water[session] = max(count, before or 0)


def _fork(forest: Forest, number: int, seq: int, fork_of: str) -> None:
    target = forest.find(fork_of)
    if target < 0:
        forest.forks_waiting.setdefault(forest.resolve(fork_of), []).append(number)
    elif target != number:
        join(forest, number, target, seq)


def join(forest: Forest, number: int, target: int, seq: int) -> None:
    """`number` is another version of `target`, if they stand at the same place (D4)."""
    if forest.parents[number] != forest.parents[target]:
        if UNKNOWN not in (forest.parents[number], forest.parents[target]):
            forest.note(
                seq,
                "fork_parent_mismatch",
                f"message {forest.ids[number]} is no version of {forest.ids[target]}: another parent",
            )
        return
    first = forest.groups.last(target, target)
    mine = forest.groups.last(number, number)
    if first == mine:
        return
    members = forest.versions.get(first, (first,))
    for member in forest.versions.get(mine, (mine,)):
        forest.groups.record(member, seq, first)
        members = joined(members, member)
    forest.versions[first] = members
