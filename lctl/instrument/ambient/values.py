"""What was read, as JSON, and back."""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from typing import Any

_SAFE = 1 << 53


def bytes_of(value: bytes) -> dict[str, str]:
    return {"$bytes": b2a_base64(value, newline=False).decode()}


def from_bytes(value: Any) -> bytes:
    return a2b_base64(value["$bytes"])


def big(value: int) -> Any:
    return value if -_SAFE < value < _SAFE else {"$int": str(value)}


def from_big(value: Any) -> int:
    return int(value["$int"]) if isinstance(value, dict) else int(value)
