"""The session of programs that open none: `lctl.auto_instrument()` enables it, its first event opens it."""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from lctl.errors import RecordingError
from lctl.guard import guard
from lctl.interrupts import let_through, put_off
from lctl.session import announcing, beginning, border, ending, naming
from lctl.session.concurrency import pooljobs, processes, threads
from lctl.session.concurrency.pooljobs import PoolJobs
from lctl.session.runs import context
from lctl.session.session import LCTLSession

_raw = context.raw
_locators = context.locators
_enabled = False
_session: LCTLSession | None = None
#: The default session that is closed last, or is being closed.
closing: LCTLSession | None = None
_by_program = False
_late = False  # the program had been at work when it began
_failed = False
_opening = False
_lock = threading.RLock()
_registered = False
_enabled_in: Path | None = None  # the program may go elsewhere before its first event, or its last
#: Makes the session when the first event comes; `lctl run` puts one here that knows its options.
opener: Callable[[], LCTLSession] = LCTLSession


def enable() -> None:
    """Record what happens outside any session, from now on."""
    global _enabled, _enabled_in, _late
    if not _enabled:
        _late = _late or beginning.is_at_work()
        threads.install()  # what is started before the first event has its lane, too
        _enabled_in = naming.here()
    _enabled = True
    _close_at_end()


def _close_at_end() -> None:
    """Not only from the first event on: exit functions that the program registered before may make more."""
    global _registered
    if not _registered:
        _registered = True
        ending.register()
        atexit.register(_close_at_exit)


def leave_to_program() -> None:
    """In a rerun of a program that begins its recording itself: before it does, and outside the sessions that
    it opens, nothing is served either."""
    global _by_program
    _by_program = True


def disable() -> None:
    """Stop that, and close the session if there is one."""
    global _enabled
    if _enabled:
        threads.uninstall()
    _enabled = False
    close()


def forget() -> None:
    """In a forked process: nothing outside a session is recorded, and the session it had is its parent's."""
    global _session, _enabled
    _session, _enabled = None, False


def aside() -> Callable[[], None]:
    """Put the default session away and let a second one be opened in its place; what undoes that, closing
    the second."""
    global _session, _enabled, _failed, opener
    with _lock:
        before = _session, _enabled, _failed, opener
        _session, _enabled, _failed, opener = None, True, False, LCTLSession
    _close_at_end()
    threads.install()

    def back() -> None:
        global _session, _enabled, _failed, opener
        with _lock:
            second = _session
            _session, _enabled, _failed, opener = before
        threads.uninstall()
        if second is not None:
            second.close()

    return back


def get_session() -> LCTLSession | None:
    """The session the running code records into; None when nothing is recorded.

    Where `auto_instrument()` is on and no session has been entered, this opens the default one.
    """
    frame = _raw()
    if frame is None or not frame.open or frame.inside is not None or _locators:
        frame = context.current()  # the whole question; it nearly always answers itself
    if frame is not None:
        return frame.session
    if _session is not None and not _session.closed:
        return _session
    return _opened() if _enabled else None


def is_untold() -> bool:
    """Whether what is done here now is neither recorded nor served."""
    if get_session() is not None or not (_by_program or border.player() is None):
        return False
    beginning.has_called = True
    return True


def is_late() -> bool:
    """Whether the program began its recording when it had been at work, or records some sessions alone."""
    return _late or not _enabled


def running() -> LCTLSession | None:
    """As `get_session`, but opens none."""
    frame = context.current()
    if frame is not None:
        return frame.session
    return _session if _session is not None and not _session.closed else None


def pool_jobs() -> PoolJobs | None:
    """Where it is kept what jobs of pools do; None when nothing is recorded."""
    session = running()
    if session is not None:
        return session.pool_jobs
    return pooljobs.early if _enabled else None


def is_enabled() -> bool:
    """Whether what happens outside any session is recorded."""
    return _enabled


def has_ended() -> bool:
    """Whether the program has come to its end, and what it recorded was closed."""
    return ending.is_over


def has_failed() -> bool:
    """Whether the default session could not be opened, which has been said."""
    return _failed


def is_opening() -> bool:
    """Whether the session being opened is the default one."""
    return _opening


class stand_in:
    """`with stand_in(session):` code outside any session records into `session`, in every thread."""

    def __init__(self, session: LCTLSession) -> None:
        self._ours = session
        self._before: tuple[LCTLSession | None, bool] = (None, False)

    def __enter__(self) -> None:
        global _session, _enabled
        with _lock:
            self._before = (_session, _enabled)
            _session, _enabled = self._ours, True

    def __exit__(self, *error: object) -> None:
        global _session, _enabled
        with _lock:
            _session, _enabled = self._before


def _opened() -> LCTLSession | None:
    global _session, _failed, _opening
    with _lock:
        if _session is not None and not _session.closed:
            return _session
        if closing is not None and not closing.closed:
            return closing  # asked for while it is being closed, as by a stream that ends with it
        if _failed:
            return None
        if ending.is_over and threading.current_thread().daemon:
            return None  # goes on until the process is gone: it would begin another log that nobody ends
        if _opening:
            return None  # asked for while it is being opened, by something that opening it reads
        _opening = True
        asked = naming.asked_in.set(_enabled_in)
        try:
            with put_off():
                made = opener()
                made.pool_jobs.adopt(pooljobs.take_early())  # before any thread's job ends in it
                _session = made
        except Exception as error:
            let_through(error)  # of a handler that came all the same: the next event opens it
            _failed = True  # said once; the program goes on unrecorded
            if guard.policy == "raise":
                raise
            guard.failed("this program", error)
            return None
        finally:
            _opening = False
            naming.asked_in.reset(asked)
        processes.close_at_end_of_child(close)
        return _session


def close() -> None:
    """Close the default session and say where it is."""
    global _session, closing
    with _lock:
        session, _session = _session, None
        closing = session
    if session is None or session.closed:
        return
    session.close()
    if session.last_seq:
        more = announcing.lost(session.lost) + announcing.run_again()
        announcing.say(ending.Closed.of(session), more, _enabled_in)


def say_own() -> None:
    """See `announcing.say_own`."""
    announcing.say_own(_enabled_in)


def end() -> None:
    """As at exit, where the process ends without."""
    _close_at_exit()
    ending.close_all()


def _close_at_exit() -> None:
    ending.is_over = True
    try:
        if _session is not None:
            ending.tell(_session)
        close()
    except KeyboardInterrupt:  # once more: the program has ended anyway
        close()
    if getattr(sys, "last_type", None) is KeyboardInterrupt and not hasattr(sys, "ps1"):
        # Python ends by SIGINT then, unless something was made from text since (as named tuples are, in
        # modules that closing loads): it forgets why it ends. So it is told again.
        try:
            exec("raise KeyboardInterrupt")
        except KeyboardInterrupt:
            pass


def export(path: str | Path) -> Path:
    """Write a complete copy of the running session's log to `path`.

    Raises:
        RecordingError: nothing is being recorded, or the copy cannot be written.
    """
    session = get_session()
    if session is None:
        raise RecordingError(
            f"{path}: nothing is being recorded; call lctl.auto_instrument() or enter an LCTLSession first"
        )
    return session.export(path)


def _renew_lock() -> None:
    global _lock
    _lock = threading.RLock()


processes.renewals += _renew_lock, threads.after_fork
