"""The time that SQLite says in a rerun: the recording's, as it is told to libraries.

`CURRENT_TIMESTAMP`, which is the default of many a column, and `datetime('now')` are read by C code, and no
recording has them. SQLite takes functions of the same names in the place of its own; only reruns give it
some.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from types import FrameType
from typing import Any

from lctl.guard import guard
from lctl.instrument.ambient import librarytime

#: What each of SQLite's words for the time is of `datetime`.
_WORDS = {"current_timestamp": "datetime", "current_date": "date", "current_time": "time"}
#: Its functions of dates: where each takes its first.
_FUNCTIONS = {
    "date": 0,
    "time": 0,
    "datetime": 0,
    "julianday": 0,
    "unixepoch": 0,
    "strftime": 1,
    "timediff": 0,
}
_FRACTION = ("subsec", "subsecond")
_lock = threading.Lock()


def tell(connection: Any, open_one: Callable[..., Any]) -> None:
    """Have what `connection` executes go by the time of a rerun, where there is one.

    Args:
        open_one: opens a database.
    """
    if librarytime.kept is None:
        return
    with guard("the time that a database says"):
        inside = _inside(open_one)
        known = {row[0] for row in inside.execute("SELECT name FROM pragma_function_list")}
        for word, function in _WORDS.items():
            connection.create_function(word, 0, _function(inside, function), deterministic=True)
        for function in _FUNCTIONS.keys() & known:
            connection.create_function(function, -1, _function(inside, function), deterministic=True)


@cache
def _inside(open_one: Callable[..., Any]) -> Any:
    """An empty database, by which SQLite's own functions are called; to the very end of the process."""
    return open_one(":memory:", check_same_thread=False)


def _function(inside: Any, name: str) -> Callable[..., Any]:
    """SQLite's own function of that name, for which it is the time of the rerun now."""
    place = _FUNCTIONS[name]

    def said(*given: Any) -> Any:
        words = _dated(place, name, given, _now(sys._getframe(1)))  # of who has the statement executed
        marks = ",".join("?" * len(words))
        with _lock:
            return inside.execute(f"SELECT {name}({marks})", words).fetchone()[0]

    return said


def _dated(place: int, name: str, given: tuple[Any, ...], now: str) -> list[Any]:
    """What is given to a function, with the time where it means now."""
    words = list(given)
    if len(words) == place and name != "timediff":
        return [*words, now]
    first = words[place] if len(words) > place else None
    if isinstance(first, str) and first.lower() in _FRACTION:
        return [*words[:place], now, *words[place:]]
    last = place + 2 if name == "timediff" else place + 1
    return [now if place <= n < last and _is_now(word) else word for n, word in enumerate(words)]


def _is_now(word: Any) -> bool:
    return isinstance(word, str) and word.lower() == "now"


def _now(frame: FrameType) -> str:
    kept = librarytime.kept
    wall = None if kept is None else kept.unrecorded(frame)
    if wall is None:
        return "now"
    at = datetime.fromtimestamp(wall // 1_000_000_000, UTC)
    return f"{at:%Y-%m-%d %H:%M:%S}.{wall // 1_000_000 % 1000:03}"
