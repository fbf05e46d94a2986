"""A program that ends by `sys.exit(2)`, or by a SystemExit that it raises, has failed if its code says so.

Python drops that exception before exit functions run, so what is known of it is noted before: where
`sys.exit` is called, and where a module that `lctl run -m` runs is left (see `lctl.instrument.sysexit`); and
where Python flushes the streams behind a script, while the exception is still there. Whether the program was
ended by what `sys.exit` raised, or has caught that and come to its end, says its first frame: the last
instruction that ran in it is a return, or is not.

Not known: behind `python -c`, and `python -m` without `lctl run`, nothing is flushed; there the code of a
SystemExit is seen only if it was raised by `sys.exit`, `exit` or `quit`.
"""

from __future__ import annotations

import gc
import sys
import threading
from types import FrameType, TracebackType
from typing import NamedTuple

from lctl.guard import guard
from lctl.session.runs.steps import has_failed

#: Reloaders end their child so to have it started anew.
_RESTARTERS: dict[str, int] = {"django.utils.autoreload": 3, "werkzeug._reloader": 3}


class Exit(NamedTuple):
    """What a program ended by.

    Attributes:
        code: as of `crashes.exit_code`.
        places: where it was raised, as of `crashes.places_of`.
    """

    code: int | str
    places: list[str]


class _Note(NamedTuple):
    """Of the newest call of `sys.exit` in the main thread.

    Attributes:
        ended: None where its code is no failure.
        at: the instruction of the program's first frame that the call was below.
    """

    ended: Exit | None
    at: int


#: The first frame of the program, whose locals are the globals of `__main__`: they live as long as it does.
_first: FrameType | None = None
_note: _Note | None = None
#: What the program ended by, where that was seen: None of one that has not failed.
_found: tuple[Exit | None] | None = None
#: Why this program ends is in its log: nothing is to be said of its code.
is_told = False


class Watch:
    """Whether Python's flush of the streams behind a script is still to come. On an object, as the last
    flushes come when the names of modules are gone."""

    is_on = False

    def over(self) -> None:
        """The program's code has come to its end, and its exit functions have not run."""
        self.is_on = False
        with guard("the end of the program"):
            _look_behind()


watch = Watch()


def begin() -> None:
    """Find the program's first frame, if it is not known: from any thread, as something is recorded."""
    global _first
    if _first is None:
        main = threading.main_thread().ident
        here = main == threading.get_ident()
        frame = sys._getframe() if here else sys._current_frames().get(main or 0)
        _first = first_of(frame)
        watch.is_on = _first is not None


def after_fork() -> None:
    """In the child: what its parent noted is not its own; the frame is, if the main thread has forked."""
    global _first, _note, _found
    _note = _found = None
    _first = first_of(sys._getframe())
    watch.is_on = _first is not None


def note(error: BaseException, caller: FrameType) -> None:
    """`caller` has called `sys.exit`, which raised `error`."""
    global _note, _first
    if threading.get_ident() != threading.main_thread().ident or not isinstance(error, SystemExit):
        return
    first = first_of(caller)
    if first is None:
        return
    _first = first
    _note = _Note(_failure(error, caller), first.f_lasti)


def ending() -> Exit | None:
    """What ended the program, if that is an exit whose code says that it failed; to be asked at exit."""
    watch.is_on = False
    if _first is None or is_told or hasattr(sys, "ps1") or getattr(sys, "last_value", None) is not None:
        return None
    if _found is not None:
        return _found[0]
    return _note.ended if _note is not None and _is_noted(_first, _note) else None


def left(error: BaseException) -> None:
    """`error` has left the program's first frame, as who ran it has seen."""
    _conclude(error, error.__traceback__)


def _look_behind() -> None:
    """Where a script has ended: find what it ended by."""
    if _first is None or not _was_left(_first):
        return
    if _note is not None and _note.ended is None and _is_noted(_first, _note):
        return  # most programs that end so have not failed, and need not be searched
    error, trace = _pending(_first)
    if error is not None:
        _conclude(error, trace)


def _conclude(error: BaseException, trace: TracebackType | None) -> None:
    global _found
    _found = (_failure(error, trace),)


def _is_noted(first: FrameType, noted: _Note) -> bool:
    """Whether the program was left by what `sys.exit` raised: out of that call, or a `finally` around it."""
    return _was_left(first) and (first.f_lasti == noted.at or _opname(first) == "RERAISE")


def _failure(error: BaseException, origin: TracebackType | FrameType | None) -> Exit | None:
    """What `error` says of the program that it ends, if that is a failure.

    Args:
        origin: as of `crashes.places_of`.
    """
    if not isinstance(error, SystemExit) or not has_failed(error):
        return None
    raised = origin
    while isinstance(raised, TracebackType):
        raised = raised.tb_next or raised.tb_frame
    if raised is not None and _RESTARTERS.get(str(raised.f_globals.get("__name__"))) == error.code:
        return None
    from lctl.session import crashes  # here: most programs end well

    return Exit(crashes.exit_code(error), crashes.places_of(origin))


def first_of(frame: FrameType | None) -> FrameType | None:
    """The frame of the program's own `__main__` that `frame` is in; None where there is none, as in a server
    that calls the program."""
    found = None
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__":
            found = frame
        frame = frame.f_back
    return found


def _was_left(frame: FrameType) -> bool:
    """Whether an exception has left it, now that it has ended."""
    return not _opname(frame).startswith("RETURN_")


def _opname(frame: FrameType) -> str:
    """Of the last instruction that ran in it."""
    from opcode import opname

    return opname[frame.f_code.co_code[frame.f_lasti]]


def _pending(first: FrameType) -> tuple[SystemExit | None, TracebackType | None]:
    """The SystemExit that has left the program's first frame, and its traceback. Nothing but the interpreter
    has it, so it is looked for among all objects, the newest first; None where it cannot be told."""
    kinds = {id(kind) for kind in (SystemExit, *SystemExit.__subclasses__())}
    errors: list[SystemExit] = []
    traces: list[TracebackType] = []
    for generation in range(3):
        for one in gc.get_objects(generation):
            kind = type(one)  # not `isinstance`: that asks objects of the program
            if kind is TracebackType:
                if one.tb_frame is first:
                    traces.append(one)
            elif id(kind) in kinds:  # nor `==`, which metaclasses may answer
                errors.append(one)
        found = _left_by(first, errors, traces)
        if found is not None:
            return found
    return None, None


def _left_by(
    first: FrameType, errors: list[SystemExit], traces: list[TracebackType]
) -> tuple[SystemExit, TracebackType] | None:
    """Which of them is the one that has left `first`."""
    traces = [trace for trace in traces if trace.tb_lasti == first.f_lasti] or traces
    known = {id(error.__traceback__): error for error in errors if error.__traceback__ is not None}
    for trace in traces:
        line: TracebackType | None = trace
        while line is not None:  # before Python 3.12 it has the lines from where it was caught last
            if id(line) in known:
                return known[id(line)], trace
            line = line.tb_next
    if sys.version_info >= (3, 12):
        return None
    uncaught = [error for error in errors if error.__traceback__ is None]
    return (uncaught[0], traces[-1]) if len(uncaught) == 1 and traces else None
