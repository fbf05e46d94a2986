"""Ways a program may touch files, each given a folder with `file.txt` and `folder` in it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _write_text(home: Path) -> Any:
    return (home / "new.txt").write_text("x")


def _append(home: Path) -> Any:
    with open(home / "file.txt", "a") as file:  # noqa: PTH123
        file.write("x")


def _update(home: Path) -> Any:
    return (home / "file.txt").open("r+b")


def _descriptor(home: Path) -> Any:
    return os.open(home / "file.txt", os.O_WRONLY | os.O_APPEND)


def _in_folder(home: Path) -> Any:
    folder = os.open(home, os.O_RDONLY)
    try:
        os.unlink("file.txt", dir_fd=folder)
    finally:
        os.close(folder)


def _archive(home: Path) -> Any:
    with tarfile.open(home / "a.tar", "w") as archive:
        archive.add(home / "file.txt")


ACTIONS: dict[str, Callable[[Path], Any]] = {
    "Path.write_text": _write_text,
    "append": _append,
    "update": _update,
    "os.open": _descriptor,
    "unlink by descriptor": _in_folder,
    "archive": _archive,
    "unlink": lambda home: (home / "file.txt").unlink(),
    "rename": lambda home: (home / "file.txt").rename(home / "b"),
    "mkdir": lambda home: (home / "b").mkdir(),
    "rmdir": lambda home: (home / "folder").rmdir(),
    "symlink": lambda home: (home / "b").symlink_to("file.txt"),
    "link": lambda home: (home / "b").hardlink_to(home / "file.txt"),
    "truncate": lambda home: os.truncate(home / "file.txt", 0),
    "chmod": lambda home: (home / "file.txt").chmod(0o600),
    "touch": lambda home: (home / "file.txt").touch(),
    "utime": lambda home: os.utime(home / "file.txt"),
    "copy": lambda home: shutil.copy(home / "file.txt", home / "b"),
    "copytree": lambda home: shutil.copytree(home / "folder", home / "b"),
    "rmtree": lambda home: shutil.rmtree(home / "folder"),
    "move": lambda home: shutil.move(home / "file.txt", home / "b"),
    "sqlite": lambda home: sqlite3.connect(home / "a.db"),
    "sqlite by uri": lambda home: sqlite3.connect(f"file:{home}/a.db", uri=True),
}
