"""The runs a server knows, by key: the log it was started for, and those of its folder."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from pathlib import Path
from typing import Any

from lctl.analysis.merging import with_all
from lctl.analysis.recordings import files
from lctl.analysis.run import SUFFIX, Run
from lctl.analysis.runends import read_run
from lctl.analysis.starting import listed_at, named_at
from lctl.codec import Log, open_log
from lctl.debugger.failing import Refused, no_run
from lctl.debugger.opened import Opened
from lctl.debugger.ownsums import OwnSums
from lctl.debugger.pricing import shared
from lctl.errors import LogError

#: Runs held open at once.
_OPEN = 6
_PAUSE = 0.5  # seconds between two looks at a folder


class Catalogue:
    """What requests may name. Nothing outside it can be opened.

    Args:
        folders: where runs are looked for.
        target: a log that is in the catalogue whatever its name and wherever it is.
        helped: as of `Opened`.

    A key is a file's name; with a `+` behind it, the run with all that it started.
    """

    def __init__(self, folders: list[Path], target: Path | None = None, *, helped: bool = True) -> None:
        self._helped = helped
        self.folders = folders
        self.target = target
        self.whole = False  # whether its user asked for the target with all that it started
        self.prices = shared()
        self._lock = threading.RLock()
        self._paths: dict[str, Path] = {}
        self._looked = float("-inf")
        self._runs: dict[Path, tuple[tuple[int, int], Run]] = {}
        self._opened: OrderedDict[str, Opened] = OrderedDict()
        self.own_sums = OwnSums(self.prices)

    def recipe(self) -> dict[str, Any]:
        """What another process makes the same catalogue of."""
        return {"folders": [str(folder) for folder in self.folders], "target": str(self.target or "")}

    @property
    def place(self) -> str | None:
        """Where its runs are, to be shown."""
        return str(self.folders[0]) if self.folders else None

    @property
    def default(self) -> str | None:
        """Key of the run the server was started for."""
        if self.target is None:
            return None
        found = next((key for key, path in self.paths().items() if path == self.target), None)
        return found if found is None or not self.whole else f"{found}+"

    def paths(self) -> dict[str, Path]:
        """Path by key, newest first."""
        with self._lock:
            self._look()
            return dict(self._paths)

    def key(self, path: Path, *, now: bool = False) -> str | None:
        """Of a log by its path. `now`: it may have come since the folder was looked at."""
        path = path.resolve()
        with self._lock:
            self._look(now)
        return next((key for key, one in self.paths().items() if one == path), None)

    def _look(self, now: bool = False) -> None:
        if not now and time.monotonic() - self._looked < _PAUSE:
            return
        found: dict[Path, float] = {}
        for folder in self.folders:
            try:
                for at, path in files(str(folder)):
                    found.setdefault(path.resolve(), at)
            except OSError:
                continue  # a folder that is gone has no runs
        if self.target is not None and self.target not in found:
            found[self.target] = _listed_at(self.target)
        paths: dict[str, Path] = {}
        for path, _ in sorted(found.items(), key=lambda one: -one[1]):
            key, n = path.name, 1
            while key in paths:
                n += 1
                key = f"{path.name}~{n}"
            paths[key] = path
        self._paths = paths
        self._looked = time.monotonic()

    def runs(self) -> list[tuple[str, Run]]:
        """Every run as the ends of its file tell it, newest first."""
        with self._lock:
            self._look()
            return [(key, self._run(path)) for key, path in self._paths.items()]

    def run(self, key: str) -> Run:
        """Raises Refused: there is none of that key."""
        with self._lock:
            self._look()
            return self._run(self._place(key))

    def _run(self, path: Path) -> Run:
        try:
            status = path.stat()
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            return Run(path, {}, named_at(path.name) or 0.0, 0, None, {}, False, why)
        stamp = (status.st_size, status.st_mtime_ns)
        known = self._runs.get(path)
        if known is None or known[0] != stamp:
            known = self._runs[path] = (stamp, read_run(path))
        return known[1]

    def _place(self, key: str) -> Path:
        found = self._paths.get(key)
        if found is None:
            self._look(now=True)
            found = self._paths.get(key) or self._paths.get(key.removesuffix("+"))
        if found is None:
            raise no_run(key)
        return found

    def open(self, key: str | None) -> Opened:
        """The run of a key, as it is now; without one, that which the server was started for, or the newest.

        Raises:
            Refused: there is none of that key.
            LogError: it cannot be read.
        """
        with self._lock:
            key = key or self.default or next(iter(self.paths()), None)
            if key is None:
                raise Refused("not_found", f"no recorded runs ({SUFFIX}) in {self._where()}")
            path = self._place(key)
            opened = self._opened.get(key)
            if opened is None or opened.path != path:
                tree = self._tree(key, path)
                opened = self._opened[key] = Opened(key, path, self.prices, tree, helped=self._helped)
            self._opened.move_to_end(key)
            while len(self._opened) > _OPEN:
                self._opened.popitem(last=False)
        return opened.refresh()

    def _tree(self, key: str, path: Path) -> Log | None:
        """The run with all that it started, as it is now, where the key says so."""
        if key in self._paths or not key.endswith("+"):
            return None
        return with_all(open_log(path), read_run(path), [run for _, run in self.runs()])

    def _where(self) -> str:
        return " or ".join(map(str, self.folders)) or "no folder"


def _listed_at(path: Path) -> float:
    """What a log is listed by that need not be in a folder; 0 of one that is gone."""
    try:
        return listed_at(path.name, path.stat().st_mtime)
    except OSError:
        return 0.0


def of_target(path: Path | None, folders: list[Path], *, whole: bool = False) -> Catalogue:
    """The catalogue for what a user named: a log (and those beside it; `whole`: with all that it started), a
    folder, or None for `folders`.

    Raises:
        LogError: there is no such file, or it is not a log.
    """
    if path is None:
        return Catalogue([folder.resolve() for folder in folders])
    path = path.resolve()
    if path.is_dir():
        return Catalogue([path])
    catalogue = Catalogue([path.parent], path)
    catalogue.whole = whole
    key = catalogue.default
    if key is None:
        raise LogError(f"{path}: cannot be read")
    catalogue.open(key)
    return catalogue
