"""Certificates left by the processes of a program, for the command that started it."""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from lctl.rerun.exactness.certificate import Certificate

_PROGRAM = "program.json"


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
        part.write_bytes(orjson.dumps([one.to_dict() for one in made]))
        part.replace(folder / name)
    except FileNotFoundError:
        pass


def certificates(folder: Path) -> list[Certificate]:
    """The program's first; none if it left none."""
    paths = sorted(folder.glob("*.json"), key=lambda path: (path.name != _PROGRAM, path.name))
    if not paths or paths[0].name != _PROGRAM:
        return []
    found = [Certificate.of_dict(one) for path in paths for one in orjson.loads(path.read_bytes())]
    # Helpers that a started process starts (a resource tracker) stand where it stands, and do nothing.
    busy = {one.of for one in found if one.events}
    return [one for one in found if one.events or one.of not in busy]
