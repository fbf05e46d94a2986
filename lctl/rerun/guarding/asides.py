"""What a rerun's program writes, in a folder of the rerun's own: the world stays as it is, and the program
finds there what it has written.

Only where it is asked for (`--writes aside`), and of what the guard would refuse. Links, and what commands and
extensions in C write (but for what `nativestores` knows) are refused as ever. Of processes each has its own.
"""

from __future__ import annotations

import builtins
import io
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from types import FrameType
from typing import Any

from lctl.instrument.ambient import nativestores, reads
from lctl.instrument.ambient.folders import Entries, Renamed
from lctl.rerun.clocks import standins
from lctl.rerun.guarding.effects import absolute
from lctl.rerun.guarding.givenpaths import like, look_for, told_as_given
from lctl.rerun.guarding.writtenscripts import words_for

Function = Callable[..., Any]
#: Says where a path is to be written instead, for the code in a frame; None: it is no path that is refused.
Divert = Callable[[str, FrameType], Path | None]

_WRITING = frozenset("wax+")
_KEEPING = frozenset("ar")  # modes that go on with what is there
_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Functions of `os` whose first argument is a path that is looked at, changed, or taken away.
_LOOKING = ("access", "lstat", "readlink", "stat")
_CHANGING = ("chmod", "truncate", "utime")
_REMOVING = ("remove", "rmdir", "unlink")


class Asides:
    """Of one rerun."""

    def __init__(self, divert: Divert) -> None:
        self._divert = divert
        self._places: dict[str, Path] = {}  # where nothing is any more, it was removed
        self._anew: set[str] = set()  # folders in whose place is an empty one
        self._stores: set[str] = set()  # of libraries that write past Python
        self._leave: list[Callable[[], None]] = []
        self._asking = threading.local()

    @property
    def written(self) -> tuple[str, ...]:
        """The files that are there, by the names that the program gave them."""
        places = self._places.items()
        return tuple(real for real, place in places if place.is_file() or real in self._stores)

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
        original, ours = shutil.rmtree, self._emptying(shutil.rmtree)
        vars(ours).update(vars(original))
        vars(shutil)["rmtree"] = ours

        def leave() -> None:
            if shutil.rmtree is ours:
                vars(shutil)["rmtree"] = original

        self._leave.append(leave)

    def of_database(self, path: str, content: bytes | None, frame: FrameType, *, is_new: bool) -> str | None:
        """Where `frame` opens a database in the place of that; None of one that it may open.

        Args:
            content: what it is just now, at first; None: what it is here, or nothing if it `is_new`.
        """
        with self._within():
            real = absolute(path)
            if real not in self._places:
                place = self._divert(real, frame)
                if place is None:
                    return None
                place.parent.mkdir(parents=True, exist_ok=True)
                if os.path.isfile(real):  # noqa: PTH113
                    shutil.copy2(real, place)
                self._places[real] = place
            place = Path(self._places[real])
            if content is not None:  # whatever has made the file before (`dbm` touches it)
                place.write_bytes(content)
            elif is_new:
                place.unlink(missing_ok=True)
            return str(place)

    def of_store(
        self, path: str, content: bytes | None, frame: FrameType, *, is_new: bool, writes: bool
    ) -> str | None:
        """As `of_database`, of what a library reads and writes past Python.

        Args:
            content: an archive of what it is just now, at first; None: as of `of_database`.
        """
        with self._within():
            real = absolute(path)
            is_as_now = real not in self._places and content is None and not is_new
            if is_as_now and not writes:
                return None
            place = Path(self._places[real]) if real in self._places else self._divert(real, frame)
            if place is None:
                return None
            if real not in self._places:
                place.parent.mkdir(parents=True, exist_ok=True)
                if content is not None:
                    nativestores.unpack(content, place.parent)
                elif not is_new:
                    nativestores.copy(real, place)
                self._places[real] = place
                self._anew.add(real)
            if writes:
                self._stores.add(real)
            return str(place)

    def of_folder(self, path: str, frame: FrameType) -> bool:
        """Have `frame` make a folder where it was told that none is, though one is now; whether it has."""
        with self._within():
            real = absolute(path)
            place = None if real in self._places else self._divert(real, frame)
            if place is None:
                return False
            place.mkdir(parents=True, exist_ok=True)
            self._places[real] = place
            self._anew.add(real)
            return True

    def _starting(self, original: Function) -> Function:
        """Of `subprocess`: a Python runs what was written, not what lies there."""

        def _execute_child(process: Any, *given: Any) -> Any:
            args, executable, preexec_fn, close_fds, pass_fds, cwd, *rest = given
            if executable is None or executable == args:
                args = words_for(args, cwd, self._places.get)
            return original(process, args, executable, preexec_fn, close_fds, pass_fds, cwd, *rest)

        return _execute_child

    # -- where things are ----------------------------------------------------------------------

    @contextmanager
    def _within(self) -> Iterator[bool]:
        """While it is asked where something is, paths are what they are. Whether it is not asked already."""
        if getattr(self._asking, "now", False):
            yield False
            return
        self._asking.now = True
        try:
            with reads.aside():
                yield True
        finally:
            self._asking.now = False

    def _there(self, path: Any) -> Any:
        """Where that is now."""
        if not self._places or not isinstance(path, str | bytes | os.PathLike):
            return path
        with self._within() as is_first:
            if not is_first:
                return path
            real = absolute(os.fsdecode(path))
            place = self._places.get(real) or self._in_anew(real)
            return path if place is None else like(place, path)

    def _in_anew(self, real: str) -> Path | None:
        """Where that is now, in a folder that was made anew: nothing of what the real one holds is there."""
        for folder in self._anew:
            if real.startswith(folder + os.sep):
                return self._places[folder] / real[len(folder) + 1 :]
        return None

    def _to_write(self, path: Any, keeps: bool = False) -> Any:
        """Where that is to be written. `keeps`: on top of what is there."""
        if not isinstance(path, str | bytes | os.PathLike):
            return path
        with self._within() as is_first:
            return self._place_of(path, keeps, sys._getframe()) if is_first else path

    def _place_of(self, path: Any, keeps: bool, frame: FrameType) -> Any:
        real = absolute(os.fsdecode(path))
        place = self._divert(real, frame)
        if place is None and keeps:
            place = self._places.get(real)  # behind a fork's event, on top of what was written before
        if place is None:
            self._places.pop(real, None)
            return path
        if real not in self._places:
            folder = os.path.dirname(real)  # noqa: PTH120
            if not self._is_folder(folder):
                return like(place / "nothing", path)  # there is no such folder, as the system says
            place.parent.mkdir(parents=True, exist_ok=True)
            if keeps and os.path.isfile(real) and self._in_anew(real) is None:  # noqa: PTH113
                shutil.copy2(real, place)
            self._places[real] = place
        return like(place, path)

    def _is_folder(self, real: str) -> bool:
        """Whether there is one now, for the program."""
        place = self._places.get(real) or self._in_anew(real)
        return place.is_dir() if place is not None else os.path.isdir(real)  # noqa: PTH112

    # -- what stands in the place of the system's ----------------------------------------------

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

    def _beside(self, path: Any) -> dict[str, bool]:
        """The names in that folder that were written aside, and whether they are there."""
        if isinstance(path, int) or not self._places:
            return {}
        with self._within():
            folder = absolute(os.fsdecode(path))
            return {
                os.path.basename(real): os.path.lexists(place)  # noqa: PTH119
                for real, place in self._places.items()
                if os.path.dirname(real) == folder  # noqa: PTH120
            }

    def _folders(self, path: Any) -> list[Any]:
        """Those that make up that one, in some of which things were written aside; the later one counts."""
        with self._within():
            real = absolute(os.fsdecode(path))
            folders = (real, self._divert_of(real))[real in self._anew :]
            return [like(folder, path) for folder in folders if os.path.isdir(folder)]  # noqa: PTH112

    def _divert_of(self, real: str) -> str:
        """The folder in which is what was written aside in that one."""
        return next(
            os.path.dirname(place)  # noqa: PTH120
            for beside, place in self._places.items()
            if os.path.dirname(beside) == real  # noqa: PTH120
        )

    def _renaming(self, original: Function) -> Function:
        def rename(src: Any, dst: Any, *args: Any, **kwargs: Any) -> None:
            if kwargs:
                original(src, dst, *args, **kwargs)
                return
            look_for(src, dst)
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

    def _emptied(self, path: str, frame: FrameType) -> Any:
        """What is to be removed in the place of that; None: nothing is left to do."""
        with self._within() as is_first:
            real = absolute(path)
            place = self._divert(real, frame) if is_first and not os.path.islink(real) else None  # noqa: PTH114
            if place is None or os.path.isfile(self._now(real)):  # noqa: PTH113
                return path
            if not os.path.lexists(self._now(real)):
                return place  # as little is there
            for beneath in [beside for beside in self._places if beside.startswith(real + os.sep)]:
                del self._places[beneath]
            is_aside = place.exists()
            place.parent.mkdir(parents=True, exist_ok=True)
            self._places[real] = place
            self._anew.add(real)
            return place if is_aside else None

    def _now(self, real: str) -> str:
        return str(self._places.get(real) or self._in_anew(real) or real)

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
