"""Conversations as trees of messages: which there are, and a path through one."""

from __future__ import annotations

from lctl.analysis.branches import Branch, Shape, active_leaf
from lctl.analysis.callcosts import CallCosts
from lctl.conversation.node import Node
from lctl.conversation.tree import Tree
from lctl.debugger.asking import OfRun
from lctl.debugger.failing import Refused
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.conversation import BranchRow, Conversation, ConversationRow, Conversations
from lctl.debugger.talking import costs_of, talk
from lctl.debugger.views.calls import messages_of
from lctl.state.model import Tokens, total_tokens

_BRANCHES = 200
_TITLE = 120


class ConversationsAsked(OfRun, kw_only=True):
    at: int | None = None
    offset: int = 0
    limit: int = 100
    early: bool = False


def conversations(run: Opened, asked: ConversationsAsked) -> Conversations:
    """One for each beginning: of the program's conversations, of those of sub-agents inside tool calls.
    `early`: of a long log those that are known by now, better ones when asked again (`progress`)."""
    said = talk(run, run.seq(asked.at), early=asked.early)
    tree = said.tree
    name = ("conversations", tree.seq, said.progress)
    found = run.kept(
        name,
        lambda: _listed(run, tree, costs_of(run) if said.counted else None),
        passing=said.progress < 1,
    )
    offset = max(0, asked.offset)
    shown = found[offset : offset + max(1, min(asked.limit, 1000))]
    after = offset + len(shown)
    return Conversations(
        conversations=shown,
        total=len(found),
        next=after if after < len(found) else None,
        progress=said.progress,
        since=said.since,
    )


def _listed(run: Opened, tree: Tree, costs: CallCosts | None) -> list[ConversationRow]:
    shape = Shape(tree, {} if costs is None else costs.by_message)
    branches: dict[int, list[Branch]] = {}
    for branch in shape.branches():
        branches.setdefault(shape.top_of[branch.leaf.number], []).append(branch)
    inside = _inside(tree)
    lasts: dict[int, int] = {}
    counts: dict[int, int] = {}
    for number, top in enumerate(shape.top_of):
        if top >= 0:
            lasts[top] = max(lasts.get(top, 0), tree.forest.seqs[number])
            counts[top] = counts.get(top, 0) + 1
    spent = _spent(run, shape)
    return [
        ConversationRow(
            id=root.conversation,
            root=root.id,
            title=_title(tree, shape, top),
            agent=_agent(run, root),
            messages=counts.get(top, 1),
            branches=len(branches.get(top, ())),
            leaf=tree.forest.ids[shape.line_of[top]],
            active=shape.active >= 0 and shape.top_of[shape.active] == top,
            parent=inside.get(top),
            first=root.seq,
            last=lasts.get(top, root.seq),
            calls=spent.get(top, (0, Tokens(), None))[0],
            tokens=spent.get(top, (0, Tokens(), None))[1],
            cost=spent.get(top, (0, Tokens(), None))[2],
        )
        for top in shape.tops
        for root in (Node(tree, top),)
    ]


def _inside(tree: Tree) -> dict[int, str]:
    """Root of a sub-agent's conversation -> the message whose tool call it is in."""
    forest, seq = tree.forest, tree.seq
    return {
        number: forest.resolve(id, seq)
        for id, numbers in list(forest.nested.items())
        for number in numbers
        if forest.is_nested_at(number, seq)
    }


def _title(tree: Tree, shape: Shape, top: int) -> str:
    """The first words of somebody who asks; else the first words."""
    path = tree.way(shape.line_of[top], strict=False)[:20]
    nodes = [Node(tree, number) for number in path]
    asked = next((node for node in nodes if node.role == "user" and node.text), None)
    words = (asked or (nodes[0] if nodes else Node(tree, top))).text
    return " ".join(words.split())[:_TITLE]


def _agent(run: Opened, root: Node) -> str:
    event = next(iter(run.log.events(root.seq, root.seq + 1)), None)
    return event.agent if event is not None else ""


def _spent(run: Opened, shape: Shape) -> dict[int, tuple[int, Tokens, float | None]]:
    """Top -> the calls of its messages, each once."""
    paid: dict[int, dict[str, tuple[Tokens, float | None]]] = {}
    for number, top in enumerate(shape.top_of):
        one = shape.paid(number) if top >= 0 else None
        if one is not None:
            paid.setdefault(top, {})[one.key] = (one.tokens, one.cost)
    found = {}
    for top, some in paid.items():
        costs = [cost for _, cost in some.values() if cost is not None]
        summed = total_tokens(tokens for tokens, _ in some.values())
        found[top] = (len(some), summed, sum(costs) if costs else None)
    return found


# -- one path ------------------------------------------------------------------------------


class ConversationAsked(OfRun, kw_only=True):
    at: int | None = None
    leaf: str | None = None
    before: str | None = None
    limit: int = 100
    early: bool = False


def conversation(run: Opened, asked: ConversationAsked) -> Conversation:
    """The path to a message: the newest of it, or those before one; and the branches beside it.
    `early`: as of the conversations."""
    said = talk(run, run.seq(asked.at), early=asked.early, leaf=asked.leaf)
    tree = said.tree
    leaf = tree[asked.leaf] if asked.leaf in tree and asked.leaf else None
    if asked.leaf is not None and leaf is None:
        if asked.leaf not in run.chain.tree:
            raise Refused("not_found", f"there is no message {asked.leaf}")
        leaf = _last_above(run, tree, asked.leaf)
    elif leaf is None:
        leaf = _active(run, tree)
    if leaf is None:
        return Conversation(
            leaf=None,
            conversation="main",
            messages=[],
            older=False,
            total=0,
            complete=True,
            branches=[],
            branch_total=0,
            progress=0.1 if said.since is not None else 1.0,
            since=said.since,
        )
    path = tree.path(leaf.id, strict=False)
    stop = len(path)
    if asked.before is not None:
        stop = next((n for n, node in enumerate(path) if node.id == asked.before), len(path))
    start = max(0, stop - max(1, min(asked.limit, 2000)))
    branches = [] if said.since is not None else _branches(run, tree, leaf)
    return Conversation(
        leaf=leaf.id,
        conversation=leaf.conversation,
        messages=messages_of(run, tree, path[start:stop]),
        older=start > 0,
        total=len(path),
        complete=tree.is_complete(leaf.id),
        branches=branches[:_BRANCHES],
        branch_total=len(branches),
        progress=0.1 if said.since is not None else 1.0,
        since=said.since,
    )


def _last_above(run: Opened, tree: Tree, id: str) -> Node | None:
    """The last message on the way to one that has not been said yet."""
    whole = run.chain.tree
    above = [node for node in whole.path(id, strict=False) if node.id in tree]
    return tree[above[-1].id] if above else _active(run, tree)


def _active(run: Opened, tree: Tree) -> Node | None:
    """The message to begin with. Of a long log the newest: the whole tree is not walked for it."""
    if not run.is_long:
        return active_leaf(tree)
    return Node(tree, len(tree) - 1) if len(tree) else None


def _shape(run: Opened, tree: Tree) -> Shape:
    """The tree, walked: as it is at the log's end once for all, of a long log never otherwise."""
    costs = {} if run.is_long else costs_of(run).by_message
    if run.is_long or _is_whole(run, tree):
        return run.kept("shape", lambda: Shape(run.chain.tree.at(run.log.last_seq), costs))
    return Shape(tree, costs)


def _is_whole(run: Opened, tree: Tree) -> bool:
    whole = run.chain.tree
    return tree.forest is whole.forest and tree.seq == whole.seq


def _branches(run: Opened, tree: Tree, leaf: Node) -> list[BranchRow]:
    """Those of the conversation the leaf is in; the way of a leaf inside ends at a leaf below it."""
    shape = _shape(run, tree)
    top = shape.top_of[leaf.number]
    if run.is_long:
        return _leaves_below(shape, tree, top)
    if _is_whole(run, tree):
        return run.kept("branches", lambda: _branches_by_top(shape)).get(top, [])
    return _branches_by_top(shape).get(top, [])


def _branches_by_top(shape: Shape) -> dict[int, list[BranchRow]]:
    """The branches of every beginning."""
    found: dict[int, list[BranchRow]] = {}
    for one in shape.branches():
        row = BranchRow(
            leaf=one.leaf.id,
            messages=one.messages,
            main=one.main,
            active=one.active,
            parts=one.parts.id if one.parts is not None else None,
            last=one.leaf.seq,
            summary=" ".join(one.leaf.text.split())[:_TITLE],
            calls=one.spent.calls,
            cost=one.spent.cost if one.spent.calls > one.spent.unpriced else None,
        )
        found.setdefault(shape.top_of[one.leaf.number], []).append(row)
    return found


def _leaves_below(shape: Shape, tree: Tree, top: int) -> list[BranchRow]:
    """The branches of one beginning, without what they cost."""
    found: list[BranchRow] = []
    waiting = [top]
    while waiting and len(found) < _BRANCHES:
        number = waiting.pop()
        below = shape.children.get(number)
        if below:
            waiting += reversed(below)
            continue
        leaf = Node(shape.tree, number)
        if leaf.seq <= tree.seq:
            main = shape.line_of[top] == number
            found.append(
                BranchRow(
                    leaf=leaf.id,
                    messages=shape.messages[number],
                    main=main,
                    active=number == shape.active,
                    parts=None,
                    last=leaf.seq,
                    summary=" ".join(leaf.text.split())[:_TITLE],
                    calls=0,
                    cost=None,
                )
            )
    return found
