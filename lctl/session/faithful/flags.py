"""Events of asyncio and of threading: they hold whether they are set, and others may wait for that."""

from __future__ import annotations

from typing import Any

#: By the module of its class, the attribute that says so.
_FLAGS = {"asyncio.locks": "_value", "threading": "_flag"}
_SET = "set"


def is_event(kind: type) -> bool:
    return kind.__name__ == "Event" and kind.__module__ in _FLAGS


def parts_of(event: Any) -> dict[str, bool]:
    """Without asking it: of a thread's event it would be noted who asked."""
    return {_SET: bool(getattr(event, _FLAGS[type(event).__module__], False))}


def change(event: Any, parts: dict[str, Any]) -> None:
    """As `parts_of` said of it."""
    if parts.get(_SET):
        event.set()
    else:
        event.clear()
