"""Reads of the surroundings that wait for somebody: a server's answer, what a person types.

Each is an `ambient` event with the time that it took. In a rerun it comes when it did, against the rest.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from lctl.guard import guard
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.default import get_session

if TYPE_CHECKING:
    from lctl.session import LCTLSession
    from lctl.session.concurrency.underway import Moment

T = TypeVar("T")

#: asyncio's and trio's.
_CANCELLATIONS = frozenset({"CancelledError", "Cancelled"})


async def read(
    source: str,
    key: str,
    ask: Callable[[], Awaitable[T]],
    encode: Callable[[T], Any],
    failed: Callable[[BaseException], Any],
    decode: Callable[[Any], T],
) -> T:
    """What `ask` gives, recorded; or what the recording has in its place.

    Args:
        source, key: of the event.
        encode: of what it gives, the value of the event.
        failed: likewise of what it raises; None: nothing is recorded of it.
        decode: what either of the two says, given or raised again.
    """
    player, lane = border.player(), lanes.current()
    number = lane.number(f"ambient:{source}")
    served = None if player is None else player.ambient(source, key, lane, number)
    reading = _Reading(source, key)
    if player is not None and served is not None:
        try:
            await player.read_async(source, lane, number)
        except BaseException as error:
            reading.over(served[0], cancelled=_is_cancellation(error))
            raise
        reading.over(served[0])
        return decode(served[0])
    try:
        value = await ask()
    except BaseException as error:
        if _is_cancellation(error):
            reading.over(None, cancelled=True)
            raise
        said = None
        with guard("what was waited for"):
            said = failed(error)
        if said is None:
            reading.left()
        else:
            reading.over(said)
        raise
    told = None
    with guard("what was waited for"):
        told = (encode(value),)
    if told is None:
        reading.left()
    else:
        reading.over(*told)
    return value


def _is_cancellation(error: BaseException) -> bool:
    return type(error).__name__ in _CANCELLATIONS


class _Reading:
    """One read: an `ambient` event when it is over."""

    def __init__(self, source: str, key: str) -> None:
        self._source, self._key = source, key
        self._session = get_session()
        if self._session is not None:
            self._moment = self._session.under_way.begin()

    def left(self) -> None:
        """Nothing is known of what came of it."""
        if self._session is not None:
            self._session.under_way.end(self._moment)

    def over(self, value: Any, cancelled: bool = False) -> None:
        session = self._session
        if session is None:
            return
        with guard("what was waited for"):
            data = {"source": self._source, "key": self._key, "value": value}
            write(session, self._moment, data, cancelled=cancelled)


def write(
    session: LCTLSession,
    moment: Moment,
    data: dict[str, Any],
    *,
    cancelled: bool,
    always: bool = False,
) -> None:
    """The event of something that began at `moment`, and ends now: `data`, and when that was.

    Args:
        always: as of `UnderWay.fields`.
    """
    under_way = session.under_way
    under_way.end(moment)
    data |= under_way.fields(moment, always)
    ended_ns = under_way.reading()
    data["duration_ms"] = under_way.between(moment.ns, ended_ns)
    if cancelled:
        data["cancelled"] = True
    frame = session.frame()
    returning = session.returns.begin(ended_ns=ended_ns)
    seq = session.emit("ambient", data, agent=frame.agent, step=frame.step)
    session.returns.end(returning, seq)
