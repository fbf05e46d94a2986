"""openai-agents: runs, agents, guardrails and hand-offs from its spans, tools where they are invoked.

The span classes are wrapped rather than a processor added: they tell of a run also where tracing is
disabled, and a program that sets processors of its own replaces none of this. Nothing is uploaded.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextvars import ContextVar
from functools import partial
from types import MappingProxyType, ModuleType
from typing import Any

from lctl.guard import guarded
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Failure, ModelCall, Runs, Tool, around_tool, changeable, step_aside
from lctl.instrument.structure.subagents import around_subagent
from lctl.session.default import get_session
from lctl.session.jsonable import name_of, text_of_error
from lctl_integrations import openai_agents_pauses as pauses
from lctl_integrations.openai_agents_pauses import arguments

_INVOKE = "_invoke_function_tool_with_metadata"
#: What that gives: with the output first.
_RESULT = "_FunctionToolInvocationResult"
_TOOLS = ("agents.tool", "agents.run_internal.tool_execution")
_TURNS = "agents.run_internal.turn_resolution"
_RUNS = ("agents.run", "agents.run_internal.run_loop")
_FAILED = "maybe_invoke_function_tool_failure_error_function"
#: Spans that are steps, and what they are; a turn holds one model call, which is a step itself.
_STEPS = {"agent": "agent", "task": "task", "guardrail": "guardrail", "custom": "chain"}
_MODELS = ("response", "generation")


class OpenAIAgents:
    """openai-agents from 0.20 on."""

    name = "openai-agents"
    supported = ">=0.20,<1"
    modules = ("agents.tracing.spans", *_TOOLS, _TURNS, *_RUNS, "agents.agent")

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        if module.__name__ == "agents.tracing.spans":
            for name in ("SpanImpl", "NoOpSpan"):
                patches.wrap(module, f"{name}.start", _started)
                patches.wrap(module, f"{name}.finish", _finished)
        elif module.__name__ == _TURNS:
            patches.wrap(module, "execute_handoffs", _handed_off)
        elif module.__name__ in _RUNS:
            if module.__name__ == _RUNS[0]:
                patches.wrap(module, "AgentRunner.run", pauses.run)
                patches.wrap(module, "AgentRunner.run_streamed", pauses.run_streamed)
            patches.wrap(module, "approvals_from_step", pauses.stopped)
        elif module.__name__ == "agents.agent":
            patches.wrap(module, "record_agent_tool_run_result", pauses.tool_stopped)
        else:  # imported by name where they are called
            patches.wrap(module, _INVOKE, _invoked)
            patches.wrap(module, _FAILED, _excused)


runs = Runs()
#: By the span's identity: what is open, and the exception that was being handled when it began.
_calls: dict[int, ModelCall] = {}
_handled: dict[int, BaseException | None] = {}
#: By call id: what a tool raised that the model is told of in other words.
_failures: dict[str, Failure] = {}
_MANY = 256
#: What the model said with the hand-off that is being made.
_said: ContextVar[Mapping[str, Any]] = ContextVar(
    "lctl_handoff_of_openai_agents", default=MappingProxyType({})
)


def _started(wrapped: Any, span: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    result = wrapped(*args, **kwargs)
    if get_session() is not None:
        _begin(span)
    return result


def _finished(wrapped: Any, span: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    _end(span)
    return wrapped(*args, **kwargs)


@guarded("a span of the Agents SDK that began")
def _begin(span: Any) -> None:
    data, key = span.span_data, id(span)
    kind = data.type
    if kind in _MODELS:
        _calls[key] = ModelCall.begin(getattr(data, "model", None), lambda: _prompt(data), provider="openai")
    elif kind in _STEPS and not (kind == "custom" and not _is_users(data)):
        _handled[key] = sys.exc_info()[1]
        more: dict[str, Any] = {}
        if kind == "agent":
            given = {"handoffs": data.handoffs, "output_type": data.output_type}
            more = {name: value for name, value in given.items() if value and value != "str"}
        elif kind == "task":
            more = dict(pauses.asked())
        agent = data.name if kind == "agent" else None
        step = runs.begin(key, agent, kind=_STEPS[kind], intent=data.name, **more)
        if kind in ("agent", "task"):
            pauses.begun(key, step, is_run=kind == "task")


@guarded("a span of the Agents SDK that ended")
def _end(span: Any) -> None:
    data, key = span.span_data, id(span)
    if data.type == "handoff":
        session = get_session()
        if session is not None and data.to_agent:
            session.handoff(str(data.to_agent), from_=data.from_agent, **_said.get())
        return
    error = sys.exc_info()[1]
    call = _calls.pop(key, None)
    if call is not None:
        call.end(lambda: _answer(data), usage=getattr(data, "usage", None), error=error)
        return
    if error is _handled.pop(key, None):
        error = None  # the program handles it, around the whole run
    if data.type == "guardrail":
        runs.end(key, error, triggered=bool(data.triggered))
    else:
        runs.end(key, error, **pauses.ended(key))


async def _handed_off(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Its span tells who hands over to whom, and not with which words."""
    token = _said.set(_words(kwargs) or {})
    try:
        return await wrapped(*args, **kwargs)
    except BaseException as error:
        step_aside(error)
        raise
    finally:
        _said.reset(token)


@guarded("what a hand-off of the Agents SDK says")
def _words(given: dict[str, Any]) -> dict[str, Any]:
    call = given["run_handoffs"][0].tool_call  # of several the SDK follows the first
    input = arguments(call.arguments)
    words: dict[str, Any] = {"input": input} if input else {}
    if isinstance(input.get("reason"), str):
        words["reason"] = input["reason"]
    return {**words, "call_id": call.call_id}


def _is_users(data: Any) -> bool:
    """Whether a custom span is the program's, not the SDK's stand-in for a run that is not traced."""
    return bool(data.name != "Agent run")


def _prompt(data: Any) -> Any:
    given = getattr(data, "input", None)
    return list(given) if isinstance(given, list | tuple) else given


def _answer(data: Any) -> Any:
    response = getattr(data, "response", None)
    if response is not None:
        return {"output": response.output}
    output = getattr(data, "output", None)
    return output[0] if isinstance(output, list | tuple) and output else output


def _invoked(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An agent that was given as a tool works in a rerun, too: its usage counts, its stream is heard."""
    if getattr(wrapped, "_self_wrapper", None) is _invoked:
        return wrapped(*args, **kwargs)  # the name in another module, taken when it was wrapped already
    is_agent = getattr(kwargs.get("function_tool"), "_is_agent_tool", False)
    return (_agent_called if is_agent else _function_called)(wrapped, instance, args, kwargs)


def _tool(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool:
    tool, context, given = kwargs["function_tool"], kwargs["context"], kwargs["arguments"]
    call_id = getattr(context, "tool_call_id", None)
    beside = changeable(getattr(context, "context", None))  # the program's own
    shown = partial(_shown, call_id=call_id)
    more = {"function": _function_of(tool), "wraps": getattr(sys.modules.get("agents.tool"), _RESULT, None)}
    _server, mcp, *_ = getattr(tool, "_mcp_tool_binding", None) or (None, None)
    return Tool(tool.name, arguments(given), call_id, shown, beside=beside, mcp=mcp, **more)


def _function_of(tool: Any) -> Any:
    """What `function_tool` was given; the SDK keeps it in a closure alone."""
    called = getattr(tool, "on_invoke_tool", None)
    called = getattr(called, "_invoke_tool_impl", called)
    code, cells = getattr(called, "__code__", None), getattr(called, "__closure__", None)
    names = () if code is None or cells is None else code.co_freevars
    return cells[names.index("the_func")].cell_contents if cells and "the_func" in names else None


_TOOL = "a tool of the Agents SDK"
_function_called = around_tool(_TOOL, _tool)
_agent_called = around_subagent(_TOOL, _tool)


def _excused(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The SDK makes a text for the model of a tool's exception."""
    _note(kwargs)
    return wrapped(*args, **kwargs)


@guarded("the failure of a tool of the Agents SDK")
def _note(given: dict[str, Any]) -> None:
    call_id = getattr(given.get("context"), "tool_call_id", None)
    if call_id is not None and get_session() is not None:
        if len(_failures) > _MANY:
            _failures.clear()
        error = given["error"]
        _failures[call_id] = Failure(name_of(type(error)), text_of_error(error))


def _shown(result: Any, call_id: str | None) -> Any:
    waits = pauses.tool_waits(call_id)
    if waits is not None:
        return waits
    failure = _failures.pop(call_id or "", None)
    if failure is not None:
        return failure
    if getattr(result, "is_sdk_generated_error", False):
        return Failure("ToolError", str(result.output))
    return result.output
