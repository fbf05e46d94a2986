"""The conversations within one Claude process, the main one and its sub-agents', and the tools asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


@dataclass(slots=True)
class Asked:
    """A tool call without a result yet."""

    chain: str
    name: str
    input: Any
    message: str
    at: int
    own: bool = False  # run in this process, and reported where it ran


@dataclass(slots=True)
class Chain:
    """The main conversation, or a sub-agent's."""

    name: str
    agent: str
    leaf: str | None = None
    place: dict[str, Any] = field(default_factory=dict)
    step: int | None = None  # of the model call whose answer is arriving
    response: str = ""
    told: int | None = None  # step of the call whose answer was whole already, as far as could be told
    last: str = ""  # its newest message
    usage: dict[str, Any] = field(default_factory=dict)
    final: bool = False  # `usage` is the whole answer's
    reason: str | None = None
    model: str | None = None
    at: int = 0
