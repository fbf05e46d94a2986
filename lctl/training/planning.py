"""Which rows a tree gives, which row trains which message, and why some are not trained: in numbers."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Literal

from lctl.conversation.node import Node
from lctl.conversation.tree import Tree
from lctl.errors import UsageError
from lctl.training.absorbing import Walk, goes_on
from lctl.training.breaks import Breaks
from lctl.training.contents import identity
from lctl.training.failing import Failures
from lctl.training.tokens import Tokens, tokens_of

Paths = Literal["all", "final"] | Callable[[Node], bool]


class Plan:
    """What `samples` will give, and what becomes of every sampled message.

    Attributes:
        calls: how many sampled messages there are (edited ones that are trained among them).
        trained: how many of them are trained.
        skipped: reason -> how many are not.
        breaks: reason -> rows.

    Args:
        is_own: whether a message, by number, is trained here; others are context. Besides as `samples`.
    """

    def __init__(
        self,
        tree: Tree,
        *,
        paths: Paths = "all",
        shared: str = "first",
        reasoning: str = "exact",
        min_weight_tokens: int = 1,
        train_edited: bool = False,
        max_len: int | None = None,
        allow_length: bool = False,
        chain: str = "",
        is_own: Callable[[int], bool] = lambda number: True,
    ) -> None:
        _check("shared", shared, ("first", "every"))
        _check("reasoning", reasoning, ("exact", "ignore"))
        self.tree = Tree(tree.forest, tree.seq)  # what is recorded from now on is not of this plan
        self._forest = tree.forest
        self.every = shared == "every"
        self._least = min_weight_tokens
        self._most = max_len
        self.chain = chain
        self._is_own = is_own
        self._edited = self._edits() if train_edited else {}
        allowed = self._allowed(paths)
        walk = Walk(self.tree, self.key, allowed, reasoning == "ignore")
        self.found = walk.run()
        self._why: dict[int, str] = {}  # sampled message -> why it is not trained
        self.trains = array("i", [-1]) * len(self.tree)  # message -> the row that trains it
        self.tips: list[int] = []
        self.reasons: list[str | None] = []
        self.trajectories: Counter[int] = Counter()
        failures = Failures(self.tree, self.found.strayed, allow_length)
        for number in self.found.reached:
            reason = failures.of(number) if is_own(number) else None
            if reason is not None:
                self._why[number] = reason
        self._assign()
        reached = set(self.found.reached)
        for number in self._candidates():
            if number not in reached:
                self._why[number] = "broken" if allowed(number) else "paths"
            elif number not in self._why and self.trains[number] < 0:
                self._why[number] = "min_weight_tokens"
        self.calls = sum(1 for _ in self._candidates())
        self.skipped = Counter(self._why.values())
        self.trained = self.calls - sum(self.skipped.values())
        self.breaks = Counter(reason for reason in self.reasons if reason is not None)

    def __len__(self) -> int:
        """How many rows."""
        return len(self.tips)

    def key(self, number: int) -> int:
        """A number that is equal where model and tools are; -1 of a message that is not trained on policy."""
        if number in self._forest.sampled:
            return self._forest.calls.key(number, self.tree.seq)
        return self._edited.get(number, -1)

    def why_skipped(self, number: int) -> str | None:
        """Why a sampled message is trained in no row."""
        return self._why.get(number)

    # -- planning ----------------------------------------------------------------------------

    def _candidates(self) -> Iterator[int]:
        seqs, seq, is_own = self._forest.seqs, self.tree.seq, self._is_own
        yield from (n for n in self._forest.sampled if seqs[n] <= seq and is_own(n))
        yield from filter(is_own, self._edited)

    def _edits(self) -> dict[int, int]:
        """What people wrote in place of sampled messages, with the key of those."""
        forest, seq = self._forest, self.tree.seq
        found = {}
        for number in range(len(self.tree)):
            if number in forest.sampled or number in forest.origins:
                continue
            if forest.role_at(number, seq) != "assistant":
                continue
            replaced = [n for n in forest.versions_at(number, seq) if n in forest.sampled]
            if replaced:
                found[number] = forest.calls.key(replaced[-1], seq)
        return found

    def _allowed(self, paths: Paths) -> Callable[[int], bool]:
        if paths == "all":
            return lambda number: True
        tree = self.tree
        if paths == "final":
            leaves = self._newest()
        elif callable(paths):
            leaves = [leaf.number for leaf in tree.leaves if paths(leaf)]
        else:
            raise UsageError(f"paths is 'all', 'final' or a function of a leaf, not {paths!r}")
        marks = bytearray(len(tree))
        for leaf in leaves:
            for number in self._forest.up(leaf, tree.seq):
                marks[number] = 1
        return lambda number: bool(marks[number])

    def _newest(self) -> list[int]:
        """The newest message of every conversation; one inside a tool call is one of its own."""
        tree, forest = self.tree, self._forest
        if not forest.nested:
            return [tip.number for name in tree.conversations if (tip := tree.tip(name)) is not None]
        seq = tree.seq
        nested = {
            number for roots in forest.nested.values() for number in roots if forest.is_nested_at(number, seq)
        }
        newest: dict[tuple[str, int], int] = {}
        for leaf in tree.leaves:
            root = forest.up(leaf.number, tree.seq)[-1]
            place = (leaf.conversation, root if root in nested else -1)
            before = newest.get(place)
            if before is None or forest.order_key(leaf.number, tree.seq) > forest.order_key(before, tree.seq):
                newest[place] = leaf.number
        return list(newest.values())

    def _assign(self) -> None:
        """Rows in order, and which of them trains what."""
        known: dict[int, bool] = {}

        def has_tokens(number: int) -> bool:
            if number not in known:
                known[number] = self.tokens(number) is not None
            return known[number]

        breaks = Breaks(self.tree, self.key, self.found.stands_for, has_tokens, self._is_own)
        self._went_on = breaks.went_on
        roots: list[int] = []
        for tip in self.found.tips:
            path = self.tree.way(tip, strict=False)
            mine = [n for n in self.trainable(path) if self.every or self.trains[n] < 0]
            if not mine and not self._is_own(tip):
                continue
            reason = breaks.reason(path)
            dropped = self._dropped(path, mine)
            if dropped is not None:
                for number in mine:
                    if self.trains[number] < 0:
                        self._why.setdefault(number, dropped)
                continue
            for number in mine:
                self._why.pop(number, None)
                if self.trains[number] < 0:
                    self.trains[number] = len(self.tips)
            self.tips.append(tip)
            self.reasons.append(reason)
            roots.append(path[0])
        self.trajectories.update(map(self.trajectory, roots))  # an agent's rows come before those around it

    def trainable(self, path: list[int]) -> list[int]:
        """Sampled messages of a row that it may train: of the last one's model and tools, not failed."""
        key, stands_for = self.key, self.found.stands_for
        wanted = key(path[-1])
        failed = ("max_len", "min_weight_tokens")
        mine = [
            n
            for n in (stands_for.get(number, number) for number in path)
            if key(n) == wanted and self._is_own(n) and (n not in self._why or self._why[n] in failed)
        ]
        if self._forest.calls.has_tokens:
            last = self.tokens(path[-1])
            mine = [n for n in mine if n == path[-1] or goes_on(self.tokens(n), last)]
        return mine

    def _dropped(self, path: list[int], mine: list[int]) -> str | None:
        if self._most is not None and self._length(path) > self._most:
            return "max_len"
        if self._least <= 0:
            return None
        if not mine or (self._least > 1 and sum(map(self._wrote, mine)) < self._least):
            return "min_weight_tokens"
        return None

    def _length(self, path: list[int]) -> int:
        tokens = self.tokens(path[-1])
        if tokens is not None:
            return tokens.end
        read, wrote = self._forest.calls.counts(path[-1])
        if read is not None and wrote is not None:
            return read + wrote
        return sum(map(self._estimated, path))

    def _wrote(self, number: int) -> int:
        tokens = self.tokens(number)
        if tokens is not None:
            return len(tokens.completion)
        wrote = self._forest.calls.counts(number)[1]
        return self._estimated(number) if wrote is None else wrote

    def _estimated(self, number: int) -> int:
        return len(identity(self.tree.node(number).data)) // 4 + 1

    def tokens(self, number: int) -> Tokens | None:
        if not self._forest.calls.has_tokens:
            return None
        return tokens_of(self.tree, number, self.tree.node(number).data)

    def trajectory(self, root: int) -> int:
        """The first root of a conversation: that of the one around it, before it was edited or, as the wire
        shows an edit, before its answers were sent back under another first message."""
        forest, seq = self._forest, self.tree.seq
        for _ in range(64):  # agents inside agents
            root = forest.versions_at(root, seq)[0]
            root = self._went_on.get(root, root)
            nested = self.tree.node(root).nested_in
            host = -1 if nested is None else forest.find(str(nested.get("message_id")), seq)
            if host < 0:
                break
            root = forest.up(host, seq)[-1]
        return root


def _check(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UsageError(f"{name} is {' or '.join(map(repr, known))}, not {value!r}")
