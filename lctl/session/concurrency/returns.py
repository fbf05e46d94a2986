"""When the program went on after what it waited for was recorded.

Writing an event lets other threads run, so of two answers that are recorded at the same time file order
does not say whose receiver went on first. Then the moments are kept, and written when the session closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl.session import border
from lctl.session.concurrency import lanes

if TYPE_CHECKING:
    from lctl.session.concurrency.underway import UnderWay

#: Source of the `ambient` event of a session's end whose value is [[seq, ms], ...]: when the program went
#: on with what event `seq` brought, in milliseconds from the beginning of the recording, in that order.
SOURCE = "resumed"


class Returning:
    """A crossing whose event is being written.

    Attributes:
        alone: no other one's was meanwhile.
        ended_ns: when what it waited for had come, by `time.monotonic_ns`; 0 where nobody waits any more.
        lane: that it was made in. What is left of a stream may be read in another one.
    """

    __slots__ = ("alone", "ended_ns", "lane")

    def __init__(self, lane: str, ended_ns: int) -> None:
        self.alone = True
        self.lane = lane
        self.ended_ns = ended_ns


class Returns:
    """The returns of one session. Safe from several threads."""

    __slots__ = ("_last", "_open", "_resumed", "_under_way")

    def __init__(self, under_way: UnderWay) -> None:
        self._under_way = under_way
        self._open: dict[Returning, None] = {}
        self._resumed: list[tuple[float, int]] = []
        self._last = 0.0  # the latest of those moments

    def begin(self, lane: str | None = None, ended_ns: int = 0) -> Returning:
        """The event of a crossing in `lane` (None: the current one) is about to be written, after which the
        program goes on."""
        made = Returning(lanes.current().path if lane is None else lane, ended_ns)
        rest = self._open
        rest[made] = None  # before looking: of two that begin at once, one sees both
        if len(rest) > 1:
            for other in list(rest):
                other.alone = False
        return made

    def end(self, returning: Returning, seq: int) -> None:
        """It is written, as `seq` (0: it is not), and the program goes on now; in a rerun, when it did."""
        player = border.playing
        if player is not None:
            del self._open[returning]
            at = player.resumed(seq, returning.lane) if seq and lanes.current().inside is None else None
            if at is not None:
                self._keep(self._under_way.now() if player.has_left(seq) else at, seq)
            return
        # In a tool's body nobody goes on in a rerun that serves the call.
        if seq and (not returning.alone or self._is_late(returning)) and lanes.current().inside is None:
            self._keep(self._under_way.now(), seq)
        del self._open[returning]

    def _is_late(self, returning: Returning) -> bool:
        """Another one, whose moment is kept, went on after the end of this one: so would come behind it."""
        if not self._resumed or not returning.ended_ns or not self._under_way.is_real:
            return False
        return self._under_way.ms(returning.ended_ns) <= self._last

    def _keep(self, at: float, seq: int) -> None:
        self._resumed.append((at, seq))
        self._last = max(self._last, at)

    async def turn(self, returning: Returning, seq: int) -> None:
        """To be awaited before `end` where others of the loop had their turns between, as in a close that
        waits."""
        player = border.playing
        if player is not None and seq and lanes.current().inside is None:
            await player.resumes_async(seq, returning.lane)

    def data(self) -> dict[str, Any] | None:
        """Of the event that says it; None where there is nothing to say."""
        if not self._resumed:
            return None
        value = [[seq, at] for at, seq in sorted(self._resumed)]
        return {"source": SOURCE, "key": "seq", "value": value}
