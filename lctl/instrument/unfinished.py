"""Messages that were being streamed when their program died, read from the file beside its log."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from lctl.conversation.blobs import take_blobs
from lctl.instrument import codecs
from lctl.instrument.openstreams import frames
from lctl.record.writerlock import take
from lctl.session.redaction.redact import Redactor


def revived(
    path: str, last_seq: int, lines_from: Callable[[int], Iterator[bytes]], ended: bool
) -> list[bytes]:
    """Event lines, from seq `last_seq + 1` on, of the streams in a file of open streams; none while the
    program that writes it runs.

    Args:
        lines_from: the log's lines from a seq on.
        ended: the messages are ended as aborted.
    """
    held = _left(path)
    heads: dict[int, dict[str, Any]] = {}
    bodies: dict[int, list[bytes]] = {}
    times: dict[int, list[int]] = {}
    for kind, stream, data in frames(held):
        if kind == b"B":
            head = _head(data)
            if head is not None:
                heads[stream], bodies[stream], times[stream] = head, [], []
        elif kind == b"E":
            heads.pop(stream, None)
        elif kind == b"T":
            if stream in times and data.isdigit():
                times[stream].append(int(data))
        elif stream in bodies:
            bodies[stream] = [data] if kind == b"R" else [*bodies[stream], data]
    lines: list[bytes] = []
    for stream, head in heads.items():
        if "exchange" in head:
            from lctl.instrument.sockets.unfinished import revived_socket  # here: few programs have any

            lines += revived_socket(
                head, b"".join(bodies[stream]), times[stream], last_seq + len(lines) + 1, lines_from
            )
            continue
        if _is_recorded(head, lines_from):
            continue
        for message in _said(head, bodies[stream]):
            lines += _events(head, message, last_seq + len(lines) + 1, ended)
    return lines


def _is_recorded(head: dict[str, Any], lines_from: Callable[[int], Iterator[bytes]]) -> bool:
    """Whether the program was killed when the answer was in the log, and the file not yet emptied."""
    step = f'"step":{head["step"]},'.encode()
    for line in lines_from(head["step"] + 1):
        if b'"type":"exchange"' in line[:_SAID] and step in line:
            event = orjson.loads(line)
            if event.get("step") == head["step"] and event["data"].get("attempt") == head["attempt"]:
                return True
    return False


#: In these first bytes a line has said its type.
_SAID = 64
#: What the head of a stream says, beside its parent.
_HEAD = {
    "time": str,
    "agent": str,
    "step": int,
    "attempt": int,
    "url": str,
    "headers": dict,
    "fields": dict,
    "redacted": bool,
}


def _head(data: bytes) -> dict[str, Any] | None:
    """None of what is damaged."""
    try:
        head = orjson.loads(data)
    except ValueError:
        return None
    if isinstance(head, dict) and isinstance(head.get("exchange"), dict):
        return head if all(isinstance(head.get(name), str) for name in ("time", "agent")) else None
    if not isinstance(head, dict) or not isinstance(head.get("parent"), str | None):
        return None
    return head if all(isinstance(head.get(name), kind) for name, kind in _HEAD.items()) else None


def _left(path: str) -> bytes:
    """The file's bytes, unless its program runs."""
    try:
        fd = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    except OSError:
        return _read_only(path)
    try:
        return os.pread(fd, os.fstat(fd).st_size, 0) if take(fd) else b""
    finally:
        os.close(fd)


def _read_only(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read() if take(file.fileno()) else b""
    except OSError:
        return b""


def _said(head: dict[str, Any], body: list[bytes]) -> list[dict[str, Any]]:
    found = codecs.find("POST", head["url"], head["headers"])
    if found is None or not body:
        return []
    codec, operation = found
    return codec.read_answer(operation, 200, head["headers"], body).messages


def _events(head: dict[str, Any], message: dict[str, Any], seq: int, ended: bool) -> list[bytes]:
    id = f"m{seq}"
    redactor = Redactor() if head["redacted"] else None
    said = {"message_id": id, "parent_id": head.get("parent"), **head["fields"], **take_blobs(message)[0]}
    drafts: list[tuple[str, dict[str, Any]]] = [("message", {**said, "sampled": True, "status": "streaming"})]
    if ended:
        drafts.append(("stream_end", {"message_id": id, "status": "aborted"}))
    made = []
    for number, (type, data) in enumerate(drafts, seq):
        event = {"seq": number, "type": type, "timestamp": head["time"], "agent": head["agent"]}
        event |= {"step": head["step"], "data": data}
        made.append(orjson.dumps((redactor and redactor.event(event)) or event))
    return made
