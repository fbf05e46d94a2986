"""A log's conversations at an event, opened for a command: tree, costs, facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from lctl.errors import UsageError

if TYPE_CHECKING:
    from lctl.analysis.branches import Shape, Spent
    from lctl.analysis.callcosts import Paid
    from lctl.codec import Log
    from lctl.conversation.node import Node
    from lctl.conversation.tree import Tree

#: Events up to which a log's messages are kept in memory while they are shown.
_SMALL = 300_000

to_seq = click.option("--to-seq", type=click.IntRange(0), metavar="N", help="As it was after event N.")


class Opened(NamedTuple):
    """A log's conversations at an event."""

    log: Log
    tree: Tree
    shape: Shape
    unanswered: list[Paid]
    facts: dict[str, list[str]]


def opened_tree(target: str, seq: int | None) -> Opened:
    from lctl.analysis.branches import Shape
    from lctl.analysis.callcosts import call_costs
    from lctl.analysis.log import UpTo
    from lctl.chain import tree_of
    from lctl.cli.target import opened

    log = opened(target)
    tree = _kept(log) if len(log) <= _SMALL else tree_of(log)
    if seq is not None:
        tree = tree.at(seq)
    costs = call_costs(log if seq is None else UpTo(log, seq))
    return Opened(log, tree, Shape(tree, costs.by_message), costs.unanswered, _facts(log, tree))


def _kept(log: Log) -> Tree:
    """The tree with all messages in memory: reading them from the log one by one takes 40 us each."""
    from lctl.conversation.tree import Tree

    tree = Tree.of(log.events())
    tree.forest.name = log.name
    return tree


def _facts(log: Log, tree: Tree) -> dict[str, list[str]]:
    """What facts say about messages: message id -> one line each, as they stand."""
    facts: dict[str, tuple[str, dict[str, Any]]] = {}
    for event in log.events():
        if event.seq > tree.seq:
            break
        if event.type not in ("fact_added", "fact_modified"):
            continue
        id = str(event.data.get("id"))
        about = event.data.get("about")
        known = facts.get(id)
        if event.type == "fact_added" and isinstance(about, str):
            facts[id] = (about, dict(event.data))
        elif known is not None:
            facts[id] = (known[0], {**known[1], **event.data})
    found: dict[str, list[str]] = {}
    for about, data in facts.values():
        number = tree.forest.find(about, tree.seq)
        if number >= 0:
            found.setdefault(tree.forest.ids[number], []).append(_fact(data))
    return found


def _fact(data: dict[str, Any]) -> str:
    confidence = data.get("confidence")
    number = data.get("value", confidence)
    told = f"{number:g} " if isinstance(number, int | float) and not isinstance(number, bool) else ""
    return f"{told}{data.get('text') or data.get('id')}"


def when(found: Opened) -> str:
    fixed = found.tree.seq < found.log.last_seq
    return f"after event {found.tree.seq}" if fixed else "so far" if found.log.open else "at the end"


def spent_document(spent: Spent) -> dict[str, Any]:
    """Null is what no call tells of: it is not known, and 0 would be a number to add up."""
    is_told = spent.untold < spent.calls or not spent.calls
    is_priced = spent.unpriced < spent.calls or not spent.calls
    return {
        "calls": spent.calls,
        "input": spent.input if is_told else None,
        "output": spent.output if is_told else None,
        "cost_usd": spent.cost if is_priced else None,
        "unpriced": spent.unpriced,
    }


def named(tree: Tree, name: str) -> Node:
    """The message that `name` means: its id or alias, its seq, or the start of its id.

    Raises:
        UsageError: none, or more than one.
    """
    if name in tree:
        return tree[name]
    forest = tree.forest
    if name.isdecimal():
        made = [n for n in range(len(tree)) if forest.seqs[n] == int(name)]
        if made:
            return tree.node(made[0])
    close = [id for id in forest.ids[: len(tree)] if id.startswith(name)] if len(name) > 2 else []
    if len(close) == 1:
        return tree[close[0]]
    if close:
        raise UsageError(f"{name}: {len(close)} messages begin so: {', '.join(close[:8])}")
    leaves = [node.id for node in tree.leaves[-8:]]
    raise UsageError(f"no message {name} at event {tree.seq}; branches end at {', '.join(leaves) or 'none'}")
