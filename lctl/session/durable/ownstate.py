"""A program's own state in a session that is being recorded: as it is, and as the log has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from lctl.conversation.updates import derive
from lctl.session import jsonable
from lctl.values import with_numbers

if TYPE_CHECKING:
    from lctl.session.durable.session import Session
    from lctl.session.durable.turn import Turn

_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
Reduce = Callable[[Any, Mapping[str, Any]], Any]


class OwnState:
    """That of one session.

    Attributes:
        now: what it is, as JSON holds it; the program may change it in place.
        base: what it was before a step that was left open, whose repetition begins there.
        version: of its schema; kept with each snapshot.
        reduce: `(state, update) -> state`, where it follows from what tool results report.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._noted = b""
        self.now: Any = None
        self.base: Any = None
        self.version: Any = None
        self.reduce: Reduce | None = None

    def keep(self, state: Any) -> None:
        """It is what the log has."""
        self._noted = _text(state)
        self.now = _value(self._noted)

    def put(self, state: Any) -> None:
        """It is another now."""
        self.now = with_numbers(jsonable.plain(state))

    def follow(self, reduce: Reduce, turn: Turn) -> None:
        """Make it of what the tools of a step report, which is recorded with that step's end."""
        found = derive(self._session.between(turn.from_number))
        state = self.base if turn.repeats else _value(self._noted or b"null")
        for update in found:
            state = reduce(state, update)
        self.put(state)
        turn.update(updates=found)

    def record(self) -> None:
        """Write a snapshot, if it has changed since the last one."""
        text = _text(self.now)
        if text == self._noted:
            return
        data = {"session_id": self._session.id, "state": self.now}
        if self.version is not None:
            data["state_version"] = self.version
        if self._session.log.emit("checkpoint", data):
            self._noted = text


def _text(state: Any) -> bytes:
    """The state as the log has it: a program may put into it what JSON has no form for."""
    try:
        if not jsonable.has_nonfinite(state):
            return orjson.dumps(state, option=_OPTIONS)
    except TypeError:
        pass
    return orjson.dumps(jsonable.plain(state), option=_OPTIONS)


def _value(text: bytes) -> Any:
    return with_numbers(orjson.loads(text))
