"""Events that follow from the ones before them: gates, consensus, contract judgements, routings.

A session makes their data here when it records them. `rederive` makes it again for a chain in which something
else was changed, so that a what-if shows what the gate, the contract, the routing would have said.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from lctl.errors import UsageError
from lctl.events import Event
from lctl.trust.checking import Checker, Validation
from lctl.trust.consensus import Consensus
from lctl.trust.contracts import contracts_of
from lctl.trust.gates import DECISIONS, Decision, allows
from lctl.trust.ledger import Ledger
from lctl.trust.policy import Policy
from lctl.values import mapping, text

#: How a consensus of ours says that it is one.
METHOD = "weighted_mean"


def gate_data(ledger: Ledger, id: str, agent: str, at_least: Decision | None = None) -> dict[str, Any]:
    """What a gate says to an agent.

    Raises:
        UsageError: `at_least` is no decision.
    """
    if at_least is not None and at_least not in DECISIONS:
        raise UsageError(f"at_least={at_least!r}: it is one of {', '.join(DECISIONS)}")
    fact = ledger.facts.get(id)
    data: dict[str, Any] = {"id": id, "decision": ledger.decide(fact, agent)}
    if fact is not None and fact.stated is not None:
        data["confidence"] = round(fact.confidence(agent) or 0.0, 6)
        data["stated"] = fact.stated
        data["hops"] = fact.distance(agent)
    if at_least is not None:
        data["at_least"] = at_least
        data["passed"] = allows(data["decision"], at_least)
    return data


def consensus_data(ledger: Ledger, id: str) -> tuple[Consensus, dict[str, Any]]:
    """What a consensus is, and the `fact_modified` that makes it the fact's confidence.

    Raises:
        UsageError: there is no such fact, or nobody said how sure they are.
    """
    found = ledger.consensus(id)
    low = found.score < ledger.policy.thresholds.verify
    if not found.agreed:
        reason = "contested" if len(found.assessments) > 1 else "assessed"
    else:
        reason = "refuted_by_consensus" if low else "verified_by_consensus"
    return found, {
        "id": id,
        "confidence": round(found.score, 6),
        "reason": reason,
        "consensus": {
            "method": METHOD,
            "assessors": found.assessors,
            "agreement": round(found.agreement, 6),
            "conflict_level": round(found.conflict_level, 6),
        },
    }


def validation_data(validation: Validation) -> dict[str, Any]:
    """The `contract_validation` of a judgement."""
    data: dict[str, Any] = {
        "contract": validation.contract,
        "direction": validation.direction.removesuffix("s"),
        "status": "passed" if validation.passed else "failed",
        "warnings": [],
        "checked": validation.checked,
    }
    if validation.violations:
        data["errors"] = [one.document() for one in validation.violations]
    return data


def routing_data(
    ledger: Ledger | None,
    agent: str,
    model: str | None,
    alternatives: Sequence[str],
    fact: str | None,
    by_gate: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Which model, and what else was there.

    Raises:
        UsageError: it is not said which, or `by_gate` has what is no decision.
    """
    data: dict[str, Any] = {}
    if by_gate is not None:
        if fact is None or ledger is None or not by_gate or not set(by_gate) <= set(DECISIONS):
            raise UsageError(
                "route_model: by_gate maps decisions (proceed, warn, verify, block) to models, "
                "and needs the fact they are about"
            )
        decision = ledger.decide(ledger.facts.get(fact), agent)
        model = _routed(by_gate, decision)
        alternatives = alternatives or [one for one in dict.fromkeys(by_gate.values()) if one != model]
        data = {"reason": f"gate of {fact}: {decision}", "fact": fact, "by_gate": dict(by_gate)}
    if model is None:
        raise UsageError("route_model: give the model, or a fact and by_gate")
    return {
        "decision": f"route_to_{model}",
        "model": model,
        "alternatives_considered": list(alternatives),
        **data,
    }


def _routed(by_gate: Mapping[str, str], decision: Decision) -> str:
    careful = DECISIONS[DECISIONS.index(decision) :]
    named = [by_gate[one] for one in careful if one in by_gate]
    return named[0] if named else next(by_gate[one] for one in reversed(DECISIONS) if one in by_gate)


# -- again -----------------------------------------------------------------------------------------


def rederive(
    original: Iterable[Event],
    altered: Iterable[Event],
    origins: Mapping[int, int],
    touched: Collection[int],
    policy: Policy,
) -> list[Event]:
    """The altered events, with what followed from others made anew.

    Made anew is what this code would have recorded in the original just as it stands there. What was
    edited itself stays as it was edited, and so does what another program derived in its own way.

    Args:
        origins: seq in the altered chain -> seq in the original.
        touched: seqs in the original of what was edited.
    """
    before, after = list(original), list(altered)
    if not any(map(_is_derived, before)):  # as most logs
        return after
    ours = {event.seq for event, made in _derived(before, policy) if made is not None and made == event.data}
    found: list[Event] = []
    wanted = {new for new, old in origins.items() if old in ours and old not in touched}
    for event, made in _derived(after, policy, wanted):
        data = made if made is not None and event.seq in wanted else event.data
        found.append(event if data == event.data else msgspec.structs.replace(event, data=data))
    return found


def _is_derived(event: Event) -> bool:
    return event.type in ("gate", "model_routing", "contract_validation") or (
        event.type == "fact_modified" and "consensus" in event.data
    )


def _derived(
    events: Iterable[Event], policy: Policy, replaced: Collection[int] | None = None
) -> Iterable[tuple[Event, dict[str, Any] | None]]:
    """Each event, with the data that follows from those before it; None where none does.

    Those in `replaced` go on with the data made here.
    """
    ledger = Ledger(policy)
    contracts = _Contracts()
    for event in events:
        maker = _MAKERS.get(event.type)
        made = None
        try:
            if maker is not None:
                made = maker(ledger, event)
            elif event.type == "contract_validation":
                made = contracts.made(event)
        except UsageError:  # what it is about is no more, or no contract: it stays as it was
            made = None
        data = made if made is not None and replaced is not None and event.seq in replaced else event.data
        ledger.take(event.seq, event.type, event.agent, data)
        contracts.take(event, data)
        yield event, made


class _Contracts:
    """Judgements in the order they are made, for the events that record them."""

    def __init__(self) -> None:
        self._past: list[tuple[Event, Mapping[str, Any]]] = []
        self._checkers: dict[str, tuple[Checker, int]] = {}

    def take(self, event: Event, data: Mapping[str, Any]) -> None:
        self._past.append((event, data))

    def made(self, event: Event) -> dict[str, Any] | None:
        """What this event should say, from the contract that it or an earlier one defines."""
        name = str(event.data.get("contract"))
        if name not in self._checkers:
            definition = event.data.get("definition")
            if not isinstance(definition, Mapping):
                return None
            self._checkers[name] = (Checker(contracts_of({"contracts": {name: definition}})), 0)
        checker, seen = self._checkers[name]
        found: list[Validation] = []
        for past, data in self._past[seen:]:
            found += checker.take(past.seq, past.type, past.agent, past.step, data)
        self._checkers[name] = (checker, len(self._past))
        mine = [
            one
            for one in found or checker.finish()
            if one.direction.removesuffix("s") == event.data.get("direction") and one.step == event.step
        ]
        if not mine:
            return None
        data = validation_data(mine[-1])
        kept: dict[str, Any] = {
            key: event.data[key] for key in ("definition", "lane", "at") if key in event.data
        }
        return {**data, **kept}


def _gate_again(ledger: Ledger, event: Event) -> dict[str, Any]:
    data = event.data
    return _keeping(event, gate_data(ledger, str(data.get("id")), event.agent, data.get("at_least")))


def _consensus_again(ledger: Ledger, event: Event) -> dict[str, Any] | None:
    said = event.data.get("consensus")
    if not isinstance(said, Mapping) or said.get("method") != METHOD:
        return None
    return _keeping(event, consensus_data(ledger, str(event.data.get("id")))[1])


def _routing_again(ledger: Ledger, event: Event) -> dict[str, Any] | None:
    data = event.data
    by_gate = mapping(data.get("by_gate"))
    if not by_gate or not all(isinstance(one, str) for one in by_gate.values()):
        return None
    made = routing_data(ledger, event.agent, None, [], text(data.get("fact")), by_gate)
    # Words the program chose itself stay its own.
    if data.get("decision") != f"route_to_{data.get('model')}":
        made["decision"] = data.get("decision")
    if not str(data.get("reason")).startswith(f"gate of {data.get('fact')}: "):
        made["reason"] = data.get("reason")
    others = [one for one in dict.fromkeys(by_gate.values()) if one != data.get("model")]
    if data.get("alternatives_considered") != others:
        made["alternatives_considered"] = data.get("alternatives_considered")
    return {**data, **made}


def _keeping(event: Event, made: dict[str, Any]) -> dict[str, Any]:
    """With what the event says beyond it."""
    return {**{key: value for key, value in event.data.items() if key not in _DERIVED}, **made}


_DERIVED = frozenset({"decision", "confidence", "stated", "hops", "passed", "reason", "consensus"})

_MAKERS: dict[str, Callable[[Ledger, Event], dict[str, Any] | None]] = {
    "gate": _gate_again,
    "fact_modified": _consensus_again,
    "model_routing": _routing_again,
}
