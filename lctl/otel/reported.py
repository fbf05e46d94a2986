"""Which tool calls a session has recorded already, whoever reported them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import orjson

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession

#: Calls that are remembered.
_MOST = 10_000


class Reported:
    """The tool calls of one session, read from what it has stored as far as anybody asks."""

    def __init__(self, session: LCTLSession) -> None:
        self._session = session
        self._store: Any = None
        self._position = 0
        self._ids: dict[str, int] = {}
        self._runs: dict[bytes, int] = {}
        self._own: set[int] = set()  # told by spans: other calls of the same tool and input are others' calls
        self._lock = threading.Lock()

    @staticmethod
    def of(session: LCTLSession) -> Reported:
        found = _of_sessions.get(session)
        if found is None:
            found = _of_sessions[session] = Reported(session)
        return found

    def now(self) -> int:
        """The newest event; what comes after it is since now."""
        return self._session.last_seq

    def tell(self, emit: Callable[[], int]) -> None:
        """Record a call that a span tells of; it is known by its id alone."""
        with self._lock:
            self._own.add(emit())

    def knows(self, data: Mapping[str, Any], since: int) -> bool:
        """Whether this call was recorded: one of its id, or after event `since` one of the same tool and
        input."""
        with self._lock:
            self._read()
            id = data.get("call_id")
            if isinstance(id, str) and id in self._ids:
                return True
            return self._runs.get(_run(data), 0) > since or (
                "input" not in data and self._runs.get(_run({"tool": data.get("tool")}), 0) > since
            )

    def _read(self) -> None:
        store = self._session.store
        if store is not self._store:
            self._store, self._position = store, 0
            self._ids.clear()
            self._runs.clear()
            self._own.clear()
        lines, self._position = store.since(self._position)
        for line in lines:
            if b'"type":"tool_call"' not in line[:120]:
                continue
            event = orjson.loads(line)
            data, seq = event.get("data") or {}, event["seq"]
            if isinstance(data.get("call_id"), str):
                self._ids[data["call_id"]] = seq
            if seq in self._own:
                self._own.discard(seq)
                continue
            self._runs[_run(data)] = self._runs[_run({"tool": data.get("tool")})] = seq
        _shorten(self._ids)
        _shorten(self._runs)


def _shorten(known: dict[Any, int]) -> None:
    """Forget the oldest."""
    while len(known) > _MOST:
        del known[next(iter(known))]


def _run(data: Mapping[str, Any]) -> bytes:
    """A tool and its input; without one, the tool. What is nothing is left out: spans may not say it."""
    given = data.get("input")
    if isinstance(given, Mapping):
        given = {key: value for key, value in given.items() if value is not None}
    return orjson.dumps(
        [data.get("tool"), given], option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str
    )


_of_sessions: WeakKeyDictionary[LCTLSession, Reported] = WeakKeyDictionary()
