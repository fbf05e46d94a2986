"""Live sessions with a model over a WebSocket: from the messages that pass to the model's responses.

A reader of one connection is told of each message, and says what begins and ends with it. It touches no
session and no clock. Sound is counted and not kept: `{"bytes": 4800}` stands in its place.
"""

from __future__ import annotations

from collections.abc import Callable
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


def without_sound(value: Any) -> Any:
    """`value` with the number of bytes in the place of sound and pictures in base64."""
    return with_sounds(value, lambda sound: {"bytes": size_of(sound)})


def with_sounds(
    value: Any,
    keep: Callable[[str], Any],
    give: Callable[[dict[str, Any]], Any] | None = None,
    *,
    is_sound: bool = False,
) -> Any:
    """`value` with something else in the places of sound and pictures in base64.

    Args:
        keep: says what, of sound.
        give: likewise, of what stands for sound.
        is_sound: a bare text is.
    """
    if isinstance(value, dict):
        if is_sound and give is not None and type(value.get("bytes")) is int:
            return give(value)
        kind = str(value.get("type") or "")
        piece = "audio" in kind and kind.endswith("audio.delta")
        return {
            key: with_sounds(one, keep, give, is_sound=key in ("audio", "data") or (piece and key == "delta"))
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [with_sounds(one, keep, give) for one in value]
    return keep(value) if is_sound and isinstance(value, str) and len(value) > _SOUND else value


def size_of(sound: str) -> int:
    """Bytes that a text in base64 is of."""
    return len(sound) * 3 // 4 - sound[-2:].count("=")
