"""Facts that can be acted on, while the program runs: gates, consensus, the fact store, the choice of
a model. What each of these says is recorded, and follows from the events before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lctl.errors import FactBlocked
from lctl.session.confidences import stated
from lctl.session.contracting import Contracting

if TYPE_CHECKING:
    from lctl.facts.store import FactStore
    from lctl.record.recorder import Draft
    from lctl.trust.consensus import Assessment, Consensus
    from lctl.trust.gates import Decision
    from lctl.trust.ledger import Ledger


class Trusting(Contracting):
    """Mixed into `LCTLSession`, which brings the log."""

    _facts: FactStore | None = None

    if TYPE_CHECKING:  # what stands beside it

        def _place(self) -> tuple[str, int | None]: ...

    def _derive(
        self, type: str, make: Callable[[Ledger], dict[str, Any]], agent: str | None
    ) -> dict[str, Any]:
        """Record an event that follows from all before it: no thread's event comes between. Its data."""
        made = make(self.watch.follow())  # also raises what is wrong with the question

        def build(_: int) -> list[Draft]:
            nonlocal made
            who, step = self._place()
            made = make(self.watch.follow())
            return [(type, agent or who, made, step)]

        self.emit_many(build)
        return made

    # -- gates -------------------------------------------------------------------------------------

    def gate(self, fact_id: str, *, agent: str | None = None) -> Decision:
        """What the running agent may do with a fact: "proceed", "warn", "verify" or "block"; recorded.

        A fact nobody gave a confidence is to be verified; one that is not there blocks.
        """
        return self._gated(fact_id, agent, None)[0]

    def require(self, fact_id: str, at_least: Decision = "verify", *, agent: str | None = None) -> Decision:
        """As `gate`, for going on only when the fact is at least that free to be used.

        Raises:
            FactBlocked: it is not; with the history that led there.
        """
        decision, confidence, passed = self._gated(fact_id, agent, at_least)
        if passed:
            return decision
        from lctl.trust.numbers import shown
        from lctl.trust.timeline import cause_of

        fact = self.watch.follow().facts.get(str(fact_id))
        history = [] if fact is None else fact.history
        led = "; ".join(
            f"[{point.seq}] {point.agent}: {shown(point.confidence)} {cause_of(point)}"
            for point in history
            if point.cause != "gate"
        )
        if fact is None:
            raise FactBlocked(f"fact {fact_id!r} is not known", fact_id, decision, None, [])
        who = agent or self._place()[0]
        hops = fact.distance(who)
        came = f" ({shown(fact.stated)}, {hops} hop{'' if hops == 1 else 's'} to {who})" if hops else ""
        what = "is blocked" if decision == "block" else f"is only to {decision}, not to {at_least},"
        raise FactBlocked(
            f"fact {fact_id!r} {what} at confidence {shown(confidence)}{came}: {led}",
            fact_id,
            decision,
            confidence,
            history,
        )

    def _gated(
        self, id: str, agent: str | None, at_least: Decision | None
    ) -> tuple[Decision, float | None, bool]:
        from lctl.trust.deriving import gate_data

        who = agent or self._place()[0]
        data = self._derive("gate", lambda ledger: gate_data(ledger, str(id), who, at_least), who)
        return data["decision"], data.get("confidence"), data.get("passed", True)

    # -- consensus ---------------------------------------------------------------------------------

    def assess(
        self,
        fact_id: str,
        confidence: float,
        reason: str | None = None,
        *,
        agent: str | None = None,
        reliability: float | None = None,
        **data: Any,
    ) -> int:
        """How sure the running agent is of a fact; `consensus` takes what all say together."""
        given = {"reason": reason, "reliability": reliability}
        said = {name: value for name, value in given.items() if value is not None}
        opinion = {"id": str(fact_id), "confidence": stated(confidence, "assess", fact_id)}
        return self.emit("assessment", {**opinion, **said, **data}, agent=agent)

    def consensus(
        self,
        fact_id: str,
        assessments: Iterable[Assessment | Mapping[str, Any]] = (),
        *,
        text: str | None = None,
        agent: str | None = None,
    ) -> Consensus:
        """What the fact's author and all who assessed it come to, weighted by reliability; it becomes the
        fact's confidence.

        Args:
            assessments: {agent, confidence, reliability} to be recorded first.
            text: of the fact, from now on.

        Raises:
            UsageError: there is no such fact, nobody said how sure they are, or one of `assessments` is none
                (then nothing is recorded).
        """
        from lctl.trust.consensus import read_assessment
        from lctl.trust.deriving import consensus_data

        said = [(read_assessment(one), one) for one in assessments]
        for read, one in said:
            # A mapping that does not say it leaves it to the agent's profile.
            weighed = not isinstance(one, Mapping) or one.get("reliability") is not None
            self.assess(
                fact_id, read.confidence, agent=read.agent, reliability=read.reliability if weighed else None
            )
        found: Consensus | None = None

        def make(ledger: Ledger) -> dict[str, Any]:
            nonlocal found
            found, data = consensus_data(ledger, str(fact_id))
            return data if text is None else {**data, "text": text}

        self._derive("fact_modified", make, agent)
        assert found is not None
        return found

    # -- the fact store ----------------------------------------------------------------------------

    @property
    def facts(self) -> FactStore:
        """The session's facts, to be asked for in SQL; every read is recorded."""
        found = self._facts
        if found is None:
            from lctl.facts.store import FactStore, live

            watch, session = self.watch, self._session()
            made = FactStore(
                watch.ledger,
                url=f"memory://{session.chain_id}/facts",
                lock=session.store.lock,
                catch_up=watch.follow,
                asker=lambda: self._place()[0],
                on_read=self._was_read,
            )
            with session.store.lock:
                found = made if self._facts is None else self._facts
                self._facts = live[session.chain_id] = found
        return found

    def _was_read(self, agent: str | None, query: str, ids: list[str], rows: int) -> None:
        data: dict[str, Any] = {"facts": ids}
        if query:
            data |= {"query": " ".join(query.split()), "fact_store": self.facts.url, "rows": rows}
        self.emit("fact_read", data, agent=agent)

    # -- models ------------------------------------------------------------------------------------

    def route_model(
        self,
        model: str | None = None,
        reason: str | None = None,
        alternatives: Iterable[str] | str = (),
        confidence: float | None = None,
        *,
        role: str | None = None,
        decision: str | None = None,
        fact: str | None = None,
        by_gate: Mapping[str, str] | None = None,
        agent: str | None = None,
        **data: Any,
    ) -> str:
        """Choose a model and say so; its id.

        Either `model` says which, or `fact` and `by_gate` do: a model for each decision of the fact's gate
        ({"proceed": "gpt-4o-mini", "verify": "claude-3-opus"}; a decision that is not named takes the next
        more careful one, or else the last).

        Raises:
            UsageError: neither is given.
        """
        from lctl.trust.deriving import routing_data

        given = {"reason": reason, "confidence": confidence, "role": role, "decision": decision}
        made = {name: value for name, value in given.items() if value is not None}
        who = agent or self._place()[0]
        others = [alternatives] if isinstance(alternatives, str) else list(alternatives)

        def make(ledger: Ledger) -> dict[str, Any]:
            return {**routing_data(ledger, who, model, others, fact, by_gate), **made, **data}

        return str(self._derive("model_routing", make, agent)["model"])
