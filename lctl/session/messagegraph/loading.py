"""What a graph knows, read back from the tree of a log that is gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lctl.conversation.node import Node
from lctl.conversation.tree import Tree
from lctl.session.found import found_tree
from lctl.session.messagegraph.breaks import Breaks
from lctl.session.messagegraph.lineage import Lineage
from lctl.session.messagegraph.message import key_of
from lctl.session.messagegraph.route import Route

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession


def load(node: Node, lineage: Lineage, breaks: Breaks) -> None:
    """Fill a lineage with the messages that have to do with a path, and its breaks with those of the calls
    they were made by."""
    tree = node.tree
    before: str | None = None
    for number in _family(tree, node.number):
        found = tree.node(number)
        _learn(found, lineage)
        prompt = found.parent if found.sampled else None
        if prompt is not None and prompt.id != before:  # else several answers of one call
            breaks.called(route_of(prompt), None, None)
            before = prompt.id


def load_found(session: LCTLSession, lineage: Lineage, conversation: str) -> None:
    """Fill a lineage with the messages of a conversation that were in the log when the session opened it: a
    graph that says them again is on their path."""
    for node in found_tree(session):
        if node.conversation != conversation or node.status != "complete":
            continue
        if node.is_root or node.parent is not None:
            _learn(node, lineage)


def _learn(node: Node, lineage: Lineage) -> None:
    parent = node.parent
    above = parent.id if parent is not None else None
    if node.sampled:
        lineage.learn(above, node.id, node.message, None, None)
        return
    lineage.meet(above, node.id, node.message)
    data = node.data if node.origin is None else node.tree.forest.data_at(node.seq)
    if data.get("message_id") == node.id:
        reason = _reason(data)
        if reason is not None:
            lineage.reasons[node.id] = reason
        if data.get("fork_of") is not None:
            lineage.replaced[node.id] = str(data["fork_of"])


def route_of(node: Node) -> Route:
    route = Route()
    for above in node.path:
        route.add(above.id, 0)
    return route


def keys_of(node: Node) -> list[bytes]:
    return [key_of(above.message) for above in node.path]


def _reason(data: Mapping[str, Any]) -> str | None:
    if data.get("replaces") is not None:
        return "compaction"
    if data.get("fork_of") is not None:
        return "edit"
    if data.get("copy_of") is not None:
        return "delete"
    return "insert" if data.get("carry") is not None else None


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
