"""Where one run was forked from another, as their headers say."""

from __future__ import annotations

from typing import Any

from lctl.codec import Log
from lctl.values import items


def fork_point(left: Log, right: Log) -> dict[str, Any] | None:
    """Where one of the runs was forked from the other, and with which edits; None where neither was."""
    for one, other in ((right, left), (left, right)):
        parent, made = one.chain.get("parent"), one.chain.get("fork")
        if isinstance(parent, dict) and isinstance(made, dict) and other.id and parent.get("id") == other.id:
            return {"seq": parent.get("seq"), "fork": one.id, "edits": items(made.get("edits"))}
    return None
