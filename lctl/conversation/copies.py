"""Edits that keep what follows: a message with another's content, and a stretch of path carried below it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.conversation.forest import Forest

Data = Mapping[str, Any]


def copy(forest: Forest, number: int, seq: int, data: Data) -> None:
    """What `copy_of` and `carry` ask for."""
    source = data.get("copy_of")
    if isinstance(source, str):
        found = forest.find(source)
        if found < 0 or found == number:
            forest.note(seq, "bad_carry", f"message {forest.ids[number]} copies {source}, which is not there")
        else:
            forest.origins[number] = forest.origins.get(found, found)
    carried = data.get("carry")
    if carried is not None:
        _carry(forest, number, seq, carried)


def _carry(forest: Forest, number: int, seq: int, carried: Any) -> None:
    """The messages from the first to the last of `carried`, as copies below `number`.

    Their ids are `<message id>+1`, `+2`, ...; they were sampled by nobody.
    """
    way = _stretch(forest, carried, seq)
    if way is None or number in way:
        forest.note(seq, "bad_carry", f"message {forest.ids[number]} carries {carried!r}, which is no path")
        return
    own = forest.ids[number]
    conversation = forest.conversations.get(number)
    parent = number
    add, roles, contents, origins = forest.add, forest.roles, forest.contents, forest.origins
    statuses = forest.statuses
    for count, original in enumerate(way, 1):
        parent = add(f"{own}+{count}", seq, roles[original], parent, contents[original])
        origins[parent] = origins.get(original, original)
        if original in statuses and (status := forest.status_at(original, seq)) != "complete":
            statuses.record(parent, seq, status)
        if conversation is not None:
            forest.conversations[parent] = conversation
    forest.lead(conversation or "main", parent, seq)


def _stretch(forest: Forest, carried: Any, seq: int) -> list[int] | None:
    """The path between two messages, both included; None where the first is not above the last."""
    if not isinstance(carried, list | tuple) or len(carried) != 2:
        return None
    first, last = forest.find(str(carried[0])), forest.find(str(carried[1]))
    if first < 0 or last < 0:
        return None
    way: list[int] = []
    at = last
    while at >= 0 and at != first and len(way) <= len(forest.ids):
        way.append(at)
        at = forest.parents[at]
    if at != first:
        return None
    way.append(first)
    way.reverse()
    return way
