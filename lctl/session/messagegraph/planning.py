"""A change of a list as events: the fewest messages that put it on its path (CONVERSATIONS section 3).

Replaced: the new message is a fork of the old one and carries what follows. Inserted: it carries what
followed. Deleted: a copy of the next message carries the rest. Cut at the end: nothing, the next message
is below an earlier one. A path that was there already is found again, with no event.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from lctl.conversation.blobs import take_blobs
from lctl.conversation.node import RESERVED
from lctl.record.recorder import Draft
from lctl.session.messagegraph.differing import Change, Kept, New, Piece, kind_of
from lctl.session.messagegraph.lineage import Lineage
from lctl.session.messagegraph.route import Position, Route

Undo = Callable[[], None]
Place = tuple[str, int | None]


class Plan:
    """The drafts of one change. `undo` takes back what planning them changed, last first."""

    def __init__(self, first: int, place: Place) -> None:
        self.first = first
        self.agent, self.step = place
        self.drafts: list[Draft] = []
        self.undo: list[Undo] = []

    def add(self, data: dict[str, Any]) -> str:
        id = data["message_id"] = f"m{self.first + len(self.drafts)}"
        self.drafts.append(("message", self.agent, data, self.step))
        return id


def told_of(message: dict[str, Any], plan: Plan, known: set[str]) -> dict[str, Any]:
    """What an event says of a message, maybe the message itself. Large values get events of their own, but
    for those whose hash is in `known`."""
    stored, blobs = take_blobs(message)
    for blob in blobs:
        if blob["hash"] not in known:
            known.add(blob["hash"])
            plan.undo.append(partial(known.discard, blob["hash"]))
            plan.drafts.append(("blob", plan.agent, blob, plan.step))
    if RESERVED.isdisjoint(stored):
        return stored
    theirs = {name: stored[name] for name in stored if name in RESERVED}
    stored = {name: value for name, value in stored.items() if name not in RESERVED}
    return {**stored, "wire": theirs}


class Planner:
    """Puts `route` and `keys` on the path that a changed list asks for.

    Args:
        message_at: what is at a place of the changed list.
        root_fields: of the first message of a conversation.
        blobs: hashes of the large values that have an event.
    """

    def __init__(
        self,
        lineage: Lineage,
        route: Route,
        keys: list[bytes],
        message_at: Callable[[int], dict[str, Any]],
        root_fields: dict[str, Any],
        blobs: set[str],
    ) -> None:
        self.lineage = lineage
        self.route = route
        self.keys = keys
        self._message_at = message_at
        self._root_fields = root_fields
        self._blobs = blobs

    def apply(self, change: Change, plan: Plan) -> None:
        """Change the path, adding the drafts that this takes."""
        reason = kind_of(change, self.route.length)
        old = self.route.copy() if change.start < self.route.length else self.route
        old_keys = self.keys[change.start :]
        self.route.cut(change.start)
        del self.keys[change.start :]
        rest = self._walk(change, old_keys)
        walked = len(self.keys) > change.start
        emitted = False
        while rest:
            head = rest.pop(0)
            kept: Kept | None = None
            below = rest[0] if rest else None
            if isinstance(head, Kept):
                if head.stop - head.first > 1:
                    kept = Kept(head.first + 1, head.stop)
            elif isinstance(below, Kept):
                kept = below
                del rest[0]
            message = self._message_at(len(self.keys))
            if isinstance(head, Kept):
                key = old_keys[head.first - change.start]
                data: dict[str, Any] = {"copy_of": old.id(head.first), "role": message.get("role", "")}
            else:
                key = head.key
                data = dict(told_of(message, plan, self._blobs))
            why = reason
            if not emitted and not walked and isinstance(head, New):
                why = self._relate(data, message, head, change, old, reason)
            self._emit(plan, data, message, key, kept, old, old_keys, change.start, None if emitted else why)
            emitted = True

    def _walk(self, change: Change, old_keys: list[bytes]) -> list[Piece]:
        """Go on along messages that are there; the pieces for which there are none."""
        at = self.route.last
        pieces = list(change.pieces)
        while pieces:
            head = pieces[0]
            if isinstance(head, Kept):
                for place in range(head.first, head.stop):
                    key = old_keys[place - change.start]
                    found = self.lineage.child(at, key)
                    if found is None:
                        pieces[0] = Kept(place, head.stop)
                        return pieces
                    at = self._step(found, key)
            else:
                found = self.lineage.child(at, head.key)
                if found is None:
                    return pieces
                at = self._step(found, head.key)
            pieces.pop(0)
        return pieces

    def _step(self, found: Position, key: bytes) -> Position:
        self.route.add(*found)
        self.keys.append(key)
        return found

    def _relate(
        self,
        data: dict[str, Any],
        message: dict[str, Any],
        head: New,
        change: Change,
        old: Route,
        reason: str | None,
    ) -> str | None:
        """Say which message this one stands in the place of; the reason that tells."""
        if reason in ("edit", "compaction"):
            replaced = old.id(change.start)
            data["fork_of"] = replaced
            if reason == "compaction":
                kept = next((piece.first for piece in change.pieces if isinstance(piece, Kept)), old.length)
                data["replaces"] = [replaced, old.id(kept - 1)]
            reply = self.lineage.sampled.get(replaced)
        elif reason is None and message.get("role") == "assistant":
            # Appended in the place of what the model has just said there.
            reply = self.lineage.answer_to(self.route.tip)
            if reply is not None:
                data["fork_of"] = reply.id
                reason = "edit"
        else:
            return reason
        if reply is not None and reply.is_without_reasoning(message, head.key):
            return "reasoning_stripped"
        return reason

    def _emit(
        self,
        plan: Plan,
        data: dict[str, Any],
        message: dict[str, Any],
        key: bytes,
        kept: Kept | None,
        old: Route,
        old_keys: list[bytes],
        start: int,
        reason: str | None,
    ) -> None:
        at = self.route.last
        told: dict[str, Any] = {"message_id": "", "parent_id": self.route.tip, **self.lineage.fields}
        if at is None:
            told |= self._root_fields
        told |= data
        if self.lineage.needs_exact(at, message):
            told["exact"] = True
        carried: list[bytes] = []
        if kept is not None:
            told["carry"] = [old.id(kept.first), old.id(kept.stop - 1)]
            carried = old_keys[kept.first - start : kept.stop - start]
        id = plan.add(told)
        if reason is not None:
            self.lineage.reasons[id] = reason
        if "fork_of" in told:
            self.lineage.replaced[id] = told["fork_of"]
        plan.undo.append(self.lineage.add(id, at, key, message, carried))
        self.route.add(id, 0)
        self.keys.append(key)
        if carried:
            self.route.add(id, 1, len(carried))
            self.keys += carried
