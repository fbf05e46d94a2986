"""Bodies of streams, for codec tests."""

from __future__ import annotations

import json
from typing import Any

SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}


def sse(*events: Any, done: bool = False) -> bytes:
    """Each event as one `data:` line; objects as JSON, text as it is."""
    texts = [event if isinstance(event, str) else json.dumps(event, ensure_ascii=False) for event in events]
    if done:
        texts.append("[DONE]")
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def named(*events: dict[str, Any]) -> bytes:
    """The same with an `event:` line of the event's type before each."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
