"""DSPy's interpreters, which execute what a model wrote in a process of their own: its code as tool calls.

A rerun gives what the code gave, starts no process and asks none.
"""

from __future__ import annotations

import sys
from functools import partial
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from lctl.faithful import register
from lctl.instrument.ambient import reads
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Tool
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.sources import SETTINGS
from lctl_integrations.dspy_callbacks import around_heard_tool

_CODE = "code that DSPy executes"
_TOOL = "execute_code"

_AT = "dspy.primitives"
#: Modules of interpreters, and the class in each.
_INTERPRETERS = {
    f"{_AT}.python_interpreter": "PythonInterpreter",
    f"{_AT}.local_interpreter": "LocalInterpreter",
}
MODULES = (f"{_AT}.code_interpreter", *_INTERPRETERS)

#: Characters.
_LONG = 1000
#: By interpreter the long texts that it was given last, by name.
_told: WeakKeyDictionary[Any, dict[str, str]] = WeakKeyDictionary()


def patch(module: ModuleType, patches: PatchSet) -> None:
    """Of one of `MODULES`."""
    name = _INTERPRETERS.get(module.__name__)
    if name is None:
        register(module.FinalOutput, lambda final: final.output, module.FinalOutput)
        return
    patches.wrap(module, f"{name}.execute", around_heard_tool(_CODE, _code))
    patches.wrap(module, f"{name}.start", _started)
    if name == "PythonInterpreter":
        patches.wrap(module, f"{name}._query_deno_dir", _looked_for)


def _code(interpreter: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool:
    """Signature of the wrapped: (code, variables=None)."""
    input = dict(zip(("code", "variables"), args, strict=False)) | kwargs
    variables = input.get("variables")
    if isinstance(variables, dict):
        input["variables"] = _new(interpreter, variables)
    return Tool(_TOOL, {name: given for name, given in input.items() if given}, shown=_shown, wraps=_wrapped)


def _new(interpreter: Any, variables: dict[str, Any]) -> dict[str, Any]:
    """Without the long texts that the interpreter has been given before: `RLM` gives all that it reads with
    each piece of code."""
    texts = {name: value for name, value in variables.items() if type(value) is str and len(value) >= _LONG}
    told = _told.setdefault(interpreter, {})
    new = {name: value for name, value in variables.items() if name not in texts or told.get(name) != value}
    told.update(texts)
    return new


def _shown(gave: Any) -> Any:
    """What code gave; what it gave in the end (`SUBMIT`), by that name."""
    return {"final": gave.output} if _is_final(gave) else gave


def _wrapped(shown: Any) -> Any:
    if isinstance(shown, dict) and set(shown) == {"final"}:
        return sys.modules["dspy.primitives.code_interpreter"].FinalOutput(shown["final"])
    return shown


def _is_final(gave: Any) -> bool:
    return type(gave).__name__ == "FinalOutput"


def _started(wrapped: Any, interpreter: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """In a rerun none is started before code is really executed."""
    if border.player() is not None and lanes.current().tool != _TOOL:
        return None
    return wrapped(*args, **kwargs)


def _looked_for(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Where Deno keeps its files: it is asked in a process of its own."""
    find = partial(wrapped, *args, **kwargs)
    return reads.read(SETTINGS, "dspy interpreter", sys._getframe(1), find, always=True)
