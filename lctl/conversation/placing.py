"""Where a message belongs: below its parent, in its turn's tool results, among its versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.conversation.forest import ROOT, UNKNOWN, Forest
from lctl.conversation.toolsets import ToolSet

Data = Mapping[str, Any]


def place(forest: Forest, id: str, seq: int, data: Data, content: int) -> int:
    """A new message where its event says it belongs; its number."""
    role = data.get("role") or ""
    conversation = data.get("conversation_id") or "main"
    declared: str | None = None
    if "parent_id" not in data:
        parent = forest.newest.get(conversation, ROOT)
    else:
        declared = data["parent_id"]
        parent = ROOT if declared is None else forest.find(declared)
        if declared is not None and parent < 0:
            parent = UNKNOWN
    call_id = data.get("tool_call_id") if role == "tool" else None
    above = parent
    if parent >= 0 and (call_id is not None or parent in forest.tool_sets or parent in forest.set_of):
        parent = _in_set(forest, parent, len(forest.ids), data, call_id)
    number = forest.add(id, seq, role, parent, content)
    serial = data.get("serial")
    if serial is not None:
        forest.serials.record(number, seq, serial)
        if above >= 0:
            reorder(forest, above, seq)
    if conversation != "main":
        forest.conversations[number] = conversation
    if parent == UNKNOWN and declared is not None:
        _wait(forest, number, seq, id, str(declared))
    nested = data.get("nested_in")
    if isinstance(nested, Mapping):
        forest.nested_under(number, str(nested.get("message_id") or ""))
    turn = data.get("turn_id")
    if turn is not None:
        forest.turns.setdefault(turn, []).append(number)
    if "message_number" in data:
        _number(forest, number, seq, data)
    forest.lead(conversation, number, seq)
    if forest.waiting:
        _arrived(forest, id, number, seq)
    fork_of = data.get("fork_of")
    if fork_of is not None:
        _fork(forest, number, seq, fork_of)
    if forest.forks_waiting and id in forest.forks_waiting:
        for waiter in forest.forks_waiting.pop(id):
            join(forest, waiter, number, seq)
    return number


# -- parents ---------------------------------------------------------------------------------


def _wait(forest: Forest, number: int, seq: int, id: str, parent: str) -> None:
    wanted = forest.resolve(parent)
    if wanted == id or parent == id:
        forest.attach(number, number, seq)
        return
    forest.waiting.setdefault(wanted, []).append(number)


def _arrived(forest: Forest, id: str, number: int, seq: int) -> None:
    """Messages may have been waiting for this one."""
    for waiter in forest.waiting.pop(id, ()):
        hang(forest, waiter, number, seq)


def hang(forest: Forest, number: int, parent: int, seq: int) -> None:
    """Attach a message that waited, as if its parent had been there first."""
    role = forest.roles[number]
    call_id = None
    if role == "tool" or parent in forest.tool_sets or parent in forest.set_of:
        data = forest.data_at(forest.contents[number]) if forest.contents[number] else {}
        call_id = data.get("tool_call_id") if role == "tool" else None
        if call_id is not None or parent in forest.tool_sets or parent in forest.set_of:
            target = _in_set(forest, parent, number, data, call_id)
            forest.attach(number, target, seq)
            reorder(forest, parent, seq)
            return
    forest.attach(number, parent, seq)


def _in_set(forest: Forest, parent: int, number: int, data: Data, call_id: str | None) -> int:
    above = forest.set_of.get(parent, parent)
    found = forest.tool_sets.get(above)
    if found is None:
        found = forest.tool_sets[above] = ToolSet(above)
        # Children that were there before are told, in case a serial puts them after.
        found.below += [(child, None) for child in forest.children_at(above, forest.seq)]
    found.below.append((number, call_id))
    target = found.place(number, call_id)
    if call_id is not None:
        forest.set_of.setdefault(number, above)
        if found.parents.get(number) is None:
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


def _number(forest: Forest, number: int, seq: int, data: Data) -> None:
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
    members = forest.versions.setdefault(first, [first])
    for member in forest.versions.get(mine, [mine]):
        forest.groups.record(member, seq, first)
        members.append(member)
    members.sort()
