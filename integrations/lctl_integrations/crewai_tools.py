"""CrewAI's tools: calls of tools, the id that the model gave each, and delegation.

A tool is recorded where it runs, whoever calls it: an agent's loop, the program. What else `LLM.call` may
call (`available_functions`: functions of the program) is recorded where the model's answer is carried out.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from inspect import signature
from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.patches import PatchSet, Wrapper
from lctl.instrument.structure import Tool, guarded
from lctl.instrument.structure.around import around
from lctl.instrument.structure.subagents import begin_subagent
from lctl.session import border
from lctl.session.default import get_session
from lctl.session.runs import wrappedruns, wrapping
from lctl.session.tooling.toolruns import begin_tool

_TOOL = "a tool call of CrewAI"

MODULES = (
    "crewai.tools.base_tool",
    "crewai.tools.structured_tool",
    "crewai.agents.agent_executor",
    "crewai.agents.step_executor",
    "crewai.llms.base_llm",
    "crewai.llm",
)

#: The id of the model's tool call that is about to be executed.
_call_id: ContextVar[str | None] = ContextVar("lctl_crewai_call_id", default=None)


def patch(module: ModuleType, name: str, patches: PatchSet) -> None:
    match name.rpartition(".")[2]:
        case "base_tool":
            for path in ("BaseTool.run", "Tool.run", "BaseTool.arun", "Tool.arun"):
                patches.wrap(module, path, _tool(_keywords))
        case "structured_tool":
            for path in ("CrewStructuredTool.invoke", "CrewStructuredTool.ainvoke"):
                patches.wrap(module, path, _tool(_first))
        case "agent_executor":
            patches.wrap(module, "AgentExecutor._execute_single_native_tool_call", _with_call_id)
        case "step_executor":
            patches.wrap(module, "execute_single_native_tool_call", _with_call_id)
        case "base_llm":
            patches.wrap(module, "BaseLLM._handle_tool_execution", _carried_out)
        case "llm":
            patches.wrap(module, "LLM._handle_tool_call", _carried_out)


#: Tools that let another agent of the crew work.
_DELEGATION = ("DelegateWorkTool", "AskQuestionTool")

_Input = Callable[[tuple[Any, ...], dict[str, Any]], dict[str, Any]]


def _keywords(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return {**({"args": list(args)} if args else {}), **kwargs}


def _first(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Of `invoke(input, config=None, **kwargs)`."""
    given = args[0] if args else kwargs.get("input")
    return dict(given) if isinstance(given, dict) else {"input": given}


def _tool(input_of: _Input) -> Wrapper:
    return around(_TOOL, lambda tool, args, kwargs: _begun(tool, input_of(args, kwargs)))


def _begun(tool: Any, input: dict[str, Any]) -> wrappedruns.Run | None:
    call_id = _call_id.get()
    _call_id.set(None)  # what the tool itself calls is another call
    if type(tool).__name__ in _DELEGATION:
        return _delegated(tool, input, call_id)
    function = getattr(tool, "func", None) or getattr(tool, "_run", None)
    mcp = getattr(tool, "original_tool_name", None)
    run = begin_tool(tool.name, input, call_id=call_id, function=function, mcp=mcp)
    if run is not None and run.served is not None:
        _use(tool)
    return run


def _delegated(tool: Any, input: dict[str, Any], call_id: str | None) -> wrappedruns.Run | None:
    session, to = get_session(), input.get("coworker")
    if session is not None and to is not None:
        session.handoff(_role(tool, str(to)), reason=input.get("task") or input.get("question"))
    return begin_subagent(Tool(tool.name, input, call_id))


def _role(tool: Any, name: str) -> str:
    """The role of the agent that is meant: CrewAI takes a model's word for it in any case and spacing."""
    wanted = tool.sanitize_agent_name(name)
    roles = (str(agent.role) for agent in tool.agents)
    return next((role for role in roles if tool.sanitize_agent_name(role) == wanted), name)


def _use(tool: Any) -> None:
    """Count the use, as running it would: CrewAI asks how often a tool was used before it calls it."""
    count = getattr(tool, "_claim_usage", None) or getattr(tool, "_increment_usage_count", None)
    if count is not None:
        count()


def _carried_out(wrapped: Any, llm: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Around what calls the function of its argument `available_functions` that the model has named."""
    given = _followed(wrapped, args, kwargs)
    return wrapped(*args, **kwargs) if given is None else wrapped(**given)


@guarded(_TOOL)
def _followed(wrapped: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments by name; None where nothing is recorded or served."""
    if get_session() is None and border.player() is None:
        return None
    given = dict(signature(wrapped).bind(*args, **kwargs).arguments)
    offered = given.get("available_functions")
    if not offered:
        return None
    return {**given, "available_functions": {name: _follow(name, one) for name, one in offered.items()}}


def _follow(name: str, function: Any) -> Any:
    """CrewAI's own are a tool's methods, which are recorded where they run, or nothing the program does."""
    if str(getattr(function, "__module__", "")).startswith("crewai."):
        return function

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        with guard(_TOOL):
            guard.rehearse(_TOOL)
            return begin_tool(name, _keywords(args, kwargs), function=function)
        return None

    return wrapping.wrap(function, begin)


def _with_call_id(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (tool_call, ...)."""
    token = _call_id.set(_id_of(args[0] if args else kwargs.get("tool_call")))
    try:
        return wrapped(*args, **kwargs)
    finally:
        _call_id.reset(token)


@guarded("the id of a tool call of CrewAI")
def _id_of(tool_call: Any) -> str | None:
    found = tool_call.get("id") if isinstance(tool_call, dict) else getattr(tool_call, "id", None)
    return found if isinstance(found, str) else None
