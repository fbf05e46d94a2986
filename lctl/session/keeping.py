"""A session's log as a whole: where it is, copies of it, checkpoints, and the conversations in it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lctl.guard import guard
from lctl.record.store import RecordingStore
from lctl.session import ending, opening
from lctl.session.llm import Prompts

if TYPE_CHECKING:
    from lctl.conversation.tree import Tree
    from lctl.session.durable.replies import ReplyChains
    from lctl.session.messagegraph.registry import Graphs
    from lctl.session.session import LCTLSession
    from lctl.stores.address import Address


class Keeping:
    """Mixed into `LCTLSession`, which opens the log and closes it.

    Attributes: see `LCTLSession`.
    """

    _store: RecordingStore
    _to: Address | None
    _before: dict[str, Any]
    _prompts: Prompts
    _checkpoints: ending.Checkpoints
    _conversations: ReplyChains | None = None

    if TYPE_CHECKING:  # what stands beside it, behind it in the order of the classes

        @property
        def last_seq(self) -> int: ...
        def _session(self) -> LCTLSession: ...
        def emit(
            self, type: str, data: dict[str, Any], *, agent: str | None = None, step: int | None = None
        ) -> int: ...

    @property
    def chain_id(self) -> str:
        """The chain's id; in a rerun that of the recording."""
        return str(getattr(self._store, "known_as", None) or self.log_id)

    @property
    def log_id(self) -> str:
        """The id in the header of the log."""
        return str(self._store.chain.get("id", ""))

    @property
    def parent(self) -> dict[str, Any] | None:
        """The chain that started this one, and where: `{"id", "seq"}`."""
        return self._store.chain.get("parent")

    @property
    def path(self) -> Path:
        return self._store.path

    @property
    def store(self) -> RecordingStore:
        """What the events are appended to."""
        return self._store

    def sync(self, timeout: float = 30.0) -> None:
        """Return when all that was recorded so far is in the session's store; without one, at once.

        What must not be done twice is recorded, and synced, before it is done.

        Raises:
            StoreAway: it is not there after `timeout` seconds.
        """
        self._store.flush()
        delivery = getattr(self._store, "delivery", None)
        if delivery is not None:
            delivery.wait(self.last_seq, timeout)

    @property
    def destination(self) -> Address | None:
        """The store its events go to; None where they stay in its file."""
        return self._to

    def checkpoint(
        self,
        state_hash: str | None = None,
        facts_snapshot: dict[str, Any] | None = None,
        *,
        agent: str = "system",
        **data: Any,
    ) -> int:
        """What is true now: a hash of the state, the facts, and the hash of the log's events so far.

        What is not given is folded from the events since the last checkpoint.
        """
        with guard("a checkpoint"):
            made = self._checkpoints.take(self._store)
            given = {"state_hash": state_hash, "facts_snapshot": facts_snapshot}
            made |= {name: value for name, value in given.items() if value is not None}
            return self.emit("checkpoint", made | data, agent=agent)
        return 0

    @property
    def graphs(self) -> Graphs:
        """What is known of the message graphs that record into this log; another one after a fork()."""
        return self._prompts.graphs

    @property
    def tree(self) -> Tree:
        """The conversations so far; grows with the session, and is written through (`tree.view().send`)."""
        from lctl.session.conversing import tree_of

        return tree_of(self._session())

    @property
    def conversations(self) -> ReplyChains:
        """Conversations by what replies to what."""
        found = self._conversations
        if found is None:
            from lctl.session.durable.replies import ReplyChains

            found = self._conversations = ReplyChains(self._session())
        return found

    def lines(self) -> Iterator[bytes]:
        """The events so far, one JSON text each."""
        return self._store.read()

    def export(self, path: str | Path) -> Path:
        """Write a complete, closed copy of the log; also after the session has been closed.

        Raises:
            UsageError: `path` is none.
            RecordingError: the copy cannot be written.
        """
        return ending.export(self._store, opening.path(path), self._before)

    def to_dict(self) -> dict[str, Any]:
        """The log as one object: version, chain, events, state and summary."""
        return ending.document(self._store)

    def _is_alias(self, alias: str, message_id: str) -> bool:
        forest = self.tree.forest
        known = forest.aliases.get(alias)
        return known is not None and forest.resolve(known[0]) == forest.resolve(message_id)

    def _repr_html_(self) -> str:
        """What has been recorded so far, as the debugger's page, in a notebook."""
        # By name: what records does not know of what reads.
        return str(import_module("lctl.chain").load(self.path)._repr_html_())
