"""Which sampled messages end a row, and which are part of a longer one (CONVERSATIONS section 6).

A sampled message is absorbed by one further down its path that was sampled by the same model with the
same tools: the later prompt holds the earlier prompt and completion, unchanged, as its beginning. Where
the log has token ids, they must begin so, too. Copies of a message on another branch are other messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lctl.conversation.tree import Tree
from lctl.training.contents import bare_identity, next_hash
from lctl.training.tokens import Tokens, tokens_of


@dataclass(slots=True)
class Absorbed:
    """What one walk over the tree found.

    Attributes:
        tips: messages that end a row, by seq.
        reached: sampled messages whose path begins at a root.
        stands_for: a message that is a sampled one without its reasoning -> that one.
        strayed: sampled messages whose recorded hash is not that of their prompt.
    """

    tips: list[int] = field(default_factory=list)
    reached: list[int] = field(default_factory=list)
    stands_for: dict[int, int] = field(default_factory=dict)
    strayed: set[int] = field(default_factory=set)


def beginnings(tree: Tree) -> list[int]:
    """Roots, but for those that go on from what the log does not hold: a response of another program.

    The first request of an OpenAI conversation begins it: whether somebody had put messages there before,
    the log does not say.
    """
    said = ((root.number, root.data.get("continues")) for root in tree.roots)
    return [number for number, before in said if before is None or str(before).startswith("conv_")]


class Walk:
    """One walk from the roots to the leaves, keeping what is on the current path only.

    Args:
        key: of a sampled message: a number that is equal where model and tools are; -1: not sampled.
        allowed: messages the walk may enter.
        ignore_reasoning: a message equal to a sampled sibling but for its reasoning stands for it.
    """

    def __init__(
        self, tree: Tree, key: Callable[[int], int], allowed: Callable[[int], bool], ignore_reasoning: bool
    ) -> None:
        self._tree = tree
        self._forest = tree.forest
        self._key = key
        self._allowed = allowed
        self._ignore = ignore_reasoning
        self._tokens = tree.forest.calls.has_tokens
        self._hashes = bool(tree.forest.calls.prompt_hashes)
        self._open: dict[int, list[tuple[int, Tokens | None]]] = {}  # key -> not absorbed, on this path
        self._digests: list[bytes] = []
        self._twins: dict[int, int] = {}
        self._absorbed = bytearray(len(tree))
        self.found = Absorbed()

    def run(self) -> Absorbed:
        found = self.found
        for number, entering in self._visits():
            if entering:
                self._enter(number)
            else:
                self._leave(number)
        found.reached.sort(key=lambda number: (self._forest.seqs[number], number))
        found.tips = [number for number in found.reached if not self._absorbed[number]]
        return found

    def _visits(self) -> Iterator[tuple[int, bool]]:
        """(message, entering) in depth-first order."""
        forest, seq, allowed = self._forest, self._tree.seq, self._allowed
        stack = [number for number in reversed(beginnings(self._tree)) if allowed(number)]
        children = forest.children_at
        while stack:
            number = stack.pop()
            if number < 0:
                yield ~number, False
                continue
            yield number, True
            stack.append(~number)
            below = children(number, seq)
            if len(below) == 1:
                if allowed(below[0]):
                    stack.append(below[0])
            else:
                stack.extend(child for child in reversed(below) if allowed(child))

    def _enter(self, number: int) -> None:
        if self._ignore:
            self._match(number)
        key = self._key(number)
        if key >= 0:
            self.found.reached.append(number)
            if self._hashes:
                self._check(number)
            own = tokens_of(self._tree, number, self._tree.node(number).data) if self._tokens else None
            waiting = self._open.setdefault(key, [])
            if waiting:
                self._absorb(waiting, own)
            waiting.append((number, own))
        elif number in self.found.stands_for:
            original = self.found.stands_for[number]
            self._open.setdefault(self._key(original), []).append((original, None))
        if self._hashes:
            before = self._digests[-1] if self._digests else b""
            self._digests.append(next_hash(before, self._tree.node(number).data))

    def _absorb(self, waiting: list[tuple[int, Tokens | None]], own: Tokens | None) -> None:
        kept = []
        for one in waiting:
            if goes_on(one[1], own):
                self._absorbed[one[0]] = 1
            else:
                kept.append(one)
        waiting[:] = kept

    def _leave(self, number: int) -> None:
        if self._hashes:
            self._digests.pop()
        standing = self.found.stands_for.get(number, number)
        key = self._key(standing)
        if key >= 0:
            waiting = self._open[key]
            if waiting and waiting[-1][0] == standing:
                waiting.pop()

    def _match(self, number: int) -> None:
        """Find the message that this one is, but for reasoning, on the path that its own repeats."""
        forest, seq = self._forest, self._tree.seq
        parent = forest.parent_at(number, seq)
        if parent < 0 or number in forest.sampled:
            return
        above = self._twins.get(parent, parent)
        if above == parent and forest.role_at(number, seq) != "assistant":
            return
        others = [n for n in forest.children_at(above, seq) if n != number]
        if not others:
            return
        others.sort(key=lambda n: n not in forest.sampled)
        said = bare_identity(self._tree.node(number).data)
        for other in others:
            if bare_identity(self._tree.node(other).data) == said:
                self._twins[number] = other
                if self._key(other) >= 0:
                    self.found.stands_for[number] = other
                return

    def _check(self, number: int) -> None:
        claimed = self._forest.calls.prompt_hashes.get(number)
        if claimed is not None and claimed != "sha256:" + (self._digests[-1] if self._digests else b"").hex():
            self.found.strayed.add(number)


def goes_on(earlier: Tokens | None, later: Tokens | None) -> bool:
    """Whether the later call's prompt is known to begin with what the earlier one read and wrote.

    Without token ids of either the messages say so; with those of one alone nobody can tell.
    """
    if earlier is None or later is None:
        return earlier is later
    return earlier.begins(later)
