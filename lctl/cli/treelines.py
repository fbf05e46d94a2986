"""A tree of conversations as lines: one message a line, forks beside the line they leave.

    assistant  5 messages, 2 branches
    ● [1] system  Be brief.
    ● [2] user  2+2?
    ├─○ [3] assistant  4           v1 of 2
    │ ○ [4] user  Sure?
    ● [5] assistant  Four.         v2 of 2

A conversation goes straight down along its main line, however long it is; only what leaves it is
indented. Long stretches in which nothing happens, and the end of very wide or deep forks, are told by
their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lctl.analysis.branches import Shape, Spent, nested_roots
from lctl.analysis.wording import count, dollars, plain, plural
from lctl.cli.messagewords import WORDS, cost_text, words_of
from lctl.cli.screen import Piece
from lctl.conversation.forest import UNKNOWN
from lctl.conversation.node import Node

#: A plain stretch longer than this is folded, keeping so many messages at each end.
_LONGEST, _KEPT = 30, 10
#: Alternatives drawn at one place, and how far forks of forks are drawn.
_WIDEST, _DEEPEST = 8, 12
_TOPS = 40

Line = list[Piece]


class _Piece(NamedTuple):
    """Something still to draw: the stretch that begins with a message (-1: only a title).

    Attributes:
        indent: before each of its lines.
        first: what stands before its first message, in place of the indent's end.
        title: a line above it.
    """

    number: int
    indent: str
    first: str = ""
    title: Line = []  # noqa: RUF012  (never changed)


@dataclass(slots=True)
class Drawing:
    """Draws one `Shape`.

    Args:
        facts: message id -> what is said about it, newest last.
        agent_at: whose event a seq is.
        full: leave nothing out.
    """

    shape: Shape
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    agent_at: Callable[[int], str] = str
    full: bool = False
    _nested: dict[int, list[int]] = field(default_factory=dict)
    _sizes: dict[int, int] = field(default_factory=dict)
    _tops: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        forest = self.shape.tree.forest
        self._tops = self._hung()
        for number in reversed(self.shape.order):
            size = 1 + self._sizes.get(number, 0)
            self._sizes[number] = size
            parent = forest.parent_at(number, self.shape.tree.seq)
            if parent >= 0:
                self._sizes[parent] = self._sizes.get(parent, 0) + size

    def _hung(self) -> list[int]:
        """Hangs sub-agents into the messages that started them; what is left stands for itself. Those that
        would stand inside each other are left."""
        hosts = {root.number: self._host(root) for root in nested_roots(self.shape.tree)}
        inside: dict[int, list[int]] = {}  # top of the host -> roots
        for root, host in hosts.items():
            if host >= 0 and root in self.shape.tops:
                inside.setdefault(self.shape.top_of[host], []).append(root)
        outer = [top for top in self.shape.tops if hosts.get(top, -1) < 0]
        seen: set[int] = set()
        tops: list[int] = []
        for top in [*outer, *self.shape.tops]:
            if top in seen:
                continue
            seen.add(top)
            tops.append(top)
            waiting = [top]
            while waiting:
                for root in inside.get(waiting.pop(), ()):
                    if root not in seen:
                        seen.add(root)
                        self._nested.setdefault(hosts[root], []).append(root)
                        waiting.append(root)
        return tops

    def _host(self, root: Node) -> int:
        nested = root.nested_in
        id = None if nested is None else nested.get("message_id")
        return self.shape.tree.forest.find(str(id), self.shape.tree.seq)

    # -- the whole ---------------------------------------------------------------------------

    def lines(self) -> Iterator[Line]:
        """Every conversation that is not inside another one."""
        tops = self._tops
        shown = tops if self.full else tops[:_TOPS]
        for n, top in enumerate(shown):
            if n:
                yield []
            yield self._title(top)
            yield from self._draw(top)
        if len(tops) > len(shown):
            yield []
            yield [(f"… {plural(len(tops) - len(shown), 'more conversation')}; --full shows them", "dim")]

    def _title(self, top: int) -> Line:
        node = Node(self.shape.tree, top)
        missing, tree = "", self.shape.tree
        if tree.forest.parent_at(top, tree.seq) == UNKNOWN:
            missing = f"  hangs on {plain(tree.declared_parent(top) or '?', 80)}, which is not in the log"
        agent = plain(self.agent_at(node.seq), 40)
        name = plain(node.conversation, 80)
        if name in ("main", agent):
            name, agent = agent or name, ""
        return [
            (name, "bold"), f" by {agent}" if agent else "", (f"  {self._extent(top)}", "dim"),
            (missing, "red"),
        ]  # fmt: skip

    def _extent(self, top: int) -> str:
        """How much hangs below a first message."""
        leaves, spent = 0, Spent()
        keys: set[str] = set()
        waiting = [top]
        while waiting:
            number = waiting.pop()
            paid = self.shape.paid(number)
            if paid is not None and paid.key not in keys:
                keys.add(paid.key)
                spent = spent.plus(paid)
            below = self.shape.children.get(number, ())
            leaves += not below
            waiting += below
        parts = [plural(self._sizes[top], "message")]
        if leaves > 1:
            parts.append(plural(leaves, "branch", "branches"))
        if spent.calls:
            parts += [plural(spent.calls, "model call"), cost_text(spent)]
        return ", ".join(part for part in parts if part)

    # -- lines of one conversation -----------------------------------------------------------

    def _draw(self, top: int) -> Iterator[Line]:
        """The stretch from `top` on, and what leaves it, in the order of reading."""
        waiting = [_Piece(top, "")]
        while waiting:
            piece = waiting.pop()
            if piece.title:
                yield piece.title
            if piece.number < 0:
                continue
            stretch, goes_on = self._stretch(piece.number)
            yield from self._messages(stretch, piece.indent, piece.first)
            if not goes_on:
                continue
            main, others = self._parted(stretch[-1])
            below = [*self._sub_agents(stretch[-1], piece.indent), *self._forks(others, piece.indent)]
            if main >= 0:
                below.append(_Piece(main, piece.indent))
            waiting += reversed(below)

    def _sub_agents(self, number: int, indent: str) -> Iterator[_Piece]:
        for root in self._nested.get(number, ()):
            title: Line = [(f"{indent}├─ sub-agent ", "dim"), *self._title(root)]
            yield _Piece(root, indent + "│ ", title=title)

    def _forks(self, others: list[int], indent: str) -> Iterator[_Piece]:
        shown = others if self.full else others[:_WIDEST] if len(indent) // 2 < _DEEPEST else []
        for number in shown:
            yield _Piece(number, indent + "│ ", first="├─")
        rest = others[len(shown) :]
        if rest:
            size = plural(sum(self._sizes[number] for number in rest), "message")
            forks = plural(len(rest), "more fork" if shown else "fork")
            yield _Piece(-1, indent, title=[(f"{indent}├─ … {forks} with {size}; --full shows them", "dim")])

    def _parted(self, number: int) -> tuple[int, list[int]]:
        """The child that goes on straight, and the others."""
        below = self.shape.children.get(number, [])
        if not below:
            return -1, []
        main = next((child for child in below if child in self.shape.main), below[-1])
        return main, [child for child in below if child != main]

    def _stretch(self, number: int) -> tuple[list[int], bool]:
        """Messages that follow each other alone, and whether something leaves after the last."""
        found = [number]
        while number not in self._nested:
            below = self.shape.children.get(number, ())
            if len(below) != 1:
                return found, bool(below)
            number = below[0]
            found.append(number)
        return found, True

    def _messages(self, stretch: list[int], indent: str, first: str) -> Iterator[Line]:
        run: list[int] = []
        for number in stretch:
            if not self.full and self._is_plain(number):
                run.append(number)
                continue
            yield from self._run(run, indent, first)
            first = "" if run else first
            run = []
            yield from self._message(number, indent, first)
            first = ""
        yield from self._run(run, indent, first)

    def _is_plain(self, number: int) -> bool:
        forest = self.shape.tree.forest
        return (
            forest.ids[number] not in self.facts
            and number not in forest.statuses
            and number not in self._nested
        )

    def _run(self, run: list[int], indent: str, first: str) -> Iterator[Line]:
        folded = len(run) > _LONGEST
        for n, number in enumerate(run):
            if folded and n == _KEPT:
                yield [indent, (f"… {plural(len(run) - 2 * _KEPT, 'message')}; --full shows them", "dim")]
            if not folded or n < _KEPT or n >= len(run) - _KEPT:
                yield from self._message(number, indent, first if n == 0 else "")

    def _message(self, number: int, indent: str, first: str) -> Iterator[Line]:
        tree = self.shape.tree
        node = Node(tree, number)
        status = node.status
        mark: Piece = ("● ", "green") if number in self.shape.main else ("○ ", "dim")
        if status != "complete":
            mark = ("◌ ", "yellow") if status == "streaming" else ("✗ ", "red")
        before = indent[:-2] + first if first else indent
        notes = self._notes(node, status)
        active = number == self.shape.active
        yield [
            (before, "dim"), mark, (f"[{node.seq}] ", "dim"), (plain(node.role or "?", 20), "cyan"), "  ",
            words_of(node), (f"  {notes}" if notes else "", "dim"), ("  ← active" if active else "", "green"),
        ]  # fmt: skip
        for fact in self.facts.get(node.id, ()):
            yield [(indent, "dim"), ("  ★ ", "yellow"), plain(fact, WORDS)]

    def _notes(self, node: Node, status: str) -> str:
        notes = [] if status == "complete" else [plain(status, 40)]
        versions = self.shape.tree.forest.versions_at(node.number, self.shape.tree.seq)
        if len(versions) > 1:
            notes.append(f"v{versions.index(node.number) + 1} of {len(versions)}")
        if node.origin is not None:
            notes.append(f"copy of {plain(node.origin.id, 40)}")
        paid = self.shape.paid(node.number)
        if paid is not None:
            used = f"{count(paid.tokens.input)}→{count(paid.tokens.output)}" if paid.tokens.total else ""
            cost = dollars(paid.cost) if paid.cost else ""
            notes += [part for part in (plain(paid.model or "", 40), used, cost) if part]
        return " · ".join(notes)
