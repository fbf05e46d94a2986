"""Containers other than list, dict and sets."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from types import SimpleNamespace
from typing import Any

from lctl.session.faithful.coding import Decoder, Encoder
from lctl.session.faithful.tables import DECODERS, ENCODERS, Note, Unfaithful

#: What a defaultdict may make its values with.
_FACTORIES = {kind.__name__: kind for kind in (list, dict, set, int, float, str, bool, tuple)}


def fill() -> None:
    ENCODERS[tuple] = lambda e, value: {"$": "tuple", "v": [e.value(item) for item in value]}
    ENCODERS[deque] = _deque
    ENCODERS[OrderedDict] = lambda e, value: {"$": "ordereddict", "pairs": e.pairs(value)}
    ENCODERS[Counter] = lambda e, value: {"$": "counter", "pairs": e.pairs(value)}
    ENCODERS[defaultdict] = _defaultdict
    ENCODERS[SimpleNamespace] = lambda e, value: {"$": "namespace", "fields": e.fields(value.__dict__)}
    DECODERS["tuple"] = lambda d, made, note: tuple(d.value(item) for item in made["v"])
    DECODERS["deque"] = _of_deque
    DECODERS["dict"] = lambda d, made, note: _into(d, made, note({}))
    DECODERS["ordereddict"] = lambda d, made, note: _into(d, made, note(OrderedDict()))
    DECODERS["counter"] = lambda d, made, note: _into(d, made, note(Counter()))
    DECODERS["defaultdict"] = _of_defaultdict
    DECODERS["namespace"] = _of_namespace


def _deque(encoder: Encoder, value: deque[Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"$": "deque", "v": [encoder.value(item) for item in value]}
    if value.maxlen is not None:
        made["maxlen"] = value.maxlen
    return made


def _of_deque(decoder: Decoder, made: dict[str, Any], note: Note) -> Any:
    items: deque[Any] = note(deque(maxlen=made.get("maxlen")))
    items.extend(decoder.value(item) for item in made["v"])
    return items


def _into(decoder: Decoder, made: dict[str, Any], mapping: Any) -> Any:
    for key, item in made["pairs"]:
        mapping[decoder.value(key)] = decoder.value(item)
    return mapping


def _defaultdict(encoder: Encoder, value: defaultdict[Any, Any]) -> dict[str, Any]:
    factory = value.default_factory
    made: dict[str, Any] = {"$": "defaultdict", "pairs": encoder.pairs(value)}
    if factory is not None:
        name = getattr(factory, "__name__", "")
        if _FACTORIES.get(name) is not factory:
            raise Unfaithful("a defaultdict with a function of the program")
        made["factory"] = name
    return made


def _of_defaultdict(decoder: Decoder, made: dict[str, Any], note: Note) -> Any:
    factory = _FACTORIES[made["factory"]] if "factory" in made else None
    return _into(decoder, made, note(defaultdict(factory)))


def _of_namespace(decoder: Decoder, made: dict[str, Any], note: Note) -> Any:
    value = note(SimpleNamespace())
    value.__dict__.update(decoder.fields(made["fields"]))
    return value
