"""Whether a program has been at work when it begins its recording: a rerun then begins there, too.

It is told by what the standard library counts. Nobody has watched: what leaves no trace there (a process that
was started and has ended, a clock that was read) is not seen.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

#: A tool was called before anything recorded it.
has_called = False


def is_at_work() -> bool:
    """Whether it has made threads, pools, processes or event loops, or has called a tool."""
    events: Any = sys.modules.get("asyncio.events")
    if events is not None and (
        getattr(events, "_event_loop_policy", None) is not None  # made with the first loop
        or events._get_running_loop() is not None
    ):
        return True
    pool = getattr(sys.modules.get("concurrent.futures.thread"), "ThreadPoolExecutor", None)
    return (
        has_called
        or "trio" in sys.modules
        or threading.active_count() > 1
        or _next(getattr(threading, "_counter", None)) > 1
        or _next(getattr(pool, "_counter", None)) > 0
        or _next(getattr(sys.modules.get("multiprocessing.process"), "_process_counter", None)) > 1
    )


def _next(counter: Any) -> int:
    """What an `itertools.count`, or its `__next__`, would give; 0 where it is none."""
    said = repr(getattr(counter, "__self__", counter))
    return int(said[6:-1]) if said.startswith("count(") and said[6:-1].isdigit() else 0
