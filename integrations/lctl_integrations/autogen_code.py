"""AutoGen's executors of code: executed code as tool calls.

A rerun gives what the code gave, and does not execute it.
"""

from __future__ import annotations

from importlib.util import find_spec
from types import ModuleType
from typing import Any

from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Tool, around_tool
from lctl.session.concurrency import lanes

_CODE = "code that AutoGen executes"

_AT = "autogen_ext.code_executors"
#: Modules of executors, and what each is of no use without: doctor imports those that can be.
_MODULES = {
    "azure._azure_container_code_executor": ("aiohttp",),
    "docker._docker_code_executor": ("docker",),
    "docker_jupyter._docker_jupyter": ("aiohttp", "docker", "requests", "websockets"),
    "jupyter._jupyter_code_executor": ("nbclient", "nbformat"),
    "local": (),
}
#: How `PythonCodeExecutionTool` names itself.
_CODE_TOOL = "CodeExecutor"


class Executors:
    """autogen-ext: the executors it brings."""

    name = "autogen-ext"
    supported = ">=0.7.5,<0.8"

    def __init__(self) -> None:
        usable = (name for name, needs in _MODULES.items() if all(map(find_spec, needs)))
        self.modules = tuple(f"{_AT}.{name}" for name in usable)

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        for name, cls in list(vars(module).items()):
            if _executes(cls) and cls.__module__ == module.__name__:
                patches.wrap(module, f"{name}.execute_code_blocks", around_tool(_CODE, _code))


def _executes(cls: Any) -> bool:
    return isinstance(cls, type) and "execute_code_blocks" in vars(cls)


def _code(executor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """Signature of the wrapped: (code_blocks, cancellation_token). None within the tool that is made of an
    executor: that is the same call."""
    if lanes.current().tool == _CODE_TOOL:
        return None
    blocks = args[0] if args else kwargs["code_blocks"]
    code = [{"language": block.language, "code": block.code} for block in blocks]
    return Tool("execute_code_blocks", {"code_blocks": code})
