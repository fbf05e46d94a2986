"""A rerun in a process that `lctl rerun` started, or that such a process started."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from _thread import start_new_thread
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import (  # in real time, whatever a rerun puts in its place
    sleep as _sleep,
)
from time import time as _time
from typing import Any

from lctl.instrument import settings as recording
from lctl.instrument.ambient import identifiers, inputs, terminals
from lctl.patch import parse_edit
from lctl.rerun.exactness import results
from lctl.rerun.forks import reach
from lctl.rerun.guarding import endings, forkwarnings, keyboard, retrying, stops
from lctl.rerun.guarding.retrying import Retrying
from lctl.rerun.order import endless, poolstops, standstill, unasked
from lctl.rerun.order.ordering import end_of
from lctl.rerun.running import Rerun
from lctl.rerun.serving import workers
from lctl.rerun.serving.heard import HeardAgain
from lctl.rerun.serving.outside import Outside
from lctl.rerun.settings import MAIN, VARIABLE, Settings
from lctl.rerun.tape import siblings
from lctl.rerun.tape.tape import Tape
from lctl.session import actinglibraries, default, ownpackages
from lctl.session.concurrency import carrying, forkserving, hardexits, processes
from lctl.session.concurrency.interleaving import turns_of
from lctl.session.faithful import owners
from lctl.session.tooling.wrote import streams

#: How long a program that was stopped in one of its threads may take to end by itself, in seconds.
_GRACE = 3.0

_running: Rerun | None = None
_finished: Rerun | None = None
_finishing = threading.Lock()
_is_program = False
_process = 0
_outside: Outside | None = None


def begin() -> None:
    """Serve this process from the tape that its environment names."""
    global _is_program, _process
    settings = Settings.here()
    if settings is None:
        return
    _process = os.getpid()
    _is_program = os.environ.pop(MAIN, None) == "1"
    inputs.fed = not _is_program and inputs.is_piped(settings.stdin)
    os.environ["LCTL_QUIET"] = "1"  # the certificate says where the log is
    tape = _tape(settings)
    atexit.register(_finish)  # first, so that it runs after the sessions were closed
    hardexits.close_before(_finish)
    stops.speak_of()
    forkwarnings.keep_to_program()
    poolstops.watch()
    processes.followers.append(_forked)
    running = _serve(tape, settings)
    _record(tape, settings)
    _ask_from_outside(running)
    if _is_program and settings.at is None and not settings.pdb:
        running.order.at_unasked(_nobody_asks)
        at = end_of(tape) if len(siblings.process(tape)) == 1 else None
        if at is not None and running.player.ends:
            running.order.at_far_end(at, running.is_whole, lambda: _end_as_recorded(running))
        elif at is not None and settings.on_miss != "live" and not settings.allow:
            running.order.at_endless(at, lambda: _go_on_for_ever(running))
    if forkserving.is_server():
        _finish_as_multiprocessing_does()


def _serve(tape: Tape, settings: Settings) -> Rerun:
    global _running
    program = _program_of(tape)
    ownpackages.set_recorded(program.get("own"))
    actinglibraries.set_recorded(program.get("acting"))
    carrying.set_recorded(program.get("handed"))
    if not _is_program:
        settings = replace(_of_child(tape, settings), output=None, to=None, log=tape.log.path or "")
    handed = replace(settings, output=None, to=None, stdin=inputs.identity())
    os.environ[VARIABLE] = handed.text()  # for the processes it starts
    running = _running = Rerun(tape, settings)
    running.halt.listener = _end_soon
    running.on_reached = lambda: leave(0)
    if not _is_program:
        running.on_closing = lambda: _tell(running)
        running.halt.linger = endings.linger
    running.guard.retrying = Retrying(running.player.tally.total, lambda *where: _retry(running, *where))
    if _is_program and settings.at is None and keyboard.was_pressed(tape):
        running.order.at_standstill(keyboard.press)
    if _is_program:
        running.order.at_stillness(lambda places: _stand_still(running, places))
    running.begin()
    running.heard = HeardAgain(tape, running.order, settings.at)
    running.heard.begin()
    owners.is_of_process = True
    identifiers.killing = lambda: _kill_itself(running)
    if settings.policy == "strict" and settings.on_miss == "stop" and settings.at is None:
        _write_in_order(tape)
    return running


def _ask_from_outside(running: Rerun) -> None:
    """What asked the program's servers is not there: the recorded requests are sent again."""
    global _outside
    tape, end = running.tape, None
    _outside = None
    if not tape.arrivals:
        return
    if not _is_program:
        role = workers.role(tape)
        if role is None:
            return
        role.begin()
        end = role.end(leave, running.settings.result)
        if end is not None and tape.log.tail is None:
            end = _after_closing(end)
    until = running.settings.at if terminals.is_shown else None
    _outside = Outside(
        tape,
        running.player.unused,
        lambda: leave(0),
        running.halt.stop,
        running.order,
        _say_asked,
        end,
        until,
    )
    _outside.begin()


def _after_closing(end: Callable[[], None]) -> Callable[[], None]:
    """The recorded process was killed: this one may be, too, before it can tell."""

    def close_and_end() -> None:
        from lctl.session import ending

        ending.close_all()
        end()

    return close_and_end


def _say_asked() -> None:
    settings = None if _running is None else _running.settings
    if settings is not None and settings.result:
        results.say_asked(Path(settings.result))


def _write_in_order(tape: Tape) -> None:
    """Let the program's threads write in the order in which they had written."""
    for seq in tape.outputs:
        data = tape.log.event(seq).data
        streams.follow(str(data.get("stream")), turns_of(data.get("lanes")))


def _stand_still(running: Rerun, places: list[str]) -> None:
    if running.player.ends and running.order.is_spent():
        _end_as_recorded(running)
        return
    running.halt.stop(standstill.text_of(places))


def _end_as_recorded(running: Rerun) -> None:
    running.halt.at_end_of(running.tape.log)
    start_new_thread(leave, (0,))


def _kill_itself(running: Rerun) -> None:
    """The program is about to (SIGKILL): nothing can be told behind that. Where the recording ends, too, that
    is how it ended."""
    from lctl.session import ending

    if running.player.ends and running.is_whole():
        running.halt.linger = None  # nobody else ends it
        running.halt.at_end_of(running.tape.log)
        if _is_program:
            os.write(2, b"lctl: the program killed itself, as it did when it was recorded\n")
    ending.close_all()
    _finish()


def _retry(running: Rerun, place: str, host: str) -> BaseException:
    """Whichever process of the program it is: what it waits for, the others wait for it to do."""
    if running.settings.result:
        results.end_all(Path(running.settings.result))
    return running.halt.stop(retrying.text_of(place, host))


def _nobody_asks(listening: list[str]) -> bool:
    running = _running
    folder = None if running is None or not running.settings.result else Path(running.settings.result)
    if folder is not None and _time() - results.asked_at(folder) < unasked.LASTING:
        return False
    if _outside is not None and _outside.is_done:
        _outside.give_up()
    elif running is not None:
        asked, unused = len(running.tape.arrivals), running.player.unused()
        asked += sum(len(tape.arrivals) for tape in siblings.servers(running.tape))
        if folder is not None:
            results.end_all(folder)
        running.halt.stop(unasked.text_of(listening, unused, asked))
    return True


def _go_on_for_ever(running: Rerun) -> None:
    if running.settings.result:
        results.end_all(Path(running.settings.result))
    running.halt.stop(endless.text_of(running.player.unused()))


def _forked() -> None:
    """In a forked child: it goes on with its own tape, as a started one does."""
    global _is_program, _finishing
    parent, settings = _running, Settings.here()
    if parent is None or settings is None:
        return
    _finishing = threading.Lock()  # another thread of the parent may hold its own
    _is_program = False
    parent.abandon()
    hardexits.close_before(_finish)
    _ask_from_outside(_serve(parent.tape_of_child(processes.born), settings))
    _finish_as_multiprocessing_does()


def _finish_as_multiprocessing_does() -> None:
    """What it forks leaves by `os._exit`; what is to run then is registered when that is under way. It comes
    behind all of theirs: the folder of managers (at -100) is in the rerun's own."""
    util: Any = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_forked, lambda _: _begin_in(util))


def _begin_in(util: Any) -> None:
    stops.keep_quiet()
    util.Finalize(None, _finish, exitpriority=-200)


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


def _program_of(tape: Tape) -> dict[str, Any]:
    """What the header says of the program."""
    said = tape.log.chain.get("program")
    return said if isinstance(said, dict) else {}


def _record(tape: Tape, settings: Settings) -> None:
    """Record as the recording did."""
    from lctl.instrument import auto_instrument, ensure_installed, provenance

    program = _program_of(tape)
    tools = program.get("tools")
    if isinstance(tools, list):
        from lctl.instrument import wrapat

        wrapat.wrap_all((spec for spec in tools if isinstance(spec, str)), quiet=True)
    recording.files, recording.commands = tape.tells_files, tape.tells_commands
    if tape.full:
        inputs.recorded = str(program.get("stdin") or "stream")
        terminals.recorded = terminals.of_header(program.get("terminal"))
        terminals.is_shown = settings.at is not None and terminals.is_really(0)
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
        if running.heard is not None:
            running.heard.end()
        running.end()
        _tell(running)


def _tell(running: Rerun) -> None:
    """Of a process that another one has started also when its sessions are closed: servers close theirs, and
    die of the signal that they were ended by."""
    if running.settings.result:
        # One that is forked before anything is recorded (auto_instrument() in a worker) is told of no fork.
        is_program = _is_program and os.getpid() == _process
        results.leave(Path(running.settings.result), running.certificates(), is_program=is_program)


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
