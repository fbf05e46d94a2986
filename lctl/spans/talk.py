"""What model calls read and gave, as attributes: the conversations of a log, followed event by event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lctl.conversation.node import Node
from lctl.conversation.tree import Tree
from lctl.errors import LctlError
from lctl.events import Event
from lctl.spans import attributes as made
from lctl.spans import conventions as names
from lctl.spans.parts import BROKEN, input_message, output_message, parts_of

_FOLLOWED = frozenset({"message", "message_alias", "step_start", "step_end"})
#: Calls whose system prompt is a message among the others.
_AMONG = frozenset({"chat.completions", "completions"})
#: Characters of a message up to which its JSON is kept for the calls that read it again.
_KEPT = 100_000


class Talk:
    """The messages so far.

    Args:
        content: False: nothing of what was said is kept.

    Attributes:
        unseen: messages that no call has shown yet, by id.
    """

    def __init__(self, content: bool) -> None:
        self._content = content
        self._tree = Tree.of(())
        self._shown: dict[int, tuple[tuple[int, int], str]] = {}
        self.unseen: dict[str, Event] = {}

    def follow(self, event: Event) -> None:
        if event.type in _FOLLOWED or event.type.startswith("stream_"):
            self._tree.append(event)

    def message(self, event: Event) -> str:
        """Note a message; its id."""
        id = made.text(event.data.get("message_id")) or f"#{event.seq}"
        if self._content:
            self.unseen[id] = event
        return id

    def prompt(self, start: Event) -> dict[str, Any]:
        """What a model call that begins here has read."""
        prompt = start.data.get("prompt")
        if not isinstance(prompt, str):
            return {}
        try:
            path = self._tree.path(prompt, strict=False)
        except (KeyError, LctlError):
            return {}
        found: dict[str, Any] = {}
        if path and path[0].conversation != "main":
            found[names.CONVERSATION] = path[0].conversation
        for node in path:
            self.unseen.pop(node.id, None)
        if not self._content:
            return found
        instructions: list[Any] = []
        told = 0
        if made.text(start.data.get("operation")) not in _AMONG:
            while told < len(path) and path[told].message.get("role") in ("system", "developer"):
                instructions += parts_of(path[told].message)
                told += 1
        if instructions:
            found[names.SYSTEM_INSTRUCTIONS] = made.json_text(instructions)
        if told < len(path):
            found[names.INPUT_MESSAGES] = f"[{','.join(map(self._input, path[told:]))}]"
        return found

    def _input(self, node: Node) -> str:
        """A message that a call has read, as JSON. Each later call reads it again, so it is kept."""
        forest = self._tree.forest
        state = forest.contents[node.number], len(forest.blobs)  # what it says may come later
        kept = self._shown.get(node.number)
        if kept is not None and kept[0] == state:
            return kept[1]
        text = made.json_text(input_message(node.message))
        if len(text) <= _KEPT and node.number not in forest.texts and node.number not in forest.origins:
            self._shown[node.number] = state, text
        return text

    def answers(self, ids: Sequence[str], reasons: list[Any]) -> dict[str, Any]:
        """What a model call has given. `reasons`: why each answer ended, or one for all."""
        each = reasons if len(reasons) == len(ids) else reasons[:1] * len(ids)
        said = [
            output_message(node.message, reason if node.status == "complete" else BROKEN)
            for node, reason in zip(map(self._node, ids), each, strict=True)
            if node is not None
        ]
        for id in ids:
            self.unseen.pop(id, None)
        return {names.OUTPUT_MESSAGES: made.json_text(said)} if said and self._content else {}

    def _node(self, id: str) -> Node | None:
        try:
            return self._tree[id]
        except (KeyError, LctlError):
            return None
