"""Child processes record chains of their own, linked to their parent's.

A started process learns its parent from `LCTL_PARENT=<chain id>:<seq>`. A forked one inherits the
sessions themselves: each lets go of its parent's file and opens its own at its first event.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession

VARIABLE = "LCTL_PARENT"

#: Called in a forked child first: locks that another thread held stay held there for ever.
renewals: list[Callable[[], None]] = []

_sessions: weakref.WeakSet[LCTLSession] = weakref.WeakSet()
_watching = False
_told: list[tuple[LCTLSession, str | None]] = []  # session, what the variable held before it


def watch(session: LCTLSession) -> None:
    """Tell `session` about forks from now on."""
    global _watching
    _sessions.add(session)
    if not _watching and hasattr(os, "register_at_fork"):
        _watching = True
        os.register_at_fork(after_in_child=_forked)


def parent() -> dict[str, Any] | None:
    """The session open in this process, else the chain the environment names: `{"id", "seq"}`."""
    if _told:
        return {"id": _told[-1][0].chain_id, "seq": _told[-1][0].last_seq}
    chain, colon, seq = os.environ.get(VARIABLE, "").rpartition(":")
    if not colon or not chain or not seq.isdigit():
        return None
    return {"id": chain, "seq": int(seq)}


def announce(session: LCTLSession) -> None:
    """Children started from now on belong to `session`."""
    _told.append((session, os.environ.get(VARIABLE)))
    refresh(session)
    _wrap_starts()


def withdraw(session: LCTLSession) -> None:
    for n, (known, before) in enumerate(_told):
        if known is session:
            del _told[n]
            if n < len(_told):  # a session opened later still stands: it inherits what was before
                _told[n] = (_told[n][0], before)
            elif before is None:
                os.environ.pop(VARIABLE, None)
            else:
                os.environ[VARIABLE] = before
            break
    if not _told:
        _unwrap_starts()


def refresh(session: LCTLSession) -> None:
    """Put the newest seq into the variable."""
    os.environ[VARIABLE] = f"{session.chain_id}:{session.last_seq}"


def _forked() -> None:
    for renew in renewals:
        renew()
    for session in list(_sessions):
        session.after_fork()


# -- the seq at the moment a process is started ---------------------------------------------

#: What starts a process: (module, class, method). A spawned multiprocessing child starts by no Popen.
_STARTS = (("subprocess", "Popen", "__init__"), ("multiprocessing.process", "BaseProcess", "start"))
_wrapped: list[tuple[Any, str, Any, Any]] = []  # class, method, what it was, what we put there


def _wrap_starts() -> None:
    for module, name, method in _STARTS:
        owner = getattr(sys.modules.get(module), name, None)
        if owner is None or any(owner is known for known, *_ in _wrapped):
            continue
        original = getattr(owner, method)
        ours = _telling(original)
        setattr(owner, method, ours)
        _wrapped.append((owner, method, original, ours))


def _telling(original: Callable[..., None]) -> Callable[..., None]:
    from functools import wraps

    @wraps(original)
    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            if _told:
                kwargs = _with_newest(_told[-1][0], kwargs)
        except Exception:
            pass  # the link is then to an older seq of the same chain
        original(self, *args, **kwargs)

    return start


def _with_newest(session: LCTLSession, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with the newest seq also in an `env` that is a copy of an older environment."""
    refresh(session)
    env = kwargs.get("env")
    if env is not None and str(env.get(VARIABLE)).rpartition(":")[0] == session.chain_id:
        kwargs = {**kwargs, "env": {**env, VARIABLE: os.environ[VARIABLE]}}
    return kwargs


def _unwrap_starts() -> None:
    while _wrapped:
        owner, method, original, ours = _wrapped.pop()
        if getattr(owner, method) is ours:
            setattr(owner, method, original)


def close_at_end_of_child(session: LCTLSession) -> None:
    """Forked multiprocessing children leave by `os._exit`; they run these finalizers first."""
    util: Any = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(session, session.close, exitpriority=0)
