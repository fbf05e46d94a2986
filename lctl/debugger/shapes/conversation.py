"""Shapes of conversations and model calls."""

from __future__ import annotations

from typing import Any

import msgspec

from lctl.debugger.shapes.common import Shape
from lctl.state.model import Tokens


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a message, by `kind`: text, reasoning, tool_call, tool_result, image, other. Keys that say
    nothing are left out.

    Attributes:
        text: what it says; of a tool call, its arguments as they were written, where that is text.
        src: of an image, what can be shown; `url` is where it came from, and only text.
        held: of an image without `src`, it is in the log, and of a kind that is not shown.
        truncated: how long the text is of which this is the beginning.
    """

    kind: str
    text: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: Any = None
    output: Any = None
    error: bool | None = None
    seq: int | None = None
    media_type: str | None = None
    src: str | None = None
    url: str | None = None
    held: bool = False
    type: str | None = None
    value: Any = None
    truncated: int | None = None


class MessageCall(Shape, frozen=True, kw_only=True):
    """The model call a message came from."""

    step: int
    model: str | None
    tokens: Tokens | None
    cost: float | None
    duration_ms: float | None
    finish_reason: str | None
    attempts: int


class Message(Shape, frozen=True, kw_only=True):
    """A message as it stood; `nested` are first messages of sub-agents' conversations inside it."""

    id: str
    seq: int
    role: str
    agent: str
    timestamp: str
    ms: float | None
    status: str
    sampled: bool
    conversation: str
    parent: str | None
    parts: list[Part]
    siblings: list[str]
    index: int
    edits: int
    nested: list[str]
    call: MessageCall | None
    size: int


class ConversationRow(Shape, frozen=True, kw_only=True):
    id: str
    root: str
    title: str
    agent: str
    messages: int
    branches: int
    leaf: str
    active: bool
    parent: str | None
    first: int
    last: int
    calls: int
    tokens: Tokens
    cost: float | None


class Conversations(Shape, frozen=True, kw_only=True):
    """`progress` below 1: without what calls cost, and where `since` is said of the events from there on."""

    conversations: list[ConversationRow]
    total: int
    next: int | None
    progress: float = 1.0
    since: int | None = None


class BranchRow(Shape, frozen=True, kw_only=True):
    leaf: str
    messages: int
    main: bool
    active: bool
    parts: str | None
    last: int
    summary: str
    calls: int
    cost: float | None


class Conversation(Shape, frozen=True, kw_only=True):
    leaf: str | None
    conversation: str
    messages: list[Message]
    older: bool
    total: int
    complete: bool
    branches: list[BranchRow]
    branch_total: int
    progress: float = 1.0
    since: int | None = None


class Call(Shape, frozen=True, kw_only=True):
    """A model call. `number` counts the run's calls from 1."""

    step: int
    end_seq: int | None
    agent: str
    model: str | None
    provider: str | None
    ms: float | None
    duration_ms: float | None
    first_chunk_ms: float | None
    prompt: str | None
    answer: str | None
    messages: int | None
    tokens: Tokens | None
    cost: float | None
    finish_reason: str | None
    attempts: int
    error: bool
    outcome: str | None
    number: int | None


class Calls(Shape, frozen=True, kw_only=True):
    calls: list[Call]
    total: int
    next: int | None


class Tool(Shape, frozen=True, kw_only=True):
    name: str
    description: str
    definition: Any


class Failure(Shape, frozen=True, kw_only=True):
    seq: int
    text: str


class CallView(Shape, frozen=True, kw_only=True):
    """What the model read, to the letter, and what it answered. `previous`: the same agent's call before;
    `failures`: its errors, those of attempts too."""

    call: Call
    prompt: list[Message]
    answers: list[Message]
    tools: list[Tool]
    params: dict[str, Any]
    previous: int | None
    failures: list[Failure]


class ContextPart(Shape, frozen=True, kw_only=True):
    """`kind`: same, injected, dropped, changed or truncated."""

    kind: str
    left: Message | None
    right: Message | None
    unified: list[str]
    lost: int


class Param(Shape, frozen=True, kw_only=True):
    path: str
    left: Any
    right: Any


class ToolChanges(Shape, frozen=True, kw_only=True):
    added: list[str]
    removed: list[str]


class CallDiff(Shape, frozen=True, kw_only=True):
    left: Call
    right: Call
    parts: list[ContextPart]
    same: int
    counts: dict[str, int]
    tools: ToolChanges
    params: list[Param]
