"""What a message says in a line, and what calls came to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import lctl.state.messages as dialects
from lctl.analysis.branches import Spent
from lctl.analysis.wording import compact, dollars, plain
from lctl.conversation.node import Node

#: Characters of a message that are shown.
WORDS = 100


def words_of(node: Node, limit: int = WORDS) -> str:
    """What a message says, in a line: its words, the calls it makes, the result it brings."""
    data = node.data
    said = plain(dialects.text_of(data), limit) if data.get("role") != "tool" else ""
    calls = [f"{plain(call['name'] or '?', 40)}({plain(call['arguments'], 60)})" for call in _calls(data)]
    results = [f"= {plain(_output(result['output']), 80)}" for result in dialects.tool_results_of(data)]
    shown = " ".join([said, *(f"→ {call}" for call in calls), *results]).strip()
    if not shown and dialects.reasoning_of(data):
        return f"(reasoning) {plain(dialects.reasoning_of(data), limit)}"
    return plain(shown, 2 * limit)


def _calls(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    return dialects.tool_calls_of(data)


def _output(value: Any) -> str:
    if isinstance(value, list):
        words = "".join(dialects.text_of({"content": [part]}) for part in value)
        if words:
            return words
    return value if isinstance(value, str) else compact(value)


def cost_text(spent: Spent) -> str:
    """`$0.003`; `$0.003+` where some calls have no known price, "" where none has."""
    if spent.unpriced == spent.calls:
        return ""
    return dollars(spent.cost) + ("+" if spent.unpriced else "")
