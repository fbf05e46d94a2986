"""dspy: modules as steps, tools as tool calls.

Model calls are the wire's: lm15's (`lctl.instrument.transports.lm15`) or litellm's. One that makes none is
told by the LM: a cache hit, a model of a test.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.ambient import reads
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import ModelCall, Step, Tool, around_step, guarded
from lctl.session.default import get_session
from lctl.session.runs import wrappedruns, wrapping
from lctl.session.sources import SHOWN
from lctl_integrations import dspy_cache, dspy_code
from lctl_integrations.dspy_callbacks import around_heard_tool, begun

_MODULE = "a module of DSPy"
_TOOL = "a tool call of DSPy"
_LM = "a model call of DSPy"

#: Modules that decide on their own what to do next.
_AGENTS = frozenset({"ReAct", "CodeAct", "RLM"})
#: Modules that only ask a model: whoever they belong to acts.
_PREDICTORS = frozenset({"Predict", "ChainOfThought", "ProgramOfThought"})


class DSPy:
    """dspy 3."""

    name = "dspy"
    supported = ">=3.4,<4"
    modules = (
        "dspy.primitives.module",
        "dspy.adapters.types.tool",
        "dspy.clients.base_lm",
        "dspy.clients.cache",
        "dspy.predict.react",
        "dspy.predict.react_v2",
        *dspy_code.MODULES,
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        match module.__name__.rpartition(".")[2]:
            case "module":
                patches.wrap(module, "Module.__call__", around_step(_MODULE, _module))
                patches.wrap(module, "Module.acall", around_step(_MODULE, _module))
                patches.wrap(module, "pretty_print_history", _printed)
            case "tool":
                patches.wrap(module, "Tool.__call__", around_heard_tool(_TOOL, _tool))
                patches.wrap(module, "Tool.acall", around_heard_tool(_TOOL, _tool))
                patches.wrap(module, "ToolCalls.ToolCall.execute", _executed)
            case "base_lm":
                patches.wrap(module, "BaseLM.__call__", _asked)
                patches.wrap(module, "BaseLM.acall", _asked)
                patches.wrap(module, "pretty_print_history", _printed)
            case "cache":
                patches.wrap(module, "Cache.__init__", dspy_cache.opened)
                patches.wrap(module, "Cache.get", dspy_cache.looked_up)
            case "react" | "react_v2" if hasattr(module, "format_error_for_lm"):
                patches.wrap(module, "format_error_for_lm", _shown)
            case "code_interpreter" | "python_interpreter" | "local_interpreter":
                dspy_code.patch(module, patches)


def _module(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    kind = type(module).__name__
    signature = getattr(module, "signature", None)
    asked = getattr(signature, "signature", None)  # "question -> answer"
    intent = asked if isinstance(asked, str) else "forward"
    if kind in _PREDICTORS:
        return Step(None, "chain", f"{kind}({intent})")
    return Step(kind, "agent" if _is_agent(module) else "chain", intent)


def _is_agent(module: Any) -> bool:
    return any(base.__name__ in _AGENTS for base in type(module).__mro__)


def _tool(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool:
    return Tool(tool.name or "tool", dict(kwargs), function=tool.func)


def _executed(wrapped: Any, call: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (functions=None), where None are those of the caller's variables."""
    functions = args[0] if args else kwargs.get("functions")
    name = call.name
    if functions is None:
        caller = sys._getframe(1)
        function = caller.f_locals.get(name) or caller.f_globals.get(name)
    elif isinstance(functions, dict):
        function = functions.get(name)
    elif isinstance(functions, list):
        function = next((tool.func for tool in functions if tool.name == name), None)
    else:
        return wrapped(*args, **kwargs)

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        return begun(_TOOL, lambda: Tool(name, dict(kwargs), function=function))

    return wrapped({name: function if function is None else wrapping.wrap(function, begin)})


def _shown(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The traceback of a failed tool, as the model is shown it. A rerun has no frames of the tool."""
    show = partial(wrapped, *args, **kwargs)
    return reads.read(SHOWN, "dspy", sys._getframe(1), show, always=True)


def _printed(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (history, n=1, file=None), which prints when the last `n` calls were made."""
    last = _last(*args, **kwargs)
    if not last:
        return wrapped(*args, **kwargs)
    times = reads.read("clock", "dspy", sys._getframe(1), lambda: [call["timestamp"] for call in last])
    shown = [{**call, "timestamp": time} for call, time in zip(last, times, strict=False)]
    return wrapped(shown, *args[1:], **{name: given for name, given in kwargs.items() if name != "history"})


@guarded("a history that DSPy prints")
def _last(history: Any, n: int = 1, file: Any = None) -> list[dict[str, Any]] | None:
    """None where one says nothing of its time."""
    last = [dict(call) for call in history[-n:]]
    return last if all("timestamp" in call for call in last) else None


def _asked(wrapped: Any, lm: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Signature of the wrapped: (prompt=None, messages=None, **kwargs) -> outputs."""

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        if get_session() is None:
            return None
        with guard(_LM):
            guard.rehearse(_LM)
            given = dict(zip(("prompt", "messages"), args, strict=False)) | kwargs
            return _Asked(lm, given.get("messages") or given.get("prompt"))
        return None

    try:
        return wrapping.wrap(wrapped, begin)(*args, **kwargs)
    except BaseException as error:
        wrappedruns.step_aside(error)
        raise


class _Asked(wrappedruns.Run):
    """One call of an LM; recorded only if nothing beneath it was."""

    def __init__(self, lm: Any, prompt: Any) -> None:
        self._call = ModelCall.begin(getattr(lm, "model", None), prompt)

    def returned(self, value: Any) -> None:
        self._call.end(_text_of(value))

    def failed(self, error: BaseException) -> None:
        self._call.end(error=error)


def _text_of(outputs: Any) -> Callable[[], str | None]:
    def text() -> str | None:
        first = outputs[0] if isinstance(outputs, list) and outputs else outputs
        first = first.get("text") if isinstance(first, dict) else first
        return first if isinstance(first, str) else None

    return text
