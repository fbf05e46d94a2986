"""What analysis needs of a log, and how it reads one tolerantly.

Every function of this package takes anything with this shape; `lctl.codec.open_log` gives one.
Nothing here raises on what an event holds: a value of the wrong type counts as absent.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import msgspec

from lctl.codec.lines import decode, encode
from lctl.events import Event
from lctl.state.model import Tokens
from lctl.state.times import millis as millis


class Log(Protocol):
    """A chain's events, by seq."""

    @property
    def chain(self) -> Mapping[str, Any]: ...

    def events(self, start: int = ..., stop: int | None = ...) -> Iterator[Event]: ...

    def lines(self) -> Iterator[bytes]: ...

    def event(self, seq: int) -> Event: ...

    def __len__(self) -> int: ...


class UpTo:
    """A log as it was after event `seq`."""

    def __init__(self, log: Log, seq: int) -> None:
        self._log = log
        self._seq = seq

    @property
    def chain(self) -> Mapping[str, Any]:
        return self._log.chain

    def events(self, start: int = 0, stop: int | None = None) -> Iterator[Event]:
        last = self._seq if stop is None else min(self._seq, stop - 1)
        return itertools.takewhile(lambda event: event.seq <= last, self._log.events(start))

    def lines(self) -> Iterator[bytes]:
        return (encode(event) for event in self.events())

    def event(self, seq: int) -> Event:
        return self._log.event(seq)

    def __len__(self) -> int:
        return sum(1 for _ in self.events())


def _as_others_write_it(line: bytes) -> Any:
    """A line with NaN or a lone surrogate in it; None of one that is no JSON to anybody."""
    try:
        return decode(line)
    except ValueError:
        return None


def raw_events(log: Log) -> Iterator[dict[str, Any]]:
    """Decoded events, fresh dicts the caller may take apart. `data` is always a dict; what is not an
    event at all is passed over."""
    loads = msgspec.json.decode
    for line in log.lines():
        try:
            event = loads(line)
        except (ValueError, RecursionError):
            event = _as_others_write_it(line)
        if type(event) is not dict or type(event.get("seq")) is not int:
            continue
        if type(event.get("data")) is not dict:
            event["data"] = {}
        yield event


def number(value: object) -> float | None:
    """The value as a number from 0 to `LARGEST`, else None (a bool is no number)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= LARGEST else None


def text(value: object) -> str:
    """The value if it is text, else ""."""
    return value if isinstance(value, str) else ""


def tokens_of(data: Mapping[str, Any]) -> Tokens | None:
    """The token counts a `step_end` reports; None where it reports none."""
    raw = data.get("tokens")
    if not isinstance(raw, dict):
        return None
    read = {key: number(raw.get(key)) for key in _COUNTS}
    counts = {key: int(count) for key, count in read.items() if count is not None and count <= _MOST}
    return Tokens(**counts) if counts else None


def model_of(data: Mapping[str, Any]) -> str | None:
    """The model an event names: `model` as text, `model.id`, or the agent profile's."""
    model = data.get("model")
    if isinstance(model, dict):
        model = model.get("id")
    if not model:
        profile = data.get("agent_profile")
        model = profile.get("model") if isinstance(profile, dict) else None
    return model if isinstance(model, str) and model else None


def role_of(data: Mapping[str, Any]) -> str | None:
    """What the model an event names is used for: `model.role`, or the agent profile's."""
    profile = data.get("agent_profile")
    for model in (data.get("model"), profile.get("model") if isinstance(profile, dict) else None):
        if isinstance(model, dict) and text(model.get("role")):
            return text(model["role"])
    return None


#: Largest duration in milliseconds, and number of tokens, that are believed: what the state believes too.
LARGEST = 1e15
_MOST = 10**12
_COUNTS = ("input", "output", "cache_read", "cache_write", "reasoning")
