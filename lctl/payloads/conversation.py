"""Payloads of conversations: messages as nodes of a forest, sessions, views."""

from __future__ import annotations

from typing import Any

from lctl.payloads.fields import Count, Milliseconds, Payload


class Call(Payload, frozen=True):
    """The model call behind a sampled message, where it is not a step of its own.

    Attributes:
        tools: hash of the tool definitions it was given; they are in `session_start.tools`, in a
            `step_start`, or here, once.
        prompt_hash: of the messages of its prompt, as `lctl.training.contents.prompt_hash` makes it.
        prompt_token_ids: what the model read, in tokens.
        token_ids: what it wrote.
        logprobs: of each of those, as it was sampled.
        tokens_ref: hash of a `blob` event of JSON that holds the three above.
    """

    model: str | None = None
    params: dict[str, Any] | None = None
    tools: str | None = None
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    duration_ms: Milliseconds | None = None
    tokens_ref: str | None = None
    tool_definitions: list[Any] | None = None
    prompt_hash: str | None = None
    prompt_token_ids: list[int] | None = None
    token_ids: list[int] | None = None
    logprobs: list[float] | None = None


class NestedIn(Payload, frozen=True):
    """Where a sub-agent's conversation hangs: the tool call of a message that started it."""

    message_id: str | None = None
    tool_call_id: str | None = None


class Message(Payload, frozen=True):
    """One message, in the dialect of its provider: keys beside these are the provider's own.

    Attributes:
        message_id: unique in the chain; "#<seq>" when absent.
        parent_id: the message before it. null: it begins a conversation. Absent: the tip of its
            conversation.
        content: text or a list of parts; absent with `copy_of`.
        conversation_id: "main" when absent.
        exact: its place is right below its parent, also where results of other tool calls follow that one.
        serial: order key among siblings given by an outer transport.
        status: "streaming", "complete" (when absent), "aborted" or "error".
        sampled: a model call produced it; its prompt was exactly the path to the parent.
        fork_of: it is another version of that message.
        copy_of: it has the content of that message.
        replaces: [first, last]: it stands in the place of all messages between those.
        carry: [first, last]: the path between those messages goes on below this one.
        nested_in: it begins a conversation inside a tool call.
    """

    message_id: str | None = None
    parent_id: str | None = None
    role: str | None = None
    content: Any = None
    conversation_id: str | None = None
    turn_id: str | None = None
    session_id: str | None = None
    message_number: Count | None = None
    exact: bool | None = None
    serial: str | int | None = None
    status: str | None = None
    sampled: bool | None = None
    fork_of: str | None = None
    replaces: tuple[str, str] | None = None
    copy_of: str | None = None
    carry: tuple[str, str] | None = None
    name: str | None = None
    tool_calls: list[Any] | None = None
    tool_call_id: str | None = None
    is_new: bool | None = None
    nested_in: NestedIn | None = None
    call: Call | None = None


class MessageAlias(Payload, frozen=True):
    """Another name of a message, as an outer system knows it."""

    alias: str
    message_id: str


class ForkedFrom(Payload, frozen=True):
    """Where a session goes on from another.

    Attributes:
        chain_id: the chain the other one is in.
        message_number: of the last message it has from there.
        seq: of the last event that counts.
        message_id: the last of those messages, where they are carried below another root.
    """

    chain_id: str | None = None
    session_id: str | None = None
    message_number: Count | None = None
    seq: Count | None = None
    message_id: str | None = None


class SessionStart(Payload, frozen=True):
    """A session of a conversation begins.

    Attributes:
        trigger: what started it: {type, id}.
        model: {id, context_window}, or the model's id.
        seed_messages: what the model saw first: [{role, content, is_new, timestamp, details}], or
            [{message_id}] of messages of the log. They have the numbers 1 to n.
        state: the program's own; `state_version` of its schema.
    """

    session_id: str | None = None
    conversation_id: str | None = None
    parent_conversation_id: str | None = None
    trigger: Any = None
    model: Any = None
    policy: Any = None
    tool_names: list[str] | None = None
    tools: dict[str, Any] | None = None
    seed_messages: list[Any] | None = None
    state: Any = None
    state_version: Any = None
    forked_from: ForkedFrom | None = None


class SessionEnd(Payload, frozen=True):
    """A session ends.

    Attributes:
        status: "completed" or "failed".
        error: why it failed, text or an object.
    """

    session_id: str | None = None
    status: str | None = None
    error: Any = None


class ViewSelect(Payload, frozen=True):
    """A view goes to a message: it shows that message's branch from now on."""

    message_id: str
    view: str | None = None
