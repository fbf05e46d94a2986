"""The message forest as the writer sees it: only what is needed to find a prompt in it again.

A `Place` is a path of message identities from the root; the nodes at one place are messages that look
the same to the model after the same history (two identical samples are two nodes at one place). So
finding a prompt is one dictionary look-up per message, whatever the number of branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lctl.conversation.identity import item_ids

if TYPE_CHECKING:
    from lctl.session.messagegraph.lineage import Lineage


class Place:
    """Where a path of identities leads. `top` is the first place of the path."""

    __slots__ = ("children", "identity", "nodes", "parent", "top")

    def __init__(self, parent: Place | None, identity: bytes) -> None:
        self.parent = parent
        self.identity = identity
        self.children: dict[bytes, Place] = {}
        self.nodes: list[Node] = []
        self.top: Place = self if parent is None or parent.parent is None else parent.top

    def best(self) -> Node:
        """The node that stands for the place: sampled before told, then the latest."""
        nodes = self.nodes
        if len(nodes) > 1:
            for node in reversed(nodes):
                if node.sampled:
                    return node
        return nodes[-1]

    def told_by(self, marks: frozenset[bytes]) -> Node | None:
        """Of several nodes the one that a message with these marks is, if it is one of them (the latest,
        where they say the same)."""
        for node in reversed(self.nodes):
            if node.marks is not None and not marks.isdisjoint(node.marks):
                return node
        return None

    def referred_to(self, ids: frozenset[bytes]) -> Place | None:
        """Where the answer below is that consists of the items with these ids; None where there is none."""
        for child in self.children.values() if ids else ():
            for node in child.nodes:
                if node.marks is not None and ids == item_ids(node.marks):
                    return child
        return None


class Node:
    """One message of the log; `id` is None for the root above all roots.

    Attributes:
        role: of the message.
        home: of a message of a `MessageGraph`: what its graph has recorded.
        marks: what tells a sampled message from others with the same words (`identity.marks`); None: nothing.
        chains: a tool result, or what has tool results below it: readers chain those (CONVERSATIONS D3).
    """

    __slots__ = ("chains", "home", "id", "marks", "parent", "place", "role", "sampled")

    def __init__(self, id: str | None, parent: Node | None, place: Place, role: str, sampled: bool) -> None:
        self.id = id
        self.parent = parent
        self.place = place
        self.role = role
        self.sampled = sampled
        self.home: Lineage | None = None
        self.marks: frozenset[bytes] | None = None
        self.chains = False


class Forest:
    """All places and nodes of one chain."""

    __slots__ = ("_by_id", "root")

    def __init__(self) -> None:
        self.root = Node(None, None, Place(None, b""), "", False)
        self.root.place.nodes.append(self.root)
        self._by_id: dict[str, Node] = {}

    def node(self, id: str | None) -> Node:
        """The node of that id; the root for None and for ids this forest never saw."""
        return self.root if id is None else self._by_id.get(id, self.root)

    def knows(self, id: str) -> bool:
        return id in self._by_id

    def get(self, id: str) -> Node | None:
        return self._by_id.get(id)

    def walk(self, start: Place, identities: Sequence[bytes]) -> list[Place]:
        """The places along the longest known path below `start`."""
        places: list[Place] = []
        at = start
        for identity in identities:
            child = at.children.get(identity)
            if child is None:
                break
            places.append(child)
            at = child
        return places

    def walk_below(self, start: Node, identities: Sequence[bytes]) -> list[Node]:
        """The same below one node and no other at its place."""
        nodes: list[Node] = []
        at = start
        for identity in identities:
            place = at.place.children.get(identity)
            below = [node for node in place.nodes if node.parent is at] if place is not None else []
            if not below:
                break
            at = next((node for node in reversed(below) if node.sampled), below[-1])
            nodes.append(at)
        return nodes

    def add(self, id: str, parent: Node, identity: bytes, *, role: str, sampled: bool) -> Node:
        siblings = parent.place.children
        place = siblings.get(identity)
        if place is None:
            place = Place(parent.place, identity)
        node = Node(id, parent, place, role, sampled)
        self._by_id[id] = node
        place.nodes.append(node)
        siblings[identity] = place  # last: an interrupt may come before, and a place without nodes is none
        return node

    def remove(self, node: Node) -> None:
        """Take back an `add`; what was added last is removed first."""
        place = node.place
        place.nodes.remove(node)
        if node.id is not None:
            self._by_id.pop(node.id, None)
        if not place.nodes and not place.children and place.parent is not None:
            place.parent.children.pop(place.identity, None)
