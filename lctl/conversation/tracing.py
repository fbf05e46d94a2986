"""Ways upwards through a tree, as numbers of messages; each costs what it gives, not what is above."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lctl.conversation.node import data_of
from lctl.state.messages import tool_results_of

if TYPE_CHECKING:
    from lctl.conversation.tree import Tree


def climb(tree: Tree, number: int, count: int | None) -> list[int]:
    """At most `count` messages (None: all) from `number` upwards, the top one first."""
    forest, seq = tree.forest, tree.seq
    if count is None:
        way = forest.up(number, seq)
    else:
        way, at = [], number
        known: set[int] = set()
        while at >= 0 and len(way) < count and at not in known:
            known.add(at)
            way.append(at)
            at = forest.parent_at(at, seq)
    way.reverse()
    return way


def whole(tree: Tree, way: list[int]) -> list[int]:
    """`way`, and above it the assistant message whose tool results it would begin with."""
    above: list[int] = []
    at = way[0] if way else -1
    while at >= 0 and _answers(tree, at):
        at = tree.forest.parent_at(at, tree.seq)
        if at < 0 or at in above or (tree.forest.cyclic and at in way):
            break
        above.append(at)
    above.reverse()
    return above + way


def _answers(tree: Tree, number: int) -> bool:
    role = tree.forest.role_at(number, tree.seq)
    return role == "tool" or (role != "assistant" and bool(tool_results_of(data_of(tree, number))))


def towards_tip(tree: Tree, conversation: str, top: int) -> dict[int, int]:
    """Parent -> child on the way from `top` to the conversation's last message, if that is below it."""
    forest, seq = tree.forest, tree.seq
    at = forest.tip_at(conversation, seq)
    found: dict[int, int] = {}
    while at > top or (at >= 0 and forest.moves and at != top):
        parent = forest.parent_at(at, seq)
        if parent in found:
            return {}
        found[parent] = at
        at = parent
    return found if at == top else {}
