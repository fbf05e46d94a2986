"""Where what a rerun's program writes is, in a folder of the rerun's own.

What a path names is asked with the real one: a place in that folder stands for it where something was
written, made anew or removed.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from lctl.instrument.ambient import nativestores, reads
from lctl.rerun.guarding.effects import absolute
from lctl.rerun.guarding.givenpaths import like

#: Says where a path is to be written instead, for the code in a frame; None: it is no path that is refused.
Divert = Callable[[str, FrameType], Path | None]


class AsidePlaces:
    """Of one rerun. Extended by `Asides`, which asks where things are."""

    def __init__(self, divert: Divert) -> None:
        self._divert = divert
        self._places: dict[str, Path] = {}  # where nothing is any more, it was removed
        self._anew: set[str] = set()  # folders in whose place is an empty one
        self._stores: set[str] = set()  # of libraries that write past Python
        self._asking = threading.local()

    @property
    def written(self) -> tuple[str, ...]:
        """The files that are there, by the names that the program gave them."""
        places = self._places.items()
        return tuple(real for real, place in places if place.is_file() or real in self._stores)

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
                if os.path.isfile(real) and self._in_anew(real) is None:  # noqa: PTH113
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
                elif not is_new and self._in_anew(real) is None:
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
        for folder in tuple(self._anew):
            if real.startswith(folder + os.sep):
                return self._places[folder] / real[len(folder) + 1 :]
        return None

    def _to_write(self, path: Any, keeps: bool = False) -> Any:
        """Where that is to be written. `keeps`: on top of what is there."""
        if not isinstance(path, str | bytes | os.PathLike):
            return path
        with self._within() as is_first:
            return self._place_of(path, keeps, sys._getframe(1)) if is_first else path

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
            if keeps and self._is_unchanged(real):
                if os.path.isdir(real):  # noqa: PTH112
                    place.mkdir(exist_ok=True)  # its mode is set, say: where it is, and what is in it, stays
                    return like(place, path)
                if os.path.isfile(real):  # noqa: PTH113
                    shutil.copy2(real, place)
            self._places[real] = place
        return like(place, path)

    def _is_unchanged(self, real: str) -> bool:
        """Whether what is there is that of the world."""
        return real not in self._places and self._in_anew(real) is None

    def _is_folder_of_world(self, path: Any) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return False
        with self._within() as is_first:
            real = absolute(os.fsdecode(path))
            return is_first and self._is_unchanged(real) and os.path.isdir(real)  # noqa: PTH112

    def _is_folder(self, real: str) -> bool:
        """Whether there is one now, for the program."""
        place = self._places.get(real) or self._in_anew(real)
        return place.is_dir() if place is not None else os.path.isdir(real)  # noqa: PTH112

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
