"""haystack-ai: agents, pipelines and their components as steps; tools.

`haystack.tracing` has one place for a tracer, which is the program's; the functions themselves are wrapped.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Step, Tool, around_step, around_tool


class Haystack:
    """haystack-ai 2 and 3."""

    name = "haystack-ai"
    supported = ">=2.10,<4"
    modules = (
        "haystack.components.agents.agent",
        "haystack.core.pipeline.pipeline",
        "haystack.tools.tool",
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "haystack.tools.tool":
            _wrap(module, patches, ("Tool.invoke",), around_tool("a Haystack tool", _tool))
            _wrap(module, patches, ("Tool.invoke_async",), around_tool("a Haystack tool", _async_tool))
        elif module.__name__.endswith("agent"):
            _wrap(module, patches, ("Agent.run", "Agent.run_async"), around_step("a Haystack agent", _agent))
        else:
            step = around_step("a Haystack pipeline", _pipeline)
            _wrap(module, patches, ("Pipeline.run", "Pipeline.run_async"), step)
            step = around_step("a Haystack component", _component)
            _wrap(module, patches, ("Pipeline._run_component", "Pipeline._run_component_async"), step)


def _wrap(module: ModuleType, patches: PatchSet, paths: tuple[str, ...], wrapper: Any) -> None:
    """What this version has of them."""
    for path in paths:
        name, _, method = path.partition(".")
        if hasattr(getattr(module, name, None), method):
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


def _tool(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool:
    return Tool(str(tool.name), dict(kwargs))


def _async_tool(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """One that is not asynchronous itself is run by `invoke`, in a thread."""
    return None if getattr(tool, "async_function", None) is None else _tool(tool, args, kwargs)
