"""Payloads of the seven core types: steps, facts, tool calls, errors, checkpoints."""

from __future__ import annotations

from typing import Any

from lctl.payloads.fields import Confidence, Count, Milliseconds, Payload, Turn


class Tokens(Payload, frozen=True):
    """Token counts of one model call or of a step.

    Attributes:
        input: all that the model read, cached tokens included.
        output: all that it wrote, reasoning included.
        cache_read: the part of `input` that came from the provider's cache.
        cache_write: the part of `input` that was put into it.
        reasoning: the part of `output` spent on reasoning.
        total: as the provider reported it; may count more than input and output.
        cache_write_1h: the part of `cache_write` that is kept for an hour, and dearer for it.
        input_audio: the part of `input` that was heard.
        cache_read_audio: the part of `cache_read` that was.
        output_audio: the part of `output` that is spoken.
        output_image: the part of `output` that is images.
        web_searches: no tokens: what the provider looked up, which it asks a price for.
    """

    input: Count | None = None
    output: Count | None = None
    cache_read: Count | None = None
    cache_write: Count | None = None
    reasoning: Count | None = None
    total: Count | None = None
    cache_write_1h: Count | None = None
    input_audio: Count | None = None
    cache_read_audio: Count | None = None
    output_audio: Count | None = None
    output_image: Count | None = None
    web_searches: Count | None = None


class ModelRef(Payload, frozen=True):
    """A model and what it is used for."""

    id: str | None = None
    role: str | None = None


class AgentProfile(Payload, frozen=True):
    """What kind of agent works in a step.

    Attributes:
        type: executor, analyzer, reviewer, planner, researcher, or any other.
        reliability_score: historical accuracy, from 0 to 1.
    """

    type: str | None = None
    capabilities: list[str] | None = None
    typical_tools: list[str] | None = None
    outputs: list[str] | None = None
    model: str | ModelRef | None = None
    reliability_score: Confidence | None = None


class StepStart(Payload, frozen=True):
    """An agent begins work. The event's seq names the step; its envelope's `step` is the parent step.

    Attributes:
        intent: what for, in a word or a sentence.
        kind: agent, task, chain, node, llm, tool, retriever, embedding, or any other.
        model: of a model call: the model asked for.
        provider: of a model call: whose API.
        operation: of a model call: "chat.completions", "responses", "messages", "embeddings", ...
        prompt: of a model call: message_id of the last prompt message; the path to it is the prompt.
        tools: of a model call: hash of the tool definitions it was given.
        tool_definitions: those definitions, in the first step of the chain that has this hash.
        params: of a model call: temperature and everything else that is not messages or tools.
        stream: the answer was asked for as a stream.
        input: what the step works on; of an embedding or completion, the text.
        reserialized: of a model call: ids of tool calls whose arguments its prompt spells otherwise than
            their model did: the same value, other characters.
    """

    intent: str | None = None
    input_summary: str | None = None
    kind: str | None = None
    name: str | None = None
    model: str | ModelRef | None = None
    provider: str | None = None
    operation: str | None = None
    prompt: str | None = None
    tools: str | None = None
    tool_definitions: list[Any] | None = None
    params: dict[str, Any] | None = None
    stream: bool | None = None
    input: Any = None
    reserialized: list[str] | None = None
    agent_profile: AgentProfile | None = None


class Embedding(Payload, frozen=True):
    """Shape of an embedding answer: how many vectors, of how many numbers each."""

    count: Count | None = None
    dimensions: Count | None = None


class StepEnd(Payload, frozen=True):
    """An agent completes. The envelope's `step` says which step; without it, the newest open step of
    this agent.

    Attributes:
        outcome: "success", "error", "aborted" (a stream left early), "cancelled", or any other.
        duration_ms: wall time of the step.
        message: of a model call: message_id of the sampled message, the first one of `messages`.
        messages: of a model call with n > 1: message_id of each choice.
        model: the model that answered.
        finish_reason: as the provider wrote it.
        finish_reasons: of a model call with n > 1: of each choice, where they differ.
        first_chunk_ms: time from the request to the first chunk of a stream.
        session_id: of the session whose step it is.
        to_message_number: number of the last message the step produced.
        cost: of the step, in the currency of whoever records it.
        updates: changes of the session's state that the step made.
    """

    outcome: str | None = None
    output_summary: str | None = None
    output: Any = None
    duration_ms: Milliseconds | None = None
    tokens: Tokens | None = None
    message: str | None = None
    messages: list[str] | None = None
    model: str | ModelRef | None = None
    response_id: str | None = None
    finish_reason: str | None = None
    finish_reasons: list[str | None] | None = None
    first_chunk_ms: Milliseconds | None = None
    embedding: Embedding | None = None
    session_id: str | None = None
    to_message_number: Count | None = None
    cost: float | None = None
    updates: list[Any] | None = None


class FactAdded(Payload, frozen=True):
    """A new fact.

    Attributes:
        confidence: from 0 to 1.
        source: what or who it rests on.
        about: message_id or session_id it speaks of.
        value: its number, where the fact is a rating or a reward.
        rating: its word or thumb, where it is a rating without a number: `good`, `bad`, `up`, True, ...
    """

    id: str
    text: str | None = None
    confidence: Confidence | None = None
    source: str | None = None
    about: str | None = None
    value: Any = None
    rating: Any = None


class FactModified(Payload, frozen=True):
    """A fact changed; keys left out keep their value.

    Attributes:
        reason: why, in a word or a sentence.
        consensus: who agreed: {assessors, agreement}.
    """

    id: str
    text: str | None = None
    confidence: Confidence | None = None
    reason: str | None = None
    source: str | None = None
    consensus: dict[str, Any] | None = None


class ToolCall(Payload, frozen=True):
    """One tool invocation, recorded when it ended.

    Attributes:
        output: what it gave; absent when it failed.
        error: why it failed, text or an object.
        call_id: id of the model's tool call it answers.
        asked: the input its model asked for, where a fork ran it with another, which is `input`.
        derived: read from the messages of a later request, not reported by the tool's own code.
        message_id: with `nested`: the message that asked for it.
        nested: first messages of the conversations it began, of a sub-agent.
        subagent: its body is an agent, whose own calls are recorded: a rerun does not serve it, but runs it.
        tape: what a rerun needs beyond `output` and `error` to give back the same objects.
        lane: as in an exchange.
        at: as in an exchange.
        turn: as in an exchange.
        behind: as in an exchange.
        counted: as in an exchange.
        began: as `turn`, of its start; only outside other tools' bodies.
        match: as in an exchange.
    """

    tool: str
    input: Any = None
    output: Any = None
    error: Any = None
    duration_ms: Milliseconds | None = None
    call_id: str | None = None
    asked: Any = None
    derived: bool | None = None
    message_id: str | None = None
    nested: tuple[str, ...] | None = None
    subagent: bool | None = None
    tape: dict[str, Any] | None = None
    lane: str | None = None
    at: Milliseconds | None = None
    turn: Turn | None = None
    behind: Count | None = None
    counted: bool | None = None
    began: Count | None = None
    match: str | None = None


class Error(Payload, frozen=True):
    """A failure.

    Attributes:
        category: input_error, execution_error, output_error, orchestration_error, or any other.
        type: timeout, rate_limited, tool_failure, ... within the category.
        recoverable: whether trying again, perhaps differently, can help.
        suggested_action: what to try, in a word.
        context: what else is known; of a failed model call {status, attempt, exception}, of an exception that
            left a step {exception, traceback}, of one that ended the program also {ends}, of an exit
            {exit_code}.
    """

    category: str | None = None
    type: str | None = None
    message: str | None = None
    recoverable: bool | None = None
    suggested_action: str | None = None
    context: dict[str, Any] | None = None


class Checkpoint(Payload, frozen=True):
    """The state at this event, for recovery and fast seeks.

    Attributes:
        state_hash: hash of the state, the same in every process.
        facts_snapshot: fact id to {text, confidence, ...}.
        session_id: of the session whose state it holds.
        state: more of the state, as the writer chose; of a session the program's own.
        state_version: of the program's schema of it.
        events_hash: rolling hash of every event line before this one.
    """

    state_hash: str | None = None
    facts_snapshot: dict[str, Any] | None = None
    session_id: str | None = None
    state: Any = None
    state_version: Any = None
    events_hash: str | None = None
