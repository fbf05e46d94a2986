"""`lctl tree`: the conversations of a log, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lctl.cli.openedtree import opened_tree, spent_document, to_seq, when
from lctl.cli.options import screened, target
from lctl.cli.screen import Piece, Screen
from lctl.cli.text import cells, clip, plain, plural

if TYPE_CHECKING:
    from lctl.cli.openedtree import Opened
    from lctl.conversation.node import Node

_DIAGNOSTICS = 10


@click.command()
@target()
@to_seq
@click.option("--full", is_flag=True, help="Leave nothing out: long stretches, wide and deep forks.")
@screened()
def tree(screen: Screen, target: str, to_seq: int | None, full: bool) -> None:
    """Draw the conversations of TARGET with every branch, version and sub-agent.

    A line is a message: [seq], who, what it says, what its call cost. ● is on the main line of its
    conversation, ○ beside it, ◌ still streaming, ✗ aborted; ★ is a fact about it.
    """
    from lctl.cli.messagewords import cost_text
    from lctl.cli.treelines import Drawing

    found = opened_tree(target, to_seq)
    if screen.json:
        screen.json_value(_tree_document(found))
        return
    if not len(found.tree):
        screen.line(f"There are no messages {when(found)}.")
        return
    total = found.shape.total(found.unanswered)
    cost = cost_text(total)
    counts = [
        plural(len(found.tree), "message"),
        plural(sum(1 for _ in found.shape.branches()), "branch", "branches"),
    ]
    counts += [plural(total.calls, "model call")] if total.calls else []
    counts += [cost] if cost else []
    screen.line((plain(found.log.id or found.log.name, 80), "bold"), f" {when(found)}: {', '.join(counts)}")
    screen.line()
    for line in Drawing(found.shape, found.facts, lambda seq: found.log.event(seq).agent, full).lines():
        _fitted(screen, line)
    _remarks(screen, found, full)


def _fitted(screen: Screen, line: list[Piece]) -> None:
    """The line on a terminal's width: what a message says gives way first."""
    texts = [piece if isinstance(piece, str) else piece[0] for piece in line]
    over = sum(map(cells, texts)) - screen.columns
    if over > 0 and texts:
        longest = max(range(len(texts)), key=lambda n: (isinstance(line[n], str), cells(texts[n])))
        room = max(cells(texts[longest]) - over, 8)
        piece = line[longest]
        short = clip(texts[longest], room)
        line = [*line[:longest], short if isinstance(piece, str) else (short, piece[1]), *line[longest + 1 :]]
    screen.line(*line)


def _remarks(screen: Screen, found: Opened, full: bool) -> None:
    circular = [found.tree.forest.ids[n] for n in found.shape.circular]
    if circular:
        screen.line()
        names = ", ".join(plain(id, 40) for id in circular[:8])
        screen.line((f"{plural(len(circular), 'message')} in or below a circle of parents: {names}", "red"))
    notes = found.tree.diagnostics
    if notes:
        screen.line()
        screen.line(("Could not be taken at its word", "bold"))
        for note in notes if full else notes[:_DIAGNOSTICS]:
            screen.line(f"  [{note.seq}] ", plain(note.text, 200), (f"  {note.code}", "dim"))
        if len(notes) > _DIAGNOSTICS and not full:
            screen.line((f"  … {len(notes) - _DIAGNOSTICS:,} more; --full shows them", "dim"))


def _tree_document(found: Opened) -> dict[str, Any]:
    shape, tree = found.shape, found.tree
    active = tree.node(shape.active).id if shape.active >= 0 else None
    return {
        "chain": found.log.id,
        "seq": tree.seq,
        "messages": len(tree),
        "conversations": tree.conversations,
        "active": active,
        "total": spent_document(shape.total(found.unanswered)),
        "nodes": [_node(found, node) for node in tree],
        "orphans": [
            {"message_id": node.id, "missing": tree.declared_parent(node.number)} for node in tree.orphans
        ],
        "circular": [tree.forest.ids[n] for n in shape.circular],
        "diagnostics": [{"seq": note.seq, "code": note.code, "text": note.text} for note in tree.diagnostics],
    }


def _node(found: Opened, node: Node) -> dict[str, Any]:
    from lctl.conversation.node import stored_of

    forest, shape = found.tree.forest, found.shape
    parent = node.parent
    document: dict[str, Any] = {
        "message_id": node.id,
        "seq": node.seq,
        "role": node.role,
        "parent": None if parent is None else parent.id,
        "children": [forest.ids[child] for child in shape.children.get(node.number, ())],
        "conversation": node.conversation,
        "status": node.status,
        "sampled": node.sampled,
        "main": node.number in shape.main,
        "message": stored_of(found.tree, node.number),
    }
    versions = node.versions
    if len(versions) > 1:
        document["versions"] = [one.id for one in versions]
    nested = node.nested_in
    if nested:
        document["nested_in"] = dict(nested)
    if node.origin is not None:
        document["copy_of"] = node.origin.id
    paid = shape.paid(node.number)
    if paid is not None:
        document["call"] = {
            "model": paid.model,
            "input": paid.tokens.input,
            "output": paid.tokens.output,
            "cost_usd": paid.cost,
        }
    if node.id in found.facts:
        document["facts"] = found.facts[node.id]
    return document
