"""google-adk: agents, workflows and their nodes as steps, the tools they call, transfers as hand-offs.

Every agent, one of a model or one that lets others work, runs in `BaseAgent.run_async` or `run_live`, every
node of a workflow in `BaseNode.run`, and every tool in one of two functions that the callbacks of the program
are around. Model calls are the wire's.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from lctl.guard import guard, guarded
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Pause, Tool, changeable, step_aside
from lctl.instrument.structure.around import around
from lctl.instrument.structure.subagents import begin_subagent
from lctl.session import jsonable
from lctl.session.default import get_session
from lctl.session.runs import wrappedruns
from lctl.session.runs.steps import StepScope
from lctl_integrations import google_adk_artifacts
from lctl_integrations.google_adk_artifacts import Saving

_AGENT = "a run of an ADK agent"
_NODE = "a node of an ADK workflow"
_TOOL = "a tool call of ADK"
_AGENTS = "google.adk.agents.base_agent"
_NODES = "google.adk.workflow._base_node"
_CONTEXT = "google.adk.agents.context"
#: Modules with a function that calls a tool -> its name. A thread pool is asked for in the run's settings.
_CALLS = {
    "google.adk.flows.llm_flows.tools._caller": "_call_tool_async",
    "google.adk.flows.llm_flows.tools._thread_pool": "_call_tool_in_thread_pool",
}
#: Agents that let others work, and ask no model themselves.
_FLOWS = {"SequentialAgent", "ParallelAgent", "LoopAgent"}
#: Tools whose body is an agent.
_AGENT_TOOLS = {"AgentTool", "NodeTool"}
_TRANSFER = "transfer_to_agent"
#: What ids have that no model gave; it never sees them.
_OWN_ID = "adk-"
#: Calls that ADK makes up to ask the user for something.
_QUESTIONS = ("adk_request_confirmation", "adk_request_credential", "adk_request_input")


class GoogleADK:
    """google-adk 2."""

    name = "google-adk"
    supported = ">=2.13,<3"
    modules = (_AGENTS, _NODES, _CONTEXT, *_CALLS)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == _AGENTS:
            for name in ("run_async", "run_live"):
                patches.wrap(module, f"BaseAgent.{name}", around(_AGENT, _run))
        elif module.__name__ == _NODES:
            patches.wrap(module, "BaseNode.run", around(_NODE, _node))
        elif module.__name__ == _CONTEXT:
            patches.wrap(module, "Context.save_artifact", google_adk_artifacts.saved)
        else:
            patches.wrap(module, _CALLS[module.__name__], _called)


def _run(agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
    flow = _kind_of(agent, _FLOWS)
    return _began(str(agent.name), flow or "run", "agent" if flow is None else "chain")


def _node(node: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
    """An agent that is a node is told of as an agent."""
    if _kind_of(node, {"BaseAgent"}):
        return None
    is_flow = _kind_of(node, {"Workflow"})
    return _began(str(node.name), type(node).__name__, "chain" if is_flow else "node")


def _began(name: str, intent: str, kind: str) -> wrappedruns.Run | None:
    session = get_session()
    return None if session is None else _Events(session.step(name, intent, kind=kind))


class _Events(wrappedruns.Run):
    """One run, by its events; those of the agents within come by here, too: what waits there, waits here."""

    def __init__(self, scope: StepScope) -> None:
        self._waits: dict[str, dict[str, Any]] = {}
        self._handed_over = False
        self._scope = scope.begin()

    def yielded(self, value: Any) -> None:
        with guard(_AGENT):
            for call in value.get_function_calls():
                if call.id in (value.long_running_tool_ids or ()):
                    self._waits[call.id] = _asked(call)
            for answer in value.get_function_responses():
                self._waits.pop(answer.id, None)
            self._handed_over = bool(value.actions.transfer_to_agent)

    def returned(self, value: Any) -> None:
        if self._waits:
            self._scope.update(outcome="paused", interrupts=list(self._waits.values()))
        self._scope.end()

    def failed(self, error: BaseException) -> None:
        """ADK closes the run of who hands over, or waits, and goes on elsewhere."""
        if isinstance(error, GeneratorExit) and (self._waits or self._handed_over):
            self.returned(None)
        else:
            self._scope.end(error)


def _kind_of(thing: Any, known: set[str]) -> str | None:
    """Which of those classes of ADK's it is of, also of a class derived from one."""
    return next((one.__name__ for one in type(thing).__mro__ if one.__name__ in known), None)


def _asked(call: Any) -> dict[str, Any]:
    """A call that is answered from outside: what for, and the call of the model's that it is about."""
    given = dict(call.args or {})
    about = given.get("originalFunctionCall") or {"name": call.name, "args": given}
    waits = call.name.removeprefix("adk_request_") if call.name in _QUESTIONS else "a result from outside"
    return {"tool": about.get("name"), "input": jsonable.plain(about.get("args")), "waits_for": waits}


async def _called(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (tool, args, tool_context, ...)."""
    tool, input, context = _given(args, kwargs)
    saving = Saving(context)
    try:
        with saving.begin():
            result = await _tool_called(wrapped, instance, args, kwargs)
    except BaseException as error:
        if isinstance(error, Exception):
            await saving.repeat()
        step_aside(error)
        raise
    await saving.repeat()
    _handed_over(tool, input, context)
    return result


def _given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    return (*args, *(kwargs[name] for name in ("tool", "args", "tool_context")[len(args) :]))[:3]


def _begun(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
    tool, input, context = _given(args, kwargs)
    actions, call_id = context.actions, context.function_call_id
    own = call_id is None or call_id.startswith(_OWN_ID)

    def shown(gave: Any) -> Any:
        """ADK gives the model words for the result of a call that the user has to agree to first."""
        waits = call_id in actions.requested_tool_confirmations
        return Pause({"for": "confirmation"}) if waits else gave

    made = Tool(str(tool.name), dict(input), None if own else call_id, shown)
    if _kind_of(tool, _AGENT_TOOLS):
        return begin_subagent(made)
    remote = getattr(getattr(tool, "_mcp_tool", None), "name", None)
    saving = google_adk_artifacts.current()
    beside = (*changeable(actions, context.state), *(() if saving is None else (saving.saved,)))
    return made._replace(beside=beside, function=getattr(tool, "func", None), mcp=remote).begin()


_tool_called = around(_TOOL, _begun)


@guarded(_TOOL)
def _handed_over(tool: Any, input: dict[str, Any], context: Any) -> None:
    session, to = get_session(), context.actions.transfer_to_agent
    if session is not None and to and tool.name == _TRANSFER:
        session.handoff(str(to), reason=input.get("transfer_reason") or None)
