"""What a graph and the branches made of it have recorded: which message follows which.

A message is found again by the message before it and by what it says (CONVERSATIONS D9), so that a list
that goes back to what it was is on the path it was on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lctl.conversation.identity import identity
from lctl.session.messagegraph.route import Position, id_of

#: Parts of content that are reasoning.
_REASONING = frozenset({"thinking", "redacted_thinking", "reasoning"})


@dataclass(frozen=True, slots=True)
class Reply:
    """A sampled message.

    Attributes:
        bare: identity of what it says without its reasoning.
        model, tools: of the call; `tools` is the hash of the tool set.
    """

    id: str
    key: bytes
    bare: bytes
    model: str | None
    tools: str | None

    def is_without_reasoning(self, message: dict[str, Any], key: bytes) -> bool:
        """Whether the message, whose identity `key` is, says the same but for reasoning."""
        return self.bare == bare_key(message, key)


class Lineage:
    """Messages of one `MessageGraph` and its branches, in one session.

    Attributes:
        fields: what every message event has beside what it says.
        known: (id of the message before, identity) -> id, of messages with an event of their own.
        carried: id -> identities of the copies below it, in order.
        heads: ids that have a message with an event below them.
        tooled: ids of tool results and of what has tool results below it.
        call_ids: tool call ids that have been answered.
        answers: id of a tool result -> the call it answers.
        sampled: id -> what a model call gave.
        replies: id of a prompt's last message -> ids sampled below it, in order.
        reasons: id -> the change of the list that made it, where that was no plain append.
        replaced: id -> the message in whose place it stands.
    """

    def __init__(self, fields: dict[str, Any] | None = None) -> None:
        self.fields = fields or {}
        self.known: dict[tuple[str | None, bytes], str] = {}
        self.carried: dict[str, list[bytes]] = {}
        self.heads: set[str | None] = set()
        self.tooled: set[str | None] = set()
        self.call_ids: set[str] = set()
        self.answers: dict[str, str] = {}
        self.sampled: dict[str, Reply] = {}
        self.replies: dict[str | None, list[str]] = {}
        self.reasons: dict[str, str] = {}
        self.replaced: dict[str, str] = {}

    def child(self, at: Position | None, key: bytes) -> Position | None:
        """The message that says `key` below `at`."""
        found = self.known.get((None if at is None else id_of(at), key))
        if found is not None:
            return found, 0
        if at is None:
            return None
        base, offset = at
        copies = self.carried.get(base)
        if copies is not None and offset < len(copies) and copies[offset] == key:
            return base, offset + 1
        return None

    def answer_to(self, prompt: str | None) -> Reply | None:
        """What a model said last below a message."""
        below = self.replies.get(prompt)
        return self.sampled.get(below[-1]) if below else None

    def needs_exact(self, at: Position | None, message: dict[str, Any]) -> bool:
        """Whether a reader that chains the results of one turn's tools would put this message elsewhere."""
        if at is None:
            return False
        call_id = message.get("tool_call_id") if message.get("role") == "tool" else None
        if call_id is not None and str(call_id) in self.call_ids:
            return True
        parent = id_of(at)
        return parent in self.tooled and self._has_child(at, parent)

    def _has_child(self, at: Position, parent: str) -> bool:
        return parent in self.heads or at[1] < len(self.carried.get(at[0], ()))

    def add(
        self, id: str, at: Position | None, key: bytes, message: dict[str, Any], carried: list[bytes]
    ) -> Callable[[], None]:
        """A message with an event of its own, and the copies below it; what takes that back."""
        parent = None if at is None else id_of(at)
        before = self.known.get((parent, key))
        self.known[parent, key] = id
        if carried:
            self.carried[id] = carried
        headed = parent in self.heads
        self.heads.add(parent)
        self._note_result(parent, id, message)

        def undo() -> None:
            if before is None:
                self.known.pop((parent, key), None)
            else:
                self.known[parent, key] = before
            self.carried.pop(id, None)
            self.reasons.pop(id, None)
            self.replaced.pop(id, None)
            if not headed:
                self.heads.discard(parent)

        return undo

    def learn(
        self, parent: str | None, id: str, message: dict[str, Any], model: str | None, tools: str | None
    ) -> Callable[[], None]:
        """A model call whose prompt ends with `parent` gave this message; what takes that back."""
        key = identity(message)
        reply = Reply(id, key, bare_key(message, key), model, tools)
        before = self.known.get((parent, key))
        self.known[parent, key] = id
        self.heads.add(parent)
        self.sampled[id] = reply
        self.replies.setdefault(parent, []).append(id)

        def undo() -> None:
            self.known.pop((parent, key), None)
            if before is not None:
                self.known[parent, key] = before
            self.sampled.pop(id, None)
            self.replies[parent].remove(id)

        return undo

    def meet(self, parent: str | None, id: str, message: dict[str, Any]) -> None:
        """A prompt was recorded that goes on from `parent` with a message that no graph appended."""
        self.known.setdefault((parent, identity(message)), id)
        self.heads.add(parent)
        self._note_result(parent, id, message)

    def _note_result(self, parent: str | None, id: str, message: dict[str, Any]) -> None:
        call_id = message.get("tool_call_id")
        if message.get("role") == "tool" and call_id is not None:
            self.tooled |= {parent, id}
            self.call_ids.add(str(call_id))
            self.answers[id] = str(call_id)


def bare_key(message: dict[str, Any], key: bytes) -> bytes:
    """Identity of a message without its reasoning; `key` where it has none."""
    bare = {name: value for name, value in message.items() if not name.startswith("reasoning")}
    content = message.get("content")
    if isinstance(content, list):
        kept = [p for p in content if not (isinstance(p, dict) and p.get("type") in _REASONING)]
        if len(kept) < len(content):
            bare["content"] = kept
    elif len(bare) == len(message):
        return key
    return identity(bare)
