"""Messages of a session as they were recorded: what of their events the log itself noted is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lctl.conversation.node import Node
from lctl.conversation.restoring import restored

if TYPE_CHECKING:
    from lctl.conversation.hydrated import Hydrated

#: Keys of a message event that are the log's and not what was recorded.
PLACE_KEYS = frozenset(
    {
        *("message_id", "parent_id", "conversation_id", "turn_id", "session_id", "message_number", "serial"),
        *("status", "sampled", "fork_of", "replaces", "copy_of", "carry"),
        *("nested_in", "call"),
    }
)  #: Of a recorded message, what is not for the model.
_NOTES = frozenset({"is_new", "details", "timestamp"})


class Messages(list[dict[str, Any]]):
    """Messages in order; `messages(4, 7)` are those numbered 5 to 7."""

    def __init__(self, session: Hydrated, found: Iterable[dict[str, Any]]) -> None:
        super().__init__(found)
        self._session = session

    def __call__(self, after: int = 0, to: int | None = None) -> list[dict[str, Any]]:
        """Those with after < number <= to, seeds included: what the steps between two high-water marks
        recorded."""
        return self._session.between(after, to)

    def __reduce__(self) -> Any:
        return (list, (list(self),))


def recorded(node: Node) -> dict[str, Any]:
    """A message as it was recorded."""
    data = node.data
    said = {key: value for key, value in data.items() if key not in PLACE_KEYS}
    if isinstance(said.get("wire"), Mapping):  # the message's own values of such keys
        said |= said.pop("wire")
    return restored(node.tree.forest, said) if node.tree.forest.blobs else said


def for_model(message: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded message without what the program noted of it."""
    return {key: value for key, value in message.items() if key not in _NOTES}
