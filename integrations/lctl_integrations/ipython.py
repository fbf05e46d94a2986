"""IPython and its kernels: the cells, which can be run again, and their commands (`!ls`) as tool calls.

The code of each goes on the tape, and all run in the main flow's lane, whatever tasks and threads the kernel
or the shell starts around them. Shells that are no program of their own (`embed()`, `InteractiveShell` as
somebody's interpreter) are a part of the one around them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from functools import partial
from types import FrameType, ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument import settings, writing
from lctl.instrument.patches import PatchSet
from lctl.instrument.structure import Tool, around_tool, call_tool
from lctl.session import border, cells
from lctl.session.concurrency import lanes

#: Classes of shells that are the program, and of those among them that are not.
_PROGRAMS = {"ZMQInteractiveShell", "TerminalInteractiveShell", "NotebookShell"}
_PARTS = {"InProcessInteractiveShell", "InteractiveShellEmbed"}
#: The tool that runs commands, and options of `%%script` that leave more behind than it prints.
_SHELL = "shell"
_LEAVING = ("--out", "--err", "--proc", "--bg")
_running = False


class IPython:
    """IPython 8 and later, ipykernel 6 and later."""

    name = "ipython"
    supported = ">=8,<10"
    modules = (
        "IPython.core.history",
        "IPython.core.magics.script",
        "IPython.core.magics.osm",
        "IPython.terminal.interactiveshell",
        "ipykernel.kernelapp",
        "ipykernel.kernelbase",
        "ipykernel.zmqshell",
        "IPython.core.interactiveshell",  # last: a cell may be under way
    )

    def patch(self, module: ModuleType, patches: PatchSet) -> None:
        for path, wrapper in _HOOKS[module.__name__].items():
            patches.wrap(module, path, wrapper)
        if module.__name__ == "IPython.core.interactiveshell":
            _begin_within(module)


def _initialize(wrapped: Any, app: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    lanes.set_apart()  # its threads and tasks, from the first one on
    return wrapped(*args, **kwargs)


def _mainloop(wrapped: Any, shell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if _is_program(shell):
        with guard("an interactive shell"):
            lanes.set_apart()
            if settings.full:
                _leave_prompts(shell)
    return wrapped(*args, **kwargs)


def _leave_prompts(shell: Any) -> None:
    """What the shell writes and reads for its prompts is not the program's."""
    from lctl.instrument.ambient import outputs, reads

    outputs.leave()
    prompt = shell.prompt_for_code

    def prompt_for_code() -> Any:
        with reads.aside():
            return prompt()

    shell.prompt_for_code = prompt_for_code


def _init_io(wrapped: Any, app: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    made = wrapped(*args, **kwargs)
    with guard("the output of a kernel"):
        _adopt_streams()
    return made


def _adopt_streams() -> None:
    """What cells write goes to the kernel's own streams."""
    if settings.full:
        from lctl.instrument.ambient import inputs

        inputs.recorded = "terminal"
    for name in writing.STREAMS:
        stream = getattr(sys, name)
        if type(stream).__name__ == "OutStream" and stream.echo is None:
            writing.adopt(name, stream)


def _raw_input(wrapped: Any, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not settings.full:
        return wrapped(*args, **kwargs)
    from lctl.instrument.ambient import inputs

    prompt = args[0] if args else kwargs.get("prompt", "")
    return inputs.asked(prompt, lambda: wrapped(*args, **kwargs))


def _history(wrapped: Any, manager: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A rerun leaves the user's history as it is."""
    if border.player() is not None:
        kwargs = {**kwargs, "hist_file": ":memory:"}
    return wrapped(*args, **kwargs)


def _run_ast_nodes(wrapped: Any, shell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Awaitable[Any]:
    result = kwargs.get("result")
    stored = getattr(getattr(result, "info", None), "store_history", False)
    if _running or not stored or not _is_program(shell):
        made: Awaitable[Any] = wrapped(*args, **kwargs)
        return made
    return _run_cell(wrapped, args, kwargs)


async def _run_cell(wrapped: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    global _running
    result = kwargs["result"]
    token = lanes.enter(lanes.of_cells())
    _running = True
    try:
        with guard("a cell"):
            cells.began(result.execution_count, result.info.raw_cell, kwargs.get("cell_name", args[1]))
        made = await wrapped(*args, **kwargs)
        with guard("a cell"):
            _tell_failure(result)
        return made
    finally:
        _running = False
        lanes.leave(token)


def _tell_failure(result: Any) -> None:
    if result.error_in_exec is not None:
        cells.failed(result.error_in_exec)


def _begin_within(module: Any) -> None:
    """Where a cell begins the recording: it, and those before it, have been under way unseen."""
    shell = module.InteractiveShell._instance if module.InteractiveShell.initialized() else None
    if shell is None or not _is_program(shell) or not _is_in_cell(sys._getframe(), module):
        return
    for number, code in enumerate(shell.history_manager.input_hist_raw):
        if code:
            cells.began(number, code)
    _renew_magics(shell.magics_manager.magics["cell"])
    _adopt_streams()
    if (loop := asyncio._get_running_loop()) is not None:
        loop.call_soon(
            _adopt_streams
        )  # what a cell writes is kept by IPython, which then puts back what was there
    token = lanes.enter(lanes.of_cells())

    def end(result: Any) -> None:
        shell.events.unregister("post_run_cell", end)
        with guard("a cell"):
            if result is not None:
                _tell_failure(result)
        lanes.leave(token)

    shell.events.register("post_run_cell", end)


def _renew_magics(magics: dict[str, Any]) -> None:
    """Of those that are recorded, the shell has kept the methods as they were."""
    for name in ("script", "writefile"):
        method = magics.get(name)
        owner = getattr(method, "__self__", None)
        if method is not None and owner is not None:
            magics[name] = getattr(owner, method.__name__)


def _is_in_cell(frame: FrameType | None, module: Any) -> bool:
    code = module.InteractiveShell.run_code.__code__
    while frame is not None:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def _is_program(shell: Any) -> bool:
    names = {kind.__name__ for kind in type(shell).__mro__}
    return bool(names & _PROGRAMS) and not names & _PARTS


def _command(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """`!command`, `%pip`: its exit code or what it wrote."""
    return Tool(_SHELL, {"command": args[0]}) if _is_cells() and not kwargs and len(args) == 1 else None


def _system_raw(wrapped: Any, shell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """`!command` in a terminal, to which the command itself writes."""
    if not _is_cells() or kwargs or len(args) != 1:
        wrapped(*args, **kwargs)
        return
    command = shell.var_expand(args[0], depth=1)  # by the variables where it stands

    def run(command: str) -> Any:
        shell.var_expand = lambda text, *_, **__: text
        try:
            wrapped(command)
        finally:
            del shell.var_expand
        return shell.user_ns.get("_exit_code")

    shell.user_ns["_exit_code"] = call_tool(_SHELL, {"command": command}, partial(run, command))


def _script(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """`%%bash`, `%%sh`; not where it leaves variables or a process behind."""
    if not _is_cells() or kwargs or len(args) != 2 or any(word in args[0] for word in _LEAVING):
        return None
    return Tool(_SHELL, {"command": args[0], "script": args[1]})


def _writefile(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tool | None:
    """`%%writefile`: the file is there in a rerun, as the recording has left it."""
    if not _is_cells() or kwargs or len(args) != 2:
        return None
    return Tool("writefile", {"file": args[0], "text": args[1]})


def _is_cells() -> bool:
    return lanes.are_cells() and lanes.current() is not lanes.MAIN


_HOOKS: dict[str, dict[str, Any]] = {
    "IPython.core.interactiveshell": {
        "InteractiveShell.run_ast_nodes": _run_ast_nodes,
        "system": around_tool("a command of a cell", _command),
        "getoutput": around_tool("a command of a cell", _command),
    },
    "IPython.core.history": {"HistoryManager.__init__": _history},
    "IPython.core.magics.script": {"ScriptMagics.shebang": around_tool("a script in a cell", _script)},
    "IPython.terminal.interactiveshell": {
        "TerminalInteractiveShell.mainloop": _mainloop,
        "TerminalInteractiveShell.system": _system_raw,
    },
    "IPython.core.magics.osm": {"OSMagics.writefile": around_tool("a file that a cell writes", _writefile)},
    "ipykernel.kernelapp": {"IPKernelApp.initialize": _initialize, "IPKernelApp.init_io": _init_io},
    "ipykernel.kernelbase": {"Kernel.raw_input": _raw_input},
    "ipykernel.zmqshell": {"system": around_tool("a command of a cell", _command)},
}

__all__ = ["IPython"]
