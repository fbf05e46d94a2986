"""`Tree`: the conversations of a log after some event."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson

from lctl.conversation.folding import fold_event
from lctl.conversation.forest import ROOT, UNKNOWN, Forest
from lctl.conversation.node import Node, message_of
from lctl.errors import BrokenChain, UsageError
from lctl.events import Event
from lctl.state.model import Diagnostic


class Kept:
    """The data of message events, in memory."""

    __slots__ = ("events",)

    def __init__(self) -> None:
        self.events: dict[int, Mapping[str, Any]] = {}

    def __call__(self, seq: int) -> Mapping[str, Any]:
        return self.events[seq]


class Tree:
    """A cursor on a forest: every answer is as of `seq`, and equal to a fold of the events up to there.

        tree = Chain.load("run.lctl.json").tree
        tree.tip().path                     # the active conversation
        tree.at(120)["m17"].versions        # what there was at event 120

    Cheap to make: `at` copies nothing.
    """

    __slots__ = ("_forest", "_seq")

    def __init__(self, forest: Forest, seq: int | None = None) -> None:
        self._forest = forest
        self._seq = seq

    @classmethod
    def of(cls, events: Iterable[Event | Mapping[str, Any]]) -> Tree:
        """The tree of these events, which are kept: a message's text is read when asked for."""
        tree = cls(Forest(Kept()))
        for event in events:
            tree.append(event)
        return tree

    def append(self, event: Event | Mapping[str, Any]) -> None:
        """Fold one more event, whose seq is greater than all before. Cursors that `at` fixed stay."""
        forest = self._forest
        if isinstance(event, Event):
            seq, type, agent, data = event.seq, event.type, event.agent, event.data
        else:
            seq, type, agent = event["seq"], event["type"], event.get("agent", "")
            data = event.get("data") or {}
        if type == "message" and isinstance(forest.data_at, Kept):
            forest.data_at.events[seq] = data
        fold_event(forest, seq, type, agent, data)

    @property
    def forest(self) -> Forest:
        return self._forest

    @property
    def seq(self) -> int:
        """The event this is as of: the newest one, unless `at` fixed it."""
        return self._forest.seq if self._seq is None else min(self._seq, self._forest.seq)

    def at(self, seq: int) -> Tree:
        """The same conversations after event `seq`."""
        return Tree(self._forest, seq)

    # -- messages ----------------------------------------------------------------------------

    def __len__(self) -> int:
        """How many messages there are, copies included."""
        if self._seq is None or self._seq >= self._forest.seq:
            return len(self._forest.ids)
        from bisect import bisect_right

        return bisect_right(self._forest.seqs, self._seq)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._forest.find(id, self.seq) >= 0

    def __getitem__(self, id: str) -> Node:
        """A message by its id or one of its aliases.

        Raises:
            KeyError: there is none (by then).
        """
        number = self._forest.find(id, self.seq)
        if number < 0:
            raise KeyError(id)
        return Node(self, number)

    def __iter__(self) -> Iterator[Node]:
        """All messages, in the order they came."""
        return (Node(self, number) for number in range(len(self)))

    def node(self, number: int) -> Node:
        return Node(self, number)

    @property
    def roots(self) -> list[Node]:
        """First messages of conversations, in order; of those inside tool calls too."""
        forest, seq = self._forest, self.seq
        found = [n for n in forest.roots if forest.seqs[n] <= seq and forest.parent_at(n, seq) == ROOT]
        found.sort()
        return [Node(self, n) for n in forest.sorted_at(found, seq)]

    @property
    def orphans(self) -> list[Node]:
        """Messages whose parent the log does not hold (yet)."""
        forest, seq = self._forest, self.seq
        return [Node(self, n) for n in range(len(self)) if forest.parent_at(n, seq) == UNKNOWN]

    @property
    def leaves(self) -> list[Node]:
        """Messages that nothing follows, in order of seq."""
        forest, seq = self._forest, self.seq
        return [Node(self, n) for n in range(len(self)) if not forest.children_at(n, seq)]

    @property
    def conversations(self) -> list[str]:
        """Ids of conversations, in the order they began."""
        return [name for name, (seqs, _) in self._forest.tips.items() if seqs[0] <= self.seq]

    def tip(self, conversation: str = "main") -> Node | None:
        """The last message of a conversation by order, None before its first (D6)."""
        number = self._forest.tip_at(conversation, self.seq)
        return Node(self, number) if number >= 0 else None

    @property
    def pending(self) -> list[Node]:
        """Streamed messages that have not ended."""
        forest, seq = self._forest, self.seq
        return [
            Node(self, n)
            for n in forest.texts
            if forest.seqs[n] <= seq and forest.status_at(n, seq) == "streaming"
        ]

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What could not be taken at its word, in the order it was met."""
        return [found for found in self._forest.diagnostics if found.seq <= self.seq]

    def turn(self, id: str) -> list[Node]:
        """The messages of one turn, in order of seq."""
        numbers = self._forest.turns.get(id, ())
        return [Node(self, n) for n in numbers if self._forest.seqs[n] <= self.seq]

    # -- paths -------------------------------------------------------------------------------

    def path(self, id: str, *, strict: bool = True) -> list[Node]:
        """The messages from the root of a conversation to this one.

        Raises:
            UsageError: there is no such message.
            BrokenChain: the way to a root is broken, or goes in a circle. With strict=False, what there is.
        """
        number = self._forest.find(id, self.seq)
        if number < 0:
            raise UsageError(f"there is no message {id} at event {self.seq}")
        return [Node(self, n) for n in self.way(number, strict=strict)]

    def way(self, number: int, *, strict: bool = True) -> list[int]:
        """`path`, by numbers."""
        forest, seq = self._forest, self.seq
        found = forest.up(number, seq)
        found.reverse()
        if strict:
            top = found[0]
            circle = bool(forest.cyclic) and any(forest.cyclic.at(n, seq, False) for n in found)
            if circle or forest.parent_at(top, seq) == UNKNOWN:
                self._refuse(top, found, circle)
        return found

    def is_complete(self, id: str) -> bool:
        """Whether the path to a message begins at a root."""
        try:
            self.path(id)
        except BrokenChain:
            return False
        return True

    def _refuse(self, top: int, found: list[int], circle: bool) -> None:
        forest = self._forest
        missing = self.declared_parent(top) or forest.ids[top]
        why = "goes in a circle" if circle else f"lacks message {missing}"
        text = f"the way to message {forest.ids[found[-1]]} {why}; strict=False gives the rest"
        raise BrokenChain(text, missing, [Node(self, n) for n in found])

    def declared_parent(self, number: int) -> str | None:
        """The parent its event names, whether or not it is in the log."""
        seq = self._forest.contents[number]
        value = self._forest.data_at(seq).get("parent_id") if seq else None
        return None if value is None else str(value)

    def transcript(self, id: str, *, strict: bool = True) -> list[dict[str, Any]]:
        """What a model reads whose context ends with that message: each as its provider wrote it.

        Raises:
            UsageError, BrokenChain: as `path`.
        """
        return [node.message for node in self.path(id, strict=strict)]

    def common(self, one: str, other: str) -> Node | None:
        """The last message both paths share; None where they share none."""
        forest, seq = self._forest, self.seq
        mine = set(forest.up(self[one].number, seq))
        for number in forest.up(self[other].number, seq):
            if number in mine:
                return Node(self, number)
        return None

    def nested(self, id: str) -> list[Node]:
        """Roots of the conversations of sub-agents inside this message's tool calls."""
        forest, seq = self._forest, self.seq
        own = forest.resolve(id, seq)
        names = [
            own,
            *(alias for alias in forest.nested if alias != own and forest.resolve(alias, seq) == own),
        ]
        return [Node(self, n) for name in names for n in forest.nested.get(name, ()) if forest.seqs[n] <= seq]

    # -- the whole ---------------------------------------------------------------------------

    def subscribe(self, listener: Callable[[str, str, int], None]) -> Callable[[], None]:
        """Call `listener(kind, message_id, seq)` once for each event that changed something, on whatever
        branch; kinds: message, update, alias. Gives what ends it."""
        self._forest.listeners.append(listener)
        return lambda: self._forest.listeners.remove(listener)

    def state_hash(self) -> str:
        """Hash of what can be seen: places, order and contents, the same in every process."""
        forest, seq = self._forest, self.seq
        digest = hashlib.sha256()
        for id in sorted(forest.ids[: len(self)]):
            number = forest.numbers[id]
            parent = forest.parent_at(number, seq)
            below = [forest.ids[n] for n in forest.children_at(number, seq)]
            versions = [forest.ids[n] for n in forest.versions_at(number, seq)]
            above = forest.ids[parent] if parent >= 0 else parent
            said = message_of(self, number)
            status = forest.status_at(number, seq)
            line = [
                id,
                forest.role_at(number, seq),
                above,
                below,
                versions,
                status,
                number in forest.sampled,
                said,
            ]
            digest.update(
                orjson.dumps(line, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
            )
        aliases = sorted(alias for alias, (_, since) in forest.aliases.items() if since <= seq)
        digest.update(orjson.dumps([[alias, forest.resolve(alias, seq)] for alias in aliases]))
        return "sha256:" + digest.hexdigest()

    def __repr__(self) -> str:
        return f"<Tree at {self.seq}: messages {len(self)}, conversations {len(self.conversations)}>"
