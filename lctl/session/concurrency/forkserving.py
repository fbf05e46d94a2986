"""Children of multiprocessing's fork server, as Python starts them on Linux since 3.14.

The server is started with the first child and forks itself for each one. So what the environment says of a
child's parent is that of the first. What is true for each goes to it with what multiprocessing itself tells a
child first, before its program is loaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lctl.interrupts import step_out

_METHOD = "forkserver"
_SERVER = "multiprocessing.forkserver import main"
_KEY = "lctl"


class _Variables:
    """Those of lctl. Who reads a pickle of it has them in its environment, and needs no lctl for that."""

    def __reduce__(self) -> tuple[Any, ...]:
        known = {name: value for name, value in os.environ.items() if name.startswith("LCTL_")}
        return exec, (f"import os; os.environ.update({known!r})",)


@contextmanager
def telling(process: Any) -> Iterator[None]:
    """If the process that is started in here is such a child, it is told the variables. For one thread at a
    time."""
    if not _is_forked_by_server(process):
        yield
        return
    from multiprocessing import spawn

    module: Any = spawn
    original = module.get_preparation_data

    def told(name: str) -> dict[str, Any]:
        try:
            return {**original(name), _KEY: _Variables()}
        except BaseException as error:
            step_out(error)
            raise

    module.get_preparation_data = told
    try:
        yield
    finally:
        module.get_preparation_data = original


def _is_forked_by_server(process: Any) -> bool:
    if not hasattr(process, "_start_method"):  # it is subprocess' own
        return False
    module: Any = sys.modules["multiprocessing.context"]
    method = type(process)._start_method or module._default_context.get_start_method()
    return bool(method == _METHOD)


def is_server() -> bool:
    """Whether this process is the fork server."""
    return any(_SERVER in word for word in sys.orig_argv)


def begin_in_children(begin: Callable[[], None]) -> None:
    """In the server: have each child begin so, when it knows its variables."""
    from multiprocessing import spawn

    module: Any = spawn
    prepare = module.prepare

    def prepared(data: dict[str, Any]) -> None:
        begin()
        try:
            prepare(data)
        except BaseException as error:  # the program's own, as it is imported
            step_out(error)
            raise

    module.prepare = prepared
