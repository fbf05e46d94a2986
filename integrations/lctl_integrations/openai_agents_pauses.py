"""openai-agents: runs that stop for a human's approval, what they were asked, and how they are gone on with.

The SDK returns a run that waits for approvals like any other, with `interruptions`; what it is gone on with
is the state it was left in, with the decisions. Spans tell of neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import orjson

from lctl.guard import guarded
from lctl.instrument.structure import Pause, step_aside
from lctl.session.default import get_session
from lctl.session.runs import context

_MANY = 256
#: Of the run that is about to begin, for its step.
_asked: ContextVar[Mapping[str, Any]] = ContextVar("lctl_asked_of_agents", default=MappingProxyType({}))
#: Steps of runs and agents that are open: by seq, whether it is a run; and their seqs, by span.
_open: dict[int, bool] = {}
_steps: dict[int, int] = {}
#: By seq of a step: what it stopped at. By call id: what an agent that is a tool did.
_waits: dict[int, list[dict[str, Any]]] = {}
_tools: dict[str, list[dict[str, Any]]] = {}


async def run(wrapped: Any, runner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    token = _asked.set(_asking(args, kwargs) or {})
    try:
        return await wrapped(*args, **kwargs)
    except BaseException as error:
        step_aside(error)
        raise
    finally:
        _asked.reset(token)


def run_streamed(wrapped: Any, runner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What runs is a task of its own, which begins in this context."""
    token = _asked.set(_asking(args, kwargs) or {})
    try:
        return wrapped(*args, **kwargs)
    except BaseException as error:
        step_aside(error)
        raise
    finally:
        _asked.reset(token)


def stopped(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The SDK looks up what the run that it is about to end stopped at."""
    items = wrapped(*args, **kwargs)
    if items:
        _note(items)
    return items


def tool_stopped(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """So does an agent that is another's tool."""
    _note_tool(args, kwargs)
    return wrapped(*args, **kwargs)


def begun(span: int, step: int, is_run: bool) -> None:
    if step:
        _steps[span] = step
        _open[step] = is_run


def ended(span: int) -> dict[str, Any]:
    """What the end of the span's step says of it."""
    step = _steps.pop(span, 0)
    _open.pop(step, None)
    waits = _waits.pop(step, None)
    return {} if waits is None else {"outcome": "paused", "interrupts": waits}


def asked() -> Mapping[str, Any]:
    """What the run was asked, or gone on with, and the agent that begins."""
    return _asked.get()


def tool_waits(call_id: str | None) -> Pause | None:
    waits = _tools.pop(call_id or "", None)
    return None if waits is None else Pause(waits)


@guarded("what a run of the Agents SDK is asked")
def _asking(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    if get_session() is None:
        return {}
    given = dict(zip(("starting_agent", "input"), args, strict=False)) | kwargs
    input, agent = given.get("input"), getattr(given.get("starting_agent"), "name", None)
    if hasattr(input, "get_interruptions"):
        return {"starts": agent, "resume": _decisions(input)}
    if isinstance(input, list):  # a conversation, of which the rest is in the log
        input = input[-1] if input else None
    return {"starts": agent} if input is None else {"starts": agent, "input": input}


def _decisions(state: Any) -> list[dict[str, Any]]:
    """Those of an agent that is a tool are in a state of its own: of them no decision is said."""
    known = getattr(state, "_context", None)
    made = []
    for item in state.get_interruptions():
        said = known.is_tool_approved(item.tool_name, item.call_id) if known is not None else None
        made.append({**_shown(item), **({} if said is None else {"approved": said})})
    return made


@guarded("what a run of the Agents SDK waits for")
def _note(items: Iterable[Any]) -> None:
    waits = [{"for": "approval", **_shown(item)} for item in items]
    frame = context.current()
    while frame is not None:
        is_run = None if frame.step is None else _open.get(frame.step)
        if is_run is not None and frame.step is not None:
            _waits[frame.step] = waits
        if is_run:
            break
        frame = frame.parent


@guarded("what an agent that is a tool waits for")
def _note_tool(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    call, result = args[:2]
    if get_session() is not None:
        if len(_tools) > _MANY:
            _tools.clear()
        _tools[call.call_id] = [{"for": "approval", **_shown(item)} for item in result.interruptions]


def _shown(item: Any) -> dict[str, Any]:
    shown = {"tool": item.tool_name, "input": arguments(item.arguments), "call_id": item.call_id}
    return {name: value for name, value in shown.items() if value is not None}


def arguments(said: str | None) -> dict[str, Any]:
    """What a model said to a tool, by name."""
    try:
        given = orjson.loads(said or "{}")
    except orjson.JSONDecodeError:  # the model's; the tool will say so
        given = said
    return given if isinstance(given, dict) else {"input": given}
