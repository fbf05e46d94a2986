"""Changes of a session's state, as its tool results tell them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple


class Mismatch(NamedTuple):
    """A change that was recorded otherwise than the messages tell it; None on the side that lacks it."""

    position: int
    recorded: Mapping[str, Any] | None
    derived: Mapping[str, Any] | None


def derive(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The changes that tool results report: their `details`, if these have a `type`, in order.

    A result that is there twice (same tool call, same details) counts once. Results of tools that report
    nothing are passed over.
    """
    found: list[dict[str, Any]] = []
    seen: dict[Any, list[Mapping[str, Any]]] = {}
    for message in messages:
        details = message.get("details")
        if not isinstance(details, Mapping) or not isinstance(details.get("type"), str):
            continue
        if message.get("role") not in ("tool", "function"):
            continue
        call = message.get("tool_call_id")
        if call is not None:
            before = seen.setdefault(call, [])
            if details in before:
                continue
            before.append(details)
        found.append(dict(details))
    return found


def mismatches(recorded: Sequence[Mapping[str, Any]], derived: Sequence[Mapping[str, Any]]) -> list[Mismatch]:
    """Where the two differ, by position."""
    found = []
    for n in range(max(len(recorded), len(derived))):
        one = recorded[n] if n < len(recorded) else None
        other = derived[n] if n < len(derived) else None
        if one != other:
            found.append(Mismatch(n, one, other))
    return found
