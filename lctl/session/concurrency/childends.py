"""What a process of multiprocessing dies of, or exits with.

Multiprocessing catches that, prints it, and leaves by `os._exit` with a code that nobody else is told.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from lctl.guard import guard
from lctl.interrupts import step_out

_NONE = object()


def _bootstrap(original: Callable[..., Any], process: Any, *args: Any, **kwargs: Any) -> Any:
    run, own = process.run, process.__dict__.get("run", _NONE)

    def run_in_place(self: Any) -> Any:
        if own is _NONE:
            self.__dict__.pop("run", None)
        else:
            self.run = own
        try:
            return run()
        except BaseException as error:
            step_out(error)
            _ended(error)
            raise

    process.run = MethodType(run_in_place, process)
    return original(process, *args, **kwargs)


def _ended(error: BaseException) -> None:
    with guard("the exception that ends a process"):
        from lctl.session import default  # which needs this module

        session = default.running()
        if session is not None:
            session.end_steps(error)
            session.fail(error, "program")


HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("multiprocessing.process", "BaseProcess", "_bootstrap", _bootstrap),
)
