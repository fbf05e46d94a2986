"""What can go wrong between a model and its caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from lctl.errors import UsageError


@dataclass(frozen=True, slots=True)
class Fault:
    """One failure. With `status`, `reset`, `hang` or `malformed` it takes the answer's place; the others
    shape the answer that the request would have had. All times are in seconds.

    Attributes:
        status: an HTTP error, with a body in the provider's own shape.
        message, code, type, details: of that body; None: what the provider says at this status.
        retry_after: the wait the server asks for. 0 asks for the shortest one the SDKs take (a
            millisecond; they take 0 for "not said").
        body: the body of the error instead of the provider's, sent as text/plain.
        headers: more response headers.
        reset: the connection is reset: before any byte, or after `drop_after` chunks.
        hang: no answer, ever (True) or for so many seconds; then the connection closes.
        malformed: a 200 whose JSON is broken (in a stream: its second event is).
        drop_after: the connection closes after so many stream events (0: after the headers); an answer
            that is not a stream is cut in its middle.
        error_after: after so many stream events comes the provider's error event.
        delay: wait before the first byte.
        chunk_delay: wait before each stream event.
        times: how many requests it strikes; None: every one.
    """

    status: int | None = None
    message: str | None = None
    code: str | None = None
    type: str | None = None
    retry_after: float | None = None
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, Any] | None = None
    reset: bool = False
    hang: bool | float = False
    malformed: bool = False
    drop_after: int | None = None
    error_after: int | None = None
    delay: float = 0.0
    chunk_delay: float = 0.0
    times: int | None = 1

    @property
    def replaces(self) -> bool:
        """There is no answer besides this fault."""
        return self.status is not None or bool(self.hang) or (self.reset and self.drop_after is None)

    def over(self, other: Fault | None) -> Fault:
        """This fault, with `other` where this one says nothing."""
        if other is None:
            return self
        unset = _UNSET
        changes = {
            f.name: getattr(other, f.name)
            for f in fields(self)
            if getattr(self, f.name) == getattr(unset, f.name)
        }
        return replace(self, **changes)

    @classmethod
    def parse(cls, text: str) -> Fault:
        """From a request header: `status=429; retry-after=0`, `drop-after=3; reset`, `chunk-delay=0.05`.

        Raises UsageError for a name or value that no fault has.
        """
        values: dict[str, Any] = {}
        for part in filter(None, (p.strip() for p in text.split(";"))):
            name, _, value = (s.strip() for s in part.partition("="))
            key = name.replace("-", "_")
            if key not in _READERS:
                raise UsageError(f"no fault is named {name!r}; known: {', '.join(sorted(_READERS))}")
            try:
                values[key] = _READERS[key](value)
            except ValueError:
                raise UsageError(f"fault {name}={value!r}: not a value it can have") from None
        return cls(**values)


def _flag(value: str) -> bool:
    return value.lower() not in {"0", "false", "no"}


def _hang(value: str) -> bool | float:
    return float(value) if value else True


def _times(value: str) -> int | None:
    return None if value == "always" else int(value)


_READERS: dict[str, Any] = {
    "status": int, "message": str, "code": str, "type": str, "retry_after": float, "body": str,
    "reset": _flag, "hang": _hang, "malformed": _flag, "drop_after": int, "error_after": int,
    "delay": float, "chunk_delay": float, "times": _times,
}  # fmt: skip
_UNSET = Fault()
