"""`NodeStore`: of the nodes of many conversations a bounded number in memory, the others where they last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, NamedTuple, Protocol

from lctl.conversation.tree import Tree
from lctl.errors import BrokenChain, LogError


class StoredNode(NamedTuple):
    """What was said at one place of a conversation; `parent` None begins it.

    Attributes:
        final: it will say nothing else; others are read each time they are asked for.
    """

    id: str
    parent: str | None
    messages: tuple[dict[str, Any], ...]
    final: bool = True


class Durable(Protocol):
    """Where nodes last. Both methods may raise OSError."""

    def load(self, id: str) -> StoredNode | None:
        """The node of that id or alias; None only where it is known that there is none."""
        ...

    def save(self, node: StoredNode) -> None:
        """Keep a node; when this returns it lasts."""
        ...


class LogNodes:
    """The messages of a tree as nodes. They are written by its session, so that nothing is saved here."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def load(self, id: str) -> StoredNode | None:
        if id not in self._tree:
            return None
        node = self._tree[id]
        above = node.parent
        parent = above.id if above is not None else self._tree.declared_parent(node.number)
        return StoredNode(node.id, parent, (node.message,), final=node.status != "streaming")

    def save(self, node: StoredNode) -> None:
        raise LogError(f"node {node.id}: messages of a log are recorded by its session")


class NodeStore:
    """At most `max_nodes` in memory, the ones used last; the same answers whatever that number is.

    Attributes:
        loads, saves: how often a node was read from and written to where it lasts.
        peak: the most nodes that were in memory at once.
    """

    def __init__(self, durable: Durable, max_nodes: int | None = None) -> None:
        """
        Args:
            max_nodes: at least 1; None for no limit.
        """
        self._durable = durable
        self._most = None if max_nodes is None else max(max_nodes, 1)
        self._nodes: OrderedDict[str, StoredNode] = OrderedDict()
        self._unsaved: set[str] = set()
        self._lock = threading.RLock()
        self.loads = 0
        self.saves = 0
        self.peak = 0

    def __len__(self) -> int:
        """Nodes in memory."""
        return len(self._nodes)

    def get(self, id: str) -> StoredNode | None:
        """The node of that id; None where there is none.

        Raises:
            LogError: whether there is one cannot be told now.
        """
        with self._lock:
            node = self._nodes.get(id)
            if node is not None:
                self._nodes.move_to_end(id)
                return node
            try:
                node = self._durable.load(id)
            except OSError as error:
                raise LogError(f"node {id} cannot be read ({error.strerror or error})") from error
            self.loads += 1
            if node is not None and node.final:
                self._hold(id, node)
            return node

    def put(self, node: StoredNode) -> None:
        """Keep a node, or another content of it; it is written when it has to leave memory, and by `flush`.

        Raises:
            LogError: one that had to leave could not be written; it stays, and this one is not kept.
        """
        with self._lock:
            self._hold(node.id, node, unsaved=True)

    def flush(self) -> None:
        """Write every node that has not been written.

        Raises:
            LogError: one could not be written; it and those after it stay unwritten.
        """
        with self._lock:
            for id in [id for id in self._nodes if id in self._unsaved]:
                self._save(id)

    def transcript(self, leaf: str, *, strict: bool = True) -> list[dict[str, Any]]:
        """The messages from the root to `leaf`.

        Raises:
            BrokenChain: a node on the way is missing, or its own ancestor. With strict=False, what there is.
            LogError: one cannot be read.
        """
        parts: list[tuple[dict[str, Any], ...]] = []
        seen: set[str] = set()
        at: str | None = leaf
        while at is not None:
            node = None if at in seen else self.get(at)
            if node is None:
                found = [message for part in reversed(parts) for message in part]
                if strict:
                    why = "is its own ancestor" if at in seen else "is not there"
                    raise BrokenChain(
                        f"node {at} on the way to {leaf} {why}; strict=False gives what there is", at, found
                    )
                return found
            seen.add(at)
            parts.append(node.messages)
            at = node.parent
        return [message for part in reversed(parts) for message in part]

    def _hold(self, id: str, node: StoredNode, *, unsaved: bool = False) -> None:
        if id not in self._nodes:
            while self._most is not None and len(self._nodes) >= self._most:
                oldest = next(iter(self._nodes))
                if oldest in self._unsaved:
                    self._save(oldest)
                del self._nodes[oldest]
        self._nodes[id] = node
        self._nodes.move_to_end(id)
        if unsaved:
            self._unsaved.add(id)
        self.peak = max(self.peak, len(self._nodes))

    def _save(self, id: str) -> None:
        try:
            self._durable.save(self._nodes[id])
        except OSError as error:
            raise LogError(f"node {id} cannot be written ({error.strerror or error})") from error
        self._unsaved.discard(id)
        self.saves += 1
