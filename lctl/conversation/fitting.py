"""Event data as the forest can take it: any log is folded, whatever stands in its events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Data = Mapping[str, Any]

#: Keys that hold ids: a number becomes its digits, anything else that is no text is as if not there.
_IDS = frozenset(
    {
        *("message_id", "parent_id", "conversation_id", "turn_id", "session_id", "fork_of", "copy_of"),
        *("alias", "tool_call_id"),
    }
)
_WORDS = frozenset({"role", "status", "view"})
_COUNTS = frozenset({"message_number", "index"})


def fitting(data: Data) -> Data:
    """The same data where its keys are of the protocol's kinds, as nearly always; else with ids that are
    numbers as texts, and without ids, roles, counts and serials that are none."""
    for key, value in data.items():
        if value is not None and (key in _COUNTS if type(value) is str else not _fits(key, value)):
            return {key: _fixed(key, value) for key, value in data.items() if _is_kept(key, value)}
    return data


def _fits(key: str, value: Any) -> bool:
    if key in _COUNTS or key == "serial":
        return type(value) is int
    return key not in _IDS and key not in _WORDS


def _is_kept(key: str, value: Any) -> bool:
    if value is None or (key == "serial" and isinstance(value, str)):
        return True
    if key in _COUNTS or key == "serial":
        return type(value) is int
    if key in _IDS:
        return isinstance(value, str) or type(value) is int
    return key not in _WORDS or isinstance(value, str)


def _fixed(key: str, value: Any) -> Any:
    return str(value) if key in _IDS and value is not None and not isinstance(value, str) else value
