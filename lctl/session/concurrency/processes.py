"""Child processes record chains of their own, linked to their parent's.

A started process learns its parent from `LCTL_PARENT=<chain id>:<seq>:<lane>@<mark>` (see `lctl.kinship`),
and where its recordings are kept from `LCTL_PARENT_DIR`. A forked one inherits the sessions themselves: each
lets go of its parent's file and opens its own at its first event.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lctl import kinship
from lctl.clock import monotonic
from lctl.guard import guard
from lctl.session import naming
from lctl.session.concurrency import forkserving, hardexits, lanes, spawning, workers
from lctl.session.runs.wrappedruns import step_aside

if TYPE_CHECKING:
    from lctl.session.concurrency.lane import Lane
    from lctl.session.session import LCTLSession

VARIABLE = "LCTL_PARENT"
#: In the environment of what `lctl run` records, and of a rerun.
OURS = ("LCTL_RUN", "LCTL_RERUN")

#: Seconds a fork waits for what other threads hold.
_PATIENCE = 0.5
_sleep = time.sleep

#: Imports that a fork waited for in vain, as of a module that runs a program: no other fork waits for them.
_lasting: set[tuple[str, int]] = set()

#: Of a forked process: its lane in its parent's structure.
born: str | None = None
_born_next: str | None = None

#: How many forks lie between this process and the first of its line: what was made before one is the
#: parent's. Asked in every model call, where `os.getpid()` would be a call into the kernel.
forks = 0

#: Called in a forked child first: locks that another thread held stay held there for ever.
renewals: list[Callable[[], None]] = []

#: Called before a fork, behind all else, and after it in the parent: nobody is in what they shut meanwhile.
gates: list[tuple[Callable[[], None], Callable[[], None]]] = []

#: Called in a forked child last, when its sessions are its own.
followers: list[Callable[[], None]] = []

_opens: Callable[[], object] | None = None

_sessions: weakref.WeakSet[LCTLSession] = weakref.WeakSet()
_watching = False
_told: list[tuple[LCTLSession, dict[str, str]]] = []  # session, what the variables held before it


def open_by(opens: Callable[[], object] | None) -> None:
    """What opens the session that a process belongs to which the program starts, or becomes by a fork, before
    anything was recorded; None where a session is only opened by an event."""
    global _opens
    _opens = opens
    _watch_forks()


def watch(session: LCTLSession) -> None:
    """Tell `session` about forks from now on."""
    _sessions.add(session)
    _watch_forks()


def _watch_forks() -> None:
    global _watching
    if not _watching and hasattr(os, "register_at_fork"):
        _watching = True
        os.register_at_fork(before=_before_fork, after_in_child=_forked)


def parent() -> dict[str, Any] | None:
    """The session open in this process, else the chain the environment names: `{"id", "seq"}`.

    With `lane` where the process was started: what it is in the structure of its parent.
    """
    if _told:
        above = _link(_told[-1][0])
        return above if born is None else {**above, "lane": born}
    return kinship.link_of(os.environ.get(VARIABLE, "")) or None


def around(session: LCTLSession | None) -> dict[str, Any] | None:
    """As `parent`, of a session that is opened within `session`: others may be open in threads and tasks
    beside it."""
    if not _told or born is not None:
        return parent()
    if session is not None:
        return _link(session)
    return kinship.link_of(_told[0][1][VARIABLE]) or None


def _link(session: LCTLSession) -> dict[str, Any]:
    return kinship.link_to(session.store.chain, session.log_id, session.last_seq)


def announce(session: LCTLSession, path: Path | None = None) -> None:
    """Children started from now on belong to `session`, and record beside `path` if its log was given one."""
    _told.append((session, {name: os.environ.get(name, "") for name in (VARIABLE, naming.FOLDER)}))
    refresh(session)
    os.environ[naming.FOLDER] = naming.told(path)


def withdraw(session: LCTLSession) -> None:
    for n, (known, before) in enumerate(_told):
        if known is session:
            del _told[n]
            if n < len(_told):  # a session opened later still stands: it inherits what was before
                _told[n] = (_told[n][0], before)
            else:  # emptied, not taken out: another thread may be reading one variable after the other
                os.environ.update(before)
            break


def refresh(session: LCTLSession) -> None:
    """Put the newest seq into the variable."""
    os.environ[VARIABLE] = kinship.text_of(_link(session))


def _before_fork() -> None:
    global _born_next
    lane = spawning.child_process()
    with guard("what a forked process is told of its parent"):
        _open_for(lane)
    _born_next = lane.path


def _open_for(lane: Lane) -> None:
    """Open the session of a process of that lane, where it is the program that starts it."""
    if not _told and _opens is not None and lane.index:
        _opens()


def _await_locks() -> None:
    """Return when no other thread is in the middle of an import or a report of ours, or after half a second.

    A child whose parent was cut there waits for ever for the lock of that module, or of the stream.
    """
    if not _sessions:
        return
    import_module("lctl.session.redaction.search")  # any thread may need it at any moment, to say what failed
    until = monotonic() + _PATIENCE
    while guard.reporting or _imports() - _lasting:
        if monotonic() >= until:
            _lasting.update(_imports())
            return
        _sleep(0.001)


def _imports() -> set[tuple[str, int]]:
    """What other threads are importing: modules, and who does."""
    locks: dict[str, Any] = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    owners = {(name, getattr(known(), "owner", None)) for name, known in list(locks.items())}
    return {(name, owner) for name, owner in owners if owner is not None and owner != threading.get_ident()}


def _stand_still() -> None:
    _await_locks()
    for shut, _ in gates:
        shut()


def _go_on() -> None:
    for _, open in gates:
        open()


def _renew() -> None:
    global _starting
    _starting = threading.RLock()
    _starters.clear()
    for renew in renewals:
        renew()


# Before all others of ours, so that what is awaited is awaited behind them: they let other threads run. And
# whether there is a session yet or not: what the program prints passes a lock of ours without one.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_stand_still, after_in_parent=_go_on, after_in_child=_renew)


def _forked() -> None:
    global born, forks
    forks += 1
    born = _born_next
    for session in list(_sessions):
        with guard("a session in a forked process"):
            session.after_fork()
    for follow in followers:
        with guard("a forked process"):
            follow()


# -- the seq and the lane at the moment a process is started --------------------------------

_starting = threading.RLock()  # the environment is the process's: one start after the other
_starters: list[tuple[int, Lane]] = []  # threads that start a process, and their lanes


def starter() -> Lane:
    """The lane of what starts a process in this thread, whose own is current while it is started."""
    me = threading.get_ident()
    return next((lane for thread, lane in reversed(_starters) if thread == me), lanes.current())


def _start(original: Callable[..., None], self: Any, *args: Any, **kwargs: Any) -> None:
    with _starting:
        lane = lanes.current()  # where its own cannot be told
        _starters.append((threading.get_ident(), lane))
        with guard("the lane of a process"):
            lane = spawning.child_process()
        token = lanes.enter(lane)
        started = workers.starting(self, lane.path)
        try:
            with guard("what a process is told of its parent"):  # else it knows of none, or of an older seq
                _open_for(lane)
                if _told:
                    kwargs = _with_newest(_told[-1][0], lane, kwargs)
            with forkserving.telling(self):
                original(self, *args, **kwargs)
            if started is not None:
                started()
        except BaseException as error:
            step_aside(error)
            raise
        finally:
            _starters.pop()
            lanes.leave(token)
            if _told:
                refresh(_told[-1][0])


def _with_newest(session: LCTLSession, lane: Lane, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with the newest seq also in an `env` that is a copy of an older environment."""
    os.environ[VARIABLE] = kinship.text_of({**_link(session), "lane": lane.path})
    env = kwargs.get("env")
    if env is None:
        return kwargs
    newest = {VARIABLE: os.environ[VARIABLE]}
    if (
        any(name in env for name in OURS) and env.get(VARIABLE, "") == _told[-1][1][VARIABLE]
    ):  # a copy from before the session
        newest[naming.FOLDER] = os.environ[naming.FOLDER]
    elif not kinship.is_to(kinship.link_of(str(env.get(VARIABLE))), session.store.chain):
        return kwargs
    return {**kwargs, "env": {**env, **newest}}


#: What starts a process: module, class, method. A spawned multiprocessing child starts by no Popen.
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("subprocess", "Popen", "__init__", _start),
    ("multiprocessing.process", "BaseProcess", "start", _start),
)


_closing_in: set[tuple[int, Callable[[], None]]] = set()


def close_at_end_of_child(close: Callable[[], None]) -> None:
    """Call it, once, at the end of this process if that is a forked one: those leave by `os._exit`, without
    exit functions. Children of multiprocessing, of its fork server too, run these finalizers first."""
    if forks:
        hardexits.close_before(close)
    util: Any = sys.modules.get("multiprocessing.util")
    process: Any = sys.modules.get("multiprocessing.process")
    is_child = process is not None and process.parent_process() is not None
    # A spawned one runs exit functions.
    if util is None or not is_child or "--multiprocessing-fork" in sys.orig_argv:
        return
    here = (os.getpid(), close)
    if here not in _closing_in:
        _closing_in.add(here)
        util.Finalize(None, close, exitpriority=0)
