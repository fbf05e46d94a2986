"""What a log that is gone on with holds already: prompts are found in it, and not recorded again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl.instrument.codecs.responses import UNDER_WAY
from lctl.instrument.continuing import LATER
from lctl.record.recorder import Draft
from lctl.session.found import TREE, empty_tree, found_events

if TYPE_CHECKING:
    from lctl.instrument.conversation import Conversations
    from lctl.session import LCTLSession

#: Events that say what is not recorded a second time.
_KNOWN = ("step_start", "step_end", "tool_call")


def learn(conversations: Conversations, session: LCTLSession) -> None:
    """Know what the log held when the session opened it."""
    tree, known = empty_tree(session), list[Draft]()
    begun: dict[Any, dict[str, Any]] = {}  # starts of responses that go on in the background, by seq
    for event in found_events(session, (*TREE, *_KNOWN)):
        kind, data = event["type"], event.get("data") or {}
        if kind in TREE:
            tree.append(event)
            continue
        if kind == "step_start" and (
            (data.get("params") or {}).get("background") or data.get("operation") in LATER
        ):
            begun[event["seq"]] = data
        elif kind == "step_end" and data.get("response_id"):
            start = begun.pop(event.get("step"), None)
            if start is not None and data.get("finish_reason") in UNDER_WAY:
                conversations.learn_begun(start, data["response_id"])
            else:
                conversations.begun.pop(data["response_id"], None)
        known.append((kind, str(event.get("agent", "")), data, event.get("step")))
    for node in tree:
        conversations.learn_message(node, node.message)
    for hash in tree.forest.blobs:
        conversations.note_blob(hash)
    conversations.learn_events(known)
