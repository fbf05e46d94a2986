"""The script itself, which no import hook sees: told when it has defined a name.

Its top level is followed line by line until it has, and no further; functions run as fast as ever.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from lctl.guard import guard

_awaited: list[tuple[str, Callable[[ModuleType], None]]] = []


def when_defined(path: str, callback: Callable[[ModuleType], None]) -> None:
    """Call `callback(__main__)` once the script has the first name of the dotted `path`."""
    _awaited.append((path, callback))
    if len(_awaited) == 1:
        sys.settrace(_watch)


def _watch(frame: FrameType, event: str, argument: Any) -> Any:
    if not _awaited:
        return None
    if frame.f_code.co_name == "<module>" and frame.f_globals is vars(sys.modules["__main__"]):
        return _after_each_line
    return None


def _after_each_line(frame: FrameType, event: str, argument: Any) -> Any:
    for one in _awaited[:]:
        path, callback = one
        if path.partition(".")[0] in frame.f_globals:
            _awaited.remove(one)
            with guard(f"the tool __main__:{path}"):
                callback(sys.modules["__main__"])
    if _awaited:
        return _after_each_line
    sys.settrace(None)
    frame.f_trace = None
    return None
