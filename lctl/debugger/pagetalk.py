"""The conversations of an exported page. Each message is there once, with the one above it: a path to any
message, as of any event, is followed up from it, however many branches there are.

    places      where each is in `messages`, in the order they were said
    above       which of these stands above it; -1: none that the page holds
    tops        which of the conversations it is in; -1: of none that is listed
    depths      how many there are from the first to it, in the log
    said        by conversation: seqs of its messages, those that the page does not hold too
    forks       by conversation: seqs at which a branch more began
    calls       by conversation: seqs and costs of the calls that were answered in it
    lacking     messages that there is no room for
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from lctl.analysis.branches import Shape
from lctl.conversation.node import Node
from lctl.debugger.opened import Opened
from lctl.debugger.packing import Packing
from lctl.debugger.shapes.conversation import ConversationRow, Conversations, Message
from lctl.debugger.talking import costs_of
from lctl.debugger.views.calls import messages_of
from lctl.debugger.views.conversations import ConversationsAsked, conversations

#: Bytes of messages, those that were said last first.
_BYTES = 48 << 20
_LISTED = 5000
_PIECE = 200


def listed(run: Opened, at: int) -> Conversations:
    """The conversations that began last, as of an event."""
    found: list[ConversationRow] = []
    while True:
        piece = conversations(run, ConversationsAsked(at=at, offset=len(found), limit=1000))
        found += piece.conversations
        if piece.next is None:
            return msgspec.structs.replace(piece, conversations=_newest(found), next=None)


def _newest(found: list[ConversationRow]) -> list[ConversationRow]:
    if len(found) <= _LISTED:
        return found
    first = sorted(one.first for one in found)[-_LISTED]
    return [one for one in found if one.first >= first][-_LISTED:]


def talk_of(run: Opened, rows: list[ConversationRow], at: int, packing: Packing) -> dict[str, Any]:
    """What was said up to an event. `rows`: the conversations that are listed."""
    tree = run.chain.tree.at(at)
    shape = Shape(tree, costs_of(run).by_message)
    held = _held(run, shape)
    ids = {one.root: n for n, one in enumerate(rows)}
    row_of = {top: ids.get(tree.forest.ids[top], -1) for top in shape.tops}
    numbers = sorted(held)
    index = {number: n for n, number in enumerate(numbers)}
    tops = [row_of.get(shape.top_of[number], -1) for number in numbers]
    return {
        "places": [packing.place(held[number]) for number in numbers],
        "above": [_above(shape, number, index) for number in numbers],
        "tops": tops,
        "depths": [max(1, shape.messages[number]) for number in numbers],
        **_growth(shape, row_of, len(rows)),
        "lacking": len(tree) - len(numbers),
    }


def _held(run: Opened, shape: Shape) -> dict[int, Message]:
    """Messages by number, as many as there is room for."""
    found: dict[int, Message] = {}
    left = _BYTES
    waiting = iter(range(len(shape.tree) - 1, -1, -1))
    while some := [Node(shape.tree, number) for number in islice(waiting, _PIECE)]:
        for node, one in zip(some, messages_of(run, shape.tree, some), strict=True):
            left -= len(msgspec.json.encode(one))
            if left < 0:
                return found
            found[node.number] = one
    return found


def _above(shape: Shape, number: int, index: dict[int, int]) -> int:
    """Of messages that are their own ancestors none: whoever follows them would not come to an end."""
    if shape.top_of[number] < 0:
        return -1
    return index.get(shape.tree.forest.parent_at(number, shape.tree.seq), -1)


def _growth(shape: Shape, row_of: dict[int, int], count: int) -> dict[str, list[list[Any]]]:
    """How the conversations came to be what they are."""
    forest = shape.tree.forest
    said: list[list[Any]] = [[] for _ in range(count)]
    forks: list[list[Any]] = [[] for _ in range(count)]
    calls: list[list[Any]] = [[] for _ in range(count)]
    seen: set[tuple[int, str]] = set()
    later = {*_later(shape)}
    for number, top in enumerate(shape.top_of):
        row, seq = row_of.get(top, -1), forest.seqs[number]
        if row < 0:
            continue
        said[row].append(seq)
        if number in later:
            forks[row].append(seq)
        paid = shape.paid(number)
        if paid is not None and (row, paid.key) not in seen:
            seen.add((row, paid.key))
            calls[row].append([seq, paid.cost])
    return {"said": said, "forks": forks, "calls": calls}


def _later(shape: Shape) -> Iterator[int]:
    """Messages that came to stand beside one that was there."""
    for below in shape.children.values():
        first = min(below)
        yield from (number for number in below if number != first)
