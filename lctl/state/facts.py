"""Facts: the handlers."""

from __future__ import annotations

from lctl.state import intake
from lctl.state.builder import Builder
from lctl.state.rows import FactRow


def fact_added(state: Builder, event: intake.FactAdded) -> None:
    """A fact added again under the same id is a restatement: the newest words stand, the history grows."""
    data = event.data
    id, confidence = data.id, data.confidence
    if (
        type(id) is str
        and id
        and (confidence is None or 0 <= confidence <= 1)
        and id not in state.facts
        and id not in state.known_facts
    ):
        # What `_state` does, for a fact that is new and that nothing is wrong with.
        seq, agent = event.seq, event.agent
        if agent not in state.met:
            state.agents.meet(agent)
        state.facts[id] = FactRow(id, data.text or "", confidence, data.source, agent, seq, seq, data.reason)
        return
    _state(state, event, data, new=True)


def fact_modified(state: Builder, event: intake.FactModified) -> None:
    """Keys left out keep their value. A fact never added is taken as it is here."""
    _state(state, event, event.data, new=False)


def _state(state: Builder, event: intake.Intake, data: intake.FactData, *, new: bool) -> None:
    if event.agent not in state.met:
        state.agents.meet(event.agent)
    given = data.id
    if given is None or given == "":
        state.note(event.seq, "missing_id", "a fact without an id; passed over")
        return
    id = given if type(given) is str else str(given)
    confidence = data.confidence
    if confidence is not None and not 0 <= confidence <= 1:
        state.note(event.seq, "confidence_range", f"fact {id}: confidence {confidence} is not from 0 to 1")
    known = state.fact(id)
    if known is None:
        _add(state, event, data, id, new=new)
        return
    row, entries = known
    if new:
        state.note(event.seq, "fact_again", f"fact {id} was added at {row.added} already; taken as a change")
    if data.text is not None:
        row.text = data.text
    if confidence is not None:
        row.confidence = confidence
    if data.source is not None:
        row.source = data.source
    row.modified = event.seq
    entries.append((event.seq, row.confidence, data.reason))


def _add(state: Builder, event: intake.Intake, data: intake.FactData, id: str, *, new: bool) -> None:
    if not new:
        state.note(event.seq, "fact_unknown", f"fact {id} is modified but was never added; taken as new")
    seq = event.seq
    state.facts[id] = FactRow(
        id, data.text or "", data.confidence, data.source, event.agent, seq, seq, data.reason
    )
