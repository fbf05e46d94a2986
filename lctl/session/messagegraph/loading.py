"""What a graph knows, read back from the tree of a log that is gone on with."""

from __future__ import annotations

from lctl.conversation.node import Node
from lctl.conversation.tree import Tree
from lctl.session.messagegraph.breaks import Breaks
from lctl.session.messagegraph.lineage import Lineage
from lctl.session.messagegraph.message import key_of
from lctl.session.messagegraph.route import Route


def load(node: Node, lineage: Lineage, breaks: Breaks) -> None:
    """Fill a lineage with the messages that have to do with a path, and its breaks with those of the calls
    they were made by."""
    tree = node.tree
    calls: list[tuple[str, Node]] = []
    for number in _family(tree, node.number):
        found = tree.node(number)
        parent = found.parent
        above = parent.id if parent is not None else None
        message = found.message
        if found.sampled:
            lineage.learn(above, found.id, message, None, None)
            if parent is not None:
                calls.append((found.id, parent))
            continue
        lineage.meet(above, found.id, message)
        data = found.data if found.origin is None else tree.forest.data_at(found.seq)
        if data.get("message_id") == found.id:
            reason = _reason(data.get("fork_of"), data.get("copy_of"), data.get("carry"))
            if reason is not None:
                lineage.reasons[found.id] = reason
    before: str | None = None
    for _, prompt in calls:
        if prompt.id != before:  # several answers of one call
            breaks.called(route_of(prompt), None, None)
        before = prompt.id


def route_of(node: Node) -> Route:
    route = Route()
    for above in node.path:
        route.add(above.id, 0)
    return route


def keys_of(node: Node) -> list[bytes]:
    return [key_of(above.message) for above in node.path]


def _reason(fork_of: object, copy_of: object, carry: object) -> str | None:
    if fork_of is not None:
        return "edit"
    if copy_of is not None:
        return "delete"
    return "insert" if carry is not None else None


def _family(tree: Tree, number: int) -> list[int]:
    """Messages that are on a path with this one, or a version or copy of one that is; by number."""
    forest, seq = tree.forest, tree.seq
    beside: dict[int, list[int]] = {}
    for one in range(len(tree)):
        others = [forest.parent_at(one, seq), forest.origins.get(one, -1), forest.versions_at(one, seq)[0]]
        for other in others:
            if other >= 0 and other != one:
                beside.setdefault(one, []).append(other)
                beside.setdefault(other, []).append(one)
    found, waiting = {number}, [number]
    while waiting:
        for other in beside.get(waiting.pop(), ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return sorted(found)
