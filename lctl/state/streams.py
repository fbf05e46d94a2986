"""Streams: the handlers. A chunk belongs to the stream of its message, else to its agent's newest one."""

from __future__ import annotations

from msgspec import UnsetType

from lctl.state import intake
from lctl.state.builder import Builder
from lctl.state.forest import STREAMING, place
from lctl.state.model import Message, Stream, Tokens
from lctl.state.steps import streamed

_NONE = Tokens()


def stream_start(state: Builder, event: intake.StreamStart) -> None:
    data = event.data
    seq, id = event.seq, data.message_id
    state.agents.meet(event.agent)
    if state.streams.get(seq) is not None:
        state.note(seq, "stream_gap", f"there is a stream {seq} already; the first one stands")
        return
    state.streams.fresh[seq] = Stream(seq, event.agent, id)
    state.has_streams = True
    state.open_streams.open(seq)
    if id is not None:
        if state.stream_ids is not None:
            state.stream_ids[id] = seq
        if data.role is not None or not isinstance(data.parent_id, UnsetType):
            place(state, seq, id, data.role or "assistant", data.parent_id, "main", False, STREAMING)


def stream_chunk(state: Builder, event: intake.StreamChunk) -> None:
    stream = _of(state, event)
    if stream is None:
        return
    data = event.data
    if data.index is not None and data.index != stream.chunks:
        state.note(event.seq, "stream_gap", f"chunk {data.index}, expected {stream.chunks}")
    state.streams.fresh[stream.seq] = Stream(
        stream.seq, stream.agent, stream.message_id, stream.chunks + 1, stream.tokens + (data.tokens or 0)
    )


def stream_end(state: Builder, event: intake.StreamEnd) -> None:
    stream = _of(state, event)
    if stream is None:
        return
    data = event.data
    if data.total_chunks is not None and data.total_chunks != stream.chunks:
        state.note(event.seq, "stream_gap", f"{stream.chunks} of {data.total_chunks} chunks are in the log")
    tokens = data.tokens
    if not isinstance(tokens, Tokens):
        tokens = Tokens(output=next((n for n in (tokens, data.total_tokens) if n is not None), stream.tokens))
    if tokens != _NONE:
        streamed(state, event, tokens)
    status = data.status or "complete"
    state.streams.fresh[stream.seq] = Stream(
        stream.seq, stream.agent, stream.message_id, stream.chunks, stream.tokens, event.seq, status
    )
    state.open_streams.close(stream.seq)
    if stream.message_id is not None:
        if state.stream_ids is not None:
            state.stream_ids.pop(stream.message_id, None)
        node = state.messages.get(stream.message_id)
        if node is not None and node.status == STREAMING:
            state.messages.change(Message(node.id, node.seq, node.role, node.parent, node.sampled, status))


def _of(state: Builder, event: intake.StreamChunk | intake.StreamEnd) -> Stream | None:
    id = event.data.message_id
    seq = _newest(state, event.agent) if id is None else _by_message(state, id)
    if seq is None:
        whose = f"agent {event.agent!r}" if id is None else f"message {id}"
        code = "stream_after_end" if id is not None and state.messages.get(id) else "stream_unknown"
        state.note(event.seq, code, f"{whose} has no open stream")
        return None
    return state.streams.get(seq)


def _newest(state: Builder, agent: str) -> int | None:
    for seq in state.open_streams.newest_first():
        stream = state.streams.get(seq)
        if stream is not None and stream.agent == agent:
            return seq
    return None


def _by_message(state: Builder, id: str) -> int | None:
    if state.stream_ids is None:
        state.stream_ids = {}
        for seq in state.open_streams.newest_first():
            stream = state.streams.get(seq)
            if stream is not None and stream.message_id is not None:
                state.stream_ids.setdefault(stream.message_id, seq)
    return state.stream_ids.get(id)
