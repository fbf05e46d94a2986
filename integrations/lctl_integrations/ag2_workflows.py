"""Workflows of ag2's network: who hands over to whom, where a turn ends with a tool that routes."""

from __future__ import annotations

from typing import Any

from lctl.guard import guarded
from lctl.session.default import get_session


def built(wrapped: Any, adapter: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped, which makes of a turn what others hear of it:
    (metadata, sender_id, reply, events, state, hub)."""
    envelope = wrapped(*args, **kwargs)
    _told(adapter, envelope, *args[4:], **kwargs)
    return envelope


@guarded("a hand-off of ag2")
def _told(adapter: Any, envelope: Any, state: Any = None, hub: Any = None, **_: Any) -> None:
    session = get_session()
    if session is None or envelope is None:
        return
    routing = envelope.event_data.get("routing") or {}
    if routing.get("kind") != "handoff":
        return
    # A tool says to whom, or the graph does, by which tool it was.
    to = routing.get("target") or adapter.fold(envelope, state).expected_next_speaker
    if to is not None:
        giver = hub.name_for(envelope.sender_id)
        session.handoff(hub.name_for(to), agent=giver, reason=routing.get("reason") or None)
