"""A state as flat rows, so that two of them can be compared field by field."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
import orjson

from lctl.analysis.log import text
from lctl.analysis.modelcosts import Costing, cost_of
from lctl.analysis.prices import Prices
from lctl.codec.lines import encode_value
from lctl.events import Event
from lctl.state.model import MODEL_KINDS, State, Tokens
from lctl.trust.gates import Thresholds, gate
from lctl.trust.ledger import Ledger
from lctl.trust.policy import Policy
from lctl.values import items

#: section -> name of the row -> field -> value
View = dict[str, dict[str, dict[str, Any]]]

_COORDINATION = frozenset(
    {"handoff", "fact_read", "model_routing", "contract_validation", "assessment", "gate"}
)
_OURS = frozenset({"message_id", "parent_id", "session_id", "conversation_id", "turn_id"})


def view(
    state: State,
    events: Iterable[Event],
    origins: Mapping[int, int],
    prices: Prices,
    policy: Policy | None = None,
) -> View:
    """Everything a state says.

    Args:
        events: those up to the state's seq.
        origins: seq -> the number it goes by here; those not in it are called `+seq`.
        policy: of confidences; the protocol's own when None.
    """
    events = list(events)

    def name(seq: int | None) -> str | None:
        return None if seq is None else str(origins[seq]) if seq in origins else f"+{seq}"

    prompts = _prompts(state, events)
    ledger = Ledger(policy).take_all(events)
    bounds = ledger.policy.thresholds
    return {
        "facts": {id: fact_row(fact, ledger) for id, fact in state.facts.items()},
        "handoffs": _coordination(state, events, name, bounds),
        "steps": {str(name(seq)): step_row(step, name, prompts) for seq, step in state.steps.items()},
        "messages": {
            one.id: {"role": one.role, "parent": one.parent, "status": one.status, "sampled": one.sampled}
            for one in state.messages.values()
        },
        "agents": {id: usage_row(usage) for id, usage in state.agents.items()},
        "models": {
            id: {
                **usage_row(usage),
                "cost": cost_of(state, id, usage, prices),
            }
            for id, usage in state.models.items()
        },
        "tools": {id: usage_row(usage) for id, usage in state.tools.items()},
        "totals": {"": totals_row(state, prices)},
        "problems": {f"{name(one.seq)} {one.code}": {"text": one.text} for one in state.diagnostics},
    }


def fact_row(fact: Any, ledger: Ledger | None = None) -> dict[str, Any]:
    """A fact, and what may be done with it where it has come furthest; without a ledger, where it stands."""
    standing = None if ledger is None else ledger.facts.get(fact.id)
    hops = 0 if standing is None else standing.hops
    arrived = fact.confidence if standing is None or not hops else standing.confidence()
    return {
        "text": fact.text,
        "confidence": fact.confidence,
        **({"hops": hops, "decayed": arrived} if hops else {}),
        "gate": gate(arrived) if ledger is None else gate(arrived, ledger.policy.thresholds),
        "source": fact.source,
        "agent": fact.agent,
    }


def step_row(
    step: Any, name: Callable[[int | None], str | None], prompts: Mapping[int, str]
) -> dict[str, Any]:
    return {
        "agent": step.agent,
        "kind": step.kind,
        "intent": step.intent,
        "parent": name(step.parent),
        "open": step.end_seq is None,
        "outcome": step.outcome,
        "duration_ms": step.duration_ms,
        "model": step.model,
        "errors": step.errors,
        "tool_calls": step.tool_calls,
        **_tokens(step.tokens),
        **({"prompt": prompts[step.seq]} if step.seq in prompts else {}),
    }


def usage_row(usage: Any) -> dict[str, Any]:
    return {
        "calls": usage.calls, "errors": usage.errors, "wall_ms": usage.wall_ms, **_tokens(usage.tokens)
    }  # fmt: skip


def _tokens(tokens: Tokens | None) -> dict[str, Any]:
    return {} if tokens is None else {f"tokens.{k}": v for k, v in tokens.to_dict().items()}


def totals_row(
    state: State, prices: Prices, *, most: int | None = None, cost: Costing | None = None
) -> dict[str, Any]:
    """
    Args:
        most: of more facts than that, their confidence is not averaged.
        cost: of a model's calls in a state; else they are gone through.
    """
    totals = msgspec.structs.asdict(state.totals)
    price = cost or (lambda state, name, usage: cost_of(state, name, usage, prices))
    costs = [price(state, name, usage) for name, usage in state.models.items() if usage.tokens.total]
    averaged = state.facts.values() if most is None or len(state.facts) <= most else ()
    confident = [fact.confidence for fact in averaged if fact.confidence is not None]
    return {
        **{key: value for key, value in totals.items() if key not in ("tokens", "events")},
        **_tokens(state.totals.tokens),
        "cost": sum(cost for cost in costs if cost is not None)
        if any(c is not None for c in costs)
        else None,
        "facts": len(state.facts),
        "confidence": sum(confident) / len(confident) if confident else None,
    }


def _coordination(
    state: State, events: Iterable[Event], name: Callable[[int | None], str | None], bounds: Thresholds
) -> dict[str, dict[str, Any]]:
    """Hand-offs, routings and contracts; with the gate each fact they name stood at in that moment."""
    rows: dict[str, dict[str, Any]] = {}
    for event in events:
        if event.type not in _COORDINATION:
            continue
        row = {key: value for key, value in event.data.items() if not isinstance(value, list | dict)}
        if event.type == "contract_validation":
            row["errors"] = len(items(event.data.get("errors")))
        for id in _facts_named(event.data):
            confidence = _confidence(state, id, event.seq)
            if confidence is not None:
                row[f"{id}.confidence"] = confidence
                row[f"{id}.gate"] = gate(confidence, bounds)
        rows[str(name(event.seq))] = row
    return rows


def _facts_named(data: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for key in ("facts", "critical_facts", "context_facts"):
        named = data.get(key)
        found += [text(one) for one in (named if isinstance(named, list) else ()) if text(one)]
    return found


def _confidence(state: State, id: str, seq: int) -> float | None:
    """A fact's confidence as it stood at an earlier seq."""
    fact = state.facts.get(id)
    then = [one for one in fact.history if one[0] <= seq] if fact is not None else []
    return then[-1][1] if then else None


def _prompts(state: State, events: Iterable[Event]) -> dict[int, str]:
    """Step -> a short hash of everything its model call read."""
    said: dict[str, bytes] = {}
    asked: dict[int, str] = {}
    for event in events:
        if event.type == "message":
            id = text(event.data.get("message_id")) or f"#{event.seq}"
            own = {key: value for key, value in event.data.items() if key not in _OURS}
            message = state.messages.get(id)
            above = said.get(message.parent or "", b"") if message is not None else b""
            dumped = encode_value(own, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
            said[id] = hashlib.sha256(above + dumped).digest()
        elif event.type == "step_start" and text(event.data.get("kind")) in MODEL_KINDS:
            asked[event.seq] = text(event.data.get("prompt"))
    return {seq: said[id].hex()[:8] for seq, id in asked.items() if id in said}
