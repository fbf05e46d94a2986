"""The session of programs that open none: `lctl.auto_instrument()` enables it, its first event opens it."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from lctl.errors import LctlError, RecordingError
from lctl.guard import guard
from lctl.session import context, naming, processes, threads
from lctl.session.session import LCTLSession

_enabled = False
_session: LCTLSession | None = None
_failed = False
_lock = threading.RLock()
_registered = False
#: Makes the session when the first event comes; `lctl run` puts one here that knows its options.
opener: Callable[[], LCTLSession] = LCTLSession


def enable() -> None:
    """Record what happens outside any session, from now on."""
    global _enabled
    _enabled = True


def disable() -> None:
    """Stop that, and close the session if there is one."""
    global _enabled
    _enabled = False
    close()


def get_session() -> LCTLSession | None:
    """The session the running code records into; None when nothing is recorded.

    Where `auto_instrument()` is on and no session has been entered, this opens the default one.
    """
    frame = context.current()
    if frame is not None:
        return frame.session
    if _session is not None and not _session.closed:
        return _session
    return _opened() if _enabled else None


def _opened() -> LCTLSession | None:
    global _session, _failed, _registered
    with _lock:
        if _session is not None and not _session.closed:
            return _session
        if _failed:
            return None
        try:
            _session = opener()
        except (LctlError, OSError) as error:
            _failed = True  # said once; the program goes on unrecorded
            if guard.policy == "raise":
                raise
            guard.failed("this program", error)
            return None
        if not _registered:
            _registered = True
            atexit.register(close)
        return _session


def close() -> None:
    """Close the default session and say where it is."""
    global _session
    with _lock:
        session, _session = _session, None
    if session is None or session.closed:
        return
    session.close()
    events = session.last_seq
    # A child process says nothing: its parent will, and `last` is the parent's run.
    if events and session.parent is None and os.environ.get("LCTL_QUIET") != "1":
        what = f"{events} event{'' if events == 1 else 's'}"
        path = _shown(session.path)
        target = "last" if session.path.parent == naming.folder() else path
        try:
            sys.stderr.write(f"lctl: {what} in {path}  (lctl replay {target})\n")
        except Exception:
            pass  # no stderr


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


def _shown(path: Path) -> str:
    try:
        return str(path.resolve().relative_to(Path.cwd().resolve()))
    except (ValueError, OSError):
        return str(path)
