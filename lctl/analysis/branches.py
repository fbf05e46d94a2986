"""The branches of a tree: how long each is, what it cost, and where it parts from the one that is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lctl.analysis.callcosts import Paid
from lctl.conversation.forest import ROOT, UNKNOWN
from lctl.conversation.node import Node
from lctl.conversation.tree import Tree


class Spent(NamedTuple):
    """What model calls came to. `cost` leaves out calls whose price is not known: `unpriced` counts them;
    `untold` those that do not say what they read and wrote."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cost: float = 0.0
    unpriced: int = 0
    untold: int = 0

    def plus(self, paid: Paid) -> Spent:
        return Spent(
            self.calls + 1,
            self.input + paid.tokens.input,
            self.output + paid.tokens.output,
            self.cost + (paid.cost or 0.0),
            self.unpriced + (paid.cost is None),
            self.untold + (not paid.is_told),
        )


class Branch(NamedTuple):
    """A path to a leaf.

    Attributes:
        messages: on the path, the leaf included.
        spent: by the calls on the path; a call of which two answers are on it counts once, a copy nothing.
        parts: last message it shares with the main line of its conversation; None if it is that line.
        main: the line its conversation is drawn along: what was selected, else the newest.
        active: the one of the log that is shown where nothing else is asked for.
        complete: it begins at a root.
    """

    leaf: Node
    messages: int
    spent: Spent
    parts: Node | None
    main: bool
    active: bool
    complete: bool


class Shape:
    """A tree walked once, from its roots down: O(messages), no recursion.

    Attributes:
        tops: numbers where a walk begins: roots, then messages whose parent is not in the log.
        children: number -> its children in order, of those that have any.
        main: numbers on the main lines.
        active: the leaf that is shown where nothing else is asked for; -1 in a tree without messages.
        circular: messages that cannot be reached, as they are their own ancestors.
    """

    def __init__(self, tree: Tree, costs: Mapping[str, Paid] | None = None) -> None:
        self.tree = tree
        self._costs = costs or {}
        forest, seq = tree.forest, tree.seq
        count = len(tree)
        roots = [node.number for node in tree.roots]
        orphans = [n for n in range(count) if forest.parent_at(n, seq) == UNKNOWN]
        self.tops = roots + orphans
        self.children: dict[int, list[int]] = {}
        self.top_of = [-1] * count
        self.messages = [0] * count
        self.spent: list[Spent] = [Spent()] * count
        self.order: list[int] = []
        for top in self.tops:
            self._walk(top)
        self.circular = [n for n in range(count) if self.top_of[n] < 0]
        self.line_of: dict[int, int] = {}  # top -> leaf of its main line
        self.main: set[int] = set()
        self._find_lines()
        self.active = self._active()

    def _walk(self, top: int) -> None:
        forest, seq = self.tree.forest, self.tree.seq
        waiting = [(top, -1)]
        while waiting:
            number, parent = waiting.pop()
            self.order.append(number)
            self.top_of[number] = top
            self.messages[number] = 1 + (self.messages[parent] if parent >= 0 else 0)
            self.spent[number] = self._after(number, parent)
            below = forest.children_at(number, seq)
            if below:
                self.children[number] = below
                waiting += [(child, number) for child in reversed(below)]

    def _after(self, number: int, parent: int) -> Spent:
        before = self.spent[parent] if parent >= 0 else Spent()
        paid = self.paid(number)
        if paid is None:
            return before
        above = self.paid(parent) if parent >= 0 else None
        return before if above is not None and above.key == paid.key else before.plus(paid)

    def paid(self, number: int) -> Paid | None:
        """The call a message came from; None for a copy, which cost nothing."""
        forest = self.tree.forest
        return None if number in forest.origins else self._costs.get(forest.ids[number])

    # -- main lines --------------------------------------------------------------------------

    def _find_lines(self) -> None:
        forest, seq = self.tree.forest, self.tree.seq
        newest: dict[int, int] = {}
        for number in range(len(self.top_of)):
            newest[self.top_of[number]] = number
        for name in self.tree.conversations:
            tip = forest.tip_at(name, seq)
            if tip >= 0:
                newest[self.top_of[tip]] = tip
        for top in self.tops:
            self.line_of[top] = newest[top]
        for _, number in self._selections():
            self.line_of[self.top_of[number]] = number
        for top, number in self.line_of.items():
            self.line_of[top] = self._down(number)
        for leaf in self.line_of.values():
            self.main.update(forest.up(leaf, seq))

    def _selections(self) -> list[tuple[int, int]]:
        """(seq, number) of what was selected in any view, in order."""
        forest, seq = self.tree.forest, self.tree.seq
        found = []
        for chosen in forest.selections.values():
            for at, id in chosen:
                number = forest.find(id, seq) if at <= seq else -1
                if number >= 0 and self.top_of[number] >= 0:
                    found.append((at, number))
        return sorted(found)

    def _down(self, number: int) -> int:
        """The leaf below: the latest child at every fork (D6)."""
        while number in self.children:
            number = self.children[number][-1]
        return number

    def _active(self) -> int:
        forest, seq = self.tree.forest, self.tree.seq
        chosen = [(at, id) for at, id in forest.selections.get("main", ()) if at <= seq]
        number = forest.find(chosen[-1][1], seq) if chosen else -1
        if number < 0 or self.top_of[number] < 0:
            number = forest.tip_at("main", seq)
        if number < 0 or self.top_of[number] < 0:
            nested = {node.number for node in nested_roots(self.tree)}
            outer = [leaf for top, leaf in self.line_of.items() if top not in nested] or list(
                self.line_of.values()
            )
            number = max(outer, default=-1)
        return self.line_of[self.top_of[number]] if number >= 0 and self.top_of[number] >= 0 else -1

    # -- branches ----------------------------------------------------------------------------

    def branches(self) -> Iterator[Branch]:
        """One for each leaf, in the order of the drawing: roots by order, forks by order."""
        tree, forest = self.tree, self.tree.forest
        parts = [-1] * len(self.top_of)
        for number in self.order:
            parent = forest.parent_at(number, tree.seq)
            parts[number] = number if number in self.main else parts[parent] if parent >= 0 else -1
        for number in self.order:
            if number in self.children:
                continue
            top = self.top_of[number]
            main = self.line_of[top] == number
            yield Branch(
                leaf=Node(tree, number),
                messages=self.messages[number],
                spent=self.spent[number],
                parts=None if main or parts[number] < 0 else Node(tree, parts[number]),
                main=main,
                active=number == self.active,
                complete=forest.parent_at(top, tree.seq) == ROOT,
            )

    def total(self, unanswered: list[Paid] | None = None) -> Spent:
        """Of the whole tree: every call once, those without an answer too."""
        keys: dict[str, Paid] = {}
        for number in range(len(self.top_of)):
            paid = self.paid(number)
            if paid is not None:
                keys[paid.key] = paid
        spent = Spent()
        for paid in [*keys.values(), *(unanswered or ())]:
            spent = spent.plus(paid)
        return spent


class Difference(NamedTuple):
    """Two branches from where they part."""

    common: Node | None
    shared: int
    one: list[Node]
    other: list[Node]


def difference(tree: Tree, one: str, other: str) -> Difference:
    """What two paths share, and what each has that the other has not: O(depth).

    Raises:
        UsageError, BrokenChain: as `Tree.path`.
    """
    left, right = tree.path(one), tree.path(other)
    shared = 0
    for a, b in zip(left, right, strict=False):
        if a.number != b.number:
            break
        shared += 1
    return Difference(left[shared - 1] if shared else None, shared, left[shared:], right[shared:])


def nested_roots(tree: Tree) -> list[Node]:
    """First messages of sub-agents' conversations."""
    forest = tree.forest
    seq = tree.seq
    numbers = sorted(
        {n for several in forest.nested.values() for n in several if forest.is_nested_at(n, seq)}
    )
    return [Node(tree, number) for number in numbers]


def active_leaf(tree: Tree) -> Node | None:
    """The last message of the branch that is shown where nothing else is asked for."""
    number = Shape(tree).active
    return Node(tree, number) if number >= 0 else None
