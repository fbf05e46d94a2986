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
from lctl.values import mapping, whole_number
from lctl.values import text as text


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


def raw_events(log: Log) -> Iterator[dict[str, Any]]:
    """Decoded events, fresh dicts the caller may take apart; what is not an event at all is passed over."""
    return (event for line in log.lines() if (event := raw_event(line)) is not None)


def raw_event(line: bytes) -> dict[str, Any] | None:
    """The event of a line; None where it is none. The keys around the data are of their types: `type`,
    `agent` and `timestamp` text, `step` a number or not there, `data` a dict."""
    try:
        event = _quickly(line)
    except (ValueError, RecursionError):
        try:
            event = decode(line)  # NaN or a lone surrogate, perhaps
        except ValueError:
            return None
    if type(event) is not dict or type(event.get("seq")) is not int:
        return None
    if not (
        type(event.get("type")) is str
        and type(event.get("agent")) is str
        and type(event.get("timestamp")) is str
        and type(event.get("step", 0)) is int
        and type(event.get("data")) is dict
    ):
        event |= {key: text(event.get(key)) for key in ("type", "agent", "timestamp")}
        event["data"] = mapping(event.get("data"))
        if type(event.get("step")) is not int:
            event.pop("step", None)
    return event


_quickly = msgspec.json.Decoder().decode


def number(value: object) -> float | None:
    """The value as a number from 0 to `LARGEST`, else None (a bool is no number)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= LARGEST else None


def tokens_of(data: Mapping[str, Any]) -> Tokens | None:
    """The token counts a `step_end` reports; None where it reports none."""
    raw = data.get("tokens")
    if not isinstance(raw, dict):
        return None
    read = {key: whole_number(raw.get(key)) for key in _COUNTS}
    counts = {key: count for key, count in read.items() if count is not None}
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


#: Largest duration in milliseconds that is believed: what the state believes too.
LARGEST = 1e15
_COUNTS = Tokens.__struct_fields__
