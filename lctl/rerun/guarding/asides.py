"""What a rerun's program writes, in a folder of the rerun's own: the world stays as it is, and the program
finds there what it has written.

Only where it is asked for (`--writes aside`), and of what the guard would refuse. Links, and what commands
and extensions in C write (but for what `nativestores` knows) are refused as ever. Of processes each has its
own.
"""

from __future__ import annotations

import builtins
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from inspect import signature
from typing import Any

from lctl.instrument.ambient.folders import Entries, Renamed
from lctl.rerun.clocks import standins
from lctl.rerun.guarding.asideplaces import AsidePlaces, Divert
from lctl.rerun.guarding.givenpaths import look_for, told_as_given
from lctl.rerun.guarding.writtenscripts import words_for

Function = Callable[..., Any]
_WRITING = frozenset("wax+")
_KEEPING = frozenset("ar")  # modes that go on with what is there
_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Functions of `os` whose first argument is a path that is looked at, changed, or taken away.
_LOOKING = tuple(name for name in ("access", "lstat", "readlink", "stat", "statvfs") if hasattr(os, name))
_CHANGING = ("chmod", "truncate", "utime")
_REMOVING = ("remove", "rmdir", "unlink")


class Asides(AsidePlaces):
    """Of one rerun: what stands in the place of the system's functions."""

    def __init__(self, divert: Divert) -> None:
        super().__init__(divert)
        self._leave: list[Callable[[], None]] = []

    def begin(self) -> None:
        for owner in (io, builtins):
            self._put(owner, "open", self._opening)
        self._put(os, "open", self._opening_low)
        self._put(os, "mkdir", self._making)
        self._put(os, "listdir", self._listing)
        self._put(os, "scandir", self._scanning)
        for name in ("rename", "replace"):
            self._put(os, name, self._renaming)
        for names, make in (
            (_LOOKING, self._looking),
            (_CHANGING, self._changing),
            (_REMOVING, self._removing),
        ):
            for name in names:
                self._put(os, name, make)
        self._put_emptying()
        told = signature(vars(subprocess.Popen)["_execute_child"])
        self._put(subprocess.Popen, "_execute_child", self._starting)
        vars(subprocess.Popen)["_execute_child"].__signature__ = told  # recording goes by it, on top of this

    def end(self) -> None:
        for leave in reversed(self._leave):
            leave()
        self._leave.clear()

    def _put(self, owner: Any, name: str, make: Callable[[Function], Function]) -> None:
        original = getattr(owner, name)
        self._leave.append(standins.put(owner, name, make))
        for able in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
            if original in able:
                able.add(getattr(owner, name))

    def _put_emptying(self) -> None:
        """Not by `standins`: programs ask the function for an attribute of its."""
        module: Any = shutil
        original, ours = module.rmtree, self._emptying(module.rmtree)
        vars(ours).update(vars(original))
        module.rmtree = ours

        def leave() -> None:
            if module.rmtree is ours:
                module.rmtree = original

        self._leave.append(leave)

    def _starting(self, original: Function) -> Function:
        """Of `subprocess`: a Python runs what was written, not what lies there."""

        def _execute_child(process: Any, *given: Any) -> Any:
            args, executable, preexec_fn, close_fds, pass_fds, cwd, *rest = given
            if executable is None or executable == args:
                args = words_for(args, cwd, self._places.get)
            return original(process, args, executable, preexec_fn, close_fds, pass_fds, cwd, *rest)

        return _execute_child

    def _opening(self, original: Function) -> Function:
        def open(file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
            if kwargs.get("opener") is not None or not isinstance(mode, str):
                return original(file, mode, *args, **kwargs)
            if _WRITING.isdisjoint(mode):
                return original(self._there(file), mode, *args, **kwargs)
            place = self._to_write(file, not _KEEPING.isdisjoint(mode))
            with told_as_given((place, file)):
                return original(place, mode, *args, **kwargs)

        return open

    def _opening_low(self, original: Function) -> Function:
        def open(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
            place = path
            if kwargs.get("dir_fd") is None:
                place = self._to_write(path, keeps=True) if flags & _FLAGS else self._there(path)
            with told_as_given((place, path)):
                return original(place, flags, *args, **kwargs)  # type: ignore[no-any-return]

        return open

    def _making(self, original: Function) -> Function:
        def mkdir(path: Any, *args: Any, **kwargs: Any) -> None:
            is_there = kwargs.get("dir_fd") is not None or os.path.lexists(path)
            place = self._there(path) if is_there else self._to_write(path)
            with told_as_given((place, path)):
                original(place, *args, **kwargs)

        return mkdir

    def _listing(self, original: Function) -> Function:
        def listdir(path: Any = None) -> list[Any]:
            path = "." if path is None else path
            beside = self._beside(path)
            if not beside:
                return original(self._there(path))  # type: ignore[no-any-return]
            names: dict[Any, None] = {}
            for folder in self._folders(path):
                names |= dict.fromkeys(original(folder))
            return [name for name in names if beside.get(os.fsdecode(name), True)]

        return listdir

    def _scanning(self, original: Function) -> Function:
        def scandir(path: Any = None) -> Any:
            path = "." if path is None else path
            beside = self._beside(path)
            if not beside:
                return original(self._there(path))
            entries: dict[str, Any] = {}
            for folder in self._folders(path):
                with original(folder) as found:
                    entries |= {os.fsdecode(entry.name): Renamed(path, entry) for entry in found}
            return Entries([entry for name, entry in entries.items() if beside.get(name, True)])

        return scandir

    def _renaming(self, original: Function) -> Function:
        def rename(src: Any, dst: Any, *args: Any, **kwargs: Any) -> None:
            if kwargs:
                original(src, dst, *args, **kwargs)
                return
            look_for(src, dst)
            if self._is_folder_of_world(src):  # nothing of it is aside: the guard says so
                original(src, dst)
                return
            source = self._to_write(src, keeps=True)
            place = dst if source is src else self._to_write(dst)
            with told_as_given((source, src), (place, dst)):
                original(source, place)

        return rename

    def _looking(self, original: Function) -> Function:
        def look(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
            place = path if kwargs.get("dir_fd") is not None else self._there(path)
            with told_as_given((place, path)):
                return original(place, *args, **kwargs)

        return look

    def _changing(self, original: Function) -> Function:
        def change(path: Any, *args: Any, **kwargs: Any) -> Any:
            place = path if kwargs.get("dir_fd") is not None else self._to_write(path, keeps=True)
            with told_as_given((place, path)):
                return original(place, *args, **kwargs)

        return change

    def _emptying(self, original: Function) -> Function:
        """Of `shutil`: nothing is in the place of a whole folder, whatever is there."""

        def rmtree(path: Any, *args: Any, **kwargs: Any) -> None:
            place = path
            if isinstance(path, str | bytes | os.PathLike) and kwargs.get("dir_fd") is None:
                place = self._emptied(os.fsdecode(path), sys._getframe(1))
            if place is not None:
                with told_as_given((place, path)):
                    original(place, *args, **kwargs)

        return rmtree

    def _removing(self, original: Function) -> Function:
        def remove(path: Any, *args: Any, **kwargs: Any) -> None:
            place = path
            if kwargs.get("dir_fd") is None:
                place = self._there(path)
                with self._within():
                    is_folder = os.path.isdir(place)  # noqa: PTH112
                place = place if is_folder else self._to_write(path, keeps=True)
            with told_as_given((place, path)):
                original(place, *args, **kwargs)

        return remove
