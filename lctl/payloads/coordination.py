"""Payloads of agents working together."""

from __future__ import annotations

from typing import Any

import msgspec

from lctl.payloads.fields import Confidence, Count, Payload


class Handoff(Payload, frozen=True):
    """Work passes from one agent to another.

    Attributes:
        from_agent: key "from"; who hands over, the envelope's agent when absent.
        to_agent: key "to"; who takes over.
        facts: ids of the facts handed over.
        critical_facts, context_facts: those that must and those that may be kept in view.
        instruction: what the receiver is asked to do.
        fact_store, suggested_queries: where and how the receiver finds facts.
    """

    from_agent: str | None = msgspec.field(default=None, name="from")
    to_agent: str | None = msgspec.field(default=None, name="to")
    reason: str | None = None
    facts: list[str] | None = None
    critical_facts: list[str] | None = None
    context_facts: list[str] | None = None
    warnings: list[Any] | None = None
    instruction: Any = None
    fact_store: str | None = None
    suggested_queries: list[str] | None = None


class FactRead(Payload, frozen=True):
    """An agent read facts (their confidence decays with each hop).

    Attributes:
        facts: ids of what was read.
        query: what was asked of the store.
        hops: how many agents the facts came through.
        from_agent: key "from"; who it has them from, who stated them when absent.
        fact_store: where it was asked.
        rows: how many rows the query gave.
    """

    facts: list[str] | None = None
    query: str | None = None
    hops: Count | None = None
    from_agent: str | None = msgspec.field(default=None, name="from")
    fact_store: str | None = None
    rows: Count | None = None


class ModelRouting(Payload, frozen=True):
    """A model was chosen.

    Attributes:
        decision: which way, in a word.
        confidence: from 0 to 1.
        model: id of the model chosen.
        role: what it is used for.
        fact: id of the fact whose gate decided it.
        by_gate: gate decision -> model, of such a choice.
    """

    decision: str | None = None
    reason: str | None = None
    alternatives_considered: list[str] | None = None
    confidence: Confidence | None = None
    model: str | None = None
    role: str | None = None
    fact: str | None = None
    by_gate: dict[str, str] | None = None


class ContractValidation(Payload, frozen=True):
    """An agent's input or output was held against its contract.

    Attributes:
        direction: "input" or "output".
        status: "passed" or "failed".
        warnings: what is doubtful but no violation.
        errors: violations: {seq, agent, item, field, value, expected}.
        checked: how many items were held against it.
        definition: the contract itself, in the first event of the chain that is about it.
    """

    contract: str | None = None
    direction: str | None = None
    status: str | None = None
    warnings: list[Any] | None = None
    errors: list[Any] | None = None
    checked: Count | None = None
    definition: dict[str, Any] | None = None


class Assessment(Payload, frozen=True):
    """An agent says how sure it is of a fact; the fact stays as it was stated.

    Attributes:
        id: of the fact.
        reason: why, in a word or a sentence.
        reliability: weight of this agent's word; that of its profile when absent.
    """

    id: str
    confidence: Confidence | None = None
    reason: str | None = None
    reliability: Confidence | None = None


class Gate(Payload, frozen=True):
    """It was asked what may be done with a fact.

    Attributes:
        id: of the fact.
        decision: "proceed", "warn", "verify" or "block".
        confidence: of the fact as the asking agent has it, decayed.
        stated: as it was stated.
        hops: agents it came through.
        at_least: the decision that was needed.
        passed: whether it was that free.
    """

    id: str
    decision: str | None = None
    confidence: Confidence | None = None
    stated: Confidence | None = None
    hops: Count | None = None
    at_least: str | None = None
    passed: bool | None = None
