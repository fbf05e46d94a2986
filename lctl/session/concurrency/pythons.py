"""Command lines of Pythons: which of them our bootstrap reaches."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lctl.session.concurrency import processes

_PYTHON = re.compile(r"python(w)?(\d+(\.\d+)?t?)?(\.exe)?", re.IGNORECASE)
#: Options that keep a Python from reading PYTHONPATH or `sitecustomize`.
_CLOSED = re.compile(r"-[A-Za-z]*[IES][A-Za-z]*")
#: Options that take the next word.
_WITH_WORD = ("-W", "-X")


def words_of(command: Any) -> list[str]:
    """As `subprocess` is given them."""
    if isinstance(command, str | bytes | os.PathLike):
        return [os.fsdecode(command)]
    return [os.fsdecode(word) for word in command or ()]


def is_followed(command: Any, executable: Any, env: Any, variable: str) -> bool:
    """Whether this starts a Python that reads our bootstrap, which `variable` of the environment asks for."""
    if variable not in os.environ:
        return False
    words = words_of(command)
    if not is_python(os.fsdecode(executable) if executable else (words[0] if words else "")):
        return False
    if env is not None and variable not in {os.fsdecode(name) for name in env}:
        return False
    return closed_by(words[1:]) is None


def records_itself(command: Any, executable: Any, env: Any) -> bool:
    """Whether this starts a Python that has a log, or a tape, of its own."""
    return any(is_followed(command, executable, env, variable) for variable in processes.OURS)


def is_python(command: str) -> bool:
    return _PYTHON.fullmatch(Path(command).name) is not None


def closed_by(words: Sequence[str]) -> str | None:
    """The option among a Python's arguments that keeps our bootstrap out; None if there is none."""
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _WITH_WORD:
            skip = True
        elif not word.startswith("-") or word in ("-c", "-m", "-"):
            return None
        elif _CLOSED.fullmatch(word):
            return word
    return None


def opened(words: Sequence[str]) -> list[str]:
    """A Python's arguments without what keeps our bootstrap out; in place of `-I`, what else it says."""
    made, rest = [], list(words)
    while (option := closed_by(rest)) is not None:
        at = rest.index(option)
        letters = re.sub("[IES]", "", option[1:])
        if "I" in option:
            letters += "sP" if sys.version_info >= (3, 11) else "s"
        made += [*rest[:at], *([f"-{letters}"] if letters else [])]
        rest = rest[at + 1 :]
    return made + rest


def ignores_environment(words: Sequence[str]) -> bool:
    """Whether these arguments of a Python have it ignore variables like PYTHONPATH."""
    rest = list(words)
    while (option := closed_by(rest)) is not None:
        if "I" in option or "E" in option:
            return True
        rest = rest[rest.index(option) + 1 :]
    return False
