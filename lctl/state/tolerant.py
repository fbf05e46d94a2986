"""Any event as the fold's intake, with a diagnostic for each value that cannot be used.

Where `intake` can take an event as it stands, the result here is the same and there is nothing to say.
"""

from __future__ import annotations

import functools
from typing import Any, cast

import msgspec

from lctl.codec.eventfile import event_of
from lctl.events import Event
from lctl.state.intake import BY_TYPE, DATA, Intake, Part, Unknown
from lctl.state.model import Diagnostic

_ENVELOPE = ("timestamp", "agent", "step", "data")


class Odd:
    """An event that could not be taken as it stands: what remained of it, and what was wrong."""

    __slots__ = ("agent", "event", "notes", "seq", "timestamp")

    def __init__(self, event: Intake, notes: list[Diagnostic]) -> None:
        self.seq = event.seq
        self.timestamp = event.timestamp
        self.agent = event.agent
        self.event = event
        self.notes = notes


Taken = Intake | Odd


def take(event: Event) -> Taken:
    """The intake of an event that is already decoded."""
    form = BY_TYPE.get(event.type)
    if form is None:
        return Unknown(seq=event.seq, timestamp=event.timestamp, agent=event.agent)
    if event.extra and any(key in event.extra for key in _ENVELOPE):
        return _tolerate(event, form)
    try:
        data = msgspec.convert(event.data, DATA[event.type])
    except msgspec.ValidationError:
        return _tolerate(event, form)
    return _build(form, event, data)


def take_line(line: bytes) -> Taken | None:
    """The intake of a line `intake` refused; None if it is not an event at all."""
    event = event_of(line)
    return None if event is None else take(event)


def _build(form: type[Intake], event: Event, data: Part) -> Intake:
    make = cast(Any, form)  # each form has its own type of data, which `DATA` names
    return cast(
        Intake,
        make(seq=event.seq, timestamp=event.timestamp, agent=event.agent, step=event.step, data=data),
    )


def _tolerate(event: Event, form: type[Intake]) -> Odd:
    notes: list[Diagnostic] = []
    for key in _ENVELOPE:
        if key in event.extra:
            code = "data_not_object" if key == "data" else "bad_value"
            notes.append(_note(event, code, key, event.extra[key]))
    data = _fields(event, DATA[event.type], event.data, "", notes)
    return Odd(_build(form, event, data), notes)


def _fields(event: Event, form: type[Part], raw: dict[str, Any], path: str, notes: list[Diagnostic]) -> Any:
    """A struct of those of its fields whose value can be used."""
    kept: dict[str, Any] = {}
    for field in _fields_of(form):
        if field.name not in raw:
            continue
        value = raw[field.name]
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # some write whole numbers so
        try:
            kept[field.name] = msgspec.convert(value, field.type)
            continue
        except msgspec.ValidationError:
            pass
        inner = _struct_in(field.type)
        if inner is not None and isinstance(value, dict):
            kept[field.name] = _fields(event, inner, value, f"{path}{field.name}.", notes)
        elif value is not None:  # null says as little as no value
            notes.append(_note(event, "bad_value", path + field.name, value))
    return form(**kept)


@functools.cache  # msgspec reads the annotations anew each time
def _fields_of(form: type[Part]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(form)


def _struct_in(annotation: Any) -> type[Part] | None:
    """The struct among the members of a union, if one is."""
    for member in getattr(annotation, "__args__", ()):
        if isinstance(member, type) and issubclass(member, msgspec.Struct):
            return cast(type[Part], member)
    return None


def _note(event: Event, code: str, what: str, value: Any) -> Diagnostic:
    shown = repr(value)
    if len(shown) > 60:
        shown = shown[:57] + "..."
    return Diagnostic(event.seq, code, f"{event.type}: cannot use {what} = {shown}; passed over")
