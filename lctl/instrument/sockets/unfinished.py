"""WebSockets that were open when their program died: the exchange of what had passed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import orjson

#: In these first bytes a line has said its type.
_SAID = 64
#: What is not yet known of an exchange when it begins, or may be said otherwise at its end.
_LATER = frozenset({"headers", "at", "lane"})


def revived_socket(
    head: dict[str, Any],
    body: bytes,
    times: list[int],
    seq: int,
    lines_from: Callable[[int], Iterator[bytes]],
) -> list[bytes]:
    """The line of its event, which gets that seq; none where the log has it.

    Args:
        head: as it was written when the connection was opened.
        body: the lines that are whole, and perhaps a torn one.
        times: microseconds from the beginning, of each.
        lines_from: the log's lines from a seq on.
    """
    exchange = head["exchange"]
    lines = body.splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        lines.pop()
    last = times[-1] if times else 0
    moments = [*times[: len(lines)], *([last] * (len(lines) - len(times)))]
    chunks = [[us / 1000, line.decode("utf-8", "replace")] for us, line in zip(moments, lines, strict=True)]
    if _is_recorded(exchange, chunks, lines_from):
        return []
    ended = {"complete": False, "left": True, "duration_ms": moments[-1] / 1000 if moments else 0.0}
    event = {"seq": seq, "type": "exchange", "timestamp": head["time"], "agent": head["agent"]}
    if head.get("step") is not None:
        event["step"] = head["step"]
    return [orjson.dumps({**event, "data": {**exchange, "chunks": chunks, **ended}})]


def _is_recorded(
    exchange: dict[str, Any], chunks: list[list[Any]], lines_from: Callable[[int], Iterator[bytes]]
) -> bool:
    """Whether the program was killed when the event was in the log, and the file not yet emptied."""
    told = {name: value for name, value in exchange.items() if name not in _LATER}
    for line in lines_from(1):
        if b'"type":"exchange"' in line[:_SAID] and b'"ws' in line:
            data = orjson.loads(line)["data"]
            kept = data.get("chunks") or []
            same = all(data.get(name) == value for name, value in told.items())
            if same and len(kept) >= len(chunks) and kept[:1] and kept[0][1] == chunks[0][1]:
                return True
    return False
