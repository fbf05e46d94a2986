"""What a plan gives and what it changed: messages of a prompt or an answer, about to be written."""

from __future__ import annotations

from collections.abc import Callable

from lctl.instrument.codecs.model import ModelRequest
from lctl.instrument.forest import Node
from lctl.record.recorder import Draft


class PromptPlan:
    """The drafts to write before a request leaves, and the message its answer will follow.

    Attributes:
        drafts: new messages in order (each behind the blobs it names), then derived tool calls.
        leaf: id of the prompt's last message; None for a request without messages.
        reserialized: ids of tool calls whose arguments it spells otherwise than the model did.
    """

    __slots__ = ("drafts", "leaf", "reserialized")

    drafts: list[Draft]
    leaf: str | None
    reserialized: list[str]


class Pending:
    """What the newest plan changed: nodes it added, how to undo the rest, what to do once it is written."""

    request: ModelRequest | None = None  # to remember, once it is surely written
    leaf: Node | None = None
    first_seq: int
    nodes: list[Node]
    undo: list[Callable[[], object]]
