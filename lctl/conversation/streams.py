"""Streamed messages: a start, pieces, an end, in whatever order they come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.conversation.forest import NO_MESSAGE, UNKNOWN, Forest
from lctl.conversation.placing import arrived, fill, place, sample
from lctl.conversation.texts import Chunks

Data = Mapping[str, Any]
STREAMING = "streaming"
#: No stream: of no message is NO_MESSAGE.
NO_STREAM = -2


def open_text(forest: Forest, number: int, opening: Any = None) -> Chunks:
    """The pieces of a message that is being streamed."""
    found = forest.texts.get(number)
    if found is None:
        found = forest.texts[number] = Chunks(opening)
    return found


def is_open(forest: Forest, number: int, data: Data) -> bool:
    """Whether `data` may be the whole of a message: one streamed, or of which only chunks are known."""
    status = forest.statuses.last(number, "complete")
    if status == STREAMING:
        return True
    chunks_only = number in forest.texts and number not in forest.finals
    says = data.get("content") is not None or bool(data.get("tool_calls"))
    return chunks_only and says and status == "complete"


def start(forest: Forest, seq: int, agent: str, data: Data) -> None:
    id = data.get("message_id")
    open_streams = forest.streaming.setdefault(agent, [])
    if not id:
        _name(forest, NO_MESSAGE, seq, data)  # a stream of no message (spec part 9)
        open_streams.append(NO_MESSAGE)
        return
    number = forest.find(id)
    if number < 0:
        number = place(forest, id, seq, {**data, "role": data.get("role") or "assistant"}, 0)
        forest.statuses.record(number, seq, STREAMING)
        kind = "message"
    elif forest.roles[number] == "" and forest.statuses.last(number, "") == STREAMING:
        fill(forest, number, seq, data)
        kind = "message"
    else:
        _name(forest, number, seq, data)
        forest.repeats += 1
        return
    open_text(forest, number)
    forest.starts[number] = seq
    _name(forest, number, seq, data)
    open_streams.append(number)
    if data.get("sampled") is True:
        sample(forest, number, seq, data)
    forest.tell(kind, number)


def _name(forest: Forest, number: int, seq: int, data: Data) -> None:
    """Chunks may name the stream by the seq of its start, or as the start does."""
    forest.streams[seq] = number
    name = data.get("stream_id")
    if isinstance(name, str):
        forest.streams[name] = number


def _stream(forest: Forest, agent: str, data: Data) -> int:
    """Whose chunk or end it is: as it says, else of the newest open stream of its agent."""
    for name in (data.get("stream"), data.get("stream_id")):
        if isinstance(name, int | str) and name in forest.streams:
            return forest.streams[name]
    open_streams = forest.streaming.get(agent)
    while open_streams:
        number = open_streams[-1]
        if number == NO_MESSAGE or forest.statuses.last(number, "") == STREAMING:
            return number
        open_streams.pop()
    return NO_STREAM


def chunk(forest: Forest, seq: int, agent: str, data: Data) -> None:
    id = data.get("message_id")
    number = forest.find(id) if id else _stream(forest, agent, data)
    if number < 0:
        if not id:
            if number == NO_STREAM:
                forest.note(seq, "stream_gap", f"a chunk of agent {agent!r}, which has no open stream")
            return
        number = _placeholder(forest, forest.resolve(id), seq)
    if forest.statuses.last(number, "complete") != STREAMING:
        forest.note(seq, "stream_after_end", f"a chunk for message {forest.ids[number]}, which is complete")
        return
    text = forest.texts.get(number) or open_text(forest, number)
    calls = data.get("tool_calls")
    content = data.get("content", data.get("delta"))
    if calls:
        content = {"content": content, "tool_calls": calls}
    elif content is None:
        content = ""
    if not text.add(seq, data.get("index"), content):
        forest.repeats += 1
        return
    forest.tell("update", number)


def _placeholder(forest: Forest, id: str, seq: int) -> int:
    """A message of which nothing is known but pieces."""
    number = forest.add(id, seq, "", UNKNOWN, 0)
    forest.statuses.record(number, seq, STREAMING)
    if forest.waiting:
        arrived(forest, id, number, seq)
    return number


def end(forest: Forest, seq: int, agent: str, data: Data) -> None:
    id = data.get("message_id")
    number = forest.find(id) if id else _stream(forest, agent, data)
    if number < 0:
        if not id and number == NO_MESSAGE:
            open_streams = forest.streaming.get(agent, [])
            if NO_MESSAGE in open_streams:
                open_streams.remove(NO_MESSAGE)
            return
        forest.note(seq, "stream_gap", f"the end of a stream that never began ({id or agent})")
        return
    if forest.statuses.last(number, "complete") != STREAMING:
        forest.repeats += 1
        return
    text = open_text(forest, number)
    total = data.get("total_chunks")
    if text.missing() or (isinstance(total, int) and total != len(text)):
        expected = total if isinstance(total, int) else len(text) + text.missing()
        forest.note(
            seq, "stream_gap", f"{len(text)} of {expected} chunks of message {forest.ids[number]} came"
        )
    text.ended = True
    forest.statuses.record(number, seq, str(data.get("status") or "complete"))
    forest.tell("update", number)


def finish(forest: Forest, number: int, seq: int, data: Data) -> None:
    """The whole message: it stands, whatever the pieces said (row M3)."""
    if forest.roles[number] == "":
        fill(forest, number, seq, data)
    text = forest.texts.get(number)
    whole = data.get("content")
    if text is not None and len(text) and isinstance(whole, str) and text.text(seq) != whole:
        forest.note(seq, "stream_gap", f"message {forest.ids[number]} says something else than its chunks")
    status = str(data.get("status") or "complete")
    if data.get("content") is not None or data.get("tool_calls"):
        forest.finals.record(number, seq, seq)
        forest.contents[number] = seq
    if status != STREAMING:
        forest.statuses.record(number, seq, status)
    if data.get("sampled") is True:
        sample(forest, number, seq, data)
