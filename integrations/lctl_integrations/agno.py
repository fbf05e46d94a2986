"""agno: agents, teams, workflows and their steps as steps, the tools they call.

`Agent.run` and `arun` only choose; what runs is a function for each of the four ways (whole or streamed, sync
or async), and those are wrapped; so are the four that go on with a run that was paused.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from inspect import isasyncgenfunction, isgeneratorfunction
from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Tool, around_step, changeable, guarded
from lctl.instrument.structure.subagents import begin_subagent
from lctl.session import border
from lctl.session.default import get_session
from lctl.session.runs import wrappedruns, wrapping
from lctl.session.tooling.toolruns import begin_tool
from lctl_integrations import agno_ids, mcp_names
from lctl_integrations.agno_runs import Delegation, continued_run_of, is_given, node_of, run_of, workflow_of

_RUNS = ("_run", "_run_stream", "_arun", "_arun_stream")
_CONTINUED = ("_continue_run", "_continue_run_stream", "_acontinue_run", "_acontinue_run_stream")
_WORKFLOWS = tuple(
    f"Workflow._{start}{name}{stream}"
    for name in ("execute", "continue_execute")
    for start in ("", "a")
    for stream in ("", "_stream")
)
#: Modules of what a workflow is made of -> class.
_NODES = {
    f"agno.workflow.{name}": name.capitalize()
    for name in ("condition", "loop", "parallel", "router", "step", "steps")
}
_PLACE = "an agno tool"
#: Modules whose functions only let agents work, or change what those remember: they run again in a rerun.
_WITHIN = ("agno.agent.", "agno.learn.", "agno.memory.", "agno.team.")


class Agno:
    """agno 3."""

    name = "agno"
    supported = ">=3,<4"
    modules = (
        "agno.agent._run",
        "agno.models.base",
        "agno.team._run",
        "agno.tools.function",
        "agno.workflow.workflow",
        *_NODES,
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "agno.tools.function":
            patches.wrap(module, "FunctionCall.execute", _execute)
            patches.wrap(module, "FunctionCall.aexecute", _aexecute)
        elif module.__name__ == "agno.models.base":
            patches.wrap(module, "get_function_call_for_tool_call", agno_ids.called)
        elif module.__name__ == "agno.workflow.workflow":
            for name in _WORKFLOWS:
                patches.wrap(module, name, around_step("an agno workflow", workflow_of))
        elif module.__name__ in _NODES:
            for name in ("execute", "execute_stream", "aexecute", "aexecute_stream"):
                wrapper = around_step("a step of an agno workflow", node_of)
                patches.wrap(module, f"{_NODES[module.__name__]}.{name}", wrapper)
        else:
            for name in _RUNS:
                patches.wrap(module, name, around_step("an agno run", run_of))
            for name in _CONTINUED:
                patches.wrap(module, name, around_step("an agno run", continued_run_of))


def _execute(wrapped: Any, call: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call's function is recorded where its own code is called, so that agno makes of what a rerun serves
    what it makes of any result: hooks, messages, what it says on the terminal."""
    function, recorded = call.function, _recorded(call)
    if recorded is None:
        return wrapped(*args, **kwargs)
    call.__dict__["function"] = recorded
    try:
        return wrapped(*args, **kwargs)
    finally:
        call.__dict__["function"] = function


async def _aexecute(wrapped: Any, call: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    function, recorded = call.function, _recorded(call)
    if recorded is None:
        return await wrapped(*args, **kwargs)
    call.__dict__["function"] = recorded
    try:
        return await wrapped(*args, **kwargs)
    finally:
        call.__dict__["function"] = function


@guarded(_PLACE)
def _recorded(call: Any) -> Any:
    """A copy of the call's function."""
    entrypoint = call.function.entrypoint
    if entrypoint is None or (get_session() is None and border.player() is None):
        return None
    name, given, call_id = str(call.function.name), dict(call.arguments or {}), agno_ids.of(call.call_id)
    made = copy(call.function)

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        if str(getattr(entrypoint, "__module__", "")).startswith(_WITHIN):
            run = begin_subagent(Tool(name, given, call_id, wraps=_wrapping(entrypoint)))
            return run if run is None or is_given(run) else Delegation(run)
        beside = changeable(*_contexts(kwargs))
        mcp = mcp_names.in_closure(entrypoint)
        return begin_tool(name, given, call_id=call_id, beside=beside, function=entrypoint, mcp=mcp)

    made.__dict__["entrypoint"] = wrapping.wrap(entrypoint, begin)
    return made


def _wrapping(entrypoint: Any) -> Callable[[Any], Any] | None:
    """Of a generator, which delegations are: what a fork puts in its result's place is its only item."""
    is_generator = isgeneratorfunction(entrypoint) or isasyncgenfunction(entrypoint)
    return (lambda value: [value]) if is_generator else None


def _contexts(given: dict[str, Any]) -> list[Any]:
    """What agno gives a function beside the model's arguments, and it can change."""
    context = given.get("run_context")
    return [given.get("session_state"), getattr(context, "session_state", None)]
