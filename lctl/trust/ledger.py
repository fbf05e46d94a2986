"""The fold that knows every fact's confidence: who stated it, how many agents it came through since.

A hop is a fact crossing from one agent to another: a `fact_read` by an agent that does not have it (from the
store, so from who stated it, or from the event's `from`), or a `handoff` that carries it. An agent gets a
fact once; stating a confidence begins anew. Pure: reads no clock; the same events give the same ledger, and
what it says at a seq depends on the events up to there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from lctl.errors import UsageError
from lctl.events import Event
from lctl.trust.consensus import Assessment, Consensus, consensus
from lctl.trust.gates import Decision
from lctl.trust.known import Facts, First
from lctl.trust.numbers import unit
from lctl.trust.policy import Policy
from lctl.trust.saying import Data, extra_of, facts_carried, facts_read, tags_of, text_of
from lctl.trust.standing import Cause, Point, Standing

_VERIFIED = ("verified", "confirmed")
_REFUTED = ("refuted", "rejected", "disproved")


class Ledger:
    """Facts by id, as they stand after the events taken so far.

    Attributes:
        facts: in the order they were added.
        reliability: agent -> what its profile said of it.
        seq: of the newest event taken.
        touched: ids of facts that changed, where somebody follows the ledger and sets it empty again.
    """

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self.facts = Facts(self._made)
        self._cells = self.facts.cells
        self.reliability: dict[str, float] = {}
        self.seq = 0
        self.touched: set[str] | None = None
        self._handlers: dict[str, Callable[[int, str, Data], None]] = {
            "fact_added": self._stated,
            "fact_modified": self._stated,
            "fact_read": self._read,
            "handoff": self._handoff,
            "assessment": self._assessed,
            "gate": self._gated,
            "step_start": self._begun,
        }

    def take(self, seq: int, type: str, agent: str, data: Data) -> None:
        """One more event."""
        self.seq = seq
        handler = self._handlers.get(type)
        if handler is not None:
            handler(seq, agent, data)

    def take_all(self, events: Iterable[Event]) -> Ledger:
        """Some more events; the ledger itself."""
        handlers, cells = self._handlers, self._cells
        plain = self.touched is None
        event = None
        for event in events:
            type_ = event.type
            if plain and type_ == "fact_added":  # nearly all there is in a long log of facts
                data = event.data
                id = data.get("id")
                if type(id) is str and id not in cells and id:
                    cells[id] = (event.seq, event.agent, data)
                    continue
            handler = handlers.get(type_)
            if handler is not None:
                handler(event.seq, event.agent, event.data)
        if event is not None:
            self.seq = event.seq
        return self

    def fact(self, id: str) -> Standing:
        """One fact.

        Raises:
            UsageError: there is none of that id.
        """
        found: Standing | None = self.facts.get(id)
        if found is None:
            from difflib import get_close_matches

            close = get_close_matches(id, self.facts, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise UsageError(f"there is no fact {id!r}{hint}")
        return found

    def decide(self, fact: Standing | None, agent: str | None = None) -> Decision:
        """What `agent` may do with a fact. One that nobody gave a confidence is to be verified; one that is
        not there at all blocks."""
        if fact is None:
            return "block"
        confidence = fact.confidence(agent)
        return "verify" if confidence is None else self.policy.thresholds.decide(confidence)

    def consensus(self, id: str) -> Consensus:
        """What its author and all who assessed it since come to.

        Raises:
            UsageError: there is no such fact, or nobody said how sure they are.
        """
        fact = self.fact(id)
        opinions: dict[str, tuple[float, float | None]] = {}
        if fact.stated is not None and fact.author:
            opinions[fact.author] = (fact.stated, None)
        opinions |= fact.opinions or {}
        if not opinions:
            raise UsageError(f"fact {id!r} has no confidence, and no assessment of it")
        return consensus(
            (
                Assessment(agent, held, self._weight(agent, reliability))
                for agent, (held, reliability) in opinions.items()
            ),
            self.policy.tolerance,
        )

    def _weight(self, agent: str, given: float | None) -> float:
        return self.reliability.get(agent, 1.0) if given is None else given

    # -- events ----------------------------------------------------------------------------------

    def _stated(self, seq: int, agent: str, data: Data) -> None:
        id = data.get("id")
        if id is None or id == "":
            return
        id = id if type(id) is str else str(id)
        if id in self._cells:
            self._change(self.facts[id], seq, agent, data)
            return
        self._cells[id] = (seq, agent, data)
        if self.touched is not None:
            self.touched.add(id)

    def _made(self, id: str, first: First) -> Standing:
        """A fact of which there is only the event that added it."""
        seq, agent, data = first
        confidence, source = unit(data.get("confidence")), text_of(data.get("source")) or None
        own = unit(data.get("decay_rate"))
        low = confidence is not None and self.policy.thresholds.decide(confidence) == "block"
        return Standing(
            id,
            text_of(data.get("text")),
            source,
            agent,
            agent,
            confidence,
            self.policy.rate(id, source, own),
            seq,
            seq,
            tags=tags_of(data),
            own_rate=own,
            blocked=seq if low else None,
            first=confidence,
            reason=text_of(data.get("reason")),
            extra=extra_of(data),
        )

    def _change(self, fact: Standing, seq: int, agent: str, data: Data) -> None:
        confidence = unit(data.get("confidence"))
        text, source = text_of(data.get("text")), text_of(data.get("source")) or None
        fact.text = text or fact.text
        if source is not None or "decay_rate" in data:
            fact.source = source or fact.source
            own = unit(data.get("decay_rate"))
            fact.own_rate = fact.own_rate if own is None else own
            fact.rate = self.policy.rate(fact.id, fact.source, fact.own_rate)
        fact.tags = tags_of(data) or fact.tags
        if extra := extra_of(data):
            fact.extra = {**(fact.extra or {}), **extra}
        fact.modified = seq
        if confidence is not None:
            self._restate(fact, agent, confidence, data)
        cause: Cause = "consensus" if isinstance(data.get("consensus"), Mapping) else "modified"
        self._note(fact, Point(seq, cause, agent, fact.confidence(), reason=text_of(data.get("reason"))))
        if confidence is not None:
            since, fact.blocked = fact.blocked or seq, None
            self._hold(fact, since)

    def _restate(self, fact: Standing, agent: str, confidence: float, data: Data) -> None:
        """Somebody says anew how sure it is."""
        reason = text_of(data.get("reason")).lower()
        agreed = isinstance(data.get("consensus"), Mapping)
        other = agent != fact.agent
        before = fact.stated
        low = confidence < self.policy.thresholds.verify
        fact.refuted = low and (other or reason.startswith(_REFUTED))
        fact.verified = not low and (
            reason.startswith(_VERIFIED)
            or (
                (not reason.startswith(("contested", *_REFUTED)) and (agreed or other))
                and (before is None or confidence >= before)
            )
        )
        fact.author, fact.stated = agent, confidence
        fact.holders, fact.hops = None, 0
        if agreed:
            fact.opinions = None

    def _read(self, seq: int, agent: str, data: Data) -> None:
        for id in facts_read(data):
            fact = self.facts.get(id)
            if fact is not None and agent and not fact.holds(agent):
                self._cross(fact, seq, "read", text_of(data.get("from")) or fact.author, agent)

    def _handoff(self, seq: int, agent: str, data: Data) -> None:
        giver = text_of(data.get("from")) or agent
        to = text_of(data.get("to"))
        for id in facts_carried(data):
            fact = self.facts.get(id)
            if fact is not None and to and to != giver and not fact.holds(to):
                self._cross(fact, seq, "handoff", giver, to)

    def _cross(self, fact: Standing, seq: int, cause: Cause, giver: str, to: str) -> None:
        """One more agent has the fact. Who gives it without having got it gives what was stated."""
        hops = (fact.distance(giver) if fact.holds(giver) else 0) + 1
        if fact.holders is None:
            fact.holders = {}
        fact.holders[to] = hops
        front = hops > fact.hops
        fact.hops = max(fact.hops, hops)
        self._note(fact, Point(seq, cause, to, fact.confidence(to), hops, giver, front=front))
        self._hold(fact, seq)

    def _assessed(self, seq: int, agent: str, data: Data) -> None:
        fact = self.facts.get(text_of(data.get("id")))
        held = unit(data.get("confidence"))
        if fact is None or held is None:
            return
        if fact.opinions is None:
            fact.opinions = {}
        fact.opinions[agent] = (held, unit(data.get("reliability")))
        self._note(fact, Point(seq, "assessed", agent, held, reason=text_of(data.get("reason"))))

    def _gated(self, seq: int, agent: str, data: Data) -> None:
        fact = self.facts.get(text_of(data.get("id")))
        decision = text_of(data.get("decision"))
        if fact is None:
            return
        confidence = fact.confidence(agent)
        self._note(fact, Point(seq, "gate", agent, confidence, fact.distance(agent), decision=decision))
        if decision == "block" or data.get("passed") is False:
            fact.blocked = fact.blocked or seq
        elif decision:
            fact.blocked = None
            self._hold(fact, seq)

    def _begun(self, seq: int, agent: str, data: Data) -> None:
        profile = data.get("agent_profile")
        score = unit(profile.get("reliability_score")) if isinstance(profile, Mapping) else None
        if score is not None:
            self.reliability[agent] = score

    def _note(self, fact: Standing, point: Point) -> None:
        if self.touched is not None:
            self.touched.add(fact.id)
        if fact.changes is None:
            fact.changes = []
        fact.changes.append(point)

    def _hold(self, fact: Standing, seq: int) -> None:
        if fact.blocked is None and self.decide(fact) == "block":
            fact.blocked = seq
