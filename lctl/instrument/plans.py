"""What is planned: the events of a prompt's or an answer's new messages, about to be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lctl.instrument.codecs.model import ModelRequest
from lctl.instrument.forest import Node
from lctl.record.recorder import Draft


class Plan:
    """The drafts of one write, and what the forest took for it.

    Attributes:
        first_seq: seq of the first draft.
        agent: of all drafts.
        step: the step they are in.
        drafts: new messages in order (each behind the blobs it names), then derived tool calls.
        leaf: of a prompt, id of its last message; None for a request without messages.
        reserialized: ids of tool calls whose arguments a prompt spells otherwise than the model did.
        nodes: added to the forest, in the order of their drafts.
        undo: what takes back the rest, last first.
        sent: a request to remember once it is surely written, and the node of its last message.
    """

    __slots__ = ("agent", "drafts", "first_seq", "leaf", "nodes", "reserialized", "sent", "step", "undo")

    def __init__(self, first_seq: int, agent: str, step: int | None) -> None:
        self.first_seq = first_seq
        self.agent = agent
        self.step = step
        self.drafts: list[Draft] = []
        self.leaf: str | None = None
        self.reserialized: list[str] = []
        self.nodes: list[Node] = []
        self.undo: list[Callable[[], object]] = []
        self.sent: tuple[ModelRequest, Node] | None = None

    def add(self, kind: str, data: dict[str, Any]) -> None:
        """One more event."""
        self.drafts.append((kind, self.agent, data, self.step))

    def next_id(self) -> str:
        """Id of a message whose event is added next."""
        return f"m{self.first_seq + len(self.drafts)}"
