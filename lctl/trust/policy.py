"""How confidence is treated in a chain: decay rates and thresholds, from the log's own header.

    {"lctl": "4.0", "chain": {"id": "...", "confidence": {"decay_rate": 0.9, "sources": {"tests": 1.0}}}, ...}

The protocol's top-level `confidence:` block is read as well. A fact that carries `decay_rate` in its own
data has that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from lctl.errors import UsageError
from lctl.trust.gates import Thresholds
from lctl.trust.numbers import unit

#: Of the protocol, per hop.
DECAY_RATE = 0.95


class Policy(msgspec.Struct, frozen=True):
    """Rates and thresholds.

    Attributes:
        decay_rate: what a confidence is multiplied by for each hop.
        sources: the rate of facts of a source, where it is another.
        facts: the rate of single facts, by id.
        thresholds: of the gates.
        tolerance: assessments that differ by no more agree.
    """

    decay_rate: float = DECAY_RATE
    sources: Mapping[str, float] = {}
    facts: Mapping[str, float] = {}
    thresholds: Thresholds = Thresholds()
    tolerance: float = 0.1

    def rate(self, id: str, source: str | None, own: float | None = None) -> float:
        """The rate of one fact; `own` is what its event says."""
        if own is not None:
            return own
        rate = self.facts.get(id) if self.facts else None
        if rate is None and self.sources:
            rate = self.sources.get(source or "")
        return self.decay_rate if rate is None else rate


def policy_of(chain: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> Policy:
    """What a log's header says; what in it cannot be used is as if it were not there."""
    for given in (chain.get("confidence"), (extra or {}).get("confidence")):
        if isinstance(given, Mapping):
            return _read(given, strict=False)
    return Policy()


def read_policy(given: Mapping[str, Any] | Policy | None) -> Policy:
    """A policy as a program gives it.

    Raises:
        UsageError: a key it does not have, a number out of range, thresholds out of order.
    """
    if given is None or isinstance(given, Policy):
        return given or Policy()
    if not isinstance(given, Mapping):
        raise UsageError(f'confidence: settings such as {{"decay_rate": 0.9}}, not {given!r:.80}')
    return _read(given, strict=True)


def header_of(policy: Policy) -> dict[str, Any]:
    """The policy as a log's header holds it; empty for the protocol's own."""
    usual = Policy()
    made = msgspec.to_builtins(policy)
    return {key: value for key, value in made.items() if value != msgspec.to_builtins(usual)[key]}


def _read(given: Mapping[str, Any], *, strict: bool) -> Policy:
    known: dict[str, Any] = {}
    for key, value in given.items():
        if key in ("decay_rate", "tolerance"):
            known[key] = _number(key, value, strict)
        elif key in ("sources", "facts"):
            known[key] = _rates(key, value, strict)
        elif key == "thresholds":
            known[key] = _thresholds(value, strict)
        elif key not in ("method",) and strict:
            raise UsageError(
                f"confidence: no setting {key!r}; there are decay_rate, sources, facts, thresholds, tolerance"
            )
    return Policy(**{key: value for key, value in known.items() if value is not None})


def _number(name: str, value: object, strict: bool) -> float | None:
    number = unit(value)
    if number is None and strict:
        raise UsageError(f"confidence: {name} is a number from 0 to 1, not {value!r}")
    return number


def _rates(name: str, value: object, strict: bool) -> dict[str, float] | None:
    if not isinstance(value, Mapping):
        if strict:
            raise UsageError(f"confidence: {name} maps names to rates, not {value!r}")
        return None
    rates = {str(key): _number(f"{name}.{key}", rate, strict) for key, rate in value.items()}
    return {key: rate for key, rate in rates.items() if rate is not None}


def _thresholds(value: object, strict: bool) -> Thresholds | None:
    if isinstance(value, Thresholds):
        return value
    names = Thresholds.__struct_fields__
    if not isinstance(value, Mapping) or (strict and not set(value) <= set(names)):
        if strict:
            raise UsageError(f"confidence: thresholds are {', '.join(names)}, not {value!r}")
        return None
    rates = {name: _number(f"thresholds.{name}", value[name], strict) for name in names if name in value}
    made = Thresholds(**{name: rate for name, rate in rates.items() if rate is not None})
    if made.proceed >= made.warn >= made.verify:
        return made
    if strict:
        raise UsageError("confidence: thresholds go down from proceed over warn to verify")
    return None
