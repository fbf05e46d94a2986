"""How a session began, as of some event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lctl.conversation.ledger import Ledger
from lctl.conversation.tree import Tree

if TYPE_CHECKING:
    from lctl.conversation.sessions import Sessions


class Begun:
    """What a session's start says of it."""

    def __init__(self, sessions: Sessions, ledger: Ledger, seq: int | None) -> None:
        self._sessions = sessions
        self._ledger = ledger
        self._fixed = seq

    @property
    def seq(self) -> int:
        """The event this is as of."""
        newest = self._sessions.seq
        return newest if self._fixed is None else min(self._fixed, newest)

    @property
    def id(self) -> str:
        return self._ledger.id

    @property
    def tree(self) -> Tree:
        """The conversations of its log at that event."""
        return Tree(self._sessions.forest, self.seq)

    @property
    def start_seq(self) -> int:
        """Seq of its session_start; of its first event where there is none."""
        start = self._ledger.start
        return start if 0 < start <= self.seq else self._ledger.first

    @property
    def start_data(self) -> Mapping[str, Any]:
        """The data of its session_start; {} where the log has none (by then)."""
        start = self._ledger.start
        return self._sessions.data_at(start) if 0 < start <= self.seq else {}

    @property
    def conversation(self) -> str:
        return self._ledger.conversation if self.start_data else self._ledger.implied

    @property
    def parent_conversation(self) -> str | None:
        """The conversation that its own came of."""
        found = self.start_data.get("parent_conversation_id")
        return None if found is None else str(found)

    @property
    def trigger(self) -> Any:
        """What started it: {type, id}."""
        return self.start_data.get("trigger")

    @property
    def model(self) -> str | None:
        """The model's id."""
        found = self.start_data.get("model")
        named = found.get("id") if isinstance(found, Mapping) else found
        return None if named is None else str(named)

    @property
    def context_window(self) -> int | None:
        found = self.start_data.get("model")
        size = found.get("context_window") if isinstance(found, Mapping) else None
        return size if isinstance(size, int) else None

    @property
    def policy(self) -> Any:
        return self.start_data.get("policy")

    @property
    def tools(self) -> list[str]:
        """Names of the tools it began with."""
        names = self.start_data.get("tool_names")
        return [str(name) for name in names] if isinstance(names, list) else []

    @property
    def tool_definitions(self) -> list[Any]:
        """What the model was told of them, where that was recorded."""
        given = self.start_data.get("tools")
        sets = given.values() if isinstance(given, Mapping) else ()
        return [one for listed in sets if isinstance(listed, list) for one in listed]

    @property
    def started_at(self) -> str:
        """Timestamp of its beginning; "" where the log has none."""
        first = self._ledger.statuses[0] if self._ledger.statuses else None
        return first.timestamp if first is not None and first.seq <= self.seq else ""

    @property
    def forked_from(self) -> Mapping[str, Any] | None:
        """Of a fork: {chain_id, session_id, message_number, seq}."""
        found = self.start_data.get("forked_from")
        return found if isinstance(found, Mapping) else None
