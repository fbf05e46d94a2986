"""Whether a WebSocket is served, and how it is recorded: asked before anything of the network is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from lctl.instrument import serving
from lctl.instrument.sockets.life import Life
from lctl.instrument.sockets.recorded import RecordedSocket

if TYPE_CHECKING:
    from lctl.session.border import Answer, LinesAnswer, Player


class Crossing(NamedTuple):
    """What the player said.

    Attributes:
        life: what records the connection; None where that is not recorded.
        served: what is given in its place; None: it is opened.
    """

    passage: serving.Passage
    life: Life | None = None
    served: RecordedSocket | None = None

    @property
    def answer(self) -> Answer | None:
        return self.passage.answer


def cross(player: Player, http: str, url: str) -> Crossing:
    """Ask. Then return from `begin` when the connection may be opened.

    Raises:
        RerunStopped: the player refuses it.
    """
    return Crossing(serving.cross(player, http, "GET", url, {}, b"", editable=False))


def begin(crossing: Crossing, http: str) -> Crossing:
    serving.ready(crossing.passage)
    made = _begun(crossing.passage, http)
    if made.answer is not None:
        made.answer.wait()
    return made


async def begin_async(crossing: Crossing, http: str) -> Crossing:
    await serving.ready_async(crossing.passage)
    made = _begun(crossing.passage, http)
    if made.answer is not None:
        await made.answer.wait_async()
    return made


def _begun(passage: serving.Passage, http: str) -> Crossing:
    seen, answer = passage.seen, passage.answer
    life = None if seen is None else Life(seen, http, passage.match)
    redactor = None if seen is None else seen[0].redactor
    if answer is None:
        return Crossing(passage, life)
    return Crossing(passage, life, RecordedSocket(cast("LinesAnswer", answer), life, redactor))
