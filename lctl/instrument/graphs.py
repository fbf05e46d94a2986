"""Prompts that are message graphs: the path of such a prompt is the graph's own.

A client that is given a `MessageGraph` reads it in the code that calls it; what it then sends says the
same as the graph, or it is not the graph that was sent. So a graph is told from a list that says the same,
and from another graph that does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lctl.conversation.identity import identity
from lctl.instrument.codecs.model import ModelRequest
from lctl.instrument.forest import Forest, Node, Place
from lctl.record.recorder import Draft
from lctl.session.messagegraph.graph import MessageGraph
from lctl.session.messagegraph.registry import Graphs


class Prompted:
    """What the graphs of a session add to the forest before a prompt is looked for in it.

    Attributes:
        graph: the one whose path the prompt is; None: of none.
        drafts: changes of graphs that were seen only now.
        fresh: messages of graphs that were not in the forest, with their nodes.
        nodes: those, and what was moved.
        undo: what takes all of it back.
    """

    def __init__(self) -> None:
        self.graph: MessageGraph | None = None
        self.drafts: list[Draft] = []
        self.fresh: list[tuple[dict[str, Any], Node]] = []
        self.nodes: list[Node] = []
        self.undo: list[Callable[[], object]] = []


def find(
    graphs: Graphs, forest: Forest, request: ModelRequest, first: int, agent: str, step: int | None
) -> Prompted:
    """Bring the forest up to date with the graphs, and tell whether the request is one of them."""
    found = Prompted()
    graph = graphs.read_here() if request.continues is None else None
    if graph is not None:
        _revise(found, graph, request, first, agent, step)
    for key in list(graphs.changed):
        changed = graphs.changed.pop(key)()
        if changed is not None:
            _follow(found, forest, changed)
    complete = graph is not None and 0 < len(graph.keys) == len(graph.wire)
    if graph is not None and complete and _place(forest, request) is graph.wire[-1].place:
        found.graph = graph
    return found


def _revise(
    found: Prompted, graph: MessageGraph, request: ModelRequest, first: int, agent: str, step: int | None
) -> None:
    """Changes inside messages, and a system prompt that is sent apart."""
    plan = graph.plan_call(first, (agent, step))
    found.drafts = plan.drafts  # the one list that the system prompt is added to below, too
    found.undo.append(lambda: graph.take_back(plan))
    lead = _lead_key(request)
    if lead == graph.lead_key or not graph.keys:
        return
    sent = _identities(request)[lead is not None :]
    if sent != graph.keys[graph.lead_key is not None :]:
        return
    if lead is None:
        graph.plan_lead(plan, None)
    elif request.known is None:
        graph.plan_lead(plan, request.messages[0])
    else:
        graph.plan_lead(plan, request.lead)


def _lead_key(request: ModelRequest) -> bytes | None:
    """Identity of the system prompt that came in a field of its own."""
    if not request.instructions:
        return None
    if request.known is not None:
        top: bytes = request.known.top.identity
        return top
    return identity(request.messages[0])


def _identities(request: ModelRequest) -> list[bytes]:
    keys: list[bytes] = []
    at: Place | None = request.known
    while at is not None and at.parent is not None:
        keys.append(at.identity)
        at = at.parent
    keys.reverse()
    return keys + [identity(message) for message in request.messages]


def _place(forest: Forest, request: ModelRequest) -> Place | None:
    """Where the prompt is in the forest; None where it is not."""
    place: Place | None = request.known if request.known is not None else forest.root.place
    for message in request.messages:
        place = place.children.get(identity(message)) if place is not None else None
    return place


def _follow(found: Prompted, forest: Forest, graph: MessageGraph) -> None:
    """Put what has changed of a graph's path into the forest."""
    nodes: list[Node] = graph.wire
    kept = min(graph.kept, len(nodes))
    del nodes[kept:]
    parent = nodes[-1] if nodes else forest.root
    lineage = graph.lineage
    for at in range(kept, len(graph.keys)):
        id = graph.route.id(at)
        node = forest.get(id)
        new = node is None
        if node is None or node.parent is not parent or node.place.identity != graph.keys[at]:
            role = str(graph.message_at(at).get("role", ""))
            node = forest.add(id, parent, graph.keys[at], role=role, sampled=id in lineage.sampled)
            found.nodes.append(node)
        if new:
            found.fresh.append((graph.message_at(at), node))
        node.home = lineage
        nodes.append(node)
        parent = node
    graph.kept = len(nodes)
    found.undo.append(graph.unfollow)
