"""Messages as events of a session: numbered, placed, and not written twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from lctl.conversation.identity import identity
from lctl.conversation.items import group, is_item
from lctl.conversation.sdkobjects import no_message, own_copy
from lctl.errors import UsageError
from lctl.interrupts import let_cause_through
from lctl.session import border, jsonable
from lctl.session.found import recorded_here, stored_data
from lctl.session.redaction.scrub import Scrubber

if TYPE_CHECKING:
    from lctl.conversation.node import Node
    from lctl.session.session import LCTLSession

#: Keys of a message event that a message's own keys must not take the place of.
_OURS = frozenset(
    {
        *("message_id", "parent_id", "conversation_id", "turn_id", "session_id", "message_number"),
        *("serial", "fork_of", "replaces", "copy_of", "carry"),
    }
)


def messages_data(given: Iterable[Any], data: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Messages of any shape as the keys of their events: dicts, SDKs' objects, a user's words. Items of the
    Responses API are the messages that they form. `data`: more keys for each of them.

    Raises:
        UsageError: one is none of these: a list of messages, perhaps, or it does not say whose it is.
    """
    more = data or {}
    made = [_plain(one) for one in given]
    for one in made:
        if not (isinstance(more.get("role", one.get("role")), str) or is_item(one) or "parts" in one):
            keys = ", ".join(map(str, one)) or "no keys"
            raise UsageError(f"a dict without a role is no message (it has {keys}): say whose it is")
    formed = group(made)[0] if any(map(is_item, made)) else made
    return [{**_placed(one), **more} for one in formed]


def _plain(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        return {"role": "user", "content": given}
    why = no_message(given)
    if why is not None:
        raise UsageError(why)
    made = jsonable.plain(own_copy(given))
    if not isinstance(made, dict):
        return {"role": "user", "content": made}
    if made.get("type") == "message" and "stop_reason" in made:  # Anthropic's, as a dict
        return {"role": made.get("role"), "content": made.get("content")}
    if isinstance(given, Mapping):
        return made
    # An SDK's object has a field for everything there might be.
    return {key: value for key, value in made.items() if value is not None or key == "content"}


def _placed(message: dict[str, Any]) -> dict[str, Any]:
    """With its own keys that an event has for itself out of the way."""
    ours = _OURS | {"status"} if is_item(message) else _OURS
    theirs = {key: message[key] for key in message if key in ours}
    if not theirs:
        return message
    return {key: value for key, value in message.items() if key not in theirs} | {"wire": theirs}


def as_stored(log: LCTLSession, data: dict[str, Any]) -> dict[str, Any]:
    """What the log would hold of a message: JSON, without secrets."""
    event = {
        "seq": 0,
        "type": "message",
        "timestamp": "2000-01-01T00:00:00.000000Z",
        "agent": "",
        "data": data,
    }
    try:
        line = orjson.dumps(event, jsonable.default)
    except TypeError as error:
        let_cause_through(error)
        line = jsonable.encode(event)
    stored = orjson.loads(Scrubber(log.redactor, log.max_string)(line, event))
    return dict(stored["data"])


def recorded_as(log: LCTLSession, seq: int, key: str, id: str) -> str:
    """What the log has for an id that was drawn for event `seq`: in a rerun the recorded one."""
    if border.playing is None:
        return id
    try:
        return str(stored_data(recorded_here(log.store), seq)[key])
    except KeyError:
        return id


def same_message(known: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether a recorded message says what another one would; null, [] and {} say nothing."""
    return _said(known) == _said(given)


def _said(message: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if value not in (None, [], {})}


def captured(log: LCTLSession, following: list[Node], message: Mapping[str, Any]) -> Node | None:
    """Which of the messages that follow in the tree this one is, where a model call that was recorded itself
    has read it, or has given it."""
    if message.keys() & _NOTED:
        return None
    stored: dict[str, Any] | None = None
    for node in reversed(following):
        if node.status != "complete" or "session_id" in node.data or node.role != message.get("role"):
            continue
        stored = as_stored(log, dict(message)) if stored is None else stored
        if _is(node, stored):
            return node
    return None


def _is(node: Node, stored: dict[str, Any]) -> bool:
    if node.sampled:
        return _spoken(node.message) == _spoken(stored) or identity(node.message) == identity(stored)
    return same_message(node.message, stored)


#: What a program notes of a message has no place in one that was recorded without it.
_NOTED = frozenset({"details", "is_new", "timestamp", "call"})
_SPOKEN = ("content", "tool_calls", "function_call", "reasoning", "reasoning_content", "refusal")


def _spoken(message: Mapping[str, Any]) -> dict[str, Any]:
    return {key: message[key] for key in _SPOKEN if message.get(key) not in (None, "", [], {})}


class Redelivery:
    """Follows messages that are recorded once more, because what recorded them runs again.

    As long as they say what is there already, in order from the first, nothing is written. The first
    that says something else is new, and so are all after it.
    """

    def __init__(self, log: LCTLSession, there: list[dict[str, Any]]) -> None:
        self._log = log
        self._there = there
        self._next = 0

    def take(self, message: dict[str, Any]) -> int | None:
        """Which of them this is, from 0; None for a new one."""
        if self._next >= len(self._there):
            return None
        if not same_message(self._there[self._next], as_stored(self._log, message)):
            self._next = len(self._there)
            return None
        self._next += 1
        return self._next - 1
