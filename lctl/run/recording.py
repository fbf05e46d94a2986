"""Turning recording on in a process that `lctl run` started, or that such a process started."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from lctl.run.environment import Recording
    from lctl.session import LCTLSession


def begin() -> None:
    """Instrument this process as its environment says; its log is opened at its first event."""
    from lctl.session.concurrency import forkserving

    if _is_helper():
        return  # it runs nothing of the program, and may outlive it
    if _is_inner_interpreter():
        return  # the streams and the log are the process's, and SDKs do not load in it
    if forkserving.is_server():
        forkserving.begin_in_children(_begin_child)
    else:
        _begin()


def _is_helper() -> bool:
    """Whether this is a process of Python's own, or one of Ray's that is no worker (it logs, it counts)."""
    if any("multiprocessing.resource_tracker import main" in word for word in sys.orig_argv):
        return True
    script = next((word for word in sys.orig_argv[1:] if word.endswith(".py")), "").replace("\\", "/")
    return "-packages/ray/" in script and not script.endswith("_worker.py")


def _begin_child() -> None:
    """As Python begins any other process, in which nobody would catch what goes wrong (see `bootstrap`)."""
    try:
        _begin()
    except Exception as error:
        is_rerun = bool(os.environ.get("LCTL_RERUN"))
        what = "started, as its tape cannot be served" if is_rerun else "recorded"
        sys.stderr.write(f"lctl: this process is not {what} ({type(error).__name__}: {error})\n")
        sys.stderr.flush()
        if is_rerun:
            os._exit(3)


def _begin() -> None:
    if os.environ.get("LCTL_RERUN"):
        from lctl.rerun import bootstrap

        bootstrap.begin()
        return
    of_test = os.environ.get("LCTL_CASSETTE")
    if of_test:
        from lctl.rerun.guarding import outsiders

        outsiders.begin(of_test)
        return
    from lctl.instrument import auto_instrument
    from lctl.instrument.settings import is_disabled
    from lctl.run.environment import RUN, recording_here
    from lctl.session import default, ownpackages

    recording = recording_here()
    if recording is None or is_disabled():  # a process that the program starts with recording turned off
        return
    ownpackages.begin()

    def opened() -> LCTLSession:
        return _open(recording)

    default.opener = opened
    if recording.tools:
        from lctl.instrument import wrapat

        wrapat.wrap_all(recording.tools)
    auto_instrument(record="model" if recording.record == "model" else "full")
    if os.environ[RUN] == str(os.getpid()):  # the program itself and not one it started
        import atexit
        import time

        atexit.register(_say_what_was_recorded, time.time())


def _is_inner_interpreter() -> bool:
    """Whether this is not the process's first interpreter."""
    from importlib import import_module

    for name in ("_interpreters", "_xxsubinterpreters"):  # as of Python 3.13, and before
        try:
            interpreters = import_module(name)
        except ImportError:
            continue
        return bool(interpreters.get_current() != interpreters.get_main())
    return False


def _open(recording: Recording) -> LCTLSession:
    """The session. The output path is for the first process that records, the name not for its children."""
    from lctl.run import environment
    from lctl.session import LCTLSession, naming
    from lctl.session.concurrency import processes

    is_program = os.environ.get(environment.RUN) == str(os.getpid())
    name = recording.name if is_program or processes.parent() is None else None
    path = recording.path if _claimed(recording.path) else None
    if path is None and recording.path is not None:  # of the same shell, say, as the process that has it
        naming.stay_beside(recording.path)
    for variable in (environment.NAME, environment.PATH):
        if variable in os.environ:
            os.environ[variable] = ""  # not taken out: another thread may be reading one after the other
    return LCTLSession(
        name,
        path,
        durability=recording.durability or "process",  # type: ignore[arg-type]  # checked by the command line
        redact=recording.redact,
    )


def _claimed(path: Path | None) -> bool:
    """Whether the output file is ours."""
    from lctl.session import naming

    return path is not None and naming.claim(path)


def _say_what_was_recorded(begun: float) -> None:
    """That nothing was recorded; or where the program's own logs are."""
    from lctl.notices import tell
    from lctl.session import default, ending

    if ending.any_opened() or default.has_failed() or os.environ.get("LCTL_QUIET") == "1":
        default.say_own()
        return
    if _has_log_since(begun):
        return  # of a process that it forked, as servers do, which has said so
    tell("lctl: nothing was recorded: no model call was seen ('lctl doctor' shows what would be)\n")


def _has_log_since(begun: float) -> bool:
    from lctl.session import naming

    try:
        with os.scandir(naming.recording_folder()) as found:
            logs = [entry for entry in found if entry.name.endswith(naming.SUFFIX)]
            return any(entry.stat().st_mtime >= begun - 0.05 for entry in logs)  # kernels' ticks are coarse
    except OSError:
        return False
