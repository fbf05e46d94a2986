"""Certificates left by the processes of a program, for the command that started it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from lctl.rerun.exactness.certificate import Certificate

_PROGRAM = "program.json"
_END, _ALL, _ASKED, _DONE = "end", "all-done", "asked-", "done-"


def leave(folder: Path, made: list[Certificate], *, is_program: bool) -> None:
    """Write this process's. A process that had nothing to do with the tape leaves none, nor does one that
    outlived the program: nobody reads it any more, and the folder is gone."""
    if not is_program:
        made = [one for one in made if one.events or one.recorded or one.stopped]
        if not made:
            return
    name = _PROGRAM if is_program else f"{os.getpid()}.json"
    part = folder / f".{name}.part"
    try:
        # Not by orjson, which refuses paths that are no UTF-8.
        part.write_text(json.dumps([one.to_dict() for one in made]), "ascii")
        part.replace(folder / name)
    except FileNotFoundError:
        pass


def end_all(folder: Path) -> None:
    """No process of the program gets further: whoever started it is to end them, if they do not end."""
    try:
        (folder / _END).touch()
    except FileNotFoundError:
        pass


def say_asked(folder: Path) -> None:
    """A server of this process has been asked something again."""
    try:
        (folder / f"{_ASKED}{os.getpid()}").touch()
    except FileNotFoundError:
        pass


def asked_at(folder: Path) -> float:
    """When a server of one of the processes was last (`time.time()`); 0 where none was."""
    return max((path.stat().st_mtime for path in folder.glob(f"{_ASKED}*")), default=0.0)


def say_done(folder: Path, many: int) -> bool:
    """Servers of this process have been asked all; whether those of so many processes have, of which this one
    is the last."""
    try:
        (folder / f"{_DONE}{os.getpid()}").touch()
        if len(list(folder.glob(f"{_DONE}*"))) < many:
            return False
        (folder / _ALL).touch(exist_ok=False)
    except (FileNotFoundError, FileExistsError):
        return False
    return True


def is_to_end(folder: Path) -> bool:
    return (folder / _END).exists()


def certificates(folder: Path) -> list[Certificate]:
    """The program's first; none if it left none, unless it was ended as no process of it got further."""
    paths = sorted(folder.glob("*.json"), key=lambda path: (path.name != _PROGRAM, path.name))
    if not paths or (paths[0].name != _PROGRAM and not is_to_end(folder)):
        return []
    found = [Certificate.of_dict(one) for path in paths for one in json.loads(path.read_bytes())]
    # Helpers that a started process starts (a resource tracker) stand where it stands, and do nothing.
    busy = {one.of for one in found if one.events}
    return [one for one in found if one.events or one.of not in busy]
