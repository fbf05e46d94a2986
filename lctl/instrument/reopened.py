"""What a log that is gone on with holds already: prompts are found in it, and not recorded again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lctl.conversation.blobs import put_back
from lctl.conversation.tree import Tree
from lctl.record.recorder import Draft
from lctl.session.found import TREE, found_events

if TYPE_CHECKING:
    from lctl.instrument.conversation import Conversations
    from lctl.session import LCTLSession

#: Events that say what is not recorded a second time.
_KNOWN = ("blob", "step_start", "step_end", "tool_call")


def learn(conversations: Conversations, session: LCTLSession) -> None:
    """Know what the log held when the session opened it."""
    tree, known, blobs = Tree.of(()), list[Draft](), dict[str, str]()
    for event in found_events(session, (*TREE, *_KNOWN)):
        kind, data = event["type"], event.get("data") or {}
        if kind in TREE:
            tree.append(event)
            continue
        if kind == "blob":
            blobs[str(data.get("hash"))] = str(data.get("content"))
        known.append((kind, str(event.get("agent", "")), data, event.get("step")))
    for node in tree:
        message = node.message
        conversations.learn_message(node, put_back(message, blobs) if blobs else message)
    conversations.learn_events(known)
