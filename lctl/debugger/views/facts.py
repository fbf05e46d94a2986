"""The facts of a moment, newest change first."""

from __future__ import annotations

import heapq

from lctl.debugger.asking import OfRun
from lctl.debugger.moments import state_at
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.state import Facts, FactState
from lctl.state.layers import at_hand, latest_keys, newest_keys
from lctl.state.model import Fact, State
from lctl.trust.gates import gate

#: Facts of a state up to which all are put in order for a page of them.
_ALL = 5000


def newest_facts(now: State, limit: int) -> list[Fact]:
    """Facts by their newest change. Where hardly any has changed for long: those, and those added last."""
    if limit <= 0:
        return []
    facts = now.facts
    ids = list(facts) if len(facts) <= limit else latest_keys(facts, limit)
    if len(ids) < min(limit, len(facts)):
        ids = list(dict.fromkeys([*ids, *newest_keys(facts, limit)]))
    at_hand(facts, ids)
    found = [one for id in ids if (one := facts.get(id)) is not None]
    return heapq.nlargest(limit, found, key=lambda one: one.modified)


def fact(one: Fact, seq: int) -> FactState:
    return FactState(
        id=one.id,
        text=one.text,
        confidence=one.confidence,
        source=one.source,
        agent=one.agent,
        added=one.added,
        modified=one.modified,
        gate=gate(one.confidence),
        history=[(seq, confidence, reason) for seq, confidence, reason in one.history],
        changed=one.modified == seq,
    )


class FactsAsked(OfRun, kw_only=True):
    at: int | None = None
    offset: int = 0
    limit: int = 200
    q: str = ""


def facts(run: Opened, asked: FactsAsked) -> Facts:
    """All facts, newest change first; `q`: words in id, text, source or agent."""
    now, _ = state_at(run, asked.at)
    words = asked.q.lower().split()
    offset, limit = max(0, asked.offset), max(1, min(asked.limit, 2000))
    if not words and len(now.facts) > _ALL:
        shown = newest_facts(now, offset + limit)[offset:]
        after = offset + len(shown)
        more = len(shown) == limit and after < len(now.facts)
        return Facts(
            total=len(now.facts),
            next=after if more else None,
            facts=[fact(one, now.seq) for one in shown],
        )
    found = [
        one
        for one in now.facts.values()
        if all(word in f"{one.id} {one.text} {one.source or ''} {one.agent}".lower() for word in words)
    ]
    found.sort(key=lambda one: -one.modified)
    shown = found[offset : offset + limit]
    after = offset + len(shown)
    return Facts(
        total=len(found),
        next=after if after < len(found) else None,
        facts=[fact(one, now.seq) for one in shown],
    )
