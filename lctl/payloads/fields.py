"""Kinds of numbers in payloads, with what a message calls them."""

from __future__ import annotations

from typing import Annotated

import msgspec


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """Typed view of an event's `data`. Keys it does not name are allowed; they stay in `event.data`."""


def _meant(text: str) -> dict[str, str]:
    return {"expected": text}


#: How sure: from 0 to 1.
Confidence = Annotated[float, msgspec.Meta(ge=0, le=1, extra=_meant("a number from 0 to 1"))]
#: A whole number from 0.
Count = Annotated[int, msgspec.Meta(ge=0, extra=_meant("a whole number from 0"))]
#: Turns of an event loop; -1: it had come before the program asked for it.
Turn = Annotated[int, msgspec.Meta(ge=-1, extra=_meant("a whole number from -1"))]
#: Time in milliseconds, parts of one allowed.
Milliseconds = Annotated[float, msgspec.Meta(ge=0, extra=_meant("milliseconds as a number from 0"))]
