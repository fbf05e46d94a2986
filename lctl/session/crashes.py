"""What ends a program, the block of a session, or a thread: an exception that nobody in it caught.

Python keeps the exception that it ends a program for (`sys.last_value`) until its exit functions have run; so
nothing of the program's is replaced to see it. Those of a notebook's cells and of tests are kept there, too:
they did not come to the top of the program.
"""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType, TracebackType
from typing import Any, Literal

from lctl.interrupts import is_ours
from lctl.session import naming
from lctl.session.jsonable import text_of_error
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


def data_of(
    error: BaseException,
    ends: Ends | None = None,
    request: str | None = None,
    places: list[str] | None = None,
) -> dict[str, Any]:
    """Of the `error` event: `context.traceback` has `file:line in function` of each place in the program's
    own files, and of the one that raised, which is last.

    Args:
        ends: what it ends, if not just a step.
        request: of which the answer ended, as `GET /ask`.
        places: those, where the exception has no traceback.
    """
    data = error_data(error)
    context = dict(data["context"])
    if isinstance(error, SystemExit):
        code = exit_code(error)
        data["message"] = code if isinstance(code, str) else f"exit code {code}"
        context["exit_code"] = 1 if isinstance(code, str) else code
    if ends is not None:
        context["ends"] = ends
    if request:
        context["request"] = request
    if places is None:
        places = places_of(error.__traceback__) or _caller()
    return {**data, "context": {**context, "traceback": places}}


def _caller() -> list[str]:
    """Where the program's code is: of what the call itself raised, whose line is not in the traceback yet."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and (is_ours(frame) or _is_library(frame.f_code.co_filename)):
        frame = frame.f_back
    return places_of(frame)[-1:]


def exit_code(error: BaseException) -> int | str:
    """The code that a SystemExit ends the process with; a text, which Python prints, stands for 1."""
    code = getattr(error, "code", None)
    return int(code or 0) if isinstance(code, int | None) else text_of_error(SystemExit(code))


def places_of(origin: TracebackType | FrameType | None) -> list[str]:
    """Places that a traceback passes, or where a frame and those that it was called from are now."""
    passed: list[tuple[CodeType, int]] = []
    while isinstance(origin, TracebackType):
        passed.append((origin.tb_frame.f_code, origin.tb_lineno))
        origin = origin.tb_next
    while origin is not None:
        passed.insert(0, (origin.f_code, origin.f_lineno))
        origin = origin.f_back
    places = []
    for n, (code, line) in enumerate(passed, 1):
        if n == len(passed) or not _is_library(code.co_filename):
            file = naming.files.get(code.co_filename, code.co_filename)
            places.append(f"{file}:{line} in {code.co_name}")
    return places[-_PLACES:]


def _is_library(filename: str) -> bool:
    return filename.startswith(_LIBRARIES) or installed_as(filename) is not None
