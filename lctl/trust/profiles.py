"""Kinds of agents: the protocol's five and a user's own, what they can do, and how far they were right.

profile("reviewer", model="claude-3-opus", reliability_score=0.92)     # for `agent_profile=` of a step
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from lctl.errors import UsageError
from lctl.events import Event
from lctl.trust.ledger import Ledger
from lctl.trust.numbers import unit
from lctl.trust.policy import Policy
from lctl.values import text


class AgentType(msgspec.Struct, frozen=True):
    """What agents of a kind can do, use and give."""

    name: str
    capabilities: tuple[str, ...] = ()
    typical_tools: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


#: The protocol's own.
AGENT_TYPES = {
    one.name: one
    for one in (
        AgentType("executor", ("code_execution", "file_access", "tool_use"), ("bash", "code_interpreter")),
        AgentType("analyzer", ("pattern_detection", "static_analysis"), ("grep", "ast_parser")),
        AgentType(
            "reviewer", ("assessment", "approval", "critique"), (), ("confidence_score", "severity_rating")
        ),
        AgentType(
            "planner",
            ("decomposition", "prioritization", "scheduling"),
            (),
            ("task_list", "dependency_graph"),
        ),
        AgentType("researcher", ("search", "synthesis", "citation"), ("web_search", "document_reader")),
    )
}

#: Words in a tool's name -> the capability its use shows. The first that fits.
_SHOWN_BY = (
    (("bash", "shell", "exec", "run_code", "code_interpreter", "python", "terminal"), "code_execution"),
    (("write", "edit", "patch", "delete", "save", "move", "mkdir"), "file_access"),
    (("web", "search", "browse", "fetch", "http"), "search"),
    (("grep", "ast", "lint", "scan", "analy"), "static_analysis"),
    (("approve", "merge", "sign_off"), "approval"),
)


#: How a step ends of which nobody knows what would have come of it.
_UNDECIDED = frozenset({"aborted", "cancelled", "paused"})


class Overreach(msgspec.Struct, frozen=True):
    """An agent used a tool that its profile says nothing of.

    Attributes:
        capability: what the tool's use shows.
        seqs: its calls, oldest first.
    """

    agent: str
    type: str
    tool: str
    capability: str
    seqs: tuple[int, ...]


class Record(msgspec.Struct, frozen=True):
    """How an agent did, over some logs.

    Attributes:
        succeeded, failed: its outermost steps; one that was cancelled is neither.
        verified, refuted: its facts that another agent, or a consensus, confirmed or put below the threshold.
    """

    agent: str
    succeeded: int = 0
    failed: int = 0
    verified: int = 0
    refuted: int = 0

    @property
    def reliability(self) -> float | None:
        """Right ones among all judged, facts counted twice as much as steps; None before there are any.

        One right and one wrong are assumed at the start, so that a single success is no certainty.
        """
        right, wrong = self.succeeded + 2 * self.verified, self.failed + 2 * self.refuted
        return (right + 1) / (right + wrong + 2) if right + wrong else None


def agent_types(document: Mapping[str, Any]) -> dict[str, AgentType]:
    """The standard types, and those of an `agent_types:` block.

    Raises:
        UsageError: the block is not {name: {capabilities, typical_tools, outputs}}.
    """
    block = document.get("agent_types", document) if isinstance(document, Mapping) else None
    if not isinstance(block, Mapping):
        raise UsageError("agent_types: expected a name for each type")
    known = dict(AGENT_TYPES)
    for name, body in block.items():
        if not isinstance(body, Mapping) or not all(
            key in ("capabilities", "typical_tools", "outputs") and isinstance(value, list | tuple)
            for key, value in body.items()
        ):
            raise UsageError(f"agent_types.{name}: expected lists of capabilities, typical_tools and outputs")
        known[str(name)] = AgentType(
            str(name), **{key: tuple(map(str, value)) for key, value in body.items()}
        )
    return known


def profile(type: str, *, types: Mapping[str, AgentType] | None = None, **given: Any) -> dict[str, Any]:
    """An `agent_profile` for a step: the type's capabilities, and what is given.

    Raises:
        UsageError: there is no such type, and no capabilities are given; or what is given cannot be read.
    """
    for name in ("capabilities", "typical_tools", "outputs"):
        if isinstance(given.get(name), str):
            raise UsageError(f"{name} of an agent profile are a list of names, not {given[name]!r:.80}")
    reliability = given.get("reliability_score")
    if reliability is not None and unit(reliability) is None:
        raise UsageError(f"reliability_score is a number from 0 to 1, not {reliability!r:.80}")
    known = (types or AGENT_TYPES).get(type)
    if known is None:
        if "capabilities" not in given:
            there = ", ".join(types or AGENT_TYPES)
            raise UsageError(f"no agent type {type!r} (there are {there}); give its capabilities")
        return {"type": type, **given}
    usual = {
        name: list(getattr(known, name))
        for name in ("capabilities", "typical_tools", "outputs")
        if getattr(known, name)
    }
    return {"type": type, **usual, **given}


def overreaches(events: Iterable[Event], types: Mapping[str, AgentType] | None = None) -> list[Overreach]:
    """Tools that agents with a profile used, and that neither their typical tools nor their capabilities
    cover. A tool that shows no capability known here is `tool_use`."""
    known = types or AGENT_TYPES
    profiles: dict[str, tuple[str, set[str], set[str]]] = {}
    used: dict[tuple[str, str], list[int]] = {}
    for event in events:
        given = event.data.get("agent_profile") if event.type == "step_start" else None
        if isinstance(given, Mapping):
            name = str(given.get("type") or "")
            usual = known.get(name, AgentType(name))
            profiles[event.agent] = (
                name,
                set(_texts(given.get("capabilities")) or usual.capabilities),
                {tool.lower() for tool in [*_texts(given.get("typical_tools")), *usual.typical_tools]},
            )
        elif event.type == "tool_call":
            used.setdefault((event.agent, str(event.data.get("tool") or "")), []).append(event.seq)
    found = []
    for (agent, tool), seqs in used.items():
        if agent not in profiles:
            continue
        name, capabilities, tools = profiles[agent]
        capability = shown_by(tool)
        if tool.lower() not in tools and not capabilities & {capability, "tool_use"}:
            found.append(Overreach(agent, name, tool, capability, tuple(seqs)))
    return found


def shown_by(tool: str) -> str:
    """The capability that using a tool shows."""
    small = tool.lower()
    return next((what for words, what in _SHOWN_BY if any(word in small for word in words)), "tool_use")


def records(logs: Iterable[tuple[Policy, Iterable[Event], float]]) -> dict[str, Record]:
    """How agents did in some logs, each with its policy, and the event up to which another log tells the
    same."""
    counts: dict[str, list[int]] = {}
    for policy, events, told in logs:
        ledger = Ledger(policy)
        agents: dict[int, str] = {}
        inner: set[int] = set()
        judged: dict[str, int] = {}
        for event in events:
            ledger.take(event.seq, event.type, event.agent, event.data)
            if event.type == "step_start":
                if agents.get(event.step or -1) == event.agent:
                    inner.add(event.seq)
                agents[event.seq] = event.agent
            elif event.type == "step_end":
                ended = event.step
                outcome = text(event.data.get("outcome")) or "success"
                is_top = ended is None or ended not in inner
                if is_top and event.seq > told and outcome not in _UNDECIDED:
                    good = outcome == "success"
                    counts.setdefault(event.agent, [0, 0, 0, 0])[0 if good else 1] += 1
            elif event.type == "fact_modified" and (fact := ledger.facts.get(str(event.data.get("id")))):
                verdict = 2 if fact.verified else 3 if fact.refuted else 0
                if verdict and event.seq > told:
                    judged[fact.id] = verdict
        for id, verdict in judged.items():  # the last word on each
            counts.setdefault(ledger.facts[id].agent, [0, 0, 0, 0])[verdict] += 1
    return {agent: Record(agent, *numbers) for agent, numbers in counts.items()}


def _texts(value: object) -> Sequence[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list | tuple) else []
