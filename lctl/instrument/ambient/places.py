"""Places in the program's code, as they are written into events: `agent.py:12`."""

from __future__ import annotations

import os

from lctl.session import naming

_names: dict[str, str] = {}
try:
    _start = os.getcwd() + os.sep  # noqa: PTH109
except OSError:  # the folder is gone
    _start = "\0"


def name(file: str, line: int) -> str:
    """Relative to the folder the program was started in; outside it, the last two parts of its path."""
    known = _names.get(file)
    if known is None:
        if file in naming.files:
            known = naming.files[file]
        elif file[:1] == "<":
            known = file
        elif file.startswith(_start):
            known = file[len(_start) :]
        else:
            known = "/".join(file.replace(os.sep, "/").split("/")[-2:])
        _names[file] = known
    return f"{known}:{line}"
