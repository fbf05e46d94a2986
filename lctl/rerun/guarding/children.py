"""Which child processes of a rerun are served like their parent: Pythons that our bootstrap reaches, and
forks of one.

They run on their own chains of the recording, under a guard of their own. Any other process would act on
the world unseen.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lctl.rerun.callers import Caller
from lctl.rerun.settings import VARIABLE
from lctl.session.concurrency import processes

_PYTHON = re.compile(r"python(w)?(\d+(\.\d+)?t?)?(\.exe)?", re.IGNORECASE)
#: Options that keep a Python from reading PYTHONPATH or `sitecustomize`.
_CLOSED = re.compile(r"-[A-Za-z]*[IES][A-Za-z]*")
#: Options that take the next word.
_WITH_WORD = ("-W", "-X")


def is_followed(event: str, args: tuple[Any, ...], by: Caller) -> bool:
    """Whether this event starts a process that is part of the rerun."""
    if event == "os.posix_spawn" and by.passes("multiprocessing"):
        return True
    if event == "os.fork":
        return bool(processes.followers)
    if event not in ("subprocess.Popen", "os.posix_spawn") or VARIABLE not in os.environ:
        return False
    executable, command, env = args[0], args[1], args[-1]  # Popen has the folder between them
    if isinstance(command, str | bytes | os.PathLike):
        words = [os.fsdecode(command)]
    else:
        words = [os.fsdecode(word) for word in command or ()]
    if not is_python(os.fsdecode(executable) if executable else (words[0] if words else "")):
        return False
    if env is not None and VARIABLE not in _names(env):
        return False
    return closed_by(words[1:]) is None


def is_python(command: str) -> bool:
    return _PYTHON.fullmatch(Path(command).name) is not None


def _names(env: Any) -> set[str]:
    return {os.fsdecode(name) for name in env}


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
