"""`sys.exit`, and `exit` and `quit` of `site`: what they raise is noted (see `lctl.session.exits`).

Whoever catches it gets what he always got, and its traceback has no line of ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

from lctl.guard import guard
from lctl.instrument.standin import bound, like
from lctl.interrupts import step_out
from lctl.session import exits

_ARCHIVES = (".pyz", ".zip")
#: Owner, name, what it had, and ours.
_replaced: list[tuple[Any, str, Any, Any]] = []


def install() -> None:
    """Idempotent; undone by `uninstall`."""
    if _replaced:
        return
    if isinstance(sys.exit, BuiltinFunctionType):  # and not somebody's own
        _replace(sys, "exit", bound(_exit(sys.exit), sys.exit, sys, "exit"))
    site: Any = sys.modules.get("_sitebuiltins")
    if site is not None:
        _replace(site.Quitter, "__call__", _call(site.Quitter.__call__))
    if _is_to_be_run_by_runpy():
        import runpy

        _replace(runpy, "_run_code", _run_code(runpy))


def uninstall() -> None:
    while _replaced:
        owner, name, original, ours = _replaced.pop()
        if vars(owner).get(name) is ours:
            setattr(owner, name, original)


def _replace(owner: Any, name: str, ours: Any) -> None:
    _replaced.append((owner, name, vars(owner)[name], ours))
    setattr(owner, name, ours)


def _exit(original: Any) -> Callable[..., Any]:
    def exit(_: Any, /, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except BaseException as error:
            _note(error)
            raise

    return exit


def _call(original: Any) -> Callable[..., Any]:
    def __call__(self: Any, code: Any = None) -> Any:
        try:
            return original(self, code)
        except BaseException as error:
            _note(error)
            raise

    return like(__call__, original)


def _note(error: BaseException) -> None:
    caller = sys._getframe(2)
    with guard("the program's exit"):
        exits.note(error, caller)
    step_out(error)


def _is_to_be_run_by_runpy() -> bool:
    """Whether the program is yet to be run, by `-m` or from a folder or an archive: behind those Python
    flushes no stream while what ended them is still there."""
    program = sys.argv[0] if sys.argv else ""
    if program != "-m" and not program.endswith(_ARCHIVES) and not os.path.isdir(program):  # noqa: PTH112
        return False
    return exits.first_of(sys._getframe()) is None


def _run_code(module: Any) -> Callable[..., Any]:
    original = module._run_code

    def _run_code(*args: Any, **kwargs: Any) -> Any:
        is_program = sys._getframe(1).f_back is None
        module._run_code = original
        try:
            return original(*args, **kwargs)
        except BaseException as error:
            if is_program:
                with guard("the program's exit"):
                    exits.left(error)
            step_out(error)
            raise

    return _run_code


__all__ = ["install", "uninstall"]
