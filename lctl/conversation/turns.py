"""Turns: what was said to the agent, and all it said and did until it was spoken to again."""

from __future__ import annotations

import re
from typing import Any

from lctl.conversation.node import Node
from lctl.conversation.tree import Tree

_ANSWERS = frozenset({"assistant", "tool", "function"})
_PREFIX = re.compile(r"\[depth:(0|[1-9]\d*)\] ")


def turn_of(tree: Tree, id: str) -> list[Node]:
    """The turn a message is part of, in order: those with its `turn_id`; without one the user's
    message and the answers and tool results that follow it, of alternatives the latest.

    Raises:
        KeyError: there is no such message.
    """
    node = tree[id]
    named = node.data.get("turn_id")
    if named is not None:
        return tree.turn(named)
    found = [node]
    while found[0].role in _ANSWERS:
        above = found[0].parent
        if above is None or above.role == "system":
            break
        found.insert(0, above)
    while True:
        below = [child for child in found[-1].children if child.role in _ANSWERS]
        if not below:
            return found
        found.append(below[-1])


def tail_of(tree: Tree, id: str) -> Node:
    """The last message of a message's turn: what a reply to any of its messages comes after."""
    return turn_of(tree, id)[-1]


def render_depth(text: Any, depth: int) -> Any:
    """`[depth:N] ` in front of a text, or of the first text of a list of them."""
    if isinstance(text, str):
        return f"[depth:{depth}] {text}"
    parts = list(text)
    for n, part in enumerate(parts):
        if isinstance(part, str):
            parts[n] = f"[depth:{depth}] {part}"
            return parts
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            parts[n] = {**part, "text": f"[depth:{depth}] {part['text']}"}
            return parts
    return [f"[depth:{depth}] ", *parts]


def parse_depth(text: Any) -> tuple[int | None, Any]:
    """The depth a text states, and the text without that; (None, the text as it is) where it states none."""
    if isinstance(text, str):
        found = _PREFIX.match(text)
        return (None, text) if found is None else (int(found[1]), text[found.end() :])
    if not isinstance(text, list | tuple) or not text:
        return None, text
    first = text[0]
    inner = first.get("text") if isinstance(first, dict) else first
    depth, rest = parse_depth(inner) if isinstance(inner, str) else (None, inner)
    if depth is None:
        return None, text
    if isinstance(first, dict):
        return depth, [{**first, "text": rest}, *text[1:]]
    return depth, [rest, *text[1:]] if rest or len(text) == 1 else list(text[1:])
