"""Streamed messages: a start, pieces, an end, in whatever order they come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.conversation.forest import UNKNOWN, Forest
from lctl.conversation.placing import hang, place
from lctl.conversation.texts import Chunks

Data = Mapping[str, Any]
STREAMING = "streaming"


def open_text(forest: Forest, number: int) -> Chunks:
    """The pieces of a message that is being streamed."""
    found = forest.texts.get(number)
    if found is None:
        found = forest.texts[number] = Chunks()
    return found


def start(forest: Forest, seq: int, agent: str, data: Data) -> None:
    id = data.get("message_id")
    if not id:
        forest.unnamed[agent] = seq  # a stream of no message (spec part 9)
        return
    number = forest.find(id)
    if number < 0:
        number = place(forest, id, seq, {"role": "assistant", **data}, 0)
        forest.statuses.record(number, seq, STREAMING)
    elif forest.roles[number] == "" and forest.statuses.last(number, "") == STREAMING:
        _fill(forest, number, seq, data)
    else:
        forest.repeats += 1
        return
    open_text(forest, number)
    forest.streaming[agent] = number
    if forest.listeners:
        forest.tell("message", number, seq)


def _fill(forest: Forest, number: int, seq: int, data: Data) -> None:
    """Pieces came before the start, which says whose they are and where they belong."""
    forest.roles[number] = data.get("role") or "assistant"
    forest.named[number] = seq
    declared = data.get("parent_id", "")
    if declared is None:
        forest.attach(number, -1, seq)
    elif declared:
        parent = forest.find(declared)
        if parent < 0:
            forest.waiting.setdefault(forest.resolve(declared), []).append(number)
        else:
            hang(forest, number, parent, seq)


def chunk(forest: Forest, seq: int, agent: str, data: Data) -> None:
    id = data.get("message_id")
    number = forest.find(id) if id else forest.streaming.get(agent, -1)
    if number < 0:
        if not id:
            if agent not in forest.unnamed:
                forest.note(seq, "stream_gap", f"a chunk of agent {agent!r}, which has no open stream")
            return
        number = forest.add(id, seq, "", UNKNOWN, 0)
        forest.statuses.record(number, seq, STREAMING)
    if forest.status_at(number, seq) != STREAMING:
        forest.note(seq, "stream_after_end", f"a chunk for message {forest.ids[number]}, which is complete")
        return
    text = open_text(forest, number)
    content = data.get("content", data.get("delta"))
    if not text.add(seq, data.get("index"), content):
        forest.repeats += 1
        return
    if forest.listeners:
        forest.tell("update", number, seq)


def end(forest: Forest, seq: int, agent: str, data: Data) -> None:
    id = data.get("message_id")
    number = forest.find(id) if id else forest.streaming.get(agent, -1)
    if number < 0:
        if not id and forest.unnamed.pop(agent, None) is not None:
            return
        forest.note(seq, "stream_gap", f"the end of a stream that never began ({id or agent})")
        return
    if forest.status_at(number, seq) != STREAMING:
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
    if forest.streaming.get(agent) == number:
        del forest.streaming[agent]
    if forest.listeners:
        forest.tell("update", number, seq)


def finish(forest: Forest, number: int, seq: int, data: Data) -> None:
    """The whole message: it stands, whatever the pieces said (row M3)."""
    if forest.roles[number] == "":
        _fill(forest, number, seq, data)
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
        forest.sampled.add(number)
