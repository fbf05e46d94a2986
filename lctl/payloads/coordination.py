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
    """

    facts: list[str] | None = None
    query: str | None = None
    hops: Count | None = None


class ModelRouting(Payload, frozen=True):
    """A model was chosen. `confidence` is from 0 to 1."""

    decision: str | None = None
    reason: str | None = None
    alternatives_considered: list[str] | None = None
    confidence: Confidence | None = None


class ContractValidation(Payload, frozen=True):
    """An agent's input or output was held against its contract.

    Attributes:
        direction: "input" or "output".
        status: "passed" or "failed".
    """

    contract: str | None = None
    direction: str | None = None
    status: str | None = None
    warnings: list[Any] | None = None
    errors: list[Any] | None = None
