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
    origins, statuses = forest.origins, forest.statuses
    first = forest.add_chain([f"{own}+{count}" for count in range(1, len(way) + 1)], seq, way, number)
    copies = range(first, first + len(way))
    origins.update(zip(copies, list(map(origins.get, way, way)), strict=True))
    if statuses:
        for copy, original in zip(copies, way, strict=True):
            if original in statuses and (status := forest.status_at(original, seq)) != "complete":
                statuses.record(copy, seq, status)
    if conversation is not None:
        forest.conversations.fill(copies, conversation)
    forest.lead(conversation or "main", copies[-1], seq)


def _stretch(forest: Forest, carried: Any, seq: int) -> list[int] | None:
    """The path between two messages, both included; None where the first is not above the last."""
    if not isinstance(carried, list | tuple) or len(carried) != 2:
        return None
    first, last = forest.find(str(carried[0])), forest.find(str(carried[1]))
    if first < 0 or last < 0:
        return None
    way: list[int] = []
    parents, at = forest.parents, last
    for _ in range(len(parents)):  # no longer: parents may go in a circle
        if at < 0 or at == first:
            break
        way.append(at)
        at = parents[at]
    if at != first:
        return None
    way.append(first)
    way.reverse()
    return way
