"""A rerun in a process that `lctl rerun` started, or that such a process started."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from _thread import start_new_thread
from dataclasses import replace
from pathlib import Path
from time import sleep as _sleep  # in real time, whatever a rerun puts in its place
from types import TracebackType
from typing import Any

from lctl.errors import RerunStopped
from lctl.instrument.ambient import callers, inputs
from lctl.patch import parse_edit
from lctl.rerun.exactness import results
from lctl.rerun.forks import reach
from lctl.rerun.guarding import keyboard
from lctl.rerun.order import poolstops, standstill
from lctl.rerun.running import Rerun
from lctl.rerun.settings import MAIN, VARIABLE, Settings
from lctl.rerun.tape import siblings
from lctl.rerun.tape.tape import Tape
from lctl.session import default
from lctl.session.concurrency import forkserving, processes
from lctl.session.concurrency.interleaving import turns_of
from lctl.session.faithful import owners
from lctl.session.tooling.wrote import streams

#: How long a program that was stopped in one of its threads may take to end by itself, in seconds.
_GRACE = 3.0

_running: Rerun | None = None
_finished: Rerun | None = None
_finishing = threading.Lock()
_is_program = False


def begin() -> None:
    """Serve this process from the tape that its environment names."""
    global _is_program
    settings = Settings.here()
    if settings is None:
        return
    _is_program = os.environ.pop(MAIN, None) == "1"
    inputs.fed = not _is_program and inputs.is_piped(settings.stdin)
    os.environ["LCTL_QUIET"] = "1"  # the certificate says where the log is
    tape = _tape(settings)
    atexit.register(_finish)  # first, so that it runs after the sessions were closed
    _speak_of_stops()
    poolstops.watch()
    processes.followers.append(_forked)
    _serve(tape, settings)
    _record(tape)
    if forkserving.is_server():
        _finish_as_multiprocessing_does()


def _serve(tape: Tape, settings: Settings) -> None:
    global _running
    if not _is_program:
        settings = replace(_of_child(tape, settings), output=None, to=None, log=tape.log.path or "")
    handed = replace(settings, output=None, to=None, stdin=inputs.identity())
    os.environ[VARIABLE] = handed.text()  # for the processes it starts
    running = _running = Rerun(tape, settings)
    running.halt.listener = _end_soon
    running.on_reached = lambda: leave(0)
    if _is_program and settings.at is None and keyboard.was_pressed(tape):
        running.order.at_standstill(keyboard.press)
    if _is_program:
        running.order.at_stillness(lambda places: _stand_still(running, places))
    running.begin()
    owners.is_of_process = True
    if settings.policy == "strict" and settings.on_miss == "stop" and settings.at is None:
        _write_in_order(tape)


def _write_in_order(tape: Tape) -> None:
    """Let the program's threads write in the order in which they had written."""
    for seq in tape.outputs:
        data = tape.log.event(seq).data
        streams.follow(str(data.get("stream")), turns_of(data.get("lanes")))


def _stand_still(running: Rerun, places: list[str]) -> None:
    running.halt.stop(standstill.text_of(places))


def _forked() -> None:
    """In a forked child: it goes on with its own tape, as a started one does."""
    global _is_program, _finishing
    parent, settings = _running, Settings.here()
    if parent is None or settings is None:
        return
    _finishing = threading.Lock()  # another thread of the parent may hold its own
    _is_program = False
    parent.abandon()
    _serve(parent.tape_of_child(processes.born), settings)
    _finish_as_multiprocessing_does()


def _finish_as_multiprocessing_does() -> None:
    """What it forks leaves by `os._exit`; what is to run then is registered when that is under way. It comes
    behind all of theirs: the folder of managers (at -100) is in the rerun's own."""
    util: Any = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_forked, lambda _: util.Finalize(None, _finish, exitpriority=-200))


def _tape(settings: Settings) -> Tape:
    """The program's own; of a child process, the one recorded in the process it stands for."""
    if _is_program:
        return Tape.load(settings.log)
    if not settings.log:
        return Tape.empty()
    parent = Tape.load(settings.log)
    above = processes.parent() or {}
    lane = above.get("lane")
    found = siblings.child(parent, lane if isinstance(lane, str) else None, int(above.get("seq") or 0))
    # A child of which there is no recording did nothing that is recorded.
    return Tape.empty(full=parent.full) if found is None else found


def _of_child(tape: Tape, settings: Settings) -> Settings:
    """In a fork, where the recording of a child process is forked: at its beginning if it was started behind
    the fork point, at its end if before."""
    if settings.at is None:
        return settings
    begun = (siblings.starter(tape.log.chain) or {}).get("seq")
    if not isinstance(begun, int):
        return replace(settings, at=0)
    given = [parse_edit(text) for text in settings.edits]
    edits = reach.of_child(given, settings.at, begun, all_live=settings.all_live)
    if edits is None:
        return replace(settings, at=tape.log.last_seq, edits=())
    return replace(settings, at=0, edits=tuple(str(edit) for edit in edits))


def _record(tape: Tape) -> None:
    """Record as the recording did."""
    from lctl.instrument import auto_instrument, ensure_installed, provenance

    said = tape.log.chain.get("program")
    program = said if isinstance(said, dict) else {}
    tools = program.get("tools")
    if isinstance(tools, list):
        from lctl.instrument import wrapat

        wrapat.wrap_all((spec for spec in tools if isinstance(spec, str)), quiet=True)
    if tape.full:
        inputs.recorded = str(program.get("stdin") or "stream")
    provenance.begun = program.get(provenance.BEGUN)
    if provenance.begun:
        ensure_installed(always=True)
        default.leave_to_program()
    else:
        auto_instrument(record="full" if tape.full else "model")


def _finish() -> None:
    """Tell whoever started this program how exact it was. Once: a stopped program may end by itself in the
    moment in which it is ended."""
    global _finished
    with _finishing:
        running = _running
        if running is None or running is _finished:
            return
        _finished = running
        running.end()
        if running.settings.result:
            results.leave(Path(running.settings.result), running.certificates(), is_program=_is_program)


def leave(code: int) -> None:
    """End the process now: logs closed, output written, nothing else of the program run."""
    from lctl.session import ending

    ending.close_all()
    _finish()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    os._exit(code)


def _end_soon() -> None:
    """The rerun stopped; a program whose other threads wait for the one that did would wait for ever."""

    def end() -> None:
        _sleep(_GRACE)
        leave(1)

    start_new_thread(end, ())  # which no thread of the program's waits for


def _speak_of_stops() -> None:
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
