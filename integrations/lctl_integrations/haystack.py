"""haystack-ai: agents, pipelines and their components as steps; tools.

`haystack.tracing` has one place for a tracer, which is the program's; the functions themselves are wrapped.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet, Wrapper
from lctl.instrument.structure import Step, Tool, around_step, around_tool, guarded, step_aside
from lctl.instrument.structure.around import DescribeTool
from lctl.instrument.structure.subagents import around_subagent

_TOOL = "a Haystack tool"
#: [the tool that an agent is about to invoke, the model's call of it]; empty once it is invoked.
_Called = list[Any]
_called_now: ContextVar[_Called | None] = ContextVar("lctl_haystack_call", default=None)


class Haystack:
    """haystack-ai 2 and 3."""

    name = "haystack-ai"
    supported = ">=2.10,<4"
    modules = (
        "haystack.components.agents.agent",
        "haystack.components.agents.tool_calling",
        "haystack.core.pipeline.pipeline",
        "haystack.tools.tool",
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "haystack.tools.tool":
            _wrap(module, patches, ("Tool.invoke",), _called(_tool))
            _wrap(module, patches, ("Tool.invoke_async",), _called(_async_tool))
        elif module.__name__.endswith("tool_calling"):
            _wrap(module, patches, ("_make_context_bound_invoke",), _made)
            _wrap(module, patches, ("_make_bounded_invoke_async",), _made_async)
        elif module.__name__.endswith("agent"):
            _wrap(module, patches, ("Agent.run", "Agent.run_async"), around_step("a Haystack agent", _agent))
        else:
            step = around_step("a Haystack pipeline", _pipeline)
            # What `run_async` and `stream` run.
            _wrap(module, patches, ("Pipeline.run", "Pipeline.run_async_generator"), step)
            step = around_step("a Haystack component", _component)
            _wrap(module, patches, ("Pipeline._run_component", "Pipeline._run_component_async"), step)


def _wrap(module: ModuleType, patches: PatchSet, paths: tuple[str, ...], wrapper: Any) -> None:
    """What this version has of them."""
    for path in paths:
        name, _, method = path.partition(".")
        if hasattr(getattr(module, name, None), method or "__call__"):
            patches.wrap(module, path, wrapper)


def _agent(agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    name = getattr(agent, "__component_name__", None) or getattr(agent, "name", None) or "agent"
    return Step(str(name), "agent", "run")


def _pipeline(pipeline: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    return Step("pipeline", "chain", "run", {"nodes": sorted(getattr(pipeline, "graph", ()))})


def _component(pipeline: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    """`_run_component(component_name, component, inputs, ...)`, a static method"""
    name = args[0] if args else kwargs["component_name"]
    entry = args[1] if len(args) > 1 else kwargs.get("component")
    kind = type(entry.get("instance")).__name__ if isinstance(entry, dict) else "component"
    return Step(str(name), "node", kind)


def _called(describe: DescribeTool) -> Wrapper:
    """An agent that is a tool works in a rerun, too: it streams to its caller's callback."""
    function, agent = around_tool(_TOOL, describe), around_subagent(_TOOL, describe)

    def wrapper(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        is_agent = type(getattr(tool, "_component", None)).__name__ == "Agent"
        try:
            return (agent if is_agent else function)(wrapped, tool, args, kwargs)
        except BaseException as error:
            step_aside(error)
            raise

    return wrapper


def _made(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What invokes a tool in the context that is current while it is made."""
    token = _announced(args, kwargs)
    try:
        return wrapped(*args, **kwargs)
    finally:
        if token is not None:
            _called_now.reset(token)


def _made_async(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same in the context in which it is awaited."""
    invoke = wrapped(*args, **kwargs)

    async def invoke_announced() -> Any:
        token = _announced(args, kwargs)
        try:
            return await invoke()
        finally:
            if token is not None:
                _called_now.reset(token)

    return invoke_announced


@guarded(_TOOL)
def _announced(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Token[_Called | None]:
    """Signatures: (tool, args, tool_call, ...) and (tool, args, semaphore, tool_call, ...)."""
    tool = args[0] if args else kwargs["tool"]
    given = (*args, *kwargs.values())
    call = next(value for value in given if type(value).__name__ == "ToolCall")
    return _called_now.set([tool, call])


def _call_id_of(tool: Any) -> str | None:
    """Of the model's call of this tool, if it is the agent that invokes it now."""
    called = _called_now.get()
    if not called or called[0] is not tool:
        return None
    _, call = called
    called.clear()
    # That of the Responses API is of its item; the messages have the call's own.
    paired = (getattr(call, "extra", None) or {}).get("call_id")
    return str(paired or call.id or "") or None  # streamed from Google: an empty one


def _tool(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool:
    """The agent's state, which it gives to those that ask for it, is no argument of the model's."""
    states = [_view(value) for value in kwargs.values() if type(value).__name__ == "State"]
    given = {name: value for name, value in kwargs.items() if not _is_agents_own(name, value)}
    shown = _said if type(tool).__name__ == "AgentTool" else None
    function = getattr(tool, "function", None) or getattr(tool, "async_function", None)
    return Tool(str(tool.name), given, _call_id_of(tool), shown, None, tuple(states), function)


@dataclass
class _View:
    """The entries of an agent's state as attributes: each that a tool sets is told by itself."""


def _view(state: Any) -> _View:
    view = _View()
    view.__dict__ = state.data
    return view


def _is_agents_own(name: str, value: Any) -> bool:
    return type(value).__name__ == "State" or name == "streaming_callback"


def _said(result: Any) -> Any:
    """Of what an agent gave, its last message: the rest is in its own step."""
    last = result.get("last_message") if isinstance(result, dict) else None
    return getattr(last, "text", None) or result


def _async_tool(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """One that is not asynchronous itself is run by `invoke`, in a thread."""
    return None if getattr(tool, "async_function", None) is None else _tool(tool, args, kwargs)
