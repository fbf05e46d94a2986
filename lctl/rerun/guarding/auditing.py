"""The guard: during a rerun nothing outside is touched by code that is not on the tape.

An audit hook sees every connection, process and write before it happens, whoever makes it: it is refused
with an error that names the code, and how to record that code or let it through. Python cannot take an
audit hook away; while no guard is on, it returns at once.
"""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from lctl.errors import UsageError
from lctl.guard import guard as failures
from lctl.instrument import writing
from lctl.instrument.ambient import nativestores
from lctl.rerun.callers import Caller, caller
from lctl.rerun.guarding import endings
from lctl.rerun.guarding.adopted import Adopted
from lctl.rerun.guarding.asides import Asides
from lctl.rerun.guarding.children import is_followed
from lctl.rerun.guarding.effects import (
    COMPOSED,
    EFFECTS,
    KILLS,
    Effect,
    absolute,
    is_bytecode,
    is_device,
    only_looks,
)
from lctl.rerun.guarding.filesread import OPENING, FilesRead
from lctl.rerun.guarding.libuv import libuv
from lctl.rerun.guarding.pythonsown import is_pythons_own
from lctl.rerun.guarding.retrying import Retrying
from lctl.rerun.guarding.rpc import rpcs
from lctl.rerun.settings import SCRATCH
from lctl.session.concurrency import lanes

_KINDS = ("network", "subprocess", "write")

#: Variables that name the folder of temporary files, and that of sockets by which servers are spoken to.
_FOLDERS = ("TMPDIR", "XDG_RUNTIME_DIR")

_active: Guard | None = None
_hooked = False
#: In a forked child: the folders of the processes above it, whose temporary files it may have open.
_above: list[str] = []
_lock = threading.Lock()
_local = threading.local()


class SideEffectRefused(PermissionError):
    """A rerun does not let code that is not on its tape touch the world."""

    def __init__(self, text: str) -> None:
        super().__init__(errno.EACCES, text)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.strerror,)  # from a worker of a pool

    def __str__(self) -> str:
        return str(self.strerror)


class Guard:
    """Refuses side effects between `begin` and `end`.

    Attributes:
        scratch: the folder where writing is free, and temporary files go; None where it is free everywhere.
        is_live: whether the running code is past what is recorded, and may do what it does.
        again: the tool calls that run again, as a certificate tells them.
        retrying: looks for places that are asked for again and again.
        read: the files that are opened.
        asides: what is written in the rerun's own folder in place of the world; None where that is refused.
        adopted: folders that libraries make for themselves; None where none may be made.
    """

    is_live: Callable[[], bool] | None = None
    adopted: Adopted | None = None
    asides: Asides | None = None
    again: Sequence[str] = ()
    retrying: Retrying | None = None

    def __init__(self, allow: Iterable[str] = (), scratch: Path | None = None) -> None:
        """
        Args:
            allow: `network`, `network:HOST`, `subprocess`, `subprocess:COMMAND`, `write`, `write:PATH`; a
                word of none of these kinds is a host.
            scratch: made, and removed at the end, when None.

        Raises:
            UsageError: one of `allow` has nothing after its colon.
        """
        self._allowed: dict[str, set[str]] = {kind: set() for kind in _KINDS}
        self._all: set[str] = set()
        for word in allow:
            self._allow(word)
        self._owns = scratch is None
        self.scratch = scratch
        self._folders: tuple[str, ...] = ()
        self.read = FilesRead()
        self._unheard = rpcs(), libuv()
        self._blocked: dict[str, int] = {}
        self._addresses: dict[str, set[str]] = {}
        self._before: Any = None

    @property
    def blocked(self) -> tuple[str, ...]:
        """What was refused and whose code it was, in order; with how often, if not once."""
        return tuple(
            text if count == 1 else f"{text} ({count} times)" for text, count in list(self._blocked.items())
        )

    def permit(self, host: str) -> None:
        """Let connections to a host out from now on: a request of the program goes there live."""
        self._allowed["network"].add(host)

    def begin(self) -> None:
        """Refuse from here on, in every thread of this process and in those it forks."""
        global _active, _hooked
        self._folders = tuple(absolute(path) for path in self._allowed["write"])
        if os.sep not in self._folders:  # else all of the disk is free, and temporary files may be to stay
            self._make_scratch()
        with _lock:
            _active = self
            if not _hooked:
                _hooked = True
                sys.addaudithook(_hook)
        nativestores.install()
        for each in self._unheard:
            each.begin()
        if self.asides is not None:
            self.asides.begin()

    def _make_scratch(self) -> None:
        if self.scratch is None:
            self.scratch = Path(tempfile.mkdtemp(prefix=SCRATCH))
        self.scratch.mkdir(parents=True, exist_ok=True)
        self._folders = (absolute(str(self.scratch)), *_above, *self._folders)
        self._before = tempfile.tempdir, {name: os.environ.get(name) for name in _FOLDERS}
        tempfile.tempdir = str(self.scratch)
        os.environ.update(dict.fromkeys(_FOLDERS, str(self.scratch)))
        if self.scratch.name.startswith(SCRATCH):  # what the program prints names files where they were
            writing.moved = os.sep + self.scratch.name

    def end(self) -> None:
        """Let everything happen again."""
        global _active
        with _lock:
            if _active is not self:
                return
            _active = None
        for each in self._unheard:
            each.end()
        if self.asides is not None:
            self.asides.end()
        if self.adopted is not None:
            self.adopted.remove()
        if self._before is None:
            return
        writing.moved = ""
        tempfile.tempdir, variables = self._before
        for name, value in variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if self._owns and self.scratch is not None:
            import shutil

            shutil.rmtree(self.scratch, ignore_errors=True)
            self.scratch = None

    def abandon(self) -> None:
        """In a forked child: its own guard takes over, and the folder stays its parent's."""
        self._owns, self.adopted = False, None
        if self.scratch is not None:
            _above.append(absolute(str(self.scratch)))
        self.end()

    def _allow(self, word: str) -> None:
        kind, colon, what = word.partition(":")
        if kind not in _KINDS:
            self._allowed["network"].add(word)
        elif not colon:
            self._all.add(kind)
        elif not what:
            raise UsageError(f"--allow {word}: say what after the colon, or leave it out to allow all")
        else:
            self._allowed[kind].add(what)

    def aside(self, path: str) -> str | None:
        """See `lctl.session.border.Player.aside`."""
        real = absolute(path)
        if self.scratch is None or "write" in self._all or self._is_in_folders(real):
            return None
        place = self._beside(real)
        place.mkdir(parents=True, exist_ok=True)
        return str(place)

    def divert(self, path: str, frame: FrameType) -> Path | None:
        """Where it is to be written what `frame` may not write there; None where it may."""
        if self.scratch is None or self._is_allowed(Effect("write", path, "writing")):
            return None
        if caller(frame) is None or (self.is_live is not None and self.is_live()):
            return None
        return self._beside(path)

    def _beside(self, real: str) -> Path:
        assert self.scratch is not None
        return self.scratch / "aside" / real.lstrip(os.sep).replace(":", "")

    # -- asked by the hook -------------------------------------------------------------------

    def check(self, event: str, args: tuple[Any, ...], frame: FrameType | None) -> None:
        """Raises SideEffectRefused if this event is one that may not happen."""
        if self.asides is not None and event in COMPOSED:
            return  # each step is written aside, or refused
        found = EFFECTS[event](args)
        if event in OPENING:
            self.read.note(args[0], frame)
        if found is None:
            if event in KILLS and (self.is_live is None or not self.is_live()):
                endings.await_child(*args[:2])
            return
        for effect in found if isinstance(found, list) else (found,):
            if self._is_allowed(effect):
                continue
            by = caller(frame)
            if by is None or is_pythons_own(effect, by) or is_followed(event, args, by):
                continue
            if only_looks(effect) and by.package is not None:
                continue  # a library asks for the version of the program, of the machine, of another library
            if self.adopted is not None and self.adopted.take(effect, by):
                continue
            if self.is_live is None or not self.is_live():
                raise self._refusal(effect, by)

    def _is_allowed(self, effect: Effect) -> bool:
        if effect.kind in self._all:
            return True
        if effect.kind == "write":
            path = effect.target
            if self.adopted is not None and self.adopted.holds(path):
                return True
            return is_bytecode(path) or is_device(path) or self._is_in_folders(path)
        if effect.kind == "network":
            return effect.target in self._allowed["network"] or self._is_address(effect.target)
        command = effect.target.split(" ")[0]
        return bool({effect.target, command, Path(command).name} & self._allowed["subprocess"])

    def allows_command(self, line: str) -> bool:
        """Whether that command may be started."""
        return self._is_allowed(Effect("subprocess", line, "starting"))

    def _is_in_folders(self, path: str) -> bool:
        folders = ((folder, folder.rstrip(os.sep) + os.sep) for folder in self._folders)
        return any(path == folder or path.startswith(beneath) for folder, beneath in folders)

    def _is_address(self, address: str) -> bool:
        """Whether an allowed host has this address."""
        for host in list(self._allowed["network"]):
            if host not in self._addresses:
                self._addresses[host] = _addresses_of(host)
            if address in self._addresses[host]:
                return True
        return False

    def _refusal(self, effect: Effect, by: Caller) -> BaseException:
        if self.retrying is not None and effect.told.startswith("connecting to"):
            end = self.retrying.refused(effect.told.removeprefix("connecting to "), effect.target)
            if end is not None:
                return end
        text = f"{effect.told}, by {by.place}"
        if not lanes.is_telling():  # what tools of observability do for themselves is no part of the program
            with _lock:
                self._blocked[text] = self._blocked.get(text, 0) + 1
        what = effect.target if effect.kind != "subprocess" else effect.target.split(" ")[0]
        how = f"@lctl.tool, or lctl run --tool {by.function}" if by.function else "a function with @lctl.tool"
        tool = lanes.current().tool
        why = next((told for told in reversed(self.again) if f": {tool}: " in told), None)
        if why is None:
            text = f"{by.place} is not on the tape. Record it as a tool ({how}) and its result is served"
        else:
            text = (
                f"{by.place} runs again ({why}). Give a result that can be kept, or say how its type is kept "
                "(lctl.faithful.register), and it is served"
            )
        beside = ", or have it written beside, in a folder of the rerun's own, with --writes aside"
        beside = beside if effect.kind == "write" and self.asides is None else ""
        return SideEffectRefused(
            f"{effect.told} is refused: this is a rerun, and {text} instead; or let it happen with "
            f"--allow {effect.kind}:{what}{beside}"
        )


def _hook(event: str, args: tuple[Any, ...]) -> None:
    guard = _active
    if guard is None or event not in EFFECTS or getattr(_local, "busy", False):
        return
    _local.busy = True
    try:
        guard.check(event, args, _frame())
    except SideEffectRefused:
        raise
    except Exception as error:
        failures.failed("a side effect of a rerun", error)
    finally:
        _local.busy = False


def _frame() -> FrameType | None:
    """Where the event comes from; None of the interpreter itself, before it runs the program."""
    try:
        return sys._getframe(2)
    except ValueError:
        return None


def _addresses_of(host: str) -> set[str]:
    import socket

    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(host, None)}
    except OSError:
        return set()


def active() -> Guard | None:
    """The guard that is on."""
    return _active


__all__: Sequence[str] = ("Guard", "SideEffectRefused", "active")
