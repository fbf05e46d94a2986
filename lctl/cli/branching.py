"""`lctl branches`: the branches of a log's conversations, and where two of them part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lctl.cli.openedtree import named, opened_tree, spent_document, to_seq, when
from lctl.cli.options import screened, target
from lctl.cli.screen import Column, Piece, Screen
from lctl.cli.text import plain, plural

if TYPE_CHECKING:
    from lctl.analysis.branches import Branch, Difference


@click.command()
@target()
@to_seq
@click.option("--diff", nargs=2, metavar="A B", help="Where the branches to messages A and B part.")
@screened()
def branches(screen: Screen, target: str, to_seq: int | None, diff: tuple[str, str] | None) -> None:
    """List the branches of TARGET: one for each message that nothing follows.

    DEPTH counts what user and assistant said. COST is that of the calls on the path; what branches share
    is in each of them, and in the total once. PARTS is the last message a branch shares with the main line
    of its conversation. A message is named by its id, the start of one, or its seq.
    """
    found = opened_tree(target, to_seq)
    if diff:
        from lctl.analysis.branches import difference

        one, other = (named(found.tree, name).id for name in diff)
        _difference(screen, difference(found.tree, one, other))
        return
    listed = list(found.shape.branches())
    total = found.shape.total(found.unanswered)
    if screen.json:
        screen.json_value(
            {
                "chain": found.log.id,
                "seq": found.tree.seq,
                "branches": [_branch(branch) for branch in listed],
                "total": spent_document(total),
            }
        )
        return
    if not listed:
        screen.line(f"There are no messages {when(found)}.")
        return
    _table(screen, listed)
    screen.line()
    from lctl.cli.messagewords import cost_text

    cost = cost_text(total)
    screen.line(
        f"{plural(len(listed), 'branch', 'branches')}, {plural(len(found.tree), 'message')}, "
        f"{plural(total.calls, 'model call')}" + (f", {cost}" if cost else ""),
        (f"  {when(found)}", "dim"),
    )


def _table(screen: Screen, listed: list[Branch]) -> None:
    from lctl.cli.messagewords import cost_text, words_of

    columns = [
        Column(), Column("SEQ", right=True), Column("LEAF", flexible=True),
        Column("CONVERSATION", flexible=True, optional=True), Column("DEPTH", right=True),
        Column("MESSAGES", right=True), Column("CALLS", right=True), Column("COST", right=True),
        Column("PARTS", optional=True), Column("LAST WORDS", flexible=True),
    ]  # fmt: skip
    several = len({branch.leaf.conversation for branch in listed}) > 1
    rows: list[list[Piece]] = []
    for branch in listed:
        leaf = branch.leaf
        mark: Piece = ("●", "green") if branch.active else ("○" if branch.main else "")
        parts = "" if branch.parts is None else f"[{branch.parts.seq}]"
        if not branch.complete:
            parts = "(broken)"
        status = "" if leaf.status == "complete" else f"({plain(leaf.status, 40)}) "
        rows.append(
            [
                mark, str(leaf.seq), plain(leaf.id, 36), plain(leaf.conversation, 36) if several else "",
                str(leaf.depth), str(branch.messages), str(branch.spent.calls), cost_text(branch.spent),
                parts, status + words_of(leaf, 80),
            ]
        )  # fmt: skip
    screen.table(columns, rows)


def _branch(branch: Branch) -> dict[str, Any]:
    leaf = branch.leaf
    return {
        "leaf": leaf.id,
        "seq": leaf.seq,
        "conversation": leaf.conversation,
        "status": leaf.status,
        "depth": leaf.depth,
        "messages": branch.messages,
        **spent_document(branch.spent),
        "parts": None if branch.parts is None else branch.parts.id,
        "main": branch.main,
        "active": branch.active,
        "complete": branch.complete,
        "last": leaf.message,
    }


def _difference(screen: Screen, found: Difference) -> None:
    from lctl.cli.messagewords import words_of

    if screen.json:
        screen.json_value(
            {
                "common": None if found.common is None else found.common.id,
                "shared": found.shared,
                "one": [node.id for node in found.one],
                "other": [node.id for node in found.other],
            }
        )
        return
    shared = (
        "They share no message." if found.common is None else f"They share {plural(found.shared, 'message')}"
    )
    screen.line((shared, "bold"))
    if found.common is not None:
        screen.line(f"  [{found.common.seq}] {plain(found.common.role, 20)}  {words_of(found.common)}")
    for name, sign, nodes in (("A", "-", found.one), ("B", "+", found.other)):
        screen.line((f"{name} alone: {plural(len(nodes), 'message')}", "bold"))
        for node in nodes:
            screen.line(
                (f"{sign} [{node.seq}] ", "red" if sign == "-" else "green"),
                f"{plain(node.role, 20)}  {words_of(node)}",
            )
