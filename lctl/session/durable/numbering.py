"""Messages of a session by number: which of those given it has already, and the events of the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lctl.errors import UsageError
from lctl.record.recorder import Draft
from lctl.session.durable.writing import as_stored, captured, same_message

if TYPE_CHECKING:
    from lctl.conversation.node import Node
    from lctl.session.durable.session import Session


def fresh(
    session: Session, messages: list[dict[str, Any]], number: int | None
) -> tuple[list[dict[str, Any]], int]:
    """Those of them that are not there yet, and the number of the last one that is."""
    new: list[dict[str, Any]] = []
    done = 0
    for offset, message in enumerate(messages):
        there = None if new else _there(session, message, None if number is None else number + offset)
        if there is None:
            new.append(message)
        else:
            done = there
    return new, done


def _there(session: Session, message: dict[str, Any], number: int | None) -> int | None:
    if number is not None:
        if number > session.high_water:
            return None
        known = session.between(number - 1, number)
        if known and not same_message(known[0], _seen(as_stored(session.log, message))):
            raise UsageError(
                f"message {number} of session {session.id} says something else; the next one is "
                f"{session.high_water + 1}"
            )
        return number
    for turn in reversed(session.turns):
        if turn.redelivery is not None:
            n = turn.redelivery.take(_seen(message))
            return None if n is None else turn.from_number + n + 1
    return None


def drafts(session: Session, messages: list[dict[str, Any]], first: int) -> list[Draft]:
    """The events of messages after those there are, numbered from `first`."""
    place, tip = session.log.frame(), session.tip
    above = None if tip is None else tip.id
    following = _begun(session) if tip is None else tip.children
    made: list[Draft] = []
    for number, message in enumerate(messages, first):
        seen = captured(session.log, following, message)
        if seen is not None:
            following, above = seen.children, seen.id
            made.append(("message", place.agent, _claimed(session, seen.id, number), place.step))
            continue
        following = []
        placed = {
            "message_id": f"{session.id}/{number}",
            "parent_id": above,
            "conversation_id": session.conversation,
            "session_id": session.id,
            "message_number": number,
        }
        made.append(("message", place.agent, {**placed, **message}, place.step))
        above = str(made[-1][2]["message_id"])
    return made


def _begun(session: Session) -> list[Node]:
    """First messages of conversations since the session's start: the question of one without seeds may have
    been asked before it is recorded."""
    return [root for root in session.tree.roots if root.seq > session.start_seq]


def _claimed(session: Session, id: str, number: int) -> dict[str, Any]:
    """A message that is in the log already: only whose it is."""
    return {
        "message_id": id,
        "conversation_id": session.conversation,
        "session_id": session.id,
        "message_number": number,
    }


def _seen(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as `messages` shows it."""
    from lctl.conversation.recorded import PLACE_KEYS

    return {key: value for key, value in message.items() if key not in PLACE_KEYS}
