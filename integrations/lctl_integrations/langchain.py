"""langchain-core: chains and graph nodes as steps, tools as tool calls, models without a wire.

A callback handler of our own is in every callback manager, through the hook langchain-core has for that;
`BaseTool.run` and `arun` are wrapped, because a callback cannot answer in a tool's place.
"""

from __future__ import annotations

from contextlib import nullcontext
from contextvars import ContextVar
from copy import copy
from importlib import import_module
from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Tool, step_aside
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.default import get_session
from lctl.session.runs import wrapping
from lctl.session.tooling.toolruns import ToolRun, begin_tool
from lctl_integrations import mcp_names
from lctl_integrations.langchain_ids import with_ids_of
from lctl_integrations.langgraph_doings import MANAGER, Doings, dispatched, of_tool

_TOOL = "a LangChain tool"


class LangChain:
    """langchain-core 1; langchain, langgraph and every package of theirs stand on it."""

    name = "langchain-core"
    supported = ">=1,<2"
    modules = ("langchain_core.tracers.context", "langchain_core.tools.base", MANAGER)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "langchain_core.tools.base":
            patches.wrap(module, "BaseTool.run", _run)
            patches.wrap(module, "BaseTool.arun", _arun)
            return
        if module.__name__ == MANAGER:
            patches.wrap(module, "CallbackManager.on_custom_event", dispatched)
            patches.wrap(module, "AsyncCallbackManager.on_custom_event", dispatched)
            return
        # Its base class is langchain-core's, which is there only now.
        handling = import_module("lctl_integrations.langchain_handler")
        # A default is there in every context, also of threads that were started by hand.
        variable: ContextVar[Any] = ContextVar("lctl_langchain", default=handling.everywhere())  # noqa: B039
        module.register_configure_hook(variable, inheritable=True)
        handling.locate()

        def detach() -> None:
            hooks = module._configure_hooks
            hooks[:] = [hook for hook in hooks if hook[0] is not variable]
            handling.forget()

        patches.on_undo(f"{module.__name__}:register_configure_hook", detach)


def _run(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (tool_input, ..., tool_call_id=)."""
    doings = _doings(kwargs)
    run = _begun(tool, args, kwargs, doings, _function(tool))
    if run is None:
        return wrapped(*args, **kwargs)
    if run.served is None:
        try:
            with doings or nullcontext():
                return wrapping.wrap(wrapped, lambda *_: run)(*args, **kwargs)
        except BaseException as error:
            step_aside(error)
            raise
    served, value = _Served(tool, run, doings, args, kwargs), None
    place = lanes.enter(run.around())
    try:
        value = wrapped.__func__(served.tool, *args, **kwargs)
    except Exception:
        if served.is_asked:
            raise
    finally:
        lanes.leave(place)
    return value if served.is_asked else wrapping.wrap(_nothing, lambda *_: run)()


async def _arun(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    doings = _doings(kwargs)
    run = _begun(tool, args, kwargs, doings, _function_async(tool))
    if run is None:
        return await wrapped(*args, **kwargs)
    if run.served is None:
        try:
            with doings or nullcontext():
                return await wrapping.wrap(wrapped, lambda *_: run)(*args, **kwargs)
        except BaseException as error:
            step_aside(error)
            raise
    served, value = _Served(tool, run, doings, args, kwargs), None
    place = lanes.enter(run.around())
    try:
        value = await wrapped.__func__(served.tool, *args, **kwargs)
    except Exception:
        if served.is_asked:
            raise
    finally:
        lanes.leave(place)
    return value if served.is_asked else await wrapping.wrap(_nothing_async, lambda *_: run)()


class _Served:
    """A copy of a tool that gives what the recorded call gave: LangChain itself tells its callbacks of the
    call, as programs that stream events hear of tools by them.

    Attributes:
        is_asked: the tool was asked for it. Not where its arguments were refused.
    """

    def __init__(
        self, tool: Any, run: ToolRun, doings: Doings | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self._run, self._doings = run, doings
        self._input = args[0] if args else kwargs.get("tool_input")
        self._is_pair = getattr(tool, "response_format", None) == "content_and_artifact"
        self._outside = lanes.current()
        self.is_asked = False
        self.tool = copy(tool)
        self.tool.__dict__.update(_run=self._give, _arun=self._give_async)

    def _give(self, *args: Any, **kwargs: Any) -> Any:
        self.is_asked = True
        place = lanes.enter(self._outside)
        try:
            return self._given(wrapping.wrap(_nothing, lambda *_: self._run)())
        finally:
            lanes.leave(place)
            if self._doings is not None:
                self._doings.repeat()

    async def _give_async(self, *args: Any, **kwargs: Any) -> Any:
        self.is_asked = True
        place = lanes.enter(self._outside)
        try:
            return self._given(await wrapping.wrap(_nothing_async, lambda *_: self._run)())
        finally:
            lanes.leave(place)
            if self._doings is not None:
                await self._doings.repeat_async()

    def _given(self, value: Any) -> Any:
        with guard(_TOOL):
            value = with_ids_of(self._input, value)
        return (value, None) if self._is_pair else value


def _nothing() -> None:
    """What is served in place of a tool's body."""


async def _nothing_async() -> None:
    pass


def _doings(kwargs: dict[str, Any]) -> Doings | None:
    """What the tool does beside its result."""
    if get_session() is None and border.player() is None:
        return None
    with guard(_TOOL):
        return of_tool(kwargs.get("config"))
    return None


def _begun(
    tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any], doings: Doings | None, function: Any
) -> ToolRun | None:
    if get_session() is None and border.player() is None:
        return None
    with guard(_TOOL):
        guard.rehearse(_TOOL)
        name, given, call_id, shown, paused, *_ = _tool(tool, args, kwargs)
        beside = () if doings is None else (doings.done, *doings.context)
        more: dict[str, Any] = {"function": function, "mcp": mcp_names.in_closure(function)}
        run = begin_tool(name, given, call_id=call_id, shown=shown, paused=paused, beside=beside, **more)
        if run is not None:
            run.rewritten(args, kwargs)
        return run
    return None


def _tool(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool:
    """`run(tool_input, ..., tool_call_id=)`; without an id the value is what the tool returned."""
    from lctl_integrations.langchain_values import paused, shown_result

    given = args[0] if args else kwargs.get("tool_input")
    if isinstance(given, dict):
        # What the framework injects (state, store, runtime) is no argument of the call.
        kept = tool._filter_injected_args(given) if hasattr(tool, "_filter_injected_args") else given
        given = dict(kept)
    else:
        given = {"input": given}
    call_id = kwargs.get("tool_call_id")
    return Tool(tool.name, given, call_id, shown_result, paused)


def _function(tool: Any) -> Any:
    """What runs when the tool does: of a program's own class of tools a method, which may change the tool."""
    return getattr(tool, "func", None) or getattr(tool, "coroutine", None) or getattr(tool, "_run", None)


def _function_async(tool: Any) -> Any:
    found = getattr(tool, "coroutine", None) or getattr(tool, "func", None)
    if found is None and any("_arun" in vars(cls) for cls in _classes(tool)):
        return tool._arun
    return found or getattr(tool, "_run", None)


def _classes(tool: Any) -> tuple[type, ...]:
    """Those of its classes that are more than LangChain's: there `_arun` calls `_run`."""
    found = type(tool).__mro__
    return tuple(cls for cls in found if not cls.__module__.startswith("langchain_core."))
