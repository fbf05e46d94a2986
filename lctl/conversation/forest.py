"""The forest of messages: columns that only grow, each fact with the seq that made it true.

A message is a number, its place in every column. So a million messages are a few arrays, and what the
forest was at any seq is read by leaving out what came later (CONVERSATIONS D7). Parents may come after
their children, a serial may be given late, tool results of one turn are chained in their own order: what
then changes for an older message is kept in a `History`. Nothing here recurses.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Mapping
from itertools import accumulate, islice
from typing import Any

from lctl.conversation.alternatives import ROOT, UNKNOWN, Alternatives
from lctl.conversation.calls import Calls
from lctl.conversation.fitting import fitting
from lctl.conversation.news import News
from lctl.conversation.numbers import History, Names
from lctl.conversation.ratings import Ratings
from lctl.conversation.texts import Chunks
from lctl.conversation.toolsets import ToolSet
from lctl.state.model import Diagnostic

__all__ = ["NO_MESSAGE", "ROOT", "UNKNOWN", "Forest"]

#: In place of a message: the stream is of none.
NO_MESSAGE = -1

Data = Mapping[str, Any]
_COUNTED = frozenset({"user", "assistant"})


class Forest(Alternatives):
    """All messages of a log. Filled by `lctl.conversation.folding`, in the order of seq.

    Args:
        data_at: the `data` of the event at a seq; texts are read through it when asked for.
        name: of the log, for messages to people.

    Attributes:
        seq: of the newest event folded whole: who reads up to it, in any thread, sees no half of one.
        ids, numbers: message id by number, and back.
        seqs: seq of the event that made it.
        parents: number of the message before it now, or ROOT or UNKNOWN; `moves` has what it was.
        contents: seq of the event that says what it says; 0 while only chunks do.
        plain: 1 of what has an id, a parent (or None), a role and a text, and nothing else.
        origins: of a copy: number of the message whose content it has; else -1.
        repeats: deliveries that changed nothing.
    """

    def __init__(self, data_at: Callable[[int], Data], name: str = "") -> None:
        super().__init__()
        self.data_at = data_at
        self.name = name
        self.seq = 0
        self.ids: list[str] = []
        self.numbers: dict[str, int] = {}
        self.contents = array("q")
        self.roles = Names()
        self.plain = bytearray()
        self.origins: dict[int, int] = {}
        self.statuses: History[str] = History()
        self.finals: History[int] = History()  # of streamed messages: when the whole one came
        self.sampled: dict[int, int] = {}  # message -> seq that said so
        self.repeats = 0
        self.diagnostics: list[Diagnostic] = []
        self.news = News()
        self.roots: list[int] = []
        #: conversation -> (seqs, numbers) whenever another message became its last by order.
        self.tips: dict[str, tuple[array[int], array[int]]] = {}
        #: id that is waited for -> numbers that wait for it as their parent.
        self.waiting: dict[str, list[int]] = {}
        self.aliases: dict[str, tuple[str, int]] = {}
        self.forks_waiting: dict[str, list[int]] = {}
        self.tool_sets: dict[int, ToolSet] = {}
        self.set_of: dict[int, int] = {}  # member of a tool set -> the assistant message above it
        self.cyclic: History[bool] = History()
        self.nested: dict[str, list[int]] = {}  # id of the message they stand in -> roots
        #: Roots that a tool call was found to have begun: since when, in which message, which call.
        self.adopted: dict[int, tuple[int, str, str | None]] = {}
        self.turns: dict[str, list[int]] = {}
        self.newest: dict[str, int] = {}  # conversation -> the message that came last
        self.by_number: dict[tuple[Any, Any], int] = {}  # (session, message_number) -> number
        self.high_water: dict[Any, int] = {}
        self.texts: dict[int, Chunks] = {}
        self.streaming: dict[str, list[int]] = {}  # agent -> its open streams: messages, NO_MESSAGE
        self.streams: dict[int | str, int] = {}  # seq of a start, or stream_id -> message, NO_MESSAGE
        self.starts: dict[int, int] = {}  # streamed message -> seq of the event that began it
        self.named: dict[int, int] = {}  # placeholders -> seq of the event that said whose they are
        self.selections: dict[str, list[tuple[int, str]]] = {}
        self.step: int | None = None  # that the event being folded happened in
        self.calls = Calls()
        self.ratings = Ratings()
        self.blobs: dict[str, int] = {}  # hash -> seq of the event that holds it
        self.reordered: set[int] = set()  # tool results that a serial has put elsewhere
        # Right as long as nothing was attached or moved late; else paths are walked.
        self._depth = array("q")

    def note(self, seq: int, code: str, text: str) -> None:
        self.diagnostics.append(Diagnostic(seq, code, text))

    def tell(self, kind: str, number: int) -> None:
        """Keep for `publish` what the event at hand does; kinds: message, update, alias."""
        news = self.news
        if news.listeners or news.watch is not None:
            news.tell(kind, number)

    def publish(self, seq: int) -> None:
        """Event `seq` is folded whole: readers see it, listeners are told."""
        self.seq = seq
        if self.news.listeners or self.news.watch is not None:
            self.news.publish(self.ids, seq)
        elif self.news.moved:
            self.news.moved = []

    def placed_by(self, number: int) -> Data:
        """The data of the event that says where a message belongs; {} while only chunks of it have come."""
        seq = self.starts.get(number) or self.contents[number]
        return fitting(self.data_at(seq)) if seq else {}

    # -- ids ---------------------------------------------------------------------------------

    def resolve(self, id: str, seq: int | None = None) -> str:
        """The id that `id` stands for, by the aliases up to `seq` (None: all). They never form a loop."""
        while id in self.aliases:
            target, since = self.aliases[id]
            if seq is not None and since > seq:
                break
            id = target
        return id

    def find(self, id: str, seq: int | None = None) -> int:
        """Number of a message by its id or alias; -1 where there is none (by then)."""
        number = self.numbers.get(id, -1)
        if number < 0 and self.aliases:
            number = self.numbers.get(self.resolve(id, seq), -1)
        return number if number < 0 or seq is None or self.seqs[number] <= seq else -1

    # -- adding ------------------------------------------------------------------------------

    def add(self, id: str, seq: int, role: str, parent: int, content: int) -> int:
        """One more message below `parent` (ROOT, UNKNOWN, or a number); its number."""
        number = len(self.ids)
        self.ids.append(id)
        self.seqs.append(seq)
        self.roles[number] = role
        self.plain.append(0)
        self.contents.append(content)
        self.parents.append(parent)
        self._child.append(-1)
        self.numbers[id] = number  # last: who finds it finds all of it
        counted = 1 if role in _COUNTED else 0
        if parent >= 0:
            if self._child[parent] < 0:
                self._child[parent] = number
            else:
                self._adopt(parent, number)
            counted += self._depth[parent]
        elif parent == ROOT:
            self.roots.append(number)
        self._depth.append(counted)
        return number

    def add_chain(self, ids: list[str], seq: int, originals: list[int], parent: int) -> int:
        """Messages one below the other, the first below number `parent`, each with the role and the content
        of its original; the number of the first. As `add` of each, column by column."""
        first = len(self.ids)
        numbers = range(first, first + len(ids))
        said = self.roles.repeat(originals, first)
        self.ids += ids
        self.seqs.extend(array("q", (seq,)) * len(ids))
        self.plain += bytes(len(ids))
        self.contents.extend(array("q", list(map(self.contents.__getitem__, originals))))
        self.parents.extend(array("q", (parent, *numbers[:-1])))
        self._child.extend(array("q", (*numbers[1:], -1)))
        counted = accumulate(map(_COUNTED.__contains__, said), initial=self._depth[parent])
        self._depth.extend(array("q", islice(counted, 1, None)))
        self.numbers.update(zip(ids, numbers, strict=True))
        self._adopt(parent, first)
        return first

    def attach(self, number: int, parent: int, seq: int) -> None:
        """A message whose parent was not known has found it (`parent` may be ROOT)."""
        self.moves.record(number, seq, parent)
        self.parents[number] = parent
        self.news.moved.append(number)
        if parent == ROOT:
            self.roots.append(number)
            return
        self._adopt(parent, number)
        at = parent if self._child[number] >= 0 else ROOT  # what has no children closes no circle
        while at >= 0 and at != number and not (self.cyclic and at in self.cyclic):
            at = self.parents[at]
        if at == number:
            self._close(number, seq)

    def move(self, number: int, parent: int, seq: int) -> None:
        """Put a message of a tool set below another one."""
        if self.parents[number] == parent:
            return
        if number not in self.moves:
            self.moves.record(number, 0, self.parents[number])
        self.moves.record(number, seq, parent)
        self.reordered.add(number)
        self.parents[number] = parent
        self.news.moved.append(number)
        if number not in self._children.get(parent, ()):
            self._adopt(parent, number)

    def _close(self, number: int, seq: int) -> None:
        """`number` is its own ancestor: none of the circle's messages can be reached from a root."""
        self.note(seq, "msg_cycle", f"message {self.ids[number]} is its own ancestor")
        self.cyclic.record(number, seq, True)
        at = self.parents[number]
        while at != number:
            self.cyclic.record(at, seq, True)
            at = self.parents[at]

    def nested_under(self, number: int, host: str) -> None:
        """A sub-agent's conversation begins with this message, inside a tool call of `host`."""
        self.nested.setdefault(host, []).append(number)

    def adopt_nested(self, number: int, host: str, call_id: str | None, seq: int) -> None:
        """A tool call of `host` turns out to have begun the conversation of this root."""
        if number not in self.adopted and self.parents[number] == ROOT:
            self.adopted[number] = (seq, host, call_id)
            self.nested_under(number, host)

    def is_nested_at(self, number: int, seq: int) -> bool:
        """Of a root in `nested`: whether that was known after event `seq`."""
        adopted = self.adopted.get(number)
        return (self.seqs[number] if adopted is None else adopted[0]) <= seq

    def lead(self, conversation: str, number: int, seq: int) -> None:
        """The conversation's newest message, and its last one by order."""
        self.newest[conversation] = number
        tips = self.tips.get(conversation)
        if tips is None:
            self.tips[conversation] = (array("q", (seq,)), array("q", (number,)))
            return
        seqs, numbers = tips
        if self.serials and self.order_key(number, seq) < self.order_key(numbers[-1], seq):
            return
        if seqs[-1] == seq:
            numbers[-1] = number
        else:  # the number first: a reader in another thread counts by the seqs
            numbers.append(number)
            seqs.append(seq)

    # -- reading -----------------------------------------------------------------------------

    def depth_at(self, number: int, seq: int) -> int:
        """User and assistant messages from the root to this one."""
        if not self.moves and not self.named:
            return self._depth[number]
        return sum(self.role_at(at, seq) in _COUNTED for at in self.up(number, seq))

    def up(self, number: int, seq: int) -> list[int]:
        """From a message to the top of what is known of its path; a circle is walked once."""
        way = []
        parents, moves = self.parents, self.moves
        at = number
        if not moves:  # every parent came before its children
            while at >= 0:
                way.append(at)
                at = parents[at]
            # Another thread may have moved one meanwhile, for the first time.
            return self.up(number, seq) if moves else way
        seen: set[int] | None = set() if self.cyclic else None
        while at >= 0:
            if seen is not None:
                if at in seen:
                    break
                seen.add(at)
            way.append(at)
            at = self.parent_at(at, seq)
        return way

    def role_at(self, number: int, seq: int) -> str:
        """Its role; "" while only chunks of it have come."""
        return "" if seq < self.named.get(number, 0) else self.roles[number]

    def status_at(self, number: int, seq: int) -> str:
        return self.statuses.at(number, seq, "complete") if number in self.statuses else "complete"

    def finished_at(self, number: int) -> int:
        """Seq of the event that made it what it is now: of a streamed message that of its end
        or its last piece."""
        text = self.texts.get(number)
        piece = 0 if text is None else text.last
        return max(self.seqs[number], self.contents[number], self.statuses.since(number), piece)

    def tip_at(self, conversation: str, seq: int) -> int:
        """The conversation's last message by order after event `seq`; -1 before its first."""
        tips = self.tips.get(conversation)
        n = bisect_right(tips[0], seq) if tips is not None else 0
        return tips[1][n - 1] if tips is not None and n else -1
