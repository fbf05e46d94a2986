"""Live sessions with a model over a WebSocket: from the messages that pass to the model's responses.

A reader of one connection is told of each message, and says what begins and ends with it. It touches no
session and no clock. Sound is counted and not kept: `{"bytes": 4800}` stands in its place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from lctl.instrument.codecs.model import ModelAnswer, ModelRequest

#: Base64 of this length is no text that anybody reads.
_SOUND = 64


@dataclass(slots=True)
class News:
    """What a message says of the model's responses.

    Attributes:
        begun: responses that begin, by a key that tells those apart that are under way.
        ended: their answers.
        failure: an error of the connection or of a request, {status, type, code, message}.
    """

    begun: dict[str, ModelRequest] = field(default_factory=dict)
    ended: dict[str, ModelAnswer] = field(default_factory=dict)
    failure: dict[str, Any] | None = None


class LiveReader(Protocol):
    """Reads one connection."""

    def sent(self, event: dict[str, Any]) -> News: ...

    def received(self, event: dict[str, Any]) -> News: ...

    def left(self, key: str) -> ModelAnswer:
        """What there is of a response that is under way when the connection ends."""
        ...


def without_sound(value: Any, *, is_sound: bool = False) -> Any:
    """`value` with the number of bytes in the place of sound and pictures in base64.

    Args:
        is_sound: so is a bare text.
    """
    if isinstance(value, dict):
        kind = str(value.get("type") or "")
        piece = "audio" in kind and kind.endswith("audio.delta")
        return {
            key: without_sound(one, is_sound=key in ("audio", "data") or (piece and key == "delta"))
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [without_sound(one) for one in value]
    return {"bytes": size_of(value)} if is_sound and isinstance(value, str) and len(value) > _SOUND else value


def size_of(sound: str) -> int:
    """Bytes that a text in base64 is of."""
    return len(sound) * 3 // 4 - sound[-2:].count("=")
