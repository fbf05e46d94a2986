"""What a graph can be asked: its place in the tree, its versions, its samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lctl.errors import UsageError
from lctl.session.messagegraph.breaks import Break
from lctl.session.messagegraph.route import Route
from lctl.values import index_number

if TYPE_CHECKING:
    from lctl.conversation.node import Node
    from lctl.conversation.tree import Tree
    from lctl.session.session import LCTLSession


class Reading:
    """Mixed into `MessageGraph`."""

    session: LCTLSession | None

    @property
    def tree(self) -> Tree:
        """The session's tree of conversations.

        Raises:
            UsageError: nothing is recorded.
        """
        if self.session is None:
            raise UsageError("this graph is not recorded; enter a session, or call lctl.auto_instrument()")
        return self.session.tree

    @property
    def tip(self: Any) -> Node | None:
        """Its last message in the tree; None while it is empty."""
        tip = self.route.tip
        return None if tip is None or self.session is None else self.tree[tip]

    @property
    def depth(self: Any) -> int:
        """User and assistant messages in it."""
        return sum(m.get("role") in ("user", "assistant") for m in self.own())

    def versions(self: Any, index: int) -> list[Node]:
        """What the message at `index` was and is, in the order recorded; copies are not told apart from
        what they copy.

        Raises:
            IndexError: there is no such message.
            UsageError: `index` is no number.
        """
        at = self._path_index(index)
        found: dict[int, Node] = {}
        waiting = [self.tree[self.route.id(at)]]
        seen: set[int] = set()
        while waiting:
            node = waiting.pop()
            if node.number in seen:
                continue
            seen.add(node.number)
            if node.origin is None:
                found[node.number] = node
            else:
                waiting.append(node.origin)
            waiting += node.versions
        return [found[number] for number in sorted(found)]

    def _path_index(self: Any, index: int) -> int:
        """Place on the path of the item at `index`."""
        at = index_number(index)
        if at is None:
            raise UsageError(f"index {index!r}: messages of a graph are counted from 0, from its end from -1")
        at = at + len(self) if at < 0 else at
        if not 0 <= at < len(self):
            raise IndexError("list index out of range")
        if self._loose:
            from lctl.conversation.items import group

            spans = group([*self.own()])[1]
            count = 0
            for place, span in enumerate(spans):
                count += span
                if at < count:
                    at = place
                    break
        return at + (self._lead is not None)

    @property
    def breaks(self: Any) -> list[Break]:
        """Where the contexts of its calls part, in order; the last one may be what the next call makes."""
        pending = self._breaks.pending(self.route)
        found = self._breaks.found if pending is None else [*self._breaks.found, pending[0]]
        return [self._listed(one) for one in found]

    def _listed(self: Any, one: Break) -> Break:
        return one if self._lead is None else Break(one.reason, max(0, one.index - 1), one.left)

    def _left(self: Any) -> Route | None:
        pending: tuple[Break, Route] | None = self._breaks.pending(self.route)
        if pending is not None:
            return pending[1]
        routes: list[Route] = self._breaks.routes
        return routes[-1] if routes else None

    def samples(self: Any, **options: Any) -> Iterator[Any]:
        """Training samples of the model calls on its paths; as `lctl.training.samples`."""
        from importlib import import_module

        samples = import_module("lctl.training").samples
        own = self.lineage.sampled
        for sample in samples(self.tree, **options):
            if any(id in own for id in sample.message_ids):
                yield sample
