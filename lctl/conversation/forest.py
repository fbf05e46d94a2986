"""The forest of messages: columns that only grow, each fact with the seq that made it true.

A message is a number, its place in every column. So a million messages are a few arrays, and what the
forest was at any seq is read by leaving out what came later (CONVERSATIONS D7). Parents may come after
their children, a serial may be given late, tool results of one turn are chained in their own order: what
then changes for an older message is kept in a `History`. Nothing here recurses.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from typing import Any

from lctl.conversation.numbers import History
from lctl.conversation.texts import Chunks
from lctl.conversation.toolsets import ToolSet
from lctl.state.model import Diagnostic

#: In place of a parent: none, it begins a conversation; one that the log does not hold (yet).
ROOT = -1
UNKNOWN = -2

Data = Mapping[str, Any]
Listener = Callable[[str, str, int], None]
_COUNTED = frozenset({"user", "assistant"})


class Forest:
    """All messages of a log. Filled by `lctl.conversation.folding`, in the order of seq.

    Args:
        data_at: the `data` of the event at a seq; texts are read through it when asked for.

    Attributes:
        seq: of the newest event folded.
        ids, numbers: message id by number, and back.
        seqs: seq of the event that made it.
        parents: number of the message before it now, or ROOT or UNKNOWN; `moves` has what it was.
        contents: seq of the event that says what it says; 0 while only chunks do.
        origins: of a copy: number of the message whose content it has; else -1.
        repeats: deliveries that changed nothing.
    """

    def __init__(self, data_at: Callable[[int], Data]) -> None:
        self.data_at = data_at
        self.seq = 0
        self.ids: list[str] = []
        self.numbers: dict[str, int] = {}
        self.seqs = array("q")
        self.parents = array("q")
        self.contents = array("q")
        self.roles: list[str] = []
        self.origins: dict[int, int] = {}
        self.moves: History[int] = History()
        self.statuses: History[str] = History()
        self.serials: History[str | int] = History()
        self.finals: History[int] = History()  # of streamed messages: when the whole one came
        self.sampled: set[int] = set()
        self.repeats = 0
        self.diagnostics: list[Diagnostic] = []
        self.listeners: list[Listener] = []
        #: number -> its children so far, also those that have been moved away since.
        self._child = array("q")
        self._children: dict[int, list[int]] = {}
        self.roots: list[int] = []
        #: conversation -> (seqs, numbers) whenever another message became its last by order.
        self.tips: dict[str, tuple[list[int], list[int]]] = {}
        self.conversations: dict[int, str] = {}  # of messages not in "main"
        #: id that is waited for -> numbers that wait for it as their parent.
        self.waiting: dict[str, list[int]] = {}
        self.aliases: dict[str, tuple[str, int]] = {}
        self.groups: History[int] = History()
        self.versions: dict[int, list[int]] = {}  # first of its versions -> all that ever were
        self.forks_waiting: dict[str, list[int]] = {}
        self.tool_sets: dict[int, ToolSet] = {}
        self.set_of: dict[int, int] = {}  # member of a tool set -> the assistant message above it
        self.cyclic: History[bool] = History()
        self.nested: dict[str, list[int]] = {}  # id of the message they stand in -> roots
        self.turns: dict[str, list[int]] = {}
        self.newest: dict[str, int] = {}  # conversation -> the message that came last
        self.by_number: dict[tuple[Any, Any], int] = {}  # (session, message_number) -> number
        self.high_water: dict[Any, int] = {}
        self.texts: dict[int, Chunks] = {}
        self.streaming: dict[str, int] = {}  # agent -> the message it streams
        self.unnamed: dict[str, int] = {}  # agent -> its stream that belongs to no message
        self.named: dict[int, int] = {}  # placeholders -> seq of the event that said whose they are
        self.selections: dict[str, list[tuple[int, str]]] = {}
        # Right as long as nothing was attached or moved late; else paths are walked.
        self._depth = array("q")

    def note(self, seq: int, code: str, text: str) -> None:
        self.diagnostics.append(Diagnostic(seq, code, text))

    def tell(self, kind: str, number: int, seq: int) -> None:
        for listener in self.listeners:
            listener(kind, self.ids[number], seq)

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
        self.numbers[id] = number
        self.seqs.append(seq)
        self.roles.append(role)
        self.contents.append(content)
        self.parents.append(parent)
        self._child.append(-1)
        counted = 1 if role in _COUNTED else 0
        if parent >= 0:
            self._adopt(parent, number)
            counted += self._depth[parent]
        elif parent == ROOT:
            self.roots.append(number)
        self._depth.append(counted)
        return number

    def attach(self, number: int, parent: int, seq: int) -> None:
        """A message whose parent was not known has found it (`parent` may be ROOT)."""
        self.moves.record(number, 0, UNKNOWN)
        self.moves.record(number, seq, parent)
        self.parents[number] = parent
        if parent == ROOT:
            self.roots.append(number)
            return
        self._adopt(parent, number)
        at = parent
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
        self.parents[number] = parent
        self._adopt(parent, number)

    def _adopt(self, parent: int, number: int) -> None:
        only = self._child[parent]
        if only == number:
            return
        if only < 0:
            self._child[parent] = number
            return
        children = self._children.setdefault(parent, [only])
        if number not in self.moves or number not in children:
            children.append(number)

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

    def lead(self, conversation: str, number: int, seq: int) -> None:
        """The conversation's newest message, and its last one by order."""
        self.newest[conversation] = number
        tips = self.tips.get(conversation)
        if tips is None:
            self.tips[conversation] = ([seq], [number])
            return
        seqs, numbers = tips
        if self.serials and self.order_key(number, seq) < self.order_key(numbers[-1], seq):
            return
        if seqs[-1] == seq:
            numbers[-1] = number
        else:
            seqs.append(seq)
            numbers.append(number)

    # -- reading -----------------------------------------------------------------------------

    def parent_at(self, number: int, seq: int) -> int:
        """The message before it after event `seq`: a number, ROOT or UNKNOWN."""
        parent = self.parents[number]
        if number in self.moves:
            parent = self.moves.at(number, seq, parent)
        return UNKNOWN if parent >= 0 and self.seqs[parent] > seq else parent

    def children_at(self, number: int, seq: int) -> list[int]:
        """Its children after event `seq`, in order (D5)."""
        only = self._child[number]
        if only < 0:
            return []
        ever = self._children.get(number)
        if ever is None:
            return [only] if self.seqs[only] <= seq and self.parent_at(only, seq) == number else []
        seqs = self.seqs
        found = [n for n in ever if seqs[n] <= seq and self.parent_at(n, seq) == number]
        return self.sorted_at(found, seq)

    def sorted_at(self, numbers: list[int], seq: int) -> list[int]:
        """By order key. Without serials that is as they came: by number."""
        if self.serials and any(n in self.serials for n in numbers):
            numbers.sort(key=lambda n: self.order_key(n, seq))
        else:
            numbers.sort()
        return numbers

    def order_key(self, number: int, seq: int) -> tuple[Any, ...]:
        """Messages with a serial first, by it; the others as they came (D5)."""
        serial = self.serials.at(number, seq, "") if number in self.serials else None
        if serial is None or serial == "":
            return (1, 0, 0, number)
        return (0, isinstance(serial, str), serial, number)

    def versions_at(self, number: int, seq: int) -> list[int]:
        """The message and its other versions after event `seq`, in order."""
        first = self.groups.at(number, seq, number)
        ever = self.versions.get(first)
        if ever is None:
            return [number]
        found = [n for n in ever if self.seqs[n] <= seq and self.groups.at(n, seq, n) == first]
        return self.sorted_at(found, seq)

    def depth_at(self, number: int, seq: int) -> int:
        """User and assistant messages from the root to this one."""
        if not self.moves and not self.named:
            return self._depth[number]
        return sum(self.role_at(at, seq) in _COUNTED for at in self.up(number, seq))

    def up(self, number: int, seq: int) -> list[int]:
        """From a message to the top of what is known of its path; a circle is walked once."""
        way = []
        parents, seqs, moves = self.parents, self.seqs, self.moves
        seen: set[int] | None = set() if number in self.cyclic or self.cyclic else None
        at = number
        plain = not moves
        while at >= 0:
            if seen is not None:
                if at in seen:
                    break
                seen.add(at)
            way.append(at)
            at = parents[at] if plain else self.parent_at(at, seq)
            if plain and at >= 0 and seqs[at] > seq:
                break
        return way

    def role_at(self, number: int, seq: int) -> str:
        """Its role; "" while only chunks of it have come."""
        return "" if seq < self.named.get(number, 0) else self.roles[number]

    def status_at(self, number: int, seq: int) -> str:
        return self.statuses.at(number, seq, "complete") if number in self.statuses else "complete"

    def tip_at(self, conversation: str, seq: int) -> int:
        """The conversation's last message by order after event `seq`; -1 before its first."""
        from bisect import bisect_right

        seqs, numbers = self.tips.get(conversation, ((), ()))
        n = bisect_right(seqs, seq)
        return numbers[n - 1] if n else -1
