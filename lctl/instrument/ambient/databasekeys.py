"""Which databases are the program's, and by which words a recording knows them."""

from __future__ import annotations

import os
import re
import sys
from types import FrameType

from lctl.instrument.ambient import filelooks, identifiers
from lctl.session.ownpackages import installed_as

#: What observes the program, keeps its versions, or has it typed, is not the program's; what is in DSPy's
#: cache is on the tape already.
_NOT_ASKED = re.compile(
    r"(?:^|[/\\])\.(?:coverage|git|hypothesis|ipython|jupyter|mypy_cache|pytest_cache|ruff_cache)|\.lctl"
)
_NOT_OF = re.compile(r"IPython|ipykernel|jupyter|notebook|coverage|dspy")
_HIDDEN = re.compile(r"(?:^|[/\\])\.")
#: In a rerun it has folders of its own (`crewai_files`) in place of the user's.
_NOT_AT_HOME = "crewai"
#: Keeps what others give it.
_KEEPER = "diskcache"
#: Smaller numbers of processes are numbers of other things, too.
_FIRST_TO_TELL = 100


def key_of(path: str, frame: FrameType) -> str | None:
    """None of those that are not asked for, or temporary: they are as they are now."""
    package = _package(frame)
    if _NOT_OF.match(package):
        return None
    path = os.path.abspath(path)  # noqa: PTH100
    key = filelooks.key_of(path)
    if key.startswith(filelooks.TEMPORARY) or _NOT_ASKED.search(key) or installed_as(path) is not None:
        return None
    is_elsewhere = os.path.isabs(key)  # noqa: PTH117
    if (is_elsewhere or _HIDDEN.search(key)) and package.startswith(_NOT_AT_HOME):
        return None
    if is_elsewhere:
        if key.startswith((sys.prefix, sys.base_prefix)):
            return None
        key = _told_from_home(key)
    return _without_process(key)


def _told_from_home(path: str) -> str:
    home = os.path.expanduser("~") + os.sep  # noqa: PTH111
    return f"home:{path[len(home) :]}" if path.startswith(home) else path


def _without_process(key: str) -> str:
    """Less the number of this process, which is another one in a rerun."""
    numbers = "|".join(str(number) for number in identifiers.processes_told() if number >= _FIRST_TO_TELL)
    return re.sub(rf"(?<!\d)(?:{numbers})(?!\d)", "PID", key) if numbers else key


def _package(frame: FrameType | None) -> str:
    """The installed package that opens it; "" for the program."""
    package = _KEEPER
    while frame is not None and package == _KEEPER:
        package, frame = installed_as(frame.f_code.co_filename) or "", frame.f_back
    return package
