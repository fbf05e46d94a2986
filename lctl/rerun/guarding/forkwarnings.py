"""Python's warning of a fork beside other threads (from 3.12 on): those of a rerun are none of the program's.

Where the program has threads itself it was warned when it was recorded, too, for the same line.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

#: How the names of a rerun's threads begin that `threading` knows.
_OURS = "lctl-"


def keep_to_program() -> None:
    """Have it said where the program's own threads are the reason, from now on."""
    if sys.version_info < (3, 12):
        return
    for name in ("fork", "forkpty"):
        original = getattr(os, name, None)
        if original is not None:
            setattr(os, name, _forking(original))


def _forking(original: Callable[[], Any]) -> Callable[[], Any]:
    @wraps(original)
    def fork() -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DeprecationWarning)
            made = original()
        if caught and _has_threads():
            frame = sys._getframe(1)
            registry = frame.f_globals.setdefault("__warningregistry__", {})
            name = str(frame.f_globals.get("__name__"))
            for one in caught:
                warnings.warn_explicit(
                    one.message, one.category, frame.f_code.co_filename, frame.f_lineno, name, registry
                )
        return made

    return fork


def _has_threads() -> bool:
    own = (thread for thread in threading.enumerate() if not thread.name.startswith(_OURS))
    return any(thread is not threading.main_thread() for thread in own)
