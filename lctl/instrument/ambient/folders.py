"""What the program's own code finds in folders, and in which order: a rerun finds the same there.

In which order a system names them is its own affair, and another one on another machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FrameType, ModuleType
from typing import Any, Self

from lctl.instrument.ambient import filelooks, filereaders, filewrites, reads, slots
from lctl.instrument.ambient.filelooks import OTHER
from lctl.instrument.ambient.filereaders import UNKNOWN
from lctl.session import border, jsonable
from lctl.session.sources import LISTING

#: Names in a folder up to which they are kept, and in all of one process.
_MOST, _MOST_IN_ALL = 2_000, 50_000

_OURS = (".lctl/", ".lctl.json", ".lctl.json.lock")

_kept = 0
#: In a rerun: those that are there, and of which the program was told that nothing was; and what of them, and
#: in them, it has made since.
_absent: set[str] = set()
_made: set[str] = set()
_player: Any = None


def install() -> None:
    scandir = os.scandir
    filereaders.replace_of_system("listdir", lambda original: _listing(original, scandir))
    filereaders.replace_of_system("scandir", _scanning)
    filereaders.replace_of_system("mkdir", _making)
    from lctl.instrument.hooks import on_import

    slots.on_undo(on_import("glob", _globbing).remove)


def _globbing(module: ModuleType) -> None:
    """In Python 3.13 `pathlib` keeps the system's own."""
    globber = getattr(module, "_StringGlobber", None)
    found = None if globber is None else vars(globber).get("scandir")
    if reads.active() and type(getattr(found, "__func__", None)) is BuiltinFunctionType:
        slots.replace(globber, "scandir", staticmethod(os.scandir))


def _listing(original: Any, scandir: Callable[..., Any]) -> Callable[..., Any]:
    def listdir(_: Any, path: Any = None) -> list[Any]:
        try:
            given = "." if path is None else path
            names = _names(given, scandir, sys._getframe().f_back)
            if names is UNKNOWN:
                return original(path)  # type: ignore[no-any-return]
            plain = [name.removesuffix("/") for name in names]
            return [os.fsencode(name) for name in plain] if isinstance(given, bytes) else plain
        except BaseException as error:
            error.__traceback__ = filereaders.below(error.__traceback__)
            raise

    return listdir


def _scanning(original: Any) -> Callable[..., Any]:
    def scandir(_: Any, path: Any = None) -> Any:
        try:
            given = "." if path is None else path
            names = _names(given, original, sys._getframe().f_back)
            return original(path) if names is UNKNOWN else Entries(_entries(given, names, original))
        except BaseException as error:
            error.__traceback__ = filereaders.below(error.__traceback__)
            raise

    return scandir


def note_absent(path: str) -> None:
    """The program is told that nothing is at that path, where a folder is."""
    global _player
    if _player is not border.player():  # what another rerun in this process was told is over
        _player = border.player()
        _absent.clear()
        _made.clear()
    _absent.add(os.path.abspath(path))  # noqa: PTH100


def _making(original: Any) -> Callable[..., Any]:
    def make(path: Any, mode: int, dir_fd: int | None) -> None:
        is_known = dir_fd is None and _absent and _player is border.player()
        if not (is_known and _is_made_anew(path)):
            original(path, mode, dir_fd=dir_fd)

    def mkdir(_: Any, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        try:
            frame = None if dir_fd is not None else filereaders.own(sys._getframe().f_back, path, makes=True)
            if frame is None:
                make(path, mode, dir_fd)
            else:
                filewrites.made(path, frame, lambda: make(path, mode, None))
        except BaseException as error:
            error.__traceback__ = filereaders.below(error.__traceback__)
            raise

    return mkdir


def _is_made_anew(path: Any) -> bool:
    place = os.path.abspath(os.fsdecode(path))  # noqa: PTH100
    if place in _made or not os.path.isdir(place):  # noqa: PTH112
        return False
    if not any(place == folder or place.startswith(folder + os.sep) for folder in _absent):
        return False
    _made.add(place)
    return True


def _names(given: Any, scandir: Callable[..., Any], caller: FrameType | None) -> Any:
    """What the program is to find there: names, those of folders with a slash; UNKNOWN of what is there."""
    frame = filereaders.own(caller, given)
    path = None if frame is None else filereaders.path_of(given)
    if frame is None or path is None:
        return UNKNOWN
    told = filereaders.looked(LISTING, filelooks.key_of(path), frame, lambda: _told(path, scandir))
    if border.player() is None or not isinstance(told, list) or not all(isinstance(one, str) for one in told):
        return UNKNOWN
    now = _found(path, scandir)
    if now is None or _programs(now) != _programs(told):
        filereaders.told_as_recorded(path)
    return UNKNOWN if now == told else told


def _told(path: str, scandir: Callable[..., Any]) -> Any:
    global _kept
    found = _found(path, scandir)
    if found is None or len(found) > _MOST or _kept + len(found) > _MOST_IN_ALL:
        return OTHER
    if any(jsonable.text(name) is not name for name in found):
        return OTHER  # names that are no text could not be given again
    _kept += len(found)
    return found


def _found(path: str, scandir: Callable[..., Any]) -> list[str] | None:
    try:
        with scandir(path) as entries:
            return [entry.name + "/" * entry.is_dir() for entry in entries]
    except OSError:
        return None


def _programs(names: list[str]) -> set[str]:
    """Without what lctl keeps there."""
    return {name for name in names if not name.endswith(_OURS)}


def _entries(given: Any, names: list[str], scandir: Callable[..., Any]) -> list[Any]:
    try:
        with scandir(given) as entries:
            there = {os.fsdecode(entry.name): entry for entry in entries}
    except OSError:
        there = {}
    return [there.get(name.removesuffix("/")) or Entry(given, name) for name in names]


class Entries:
    """What `os.scandir` gives."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())


class Entry:
    """An `os.DirEntry` of what is not there any more."""

    def __init__(self, folder: Any, name: str) -> None:
        plain = name.removesuffix("/")
        self._is_folder = plain != name
        self.name: Any = os.fsencode(plain) if isinstance(folder, bytes) else plain
        self.path: Any = os.path.join(folder, self.name)  # noqa: PTH118

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self._is_folder

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return not self._is_folder

    def is_symlink(self) -> bool:
        return False

    def is_junction(self) -> bool:
        return False

    def inode(self) -> int:
        return 0

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return os.stat(self.path)  # noqa: PTH116


class Renamed:
    """An `os.DirEntry` of another folder than it seems to be in."""

    def __init__(self, folder: Any, entry: Any) -> None:
        self._entry = entry
        self.path: Any = os.path.join(folder, entry.name)  # noqa: PTH118

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return repr(self._entry)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)
