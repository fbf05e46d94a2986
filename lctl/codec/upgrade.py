"""Logs of version 3.0 as events.

A 3.0 log is the note one agent hands to the next: what was done (`trace`), what is known by now
(`facts`), what matters for the receiver (`handoff`, `instruction`). It is a picture of the end, so what
a fact said before it was last changed is not in it. The rules are in spec/lctl-4.0.md, annex E.
"""

from __future__ import annotations

from typing import Any

from lctl.events import Event

_ENTRY = frozenset({"agent", "action", "timestamp", "duration_ms", "error", "facts_added", "facts_modified"})
_END = frozenset({"confidence", "tokens", "outcome", "output_summary"})


class Upgraded:
    """Events numbered as they are added; a step's events know their step."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(
        self, type: str, agent: str, data: dict[str, Any], step: int | None = None, timestamp: str = ""
    ) -> int:
        seq = len(self.events) + 1
        self.events.append(Event(seq=seq, type=type, timestamp=timestamp, agent=agent, step=step, data=data))
        return seq


def upgrade(document: dict[str, Any]) -> tuple[list[Event], list[str]]:
    """The events a 3.0 document stands for, and what in it could not be read.

    Reads `trace`, `facts`, `handoff` and `instruction`; the caller keeps the other keys.
    """
    log = Upgraded()
    problems: list[str] = []
    trace = _objects(document.get("trace"), "trace", problems)
    facts = _facts(document.get("facts"), problems)
    last_change = {fact: n for n, entry in enumerate(trace) for fact in _names(entry, "facts_modified")}
    given = {fact for entry in trace for fact in _names(entry, "facts_added")}
    strays = [fact for fact in facts if fact not in given]
    for n, entry in enumerate(trace):
        mine = [fact for fact in strays if _established(facts[fact], entry)]
        strays = [fact for fact in strays if fact not in mine]
        _step(log, n, entry, facts, mine, last_change)
    for fact in strays:
        data = {"id": fact, **facts[fact]}
        log.add("fact_added", _text(data.get("source")), data)
    _handoff(log, document, problems)
    return log.events, problems


def _step(
    log: Upgraded,
    n: int,
    entry: dict[str, Any],
    facts: dict[str, dict[str, Any]],
    mine: list[str],
    last_change: dict[str, int],
) -> None:
    """step_start, the facts it added and changed, its error, step_end."""
    agent = _text(entry.get("agent"))
    timestamp = _text(entry.get("timestamp"))
    start = {k: v for k, v in entry.items() if k not in _ENTRY and k not in _END}
    if "step" in start:
        start["trace_step"] = start.pop("step")
    intent = {"intent": entry["action"]} if "action" in entry else {}
    step = log.add("step_start", agent, {**intent, **start}, timestamp=timestamp)
    for fact in [*_names(entry, "facts_added"), *mine]:
        known = facts.get(fact, {})
        if last_change.get(fact, -1) > n:  # only what it became is known, not what it was then
            known = {k: v for k, v in known.items() if k not in ("confidence", "source", "step")}
        log.add("fact_added", agent, {"id": fact, **known}, step, timestamp)
    for fact in _names(entry, "facts_modified"):
        known = facts.get(fact, {}) if last_change[fact] == n else {}
        log.add("fact_modified", agent, {"id": fact, **known, **_reason(entry)}, step, timestamp)
    error = entry.get("error")
    if error:
        log.add("error", agent, _error(error), step, timestamp)
    end = {k: v for k, v in entry.items() if k in _END}
    if isinstance(end.get("tokens"), dict):
        end["tokens"] = _tokens(end["tokens"])
    if "duration_ms" in entry:
        end["duration_ms"] = entry["duration_ms"]
    outcome = "error" if error else "success"
    log.add("step_end", agent, {"outcome": outcome, **end}, step, timestamp)


def _tokens(counts: dict[str, Any]) -> dict[str, Any]:
    """`in` and `out` are what 3.0 calls them; a log that says both ways is left with the newer names."""
    named = {"in": "input", "out": "output"}
    return {named.get(k, k): v for k, v in counts.items() if named.get(k) not in counts}


def _handoff(log: Upgraded, document: dict[str, Any], problems: list[str]) -> None:
    handoff = document.get("handoff")
    instruction = document.get("instruction")
    if handoff is not None and not isinstance(handoff, dict):
        problems.append("handoff: expected an object; left out")
        handoff = None
    if handoff is None and instruction is None:
        return
    chain = document.get("chain")
    chain = chain if isinstance(chain, dict) else {}
    data = dict(handoff or {})
    sender = data.pop("source", None) or data.get("from") or chain.get("source") or chain.get("from")
    receiver = data.pop("target", None) or data.get("to") or chain.get("target") or chain.get("to")
    data = {k: v for k, v in data.items() if k not in ("from", "to")}
    ends = {key: value for key, value in (("from", sender), ("to", receiver)) if value is not None}
    told = {"instruction": instruction} if instruction is not None else {}
    log.add("handoff", _text(sender), {**ends, **data, **told})


def _facts(raw: Any, problems: list[str]) -> dict[str, dict[str, Any]]:
    """Fact id to what is known of it."""
    if isinstance(raw, list):
        listed = _objects(raw, "facts", problems)
        return {
            str(fact["id"]): {k: v for k, v in fact.items() if k != "id"} for fact in listed if "id" in fact
        }
    if isinstance(raw, dict):
        return {fact: known if isinstance(known, dict) else {"text": known} for fact, known in raw.items()}
    if raw is not None:
        problems.append("facts: expected an object; left out")
    return {}


def _objects(raw: Any, name: str, problems: list[str]) -> list[dict[str, Any]]:
    if raw is None:
        return []
    if not isinstance(raw, list):
        problems.append(f"{name}: expected a list; left out")
        return []
    for n, item in enumerate(raw):
        if not isinstance(item, dict):
            problems.append(f"{name}[{n}]: expected an object; left out")
    return [item for item in raw if isinstance(item, dict)]


def _names(entry: dict[str, Any], key: str) -> list[str]:
    names = entry.get(key)
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _established(fact: dict[str, Any], entry: dict[str, Any]) -> bool:
    """The fact says this entry's agent and, if it names a step, this step brought it in."""
    agent = fact.get("source")
    if agent is None or agent != entry.get("agent"):
        return False
    return "step" not in fact or "step" not in entry or fact["step"] == entry["step"]


def _reason(entry: dict[str, Any]) -> dict[str, Any]:
    return {"reason": entry["action"]} if "action" in entry else {}


def _error(error: Any) -> dict[str, Any]:
    known = error if isinstance(error, dict) else {"message": str(error)}
    return {
        "category": "execution_error",
        "type": "unknown",
        **known,
        "recoverable": known.get("recoverable", False),
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
