"""The recorded runs of this machine: where they are looked for, the one recorded or written last first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lctl.analysis.run import SUFFIX, Run
from lctl.analysis.runends import read_run
from lctl.analysis.starting import listed_at


def folders() -> list[Path]:
    """Where runs are looked for: LCTL_STORE where it is a folder, LCTL_DIR, then `.lctl` under the working
    directory."""
    named = os.environ.get("LCTL_DIR")
    places = [*_stored(), *([Path(named)] if named else []), Path(".lctl")]
    # one folder by two names (LCTL_DIR=/home/me/app/.lctl, in /home/me/app) is one: its runs are counted once
    found: dict[tuple[int, int], Path] = {}
    for place in filter(Path.is_dir, places):
        status = place.stat()
        found.setdefault((status.st_dev, status.st_ino), place)
    return list(found.values())


def _stored() -> list[Path]:
    """The folder that LCTL_STORE names. (What else an address may be is said in `lctl.stores.address`.)"""
    text = os.environ.get("LCTL_STORE", "")
    if not text.lower().startswith("file:"):
        return []
    place = text[5:].partition("?")[0].removeprefix("//").removeprefix("localhost")
    return [Path(place)] if place else []


def files(only: str | None = None) -> list[tuple[float, Path]]:
    """(what it is listed by, path) of every run, or of those in one folder, newest first: the time in its
    name, else when it was written."""
    found = []
    for folder in folders() if only is None else [Path(only)]:
        with os.scandir(folder) as entries:
            for entry in entries:
                modified = _modified(entry) if entry.name.endswith(SUFFIX) else None
                if modified is not None:
                    found.append((listed_at(entry.name, modified), modified, Path(entry.path)))
    found.sort(key=lambda one: (one[0], one[1], str(one[2])), reverse=True)
    return [(at, path) for at, _, path in found]


def _modified(entry: os.DirEntry[str]) -> float | None:
    """When a file was written; None of what is none: a folder, a link to nothing or to itself, a file that is
    gone meanwhile."""
    try:
        return entry.stat().st_mtime if entry.is_file() else None
    except OSError:
        return None


def runs() -> Iterator[Run]:
    """Every run, newest first, each read when it is asked for."""
    for _, path in files():
        yield read_run(path)
