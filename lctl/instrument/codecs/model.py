"""What a codec reads from the wire.

Messages stay in the provider's own dialect (their keys and content as sent), so that nothing is lost;
`system`/`instructions` become a first message of role "system". `lctl.state.messages` unifies dialects
for readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(slots=True)
class ModelRequest:
    """One request as sent.

    Attributes:
        operation: "chat.completions", "responses", "responses.input_tokens", "responses.compact",
            "completions", "embeddings", "messages", "messages.count_tokens", "generate_content",
            "embed_content", "interactions", "converse", "ollama.chat", "cohere.chat", ...
        kind: the step kind: "llm" or "embedding".
        messages: prompt messages in order, system prompt first.
        continues: id of an earlier response, or of a stored conversation, that this request goes on
            from (Responses API, Interactions API, threads of the Messages API).
        instructions: the first message came from a field of its own (`system`, `instructions`) and
            not from the conversation array.
        spans: how many items of the conversation array each message was made of, where that is not
            one each (Responses and Interactions API); without the instructions message.
        params: everything else of the body that is not messages or tools (temperature, ...).
        input: what is embedded or completed, when there are no messages.
        known: set by `Conversations.read_request` alone: the place in the forest which the first part
            of the conversation array leads to; `messages` then holds only what follows it.
        lead: the instructions message, where `messages` lacks it because of `known`.
        read_from: set by `Conversations.read_request` alone: where the messages stand in the body.
    """

    provider: str
    operation: str
    kind: str
    model: str | None
    messages: list[dict[str, Any]] = field(default_factory=list)
    tools: list[Any] | None = None
    params: dict[str, Any] = field(default_factory=dict)
    stream: bool = False
    continues: str | None = None
    instructions: bool = False
    spans: list[int] | None = None
    input: Any = None
    known: Any = None
    lead: dict[str, Any] | None = None
    read_from: Any = None


@dataclass(slots=True)
class ModelAnswer:
    """One answer as received, complete or as far as it came.

    Attributes:
        messages: one sampled message per choice, in the dialect in which it would be sent back.
        finish_reason: of the first choice, as the provider wrote it; for the Responses API
            `status` or `status:reason`.
        tokens: input (cached included), output, and where reported cache_read, cache_write,
            reasoning, total. None when the provider reported no usage, and for token counting, which
            uses none.
        usage: the provider's own numbers, as reported.
        error: {status, type, code, message} when the call failed, also inside a 200 stream.
        conversation: id of the conversation that the provider keeps and the answer is in, where the request
            need not know it (threads of OpenAI's Assistants).
        followed_at: where the provider sends what comes of an answer that is not there yet, as a stream.
        complete: the terminal event of the protocol was seen.
        events: data events of a stream, pings and [DONE] not counted.
    """

    response_id: str | None = None
    model: str | None = None
    messages: list[dict[str, Any]] = field(default_factory=list)
    finish_reason: str | None = None
    finish_reasons: list[str | None] = field(default_factory=list)
    tokens: dict[str, int] | None = None
    usage: Mapping[str, Any] | None = None
    embedding: dict[str, int] | None = None
    error: dict[str, Any] | None = None
    conversation: str | None = None
    followed_at: str | None = None
    complete: bool = True
    events: int | None = None

    @property
    def says_nothing(self) -> bool:
        """Whether the body was no answer: nothing that belongs to one could be read, not even its end. Events
        that the SDK reads are one, whatever they say: Writer's completions have a form of their own."""
        found = self.messages or self.usage or self.embedding or self.response_id or self.finish_reason
        ends = self.events is not None and self.complete
        return not (found or self.events or ends or self.error is not None)


class Codec(Protocol):
    """One provider's wire format."""

    provider: str

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        """The model operation this request is, or None if it is not one of this provider's."""
        ...

    def read_request(self, operation: str, url: str, body: bytes) -> ModelRequest:
        """Raises ValueError for a body that is not this operation's."""
        ...

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        """`read_request` of a body that is parsed already. The request shares the document's values,
        which must not be changed. Raises ValueError as `read_request` does."""
        ...

    def conversation_key(self, operation: str) -> str | None:
        """Key of the body's array that grows from turn to turn; None where there is none."""
        ...

    def read_answer(
        self, operation: str, status: int, headers: Mapping[str, str], chunks: Sequence[bytes]
    ) -> ModelAnswer:
        """From decoded body bytes (content-encoding undone); `chunks` joined is the body as far as it
        came. Never raises on malformed bytes: what could be read is returned, `complete` False."""
        ...
