"""Conversations that began while a tool's body ran: which tool call they are inside of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lctl.state.messages import tool_calls_of

if TYPE_CHECKING:
    from lctl.conversation.forest import Forest

#: Messages before a sub-agent's first one among which the one that asked for the tool is looked for.
_NEAR = 256


def adopt(forest: Forest, seq: int, data: Mapping[str, Any]) -> None:
    """What a `tool_call` says of the conversations that began in it: their first messages, or the events that
    its body has recorded."""
    call_id = data.get("call_id")
    call_id = call_id if isinstance(call_id, str) else None
    roots, host = data.get("nested"), data.get("message_id")
    if isinstance(roots, list) and isinstance(host, str):
        for id in roots:
            number = forest.find(str(id))
            if number >= 0:
                forest.adopt_nested(number, host, call_id, seq)
        return
    tape = data.get("tape")
    inside = tape.get("inside") if isinstance(tape, Mapping) else None
    if not isinstance(inside, list):
        return
    for number in _roots(forest, inside):
        found = _asking(forest, number, call_id, data)
        if found is not None:
            forest.adopt_nested(number, *found, seq)


def _roots(forest: Forest, inside: list[Any]) -> list[int]:
    """First messages of conversations among the events of these ranges of seqs."""
    found: list[int] = []
    for one in inside:
        if not (isinstance(one, list) and len(one) == 2 and all(isinstance(n, int) for n in one)):
            continue
        number = bisect_left(forest.seqs, one[0])
        while number < len(forest.seqs) and forest.seqs[number] <= one[1]:
            if forest.parents[number] == -1:
                found.append(number)
            number += 1
    return found


def _asking(
    forest: Forest, before: int, call_id: str | None, data: Mapping[str, Any]
) -> tuple[str, str | None] | None:
    """The message before this one that asked for the tool, and the id of the call: the one of that id, or
    where the event has none the newest that names the tool and gives it what it got."""
    given = data.get("input")
    for number in range(before - 1, max(-1, before - _NEAR), -1):
        if forest.roles[number] != "assistant" or not forest.contents[number]:
            continue
        for call in tool_calls_of(forest.data_at(forest.contents[number])):
            id = call.get("id")
            id = id if isinstance(id, str) else None
            fits = id == call_id if call_id is not None else call.get("name") == data.get("tool")
            if fits and (call_id is not None or _asks_for(call.get("arguments"), given)):
                return forest.ids[number], id
    return None


def _asks_for(asked: Any, given: Any) -> bool:
    """A model leaves out what has a default; whoever reports the run does not."""
    if isinstance(asked, Mapping) and isinstance(given, Mapping):
        return all(name in given and given[name] == value for name, value in asked.items())
    return bool(asked == given)
