"""Why a row could not go on from an earlier one.

Each row is held against the earlier row with which it shares most of its path. Where they part, the
first message of each and what follows tell what happened; the log's own word (`fork_of`, `copy_of`) goes
before what contents suggest.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from lctl.conversation.tree import Tree
from lctl.training.contents import bare_identity, has_reasoning, identity

Marks = tuple[int, bytes]

#: Every reason there is.
REASONS = (
    *("edit", "insert", "delete", "compaction"),
    *("regenerate", "fork", "tool_retry"),
    *("tools_changed", "model_changed"),
    *("reasoning_stripped", "retokenized", "tokens_missing", "subagent"),
)


class Breaks:
    """Reasons of rows, which must be asked for in the order of the rows.

    Args:
        key: as in `Walk`.
        stands_for: as in `Absorbed`.
        has_tokens: whether token ids of a message's call are in the log.
        is_own: False for messages of another log, which this one has come of.

    Attributes:
        went_on: first message of a row -> that of the row it goes on from, where they share no message.
    """

    def __init__(
        self,
        tree: Tree,
        key: Callable[[int], int],
        stands_for: Mapping[int, int],
        has_tokens: Callable[[int], bool],
        is_own: Callable[[int], bool],
    ) -> None:
        self._tree = tree
        self._forest = tree.forest
        self._key = key
        self._stands_for = stands_for
        self._has_tokens = has_tokens
        self._is_own = is_own
        self._covered = array("i", [-1]) * len(tree)  # the latest row through a message
        self._tips: list[int] = []
        self._answers: dict[tuple[bytes, bytes], int] = {}  # of the rows of the first `_known` tips
        self._indexed: set[int] = set()
        self._known = 0
        self._spoken: dict[tuple[bytes, bytes], int] | None = None  # question and answer -> the answer
        self.went_on: dict[int, int] = {}

    def reason(self, path: Sequence[int]) -> str | None:
        """Why the row with this path is one of its own; None: it begins a conversation."""
        shared = self._shared(path)
        found = self._between(path, shared)
        if found is None and shared and not self._is_own(path[shared - 1]):
            found = "fork"
        row = len(self._tips)
        self._tips.append(path[-1])
        covered = self._covered
        for number in path:
            covered[number] = row
        return found

    def _shared(self, path: Sequence[int]) -> int:
        """How many first messages of the path are in earlier rows, or in the log this one has come of."""
        covered, is_own = self._covered, self._is_own
        for place, number in enumerate(path):
            if covered[number] < 0 and is_own(number):
                return place
        return len(path)

    def _between(self, path: Sequence[int], shared: int) -> str | None:
        forest, tree = self._forest, self._tree
        if not shared:
            return self._root(path)
        row = self._covered[path[shared - 1]]
        if row < 0:
            return "fork"
        old = tree.way(self._tips[row], strict=False)
        if shared == len(path):
            return self._key_reason(path, old[-1])
        old = self._nearest(path, shared, old)
        if len(old) <= shared:
            return self._key_reason(path, old[-1])
        return self._parted(path, old, shared, not forest.sampled.keys().isdisjoint(path[:shared]))

    def _root(self, path: Sequence[int]) -> str | None:
        """Of a path that shares no message with another row."""
        forest, seq = self._forest, self._tree.seq
        root = path[0]
        if self._tree.node(root).nested_in is not None:
            return "subagent"
        before = [n for n in forest.versions_at(root, seq) if n != root and self._covered[n] >= 0]
        if not before:
            before = self._copied_from(path) or self._sent_back(path)
        if not before:
            self._join(path)
            return None
        old = self._tree.way(self._tips[self._covered[before[-1]]], strict=False)
        self.went_on[root] = old[0]
        return self._parted(path, old, 0, False)

    def _copied_from(self, path: Sequence[int]) -> list[int]:
        """Messages in earlier rows that a path has copies of."""
        origins = self._forest.origins
        return [origins[n] for n in path if n in origins and self._covered[origins[n]] >= 0][:1]

    def _join(self, path: Sequence[int]) -> None:
        """A path that begins a conversation may yet give back an answer of a row to come: an agent's, who
        goes on when the one whose path this is has had the word."""
        place = self._given_back(path)
        if not place:
            return
        forest, seq = self._forest, self._tree.seq
        if self._spoken is None:
            self._spoken = {}
            for number in forest.sampled:
                asked = forest.parent_at(number, seq) if forest.seqs[number] <= seq else -1
                if asked >= 0:
                    self._spoken.setdefault(self._exchanged(asked, number), number)
        found = self._spoken.get(self._exchanged(path[place - 1], path[place]))
        if found is not None and forest.seqs[found] < forest.seqs[path[0]]:
            self.went_on[path[0]] = forest.up(found, seq)[-1]

    def _given_back(self, path: Sequence[int]) -> int:
        """Where the first answer of a path is, if another path gave it and not this one; else 0."""
        role_at, seq = self._forest.role_at, self._tree.seq
        place = next((at for at, n in enumerate(path[:-1]) if role_at(n, seq) == "assistant"), 0)
        return 0 if path[place] in self._forest.sampled else place

    def _sent_back(self, path: Sequence[int]) -> list[int]:
        """The answer of an earlier row that a path gives back as its own first one, to the same question: on
        the wire a list with another system prompt shares nothing with the one before."""
        sampled, place = self._forest.sampled, self._given_back(path)
        if not place:
            return []
        for tip in self._tips[self._known :]:
            old = self._tree.way(tip, strict=False)
            for before, number in pairwise(old):
                if number in sampled and number not in self._indexed:
                    self._indexed.add(number)
                    self._answers.setdefault(self._exchanged(before, number), number)
        self._known = len(self._tips)
        found = self._answers.get(self._exchanged(path[place - 1], path[place]))
        return [] if found is None else [found]

    def _exchanged(self, asked: int, answer: int) -> tuple[bytes, bytes]:
        return identity(self._tree.node(asked).data), identity(self._tree.node(answer).data)

    def _nearest(self, path: Sequence[int], shared: int, old: list[int]) -> list[int]:
        """The earlier path to compare with: the one that the log says was edited, else the latest."""
        forest, seq = self._forest, self._tree.seq
        named = self._tree.node(path[shared]).data.get("fork_of")
        first = forest.find(str(named), seq) if named is not None else -1
        versions = [number for number in forest.versions_at(path[shared], seq) if number != path[shared]]
        for number in (first, *versions):
            if number >= 0 and self._covered[number] >= 0:
                return self._tree.way(self._tips[self._covered[number]], strict=False)
        origins = [forest.origins[n] for n in path[shared:] if n in forest.origins]
        for origin in reversed(origins):
            other = self._tree.way(origin, strict=False)
            if len(other) > shared and other[:shared] == list(path[:shared]):
                row = self._covered[origin]
                return self._tree.way(self._tips[row], strict=False) if row >= 0 else other
        return old

    def _key_reason(self, path: Sequence[int], before: int) -> str:
        """The earlier row ends on this path, and yet the row does not go on from it."""
        calls = self._forest.calls
        one = calls.key_named(max(0, self._key(self._stands_for.get(before, before))))
        other = calls.key_named(max(0, self._key(path[-1])))
        if one.model != other.model:
            return "model_changed"
        if one.tools != other.tools:
            return "tools_changed"
        if calls.has_tokens:
            known = self._has_tokens(before) and self._has_tokens(path[-1])
            return "retokenized" if known else "tokens_missing"
        return "fork"

    def _parted(self, path: Sequence[int], old: list[int], shared: int, trained_before: bool) -> str | None:
        """What happened where two paths part after `shared` messages."""
        forest, seq = self._forest, self._tree.seq
        here, there = path[shared], old[shared]
        sampled = forest.sampled
        if here in sampled:
            siblings = old[shared] in sampled or any(
                n in sampled and n != here and self._covered[n] >= 0
                for n in (forest.children_at(path[shared - 1], seq) if shared else ())
            )
            return "regenerate" if siblings else "fork"
        new_tail, old_tail = path[shared:-1], old[shared:]
        # A result that an answer follows, as it did, was changed when it had been read.
        is_retry = self._is_retry(here, there)
        if is_retry and not any(forest.role_at(n, seq) == "assistant" for n in new_tail):
            return "tool_retry"
        said = self._tree.node(here).data
        if "replaces" in said:
            return "compaction"
        left = set(old)
        forked = any(n < here and n in left for n in forest.versions_at(here, seq))
        edited = self._aligned(new_tail, old_tail, forked)
        if edited is not None:
            return edited
        if is_retry:
            return "tool_retry"
        if forked:
            return "compaction" if forest.role_at(here, seq) != forest.role_at(there, seq) else "edit"
        if there in sampled and forest.role_at(here, seq) == "assistant":
            return "edit"
        return "fork" if trained_before or there in sampled else None

    def _is_retry(self, here: int, there: int) -> bool:
        data, other = self._tree.node(here).data, self._tree.node(there).data
        call = data.get("tool_call_id")
        return call is not None and data.get("role") == "tool" and call == other.get("tool_call_id")

    def _aligned(self, new: Sequence[int], old: Sequence[int], forked: bool) -> str | None:
        """What was done to `old` to make `new`, if they meet again."""
        limit = 64  # edits are near where paths part; a long tail is not read for nothing
        olds = [self._marks(n) for n in old[:limit]]
        # What was sampled on the new path is an answer of its own, and no old one that was kept.
        news = [(n, b"sampled %d" % n) if n in self._forest.sampled else self._marks(n) for n in new[:limit]]
        if news and olds and not _same(news[0], olds[0]) and self._is_stripped(new[0], old[0]):
            return "reasoning_stripped"
        while news and olds and _same(news[0], olds[0]):
            del news[0], olds[0]
        # The last answer of the old path may have been passed over.
        found = [shift for end in (olds, olds[:-1]) if (shift := _shift(news, end)) is not None]
        if not found:
            return None
        added, gone = min(found, key=sum)
        if not gone:
            return "insert"
        if not added:
            return "delete"
        return "compaction" if gone >= 2 and added < gone else "edit"

    def _is_stripped(self, new: int, old: int) -> bool:
        """Whether the two say the same but for reasoning. What was sampled is an answer of its own."""
        if new in self._forest.sampled:
            return False
        data, other = self._tree.node(new).data, self._tree.node(old).data
        return (has_reasoning(data) or has_reasoning(other)) and bare_identity(data) == bare_identity(other)

    def _marks(self, number: int) -> Marks:
        """What it is a copy of (itself if of nothing), and what it says."""
        return self._forest.origins.get(number, number), identity(self._tree.node(number).data)


def _shift(new: list[Marks], old: list[Marks]) -> tuple[int, int] | None:
    """The fewest messages that were added and are gone before both go on alike."""
    for count in range(1, len(new) + len(old)):
        for added in range(max(0, count - len(old) + 1), min(count + 1, len(new))):
            gone = count - added
            if _same(new[added], old[gone]) and _meets(new[added:], old[gone:]):
                return added, gone
    return None


def _meets(new: list[Marks], old: list[Marks]) -> bool:
    """Whether both go on with the same messages, until one of them ends."""
    return all(map(_same, new, old))


def _same(one: Marks, other: Marks) -> bool:
    return one[0] == other[0] or one[1] == other[1]
