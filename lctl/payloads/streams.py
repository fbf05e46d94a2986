"""Payloads of streams: text that arrives in pieces."""

from __future__ import annotations

from lctl.payloads.core import Tokens
from lctl.payloads.fields import Count, Milliseconds, Payload


class StreamStart(Payload, frozen=True):
    """A stream begins.

    Attributes:
        expected_chunks: a number, or "unknown".
        message_id: the message being streamed.
        parent_id, role: of that message.
        stream_id: names the stream where there is no message.
    """

    expected_chunks: int | str | None = None
    message_id: str | None = None
    parent_id: str | None = None
    role: str | None = None
    stream_id: str | None = None


class StreamChunk(Payload, frozen=True):
    """One piece, in order of `index` from 0. Without message_id and stream_id it belongs to the newest
    open stream of its agent.

    Attributes:
        tokens: how many tokens are in it.
    """

    index: Count | None = None
    content: str | None = None
    tokens: Count | None = None
    message_id: str | None = None
    stream_id: str | None = None


class StreamEnd(Payload, frozen=True):
    """A stream ends.

    Attributes:
        status: "complete", "aborted" or "error".
        tokens: of the whole stream, where they are known by kind.
    """

    total_chunks: Count | None = None
    total_tokens: Count | None = None
    duration_ms: Milliseconds | None = None
    status: str | None = None
    message_id: str | None = None
    stream_id: str | None = None
    tokens: Tokens | None = None
