"""The sessions of a log: which there are, what each of them is at any seq, which came of which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from lctl.codec.log import Log
from lctl.conversation.forest import Forest
from lctl.conversation.hydrated import Hydrated
from lctl.conversation.ledger import Ledger
from lctl.conversation.reading import Reader
from lctl.conversation.sessionfolding import KEPT, TYPES, Data, Folding
from lctl.conversation.tree import Tree
from lctl.errors import UsageError
from lctl.events import Event
from lctl.state.model import Diagnostic
from lctl.values import index_number, mapping


class Lineage(NamedTuple):
    """A conversation and those that came of it.

    Attributes:
        parent: the conversation it came of; None for the first.
        missing: the log does not hold that one.
        sessions: of this conversation, in the order they began.
    """

    conversation: str
    parent: str | None
    missing: bool
    sessions: list[Hydrated]
    children: list[Lineage]


class Sessions(Folding):
    """All sessions of a log, after its last event or after the one `at` names.

        for session in lctl.load("run.lctl.json").sessions: ...
        chain.sessions["sess_1"].messages

    Args:
        forest: the messages of the same log, at least as far as the sessions are folded.
        data_at: the `data` of the event at a seq.
    """

    def __init__(self, forest: Forest, data_at: Callable[[int], Data]) -> None:
        super().__init__(forest, data_at)
        self._seq: int | None = None

    @classmethod
    def of(cls, events: Iterable[Event | Mapping[str, Any]]) -> Sessions:
        """The sessions of these events; what is read again is kept."""
        tree, kept = Tree.of(()), dict[int, Data]()
        sessions = cls(tree.forest, kept.__getitem__)
        for one in events:
            event = one.to_dict() if isinstance(one, Event) else one
            tree.append(event)
            if event["type"] in KEPT:
                kept[event["seq"]] = mapping(event.get("data"))
            sessions.append(event)
        return sessions

    # -- reading -----------------------------------------------------------------------------

    @property
    def seq(self) -> int:
        """The event this is as of."""
        newest = max(self._newest, self.forest.seq)
        return newest if self._seq is None else min(self._seq, newest)

    def at(self, seq: int) -> Sessions:
        """The same sessions after event `seq`; copies nothing.

        Raises:
            UsageError: `seq` is no number.
        """
        number = index_number(seq)
        if number is None:
            raise UsageError(f"at({seq!r}): it takes the number of an event, such as {self.seq}")
        made = Sessions.__new__(Sessions)
        made.__dict__.update(self.__dict__)
        made._seq = number
        return made

    def __getitem__(self, id: str) -> Hydrated:
        """A session by its id.

        Raises:
            KeyError: there is none (by then).
        """
        ledger = self.ledgers.get(id)
        if ledger is None or ledger.first > self.seq:
            raise KeyError(id)
        return Hydrated(self, ledger, self._seq)

    def find(self, id: str | None = None) -> Hydrated:
        """The session of that id; with None, the only one or the one that began last.

        Raises:
            UsageError: there is none; the message names those there are.
        """
        known = [ledger.id for ledger in self._known()]
        if id is None and known:
            return self[known[-1]]
        if id is None or id not in known:
            name = f"{self.forest.name}: " if self.forest.name else ""
            there = f"it has {', '.join(known[:10])}" if known else "it has none"
            raise UsageError(
                f"{name}there is no session{f' {id}' if id else ''} at event {self.seq}; {there}"
            )
        return self[id]

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and any(ledger.id == id for ledger in self._known())

    def __iter__(self) -> Iterator[Hydrated]:
        """In the order they began."""
        return (Hydrated(self, ledger, self._seq) for ledger in self._known())

    def __len__(self) -> int:
        return len(self._known())

    def _known(self) -> list[Ledger]:
        seq = self.seq
        return [ledger for ledger in self.ledgers.values() if ledger.first <= seq]

    def of_conversation(self, conversation: str) -> list[Hydrated]:
        """The sessions of one conversation, in the order they began."""
        return [one for one in self if one.conversation == conversation]

    def latest(self, conversation: str) -> Hydrated | None:
        """The session of a conversation that began last, by seq; None for a conversation without one."""
        found = self.of_conversation(conversation)
        return max(found, key=lambda one: one.start_seq) if found else None

    @property
    def conversations(self) -> list[str]:
        return list(dict.fromkeys(one.conversation for one in self))

    def ancestors(self, conversation: str) -> list[str]:
        """The conversations it came of, nearest first; the last may be one the log does not hold."""
        found: list[str] = []
        at = self._parent(conversation)
        while at is not None and at not in found:
            found.append(at)
            at = self._parent(at)
        return found

    def lineage(self, conversation: str) -> Lineage:
        """That conversation and all that came of it.

        Raises:
            UsageError: no session belongs to it.
        """
        below: dict[str, list[str]] = {}
        for name in self.conversations:
            parent = self._parent(name)
            if parent is not None:
                below.setdefault(parent, []).append(name)
        known = set(self.conversations)
        if conversation not in known:
            raise UsageError(f"no session belongs to conversation {conversation}")
        made: dict[str, Lineage] = {}
        order = [conversation]
        for name in order:
            order += below.get(name, ())
            parent = self._parent(name)
            missing = parent is not None and parent not in known
            made[name] = Lineage(name, parent, missing, self.of_conversation(name), [])
        for name in order[1:]:
            made[str(made[name].parent)].children.append(made[name])
        return made[conversation]

    def _parent(self, conversation: str) -> str | None:
        parent, since = self.parents.get(conversation, (None, 0))
        return parent if since <= self.seq else None

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What could not be taken at its word, in the order it was met."""
        return [note for note in self.notes if note.seq <= self.seq]

    def __repr__(self) -> str:
        return f"<Sessions at {self.seq}: {len(self)}>"


def sessions_of(log: Log, forest: Forest) -> Sessions:
    """The sessions of an opened log, whose messages are in `forest` already."""
    sessions = Sessions(forest, Reader(log))
    for event in log.events():
        if event.type in TYPES:
            sessions.append(event.to_dict())
    return sessions
