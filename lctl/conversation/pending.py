"""What a session has begun and not ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lctl.state.messages import tool_calls_of, tool_results_of


class Pending(NamedTuple):
    """What a session has begun and not ended; false when that is nothing.

    Attributes:
        step: seq of the turn that is open.
        streaming: ids of messages that are being streamed.
        calls: tool calls of its last messages without a result: {id, name, arguments}.
    """

    step: int | None
    streaming: tuple[str, ...]
    calls: tuple[dict[str, Any], ...]

    def __bool__(self) -> bool:
        return self.step is not None or bool(self.streaming) or bool(self.calls)


def unanswered(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The tool calls among messages in order for which no result comes after: {id, name, arguments}."""
    open_calls: dict[Any, dict[str, Any]] = {}
    for message in messages:
        for call in tool_calls_of(message):
            open_calls[str(call["id"])] = call
        for result in tool_results_of(message):
            open_calls.pop(str(result["call_id"]), None)
    return list(open_calls.values())
