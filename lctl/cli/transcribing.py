"""`lctl transcript`: one branch of a log's conversations, as its model reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lctl.cli.openedtree import named, to_seq
from lctl.cli.options import screened, target
from lctl.cli.screen import Screen

if TYPE_CHECKING:
    from lctl.conversation.node import Node
    from lctl.conversation.tree import Tree


@click.command()
@target()
@click.argument("message", required=False)
@to_seq
@click.option("--partial", is_flag=True, help="Where a message is missing: print what there is below it.")
@screened("Print one JSON document: messages as their provider has them.")
def transcript(screen: Screen, target: str, message: str | None, to_seq: int | None, partial: bool) -> None:
    """Print the branch of TARGET that ends with MESSAGE, as its model reads it (default: the active one).

    MESSAGE is an id, the start of one, or a seq.
    """
    from lctl.analysis.branches import active_leaf
    from lctl.analysis.transcripts import readable
    from lctl.chain import tree_of
    from lctl.cli.target import opened

    log = opened(target)
    tree = tree_of(log)
    if to_seq is not None:
        tree = tree.at(to_seq)
    leaf = active_leaf(tree) if message is None else named(tree, message)
    path = [] if leaf is None else _path(tree, leaf, partial)
    complete = leaf is None or len(path) == 0 or tree.is_complete(leaf.id)
    if screen.json:
        screen.json_value(
            {
                "chain": log.id,
                "seq": tree.seq,
                "leaf": None if leaf is None else leaf.id,
                "complete": complete,
                "messages": [node.message for node in path],
            }
        )
        return
    if leaf is None:
        screen.line(f"There are no messages {'in this log' if to_seq is None else f'after event {to_seq}'}.")
        return
    if not complete:
        screen.line(("(what came before is not in the log)", "red"))
    screen.document("\n".join(part for node in path for part in readable(node.data, node.status)))


def _path(tree: Tree, leaf: Node, partial: bool) -> list[Node]:
    from lctl.errors import BrokenChain

    try:
        return tree.path(leaf.id)
    except BrokenChain as error:
        if partial:
            return tree.path(leaf.id, strict=False)
        text = str(error).replace("strict=False gives", "--partial gives")
        raise BrokenChain(text, error.missing, error.partial) from None
