"""Virtual time for libraries that measure their own waits.

A limit in seconds, a delay before the next try, a rate or the end of a token is kept by asking a clock, and
by waiting on an event loop or in `time.sleep`. Waits take no real time in a rerun: by a clock that goes with
the world a limit of a second would not come before an hour of waiting was over, and what was good for an hour
when it was recorded is over a day later. So what is installed goes by virtual time, at the recording's
moment, and so do the dates of the program where its own reads are not on the tape. Python's own library does
not: it waits for sockets, processes and locks that are real (what of it waits on virtual time has that clock
by `VirtualTime`). Nor do the few libraries that ask for something real again and again, and sleep in between.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from types import FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from lctl.instrument import ambient
from lctl.instrument.ambient import callers, clocks, librarytime, reads, slots
from lctl.instrument.hooks import Hook, on_import
from lctl.session.ownpackages import installed_as

if TYPE_CHECKING:
    from lctl.rerun.clocks.pace import Pace

#: Packages that keep the world's clocks: event loops whose timers are real, what looks whether a file is
#: free, a process or a machine ready, and what sets or measures clocks itself.
_REAL = """
_pytest asyncssh billiard coverage curio debugpy distributed docker eventlet execnet fabric fasteners
filelock freezegun gevent hypothesis ipykernel joblib jupyter_client loky multiprocess paramiko pebble
pexpect portalocker psutil ptyprocess pydevd pyinstrument pytest ray redis_lock testcontainers time_machine
trio watchdog watchfiles xdist zmq
"""
#: Of Python's own library: the ends of cookies are dates.
_STANDARD = (os.path.join("http", "cookiejar.py"),)  # noqa: PTH118
#: Packages that compare dates with the program's own, of which the recording's reads have those of its day in
#: a fork, too.
_OF_THE_PROGRAM = frozenset(("apscheduler", "authlib", "itsdangerous", "jose", "jwt"))
#: Functions that have `time.monotonic` as a default of an argument, by module.
_DEFAULTS = {"cachetools": ("TTLCache.__init__", "TLRUCache.__init__")}

_REAL_PACKAGES = frozenset(_REAL.split())
_WORLD, _VIRTUAL, _DATED, _OWN = range(4)


class LibraryClocks:
    """The time that `lctl.instrument.ambient.clocks` give to libraries, from `install` to `uninstall`.

    Args:
        base: what `time.monotonic` says at its start, in seconds.
        wall: what the clock on the wall said at the recording's origin, in seconds.
        living: the same, as libraries are told it (see `VirtualTime`).
    """

    def __init__(self, pace: Pace, base: float, wall: float, living: float) -> None:
        self._pace = pace
        self._base = int(base * 1e9)
        self._wall = int(wall * 1e9)
        self._living = int(living * 1e9)
        self._told = self._last = 0
        self._kinds: dict[str, int] = {}
        self._undo: list[Callable[[], None]] = []
        self._hooks: list[Hook] = []
        self._defaults: list[tuple[FunctionType, tuple[Any, ...]]] = []

    def install(self) -> None:
        before = slots.count()
        clocks.install()
        self._undo = slots.taken_out(before)
        librarytime.kept = self
        self._hooks = [on_import(name, self._replace_defaults) for name in _DEFAULTS]

    def uninstall(self) -> None:
        if librarytime.kept is self:
            librarytime.kept = None
        while self._hooks:
            self._hooks.pop().remove()
        while self._defaults:
            function, before = self._defaults.pop()
            function.__defaults__ = before
        if ambient.is_installed():  # the program's reads need them still
            for undo in self._undo:
                slots.on_undo(undo)
            self._undo.clear()
        while self._undo:
            self._undo.pop()()

    # -- as `librarytime.LibraryTime` ------------------------------------------------------------

    def elapsed(self, reader: FrameType) -> int | None:
        """The program's own code that waits by nothing but asking has to wait."""
        if self._kind(reader) in (_WORLD, _OWN):
            return None
        return self._base + int(self._pace.before() * 1e6) + self._passed()

    def wall(self, reader: FrameType) -> int | None:
        """Never before what the program has read: a token is not looked at before it was made."""
        if self._kind(reader) == _OWN and reads.active():
            return None
        return self.unrecorded(reader)

    def unrecorded(self, reader: FrameType) -> int | None:
        kind = self._kind(reader)
        if kind == _WORLD:
            return None
        return max(self._told, (self._wall if kind == _DATED else self._living) + self._passed())

    def _passed(self) -> int:
        """Never less than anybody has been told: it may have gone on with the world."""
        self._last = max(self._last + 1, int(self._pace.read_waiting() * 1e6))
        return self._last

    def told(self, wall: int) -> None:
        self._told = max(self._told, wall)

    def _kind(self, reader: FrameType) -> int:
        frame = callers.library(reader)
        file = "" if frame is None else _file(frame)
        kind = self._kinds.get(file)
        if kind is None:
            kind = self._kinds[file] = _kind_of(file)
        return kind

    def _replace_defaults(self, module: ModuleType) -> None:
        """Of what was imported before: it has kept the real function."""
        for path in _DEFAULTS[module.__name__]:
            owner, _, name = path.partition(".")
            function = getattr(getattr(module, owner, None), name, None)
            before = getattr(function, "__defaults__", None)
            if isinstance(function, FunctionType) and before:
                self._defaults.append((function, before))
                function.__defaults__ = tuple(
                    time.monotonic if getattr(one, "__name__", "") == "monotonic" else one for one in before
                )


def _file(frame: FrameType) -> str:
    """Of code made from text (a dataclass's `__init__`): its module's."""
    file = frame.f_code.co_filename
    if file[:1] == "<":
        file = str(frame.f_globals.get("__file__") or file)
    return file


def _kind_of(file: str) -> int:
    if callers.is_lctl(file):
        return _WORLD
    package = installed_as(file)
    if package is None:
        if callers.kind_of(file) == callers.OWN:
            return _OWN
        return _VIRTUAL if file.endswith(_STANDARD) else _WORLD
    if package in _REAL_PACKAGES:
        return _WORLD
    return _DATED if package in _OF_THE_PROGRAM else _VIRTUAL
