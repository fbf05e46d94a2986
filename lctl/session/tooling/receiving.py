"""What comes from outside while a tool call is under way, and reaches the program beside its result.

A server that works for a call may tell how far it is, or ask the program something back. Such messages are
kept with the call; in a rerun, where it is served, the program gets them again, each in its turn.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.session.concurrency import turns

if TYPE_CHECKING:
    from lctl.clock import Clock
    from lctl.session.concurrency.underway import Moment


#: Messages of one call that are kept.
MOST = 10_000


class Message(NamedTuple):
    """One message, as the `tape` of a call has it.

    Attributes:
        ms: since the call's start; None of one that came before, while none was under way.
        turn: of an event loop that it reached, counted from what reached that before; None if unknown.
    """

    ms: float | None
    turn: int | None
    content: Any


class Incoming:
    """The messages of one call.

    Args:
        give: hands one to the program again, and returns when that has taken it.
    """

    def __init__(self, give: Callable[[Any], Awaitable[None]]) -> None:
        self.give = give
        self._kept: list[Message] = []
        self._clock: Clock | None = None
        self._moment: Moment | None = None
        self._orders = False

    def begin(self, clock: Clock, moment: Moment, orders: bool) -> None:
        """The call begins.

        Args:
            orders: other things keep their order with it in a rerun.
        """
        self._clock, self._moment, self._orders = clock, moment, orders

    def early(self, contents: Iterable[Any]) -> None:
        """These came while no call was under way."""
        self._kept += [Message(None, None, content) for content in contents]

    def note(self, content: Any) -> bool:
        """A message, JSON, reaches the program now. False where the call has too many already."""
        if self._clock is None or self._moment is None:
            return True
        if len(self._kept) >= MOST:
            return False
        ms = (self._clock.monotonic_ns() - self._moment.ns) // 1000 / 1000
        self._moment.alone = False
        # Whoever heard it from outside gave it to this task a turn before.
        turn = turns.since(ago=1) if turns.counting and self._orders else None
        self._kept.append(Message(ms, turn, content))
        return True

    def tape(self) -> list[list[Any]] | None:
        """For the `tape` of the call; None where nothing came."""
        return [list(message) for message in self._kept] or None


def messages(tape: Mapping[str, Any], name: str = "received") -> Sequence[Message]:
    """Of a `tool_call`'s `tape`, those under `name`."""
    found = tape.get(name)
    return [Message(*one) for one in found if _is_message(one)] if isinstance(found, list) else ()


def _is_message(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != len(Message._fields):
        return False
    ms, turn, _ = value
    return isinstance(ms, int | float | None) and isinstance(turn, int | None)
