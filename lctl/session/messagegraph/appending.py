"""One message at the end of a path: what most changes of a list are, so it is planned with few calls."""

from __future__ import annotations

from typing import Any

from lctl.session.messagegraph.lineage import Lineage
from lctl.session.messagegraph.planning import Plan, told_of
from lctl.session.messagegraph.route import Route, id_of


def append_message(
    message: dict[str, Any],
    key: bytes,
    lineage: Lineage,
    route: Route,
    keys: list[bytes],
    root_fields: dict[str, Any],
    blobs: set[str],
    plan: Plan,
) -> None:
    """`Planner.apply` of that change: the same event, if it takes one."""
    at = route.last
    found = lineage.child(at, key)
    keys.append(key)
    if found is not None:
        route.add(*found)
        return
    parent = None if at is None else id_of(at)
    stored = told_of(message, plan, blobs)
    told = {"message_id": "", "parent_id": parent, **lineage.fields, **stored}
    if parent is None and root_fields:
        told = {"message_id": "", "parent_id": None, **lineage.fields, **root_fields, **stored}
    # In the place of what the model has just said there:
    reply = lineage.answer_to(parent) if message.get("role") == "assistant" else None
    if reply is not None:
        told["fork_of"] = reply.id
    if lineage.needs_exact(at, message):
        told["exact"] = True
    id = plan.add(told)
    if reply is not None:
        stripped = reply.is_without_reasoning(message, key)
        lineage.reasons[id] = "reasoning_stripped" if stripped else "edit"
        lineage.replaced[id] = reply.id
    plan.undo.append(lineage.add(id, at, key, message, []))
    route.add(id, 0)
