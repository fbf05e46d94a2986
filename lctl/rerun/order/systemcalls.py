"""What a thread waits for in the system, as Linux tells of it (`/proc/self/task/.../syscall`): the call's
number, and its arguments in hexadecimal."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

_FILES = "/proc/self/fd"
_MACHINE = os.uname().machine if hasattr(os, "uname") else ""
#: Numbers of the calls in which threads wait for one another; None where they are not known.
FUTEX = {"x86_64": b"202", "aarch64": b"98"}.get(_MACHINE)
#: And of those for what comes through one file, or one of several.
_READ = {"x86_64": b"0", "aarch64": b"63"}.get(_MACHINE)
_POLLS = {"x86_64": (b"7", b"271"), "aarch64": (b"73",)}.get(_MACHINE, ())
#: Of the operation of a futex: no other process waits there, or wakes.
_PRIVATE = 128
#: One of several files: its number, and what is waited for of it.
_POLLED = struct.Struct("=ihh")
_MOST = 16


def is_lock(call: list[bytes], shared: bool) -> bool:
    """Whether it waits in a lock, without a limit of time. `shared`: also of several processes."""
    if len(call) < 5 or call[0] != FUTEX:
        return False
    return (shared or bool(int(call[2], 16) & _PRIVATE)) and not int(call[4], 16)


def is_own_pipe(call: list[bytes]) -> bool:
    """Whether it waits for what comes through a pipe of which this process has the other end, too."""
    return len(call) > 1 and call[0] == _READ and _is_own_pipe(int(call[1], 16))


def is_within(call: list[bytes], alone: bool) -> bool:
    """Whether it waits for what this process does, or for a change of files that it watches (watchdog's
    threads): in a rerun nobody edits them.

    Args:
        alone: no other process has what this one has of pipes.
    """
    if alone and is_own_pipe(call):
        return True
    files = list(_polled(call))
    watched = [file for file in files if _name(file) == "anon_inode:inotify"]
    return bool(watched) and all(file in watched or (alone and _is_own_pipe(file)) for file in files)


def _polled(call: list[bytes]) -> Iterator[int]:
    """The files that it waits for, one of several. Nothing where that cannot be told."""
    if len(call) < 3 or call[0] not in _POLLS or not 0 < int(call[2], 16) <= _MOST:
        return
    try:
        memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        told = os.pread(memory, int(call[2], 16) * _POLLED.size, int(call[1], 16))
    except (OSError, OverflowError):
        return  # it has gone on, and its memory with it
    finally:
        os.close(memory)
    if len(told) == int(call[2], 16) * _POLLED.size:
        yield from (number for number, _, _ in _POLLED.iter_unpack(told))


def _is_own_pipe(file: int) -> bool:
    try:
        pipe = _name(file)
        return pipe.startswith("pipe:") and any(_writes(name, pipe) for name in os.listdir(_FILES))  # noqa: PTH208
    except OSError:
        return False


def _name(file: int) -> str:
    try:
        return os.readlink(f"{_FILES}/{file}")  # noqa: PTH115
    except OSError:
        return ""


def _writes(name: str, pipe: str) -> bool:
    import fcntl  # Linux has it

    try:
        is_it = os.readlink(f"{_FILES}/{name}") == pipe  # noqa: PTH115
        return is_it and fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    except OSError:
        return False
