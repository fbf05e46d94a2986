"""`Tree`: the conversations of a log after some event."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from lctl.conversation.folding import fold_event, is_read_again
from lctl.conversation.forest import ROOT, UNKNOWN, Forest
from lctl.conversation.hashing import hash_of
from lctl.conversation.keeping import Kept, Writer
from lctl.conversation.node import Node, messages_of
from lctl.conversation.paths import Paths
from lctl.conversation.view import Follow, View
from lctl.errors import UsageError
from lctl.events import Event
from lctl.state.model import Diagnostic
from lctl.values import index_number, mapping

__all__ = ["Kept", "Tree", "Writer"]


class Tree(Paths):
    """A cursor on a forest: every answer is as of `seq`, and equal to a fold of the events up to there.

        tree = Chain.load("run.lctl.json").tree
        tree.tip().path                     # the active conversation
        tree.at(120)["m17"].versions        # what there was at event 120

    Cheap to make: `at` copies nothing.
    """

    __slots__ = ("_forest", "_seq", "_writer")

    def __init__(self, forest: Forest, seq: int | None = None, writer: Writer | None = None) -> None:
        self._forest = forest
        self._seq = seq
        self._writer = writer

    @property
    def writer(self) -> Writer:
        """Where events of this tree are recorded.

        Raises:
            UsageError: it was read from a log, or is fixed at a seq: there is nothing to write to.
        """
        if self._writer is None:
            where = f" of {self._forest.name}" if self._forest.name else ""
            raise UsageError(f"this tree{where} can only be read; write through session.tree")
        return self._writer

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
            seq, type, agent, data, step = event.seq, event.type, event.agent, event.data, event.step
        else:
            seq, type, agent = event["seq"], event["type"], event.get("agent", "")
            data, step = mapping(event.get("data")), event.get("step")
        kept = forest.data_at
        if isinstance(kept, Kept) and (is_read_again(type, data) or (type == "blob" and not kept.elsewhere)):
            kept.events[seq] = data
        fold_event(forest, seq, type, agent, data, step)

    @property
    def forest(self) -> Forest:
        return self._forest

    @property
    def _named(self) -> str:
        return f"{self._forest.name}: " if self._forest.name else ""

    @property
    def seq(self) -> int:
        """The event this is as of: the newest one, unless `at` fixed it."""
        return self._forest.seq if self._seq is None else min(self._seq, self._forest.seq)

    def at(self, seq: int) -> Tree:
        """The same conversations after event `seq`.

        Raises:
            UsageError: `seq` is no number.
        """
        number = index_number(seq)
        if number is None and seq is not None:
            raise UsageError(f"{self._named}at({seq!r}): it takes the number of an event, such as {self.seq}")
        return Tree(self._forest, number)

    # -- messages ----------------------------------------------------------------------------

    def __len__(self) -> int:
        """How many messages there are, copies included."""
        seqs, seq = self._forest.seqs, self.seq
        count = len(seqs)
        return count if not count or seqs[count - 1] <= seq else bisect_right(seqs, seq)

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
        return [name for name, (seqs, _) in list(self._forest.tips.items()) if seqs[0] <= self.seq]

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
            for n in list(forest.texts)
            if forest.seqs[n] <= seq and forest.status_at(n, seq) == "streaming"
        ]

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What could not be taken at its word, in the order it was met."""
        return [found for found in self._forest.diagnostics if found.seq <= self.seq]

    def turn(self, id: str) -> list[Node]:
        """The messages of one turn, in order of seq: those that name it, and those that a model call had
        recorded by itself, which an alias (`TURN/1`, `TURN/2`, ...) says are of it."""
        forest, seq = self._forest, self.seq
        numbers = [n for n in forest.turns.get(id, ()) if forest.seqs[n] <= seq]
        if numbers and forest.aliases:
            place = 1
            while (number := forest.find(f"{id}/{place}", seq)) >= 0:
                place += 1
                if number not in numbers:
                    numbers.append(number)
            numbers.sort()
        return [Node(self, n) for n in numbers]

    # -- the whole ---------------------------------------------------------------------------

    def transcript(self, id: str, *, strict: bool = True) -> list[dict[str, Any]]:
        """What a model reads whose context ends with that message: each as its provider wrote it.

        Raises:
            UsageError, BrokenChain: as `path`.
        """
        return messages_of(self, self.way(self._number(id), strict=strict))

    def view(
        self,
        conversation: str = "main",
        *,
        limit: int | None = None,
        follow: Follow = "own",
        name: str = "main",
    ) -> View:
        """One path through a conversation: where `view_select` events lead, else to the last message.

        The view of a tree that grows follows it; of a tree that `at` fixed it stays what it is.

        Args:
            limit: how many of the newest messages are shown at first, a few more where a tool call would be
                parted from its results; None for all.
            follow: what the view does about messages of others. "own": it goes on with what comes below its
                last message, and stays where it is when there are alternatives to what it shows. "latest":
                it goes to the newest alternative. "pinned": it stays even at its last message. To what is
                sent, edited or regenerated through the view itself it goes in any case.
            name: of its selections in the log (`View.select`, durable).

        Raises:
            UsageError: `limit` is negative, or there is no such `follow`.
        """
        live = self._seq is None
        tree = self if live else self.at(self.seq)
        return View(tree, conversation, limit=limit, follow=follow, name=name, live=live)

    def subscribe(self, listener: Callable[[str, str, int], None]) -> Callable[[], None]:
        """Call `listener(kind, message_id, seq)` once for each event that changed something, on whatever
        branch; kinds: message, update, alias. Gives what ends it."""
        listeners = self._forest.news.listeners
        listeners.append(listener)

        def stop() -> None:
            if listener in listeners:
                listeners.remove(listener)

        return stop

    def state_hash(self) -> str:
        """Hash of what can be seen: places, order and contents, the same in every process."""
        return hash_of(self)

    def __repr__(self) -> str:
        return f"<Tree at {self.seq}: messages {len(self)}, conversations {len(self.conversations)}>"

    def __str__(self) -> str:
        """Its conversations, a line each: the end of the active path, and how many branches are beside it."""
        leaves: dict[str, int] = {}
        for node in self.leaves:
            leaves[node.conversation] = leaves.get(node.conversation, 0) + 1
        lines = [repr(self)]
        for name in self.conversations:
            tip = self.tip(name)
            path = [] if tip is None else self.way(tip.number, strict=False)
            ids = ["..."] * (len(path) > 4) + [self._forest.ids[number] for number in path[-4:]]
            others = leaves.get(name, 1) - 1
            also = f"  (+{others} branch{'' if others == 1 else 'es'})" if others > 0 else ""
            lines.append(f"  {name}: {' > '.join(ids)}{also}")
        return "\n".join(lines)
