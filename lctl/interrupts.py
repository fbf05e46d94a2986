"""Exceptions that a signal handler of the program raised while our code ran.

Python calls handlers between any two instructions of the main thread, ours too. What one raises (a time limit
by `signal.alarm`, a debugger's stop) is the program's own and no failure of what it happened to interrupt.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, TracebackType
from typing import Any

#: What an object of the program may raise as it is looked at, with `let_through`. Not KeyboardInterrupt:
#: that is Ctrl-C, which may come at any moment.
RAISED = (Exception, SystemExit)
_OURS = ("lctl.", "lctl_integrations.")
_VARARGS = 4  # inspect.CO_VARARGS, without the import


def is_interrupt(error: BaseException) -> bool:
    """Whether a signal handler (or a trace function) raised it, or what that called."""
    if threading.current_thread() is not threading.main_thread():
        return False
    return any(map(_lets_through, _lines(error.__traceback__))) or (
        lines_of_handler(error.__traceback__) is not None
    )


def is_stop(error: BaseException) -> bool:
    """Whether it came from outside of what it left: Ctrl-C, an exit, an interrupt. No failure of ours."""
    return not isinstance(error, Exception) or is_interrupt(error)


def lines_of_handler(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback of the main thread that begins with a signal handler; None where none has a
    line of it."""
    handlers = None
    for line in _lines(trace):
        frame = line.tb_frame
        if not is_ours(frame) and _was_given_its_caller(frame):
            return line
        if handlers is None:
            handlers = frozenset(_codes_of_handlers())
        if frame.f_code in handlers:
            return line
    return None


def _lines(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _lets_through(line: TracebackType) -> bool:
    """Whether what was raised from there is known already."""
    return line.tb_frame.f_code in (let_through.__code__, let_cause_through.__code__)


def let_through(error: BaseException) -> None:
    """Raise it again if it is the program's own."""
    if is_interrupt(error):
        raise error


@contextmanager
def put_off() -> Iterator[None]:
    """What the program's handlers of signals do, they do behind this: for what is no use by half, and where
    much is called that takes an error of the system (a `TimeoutError` is one) for an answer.

    As far as the system can: with more threads it may give a signal to one that is not here.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    handled = [number for number in signal.valid_signals() if callable(signal.getsignal(number))]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, handled)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start(thread: threading.Thread) -> None:
    """Start it, and only then hear signals: of what one raises as a thread begins, `threading` makes a
    KeyError of its own. So where another thread was given the signal."""
    try:
        with put_off():
            thread.start()
    except KeyError as error:
        came = error.__context__
        if came is not None and is_interrupt(came):
            raise came from None
        raise


def step_out(error: BaseException) -> None:
    """Take our own lines off the top of its traceback: for who has caught it in the program's call, and
    raises it again. Programs show tracebacks to models; those are to be what they are without us."""
    trace = error.__traceback__
    while trace is not None and is_ours(trace.tb_frame):
        trace = trace.tb_next
    error.__traceback__ = trace


def let_cause_through(error: TypeError) -> None:
    """As `let_through`, of what orjson makes of all that comes while it asks `jsonable.default`: Ctrl-C, too.

    That raises nothing without a traceback. What has none came before its first instruction, or is what
    orjson before 3.12 itself says of a text or a number.
    """
    cause = error.__cause__
    if cause is None or isinstance(cause, RecursionError | MemoryError):
        return
    if isinstance(cause, UnicodeEncodeError | OverflowError) and cause.__traceback__ is None:
        return
    if not isinstance(cause, Exception) or cause.__traceback__ is None or is_interrupt(cause):
        raise cause


def is_ours(frame: FrameType) -> bool:
    """Whether it runs code of lctl's."""
    name = frame.f_globals.get("__name__")
    return type(name) is str and name.startswith(_OURS)


def _was_given_its_caller(frame: FrameType) -> bool:
    """Handlers are called with the frame that they interrupt, from which they are called. (Python leaves a
    frame that has not yet begun out of what it says of callers.)"""
    code, caller = frame.f_code, frame.f_back
    if caller is None:
        return False
    held = frame.f_locals
    given = [held.get(name) for name in code.co_varnames[: code.co_argcount]]
    if code.co_flags & _VARARGS:
        rest = held.get(code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
        given += rest if type(rest) is tuple else ()
    return any(type(one) is FrameType and caller in (one, one.f_back) for one in given)


def _codes_of_handlers() -> Iterator[CodeType]:
    """Of those that are installed: one may have dropped the frame it was given."""
    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        if not callable(handler) or isinstance(handler, signal.Handlers):
            continue
        handler = getattr(handler, "func", handler)  # functools.partial
        handler = getattr(handler, "__func__", handler)
        for one in (handler, getattr(type(handler), "__call__", None)):  # noqa: B004  (its code is wanted)
            code = getattr(one, "__code__", None)
            if isinstance(code, CodeType):
                yield code


__all__ = [
    "RAISED",
    "is_interrupt",
    "is_ours",
    "is_stop",
    "let_cause_through",
    "let_through",
    "put_off",
    "start",
    "step_out",
]
