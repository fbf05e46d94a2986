"""crewai: crews, tasks, agents and flows as steps, tools as tool calls, delegation as hand-offs.

Structure is read off the event bus, at the one function through which every event passes in the thread
that emits it, before any handler runs. Which end belongs to which begin is found by type and source:
CrewAI's own pairing slips where an end is told twice (`llm_call_failed`). Model calls are the wire's.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import ModelCall, Runs, guarded
from lctl.session import context, wrappedruns, wrapping
from lctl.session.default import get_session
from lctl_integrations import crewai_files, crewai_handlers, crewai_memories, crewai_tools

_EVENT = "an event of CrewAI"

#: What begins a step: its kind and what its end is called.
_STARTS = {
    "crew_kickoff_started": ("chain", "crew_kickoff"),
    "flow_started": ("chain", "flow"),
    "method_execution_started": ("node", "method_execution"),
    "task_started": ("task", "task"),
    "agent_execution_started": ("agent", "agent_execution"),
    "lite_agent_execution_started": ("agent", "lite_agent_execution"),
    "knowledge_search_query_started": ("retriever", "knowledge_search_query"),
    "memory_query_started": ("retriever", "memory_query"),
    "llm_guardrail_started": ("guardrail", "llm_guardrail"),
}
#: How an end is told, after the name of what ends.
_OUTCOMES = {
    "completed": "success",
    "finished": "success",
    "failed": "error",
    "error": "error",
    "paused": "paused",
}
#: Characters of an intent.
_MOST = 100
_BEGUN = {ends: start for start, (_, ends) in _STARTS.items()}
#: Failures of a part that end the whole, of which nothing more is told: without a query nothing is looked up.
_GIVEN_UP = {"knowledge_query_failed": "knowledge_search_query_started"}


class CrewAI:
    """crewai 1.x, from the release whose events know their parents."""

    name = "crewai"
    supported = ">=1.15,<2"
    modules = (
        "crewai.events.event_bus",
        "crewai.agent.core",
        "crewai.events.utils.console_formatter",
        *crewai_tools.MODULES,
        *crewai_files.MODULES,
        *crewai_memories.MODULES,
    )

    def __init__(self) -> None:
        self._bus = _Bus()
        self._files = crewai_files.Files()

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        # A module's own `__name__` may be another's: some take over all that another one holds.
        name = next((name for name in self.modules if sys.modules.get(name) is module), "")
        if name in crewai_files.MODULES:
            self._files.patch(module, name, patches)
            return
        if name in crewai_memories.MODULES:
            crewai_memories.patch(module, name, patches)
            return
        if name in crewai_tools.MODULES:
            crewai_tools.patch(module, name, patches)
            return
        match name.rpartition(".")[2]:
            case "event_bus":
                patches.wrap(module, "CrewAIEventsBus._prepare_event", self._bus.prepared)
                patches.wrap(module, "CrewAIEventsBus.flush", crewai_handlers.flushed)
            case "console_formatter":
                crewai_handlers.patch(module, patches)
            case "core":
                patches.wrap(module, "Agent.execute_task", self._bus.executing)
                patches.wrap(module, "Agent.aexecute_task", self._bus.executing)


class _Bus:
    """What the events have told of so far."""

    def __init__(self) -> None:
        self._runs = Runs()
        self._calls: dict[str, ModelCall] = {}
        #: Event id of each open step -> (type of the event, id of its source), oldest first.
        self._open: dict[str, tuple[str, int]] = {}

    def prepared(self, wrapped: Any, bus: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = wrapped(*args, **kwargs)
        self._told(*args, **kwargs)
        return result

    def executing(self, wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Signature of the wrapped: (task, context, tools), plain or a coroutine function."""
        try:
            return wrapping.wrap(wrapped, lambda _, __: _Executing(self, agent))(*args, **kwargs)
        except BaseException as error:
            wrappedruns.step_aside(error)
            raise

    @guarded(_EVENT)
    def stopped(self, agent: Any, error: BaseException) -> None:
        """An agent's work for a task has ended with this; not every such end is told by an event."""
        key = self._around(("agent_execution_started", id(agent)))
        for each in () if key is None else (*self._left_open(key), key):
            del self._open[each]
            self._runs.end(each, error)

    @guarded(_EVENT)
    def _told(self, source: Any, event: Any) -> None:
        if event.type in _STARTS:
            self._begun(source, event)
        elif event.type.startswith("llm_call_"):
            self._called(event)
        else:
            name, _, ending = event.type.rpartition("_")
            start = _GIVEN_UP.get(event.type) or _BEGUN.get(name)
            if start is not None and ending in _OUTCOMES:
                self._ended(source, event, start, _OUTCOMES[ending])

    def _begun(self, source: Any, event: Any) -> None:
        if get_session() is None or _is_machinery(source):
            return
        agent, data = _described(source, event)
        self._runs.begin(event.event_id, agent, kind=_STARTS[event.type][0], **data)
        self._open[event.event_id] = (event.type, id(source))

    def _ended(self, source: Any, event: Any, start: str, outcome: str) -> None:
        key = self._begin_of(source, event, start)
        if key is None:
            return
        error = sys.exc_info()[1] if outcome == "error" or _is_raised(event) else None
        for each in (*self._left_open(key), key):
            del self._open[each]
            if error is not None:
                self._runs.end(each, error)
            elif outcome == "success":
                self._runs.end(each, **(_results(event) if each == key else {}))
            else:
                self._runs.end(each, outcome=outcome)

    def _begin_of(self, source: Any, event: Any, start: str) -> str | None:
        told = event.started_event_id
        if told is not None and self._open.get(told, ("", 0))[0] == start:
            return str(told)
        wanted = (start, id(source))
        last = next((key for key, begun in reversed(list(self._open.items())) if begun == wanted), None)
        return self._around(wanted) or last

    def _around(self, begun: tuple[str, int]) -> str | None:
        """The nearest step of that type and source in which the running code is. An agent may be asked
        twice at once: the newest need not be this one's."""
        known = list(self._open.items())  # other threads begin and end theirs
        owners = {id(self._runs.frame(key)): key for key, each in known if each == begun}
        here = context.current()
        while here is not None and id(here) not in owners:
            here = here.parent
        return None if here is None else owners[id(here)]

    def _left_open(self, key: str) -> list[str]:
        """Steps within that of `key` in which the running code still is, innermost first: of the end of an
        agent that a tool's failure stops CrewAI does not tell."""
        owners: dict[int, str] = {}
        for each in list(self._open):
            owners.setdefault(id(self._runs.frame(each)), each)
        around, here, found = self._runs.frame(key), context.current(), []
        while here is not None and here is not around:
            if id(here) in owners:
                found.append(owners[id(here)])
            here = here.parent
        return [] if here is None else found

    def _called(self, event: Any) -> None:
        """Of a model that makes no call on a wire, this is all there is."""
        if event.type == "llm_call_started":
            if get_session() is not None:
                self._calls[event.call_id] = ModelCall.begin(event.model, event.messages)
            return
        call = self._calls.pop(event.call_id, None)
        if call is not None and event.type == "llm_call_completed":
            call.end(event.response, usage=event.usage)
        elif call is not None:
            call.end(error=sys.exc_info()[1] or RuntimeError(event.error))


class _Executing(wrappedruns.Run):
    """A run of `Agent.execute_task`."""

    def __init__(self, bus: _Bus, agent: Any) -> None:
        self._bus = bus
        self._agent = agent

    def failed(self, error: BaseException) -> None:
        self._bus.stopped(self._agent, error)


def _is_machinery(source: Any) -> bool:
    """CrewAI runs its own agents as flows; they are no flows of the program."""
    return type(source).__module__.startswith("crewai.") and type(source).__name__ == "AgentExecutor"


def _described(source: Any, event: Any) -> tuple[str | None, dict[str, Any]]:
    """Whose step it is, and what its start says."""
    match event.type:
        case "crew_kickoff_started":
            return event.crew_name or "crew", {"intent": "kickoff", **_given(inputs=event.inputs)}
        case "flow_started":
            return event.flow_name, {"intent": "kickoff", **_given(inputs=event.inputs)}
        case "method_execution_started":
            return event.flow_name, {"intent": event.method_name}
        case "task_started":
            name = getattr(source, "name", None)
            agent = getattr(getattr(source, "agent", None), "role", None)
            said = source.description
            intent = name or _first_line(said)
            return agent, {"intent": intent, **_given(input_summary=None if said == intent else said)}
        case "knowledge_search_query_started":  # the query is yet to be made
            return None, {"intent": "knowledge"}
        case "memory_query_started":
            return None, {"intent": "memory", "query": event.query}
        case "llm_guardrail_started":  # in words, where a model is to judge
            return None, {"intent": _first_line(event.guardrail_name or "guardrail")}
    return getattr(source, "role", None) or event.agent_role, {"intent": "execute"}


def _results(event: Any) -> dict[str, Any]:
    """What the end of a step says."""
    if event.type == "knowledge_search_query_completed":
        return {"query": event.query, "output": event.retrieved_knowledge}
    if event.type == "llm_guardrail_completed":
        return {"triggered": not event.success, **_given(reason=event.error)}
    return {}


def _is_raised(event: Any) -> bool:
    """Whether an end that is told like any other is that of a guardrail that failed itself."""
    error = sys.exc_info()[1]
    said = getattr(event, "error", None)
    return error is not None and said in (str(error), f"{type(error).__name__}: {error}")


def _first_line(text: str) -> str:
    """What a step is for, where that is told in many words."""
    line = text.strip().partition("\n")[0].strip()
    return line if len(line) <= _MOST else f"{line[: _MOST - 1]}…"


def _given(**data: Any) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value is not None}
