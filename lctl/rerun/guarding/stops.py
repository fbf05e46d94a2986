"""The end of a rerun as Python tells it: without a traceback, for what is to say the certificate says."""

from __future__ import annotations

import sys
import threading
from types import TracebackType

from lctl.errors import RerunStopped
from lctl.instrument.ambient import callers


def keep_quiet() -> None:
    """In a process of multiprocessing's, which prints by itself what one ends by, unless it is an exit."""
    process = sys.modules["multiprocessing.process"].current_process()
    run = process.run

    def run_quietly() -> None:
        try:
            run()
        except RerunStopped:
            sys.exit(1)

    process.run = run_quietly


def speak_of() -> None:
    """RerunStopped ends the program without a traceback: what is to say, the certificate says. Any other
    exception's is the program's own last words, as it was in the recording."""
    callers.between_writers.add(__file__)
    hook, thread_hook = sys.excepthook, threading.excepthook

    def say(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not issubclass(kind, RerunStopped):
            hook(kind, error, trace)

    def say_in_thread(args: threading.ExceptHookArgs) -> None:
        if not issubclass(args.exc_type, RerunStopped):
            thread_hook(args)

    sys.excepthook = say
    threading.excepthook = say_in_thread
