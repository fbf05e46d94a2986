"""Tool results beside their calls, where the provider pairs them by name and order and not by id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]


def pair(messages: Iterable[Row]) -> None:
    """Give calls of one answer ids of their own, and results the ids of their calls, in place.

    A call without an id has its function's name for one; several of one name are told apart by their order.
    """
    waiting: list[tuple[str, Row]] = []  # the id that a result may name, and the call
    for message in messages:
        if message["role"] == "assistant":
            calls = message.get("tool_calls", ())
            waiting = [(call["id"], call) for call in calls]
            taken: set[str] = set()
            for call in calls:
                id, count = call["id"], 1
                while call["id"] in taken:
                    count += 1
                    call["id"] = f"{id}_{count}"
                taken.add(call["id"])
        elif message["role"] == "tool":
            named = message["tool_call_id"]
            found = next((one for one in waiting if one[0] == named), None) or next(
                (one for one in waiting if named in ("", one[1]["function"]["name"])), None
            )
            if found is not None:
                waiting.remove(found)
                message["tool_call_id"] = found[1]["id"]
