"""What ends a program, the block of a session, or a thread: an exception that nobody in it caught.

Python keeps the exception that it ends a program for (`sys.last_value`) until its exit functions have run; so
nothing of the program's is replaced to see it. Those of a notebook's cells and of tests are kept there, too:
they did not come to the top of the program.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Any, Literal

from lctl.session import naming
from lctl.session.ownpackages import installed_as
from lctl.session.runs.steps import error_data

#: What an exception may end that nobody caught.
Ends = Literal["program", "session", "thread", "request", "cell"]
#: Places of a traceback that are told, the last ones.
_PLACES = 20
_RUNPY = ("<frozen runpy>", "runpy.py")
_LIBRARIES = (
    "<frozen ",
    os.path.dirname(os.__file__) + os.sep,  # noqa: PTH120
    __file__.partition(f"session{os.sep}crashes")[0],  # lctl's own
)


def ending() -> BaseException | None:
    """What Python ends this program for; to be asked at exit."""
    error, trace = getattr(sys, "last_value", None), getattr(sys, "last_traceback", None)
    if not isinstance(error, BaseException) or trace is None or hasattr(sys, "ps1"):
        return None
    frame = trace.tb_frame
    is_main = frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__"
    return error if is_main or frame.f_code.co_filename.endswith(_RUNPY) else None


def data_of(error: BaseException, ends: Ends | None = None, request: str | None = None) -> dict[str, Any]:
    """Of the `error` event: `context.traceback` has `file:line in function` of each place in the program's
    own files, and of the one that raised, which is last.

    Args:
        ends: what it ends, if not just a step.
        request: of which the answer ended, as `GET /ask`.
    """
    data = error_data(error)
    context = dict(data["context"])
    if ends is not None:
        context["ends"] = ends
    if request:
        context["request"] = request
    return {**data, "context": {**context, "traceback": _places(error.__traceback__)}}


def _places(trace: TracebackType | None) -> list[str]:
    places: list[str] = []
    while trace is not None:
        code, below = trace.tb_frame.f_code, trace.tb_next
        if below is None or not _is_library(code.co_filename):
            file = naming.files.get(code.co_filename, code.co_filename)
            places.append(f"{file}:{trace.tb_lineno} in {code.co_name}")
        trace = below
    return places[-_PLACES:]


def _is_library(filename: str) -> bool:
    return filename.startswith(_LIBRARIES) or installed_as(filename) is not None
