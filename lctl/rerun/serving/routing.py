"""Which tape a crossing is on: that of the session the running code records into."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lctl.errors import RerunStopped
from lctl.rerun.exactness.echo import EchoStore
from lctl.rerun.forks.forkplayer import ForkPlayer
from lctl.rerun.guarding import auditing
from lctl.rerun.serving import misses
from lctl.rerun.serving.player import TapePlayer
from lctl.rerun.tape.counting import Numbers
from lctl.session.border import Answer, Command, Live, WireRequest
from lctl.session.concurrency import queueorder
from lctl.session.default import get_session, running
from lctl.session.sources import OVERDUE
from lctl.session.tooling.served import Served

if TYPE_CHECKING:
    from types import FrameType

    from lctl.session.concurrency.jobshares import Taken
    from lctl.session.concurrency.lane import Lane
    from lctl.session.concurrency.pooljobs import Ended
    from lctl.session.concurrency.queueorder import Turns
    from lctl.session.session import LCTLSession
    from lctl.session.tooling.toolcalls import ToolCall


class Router:
    """The player of a process (`lctl.session.border.Player`), with one tape for each of its sessions.

    Attributes:
        first: of the first session, and of code outside any.
    """

    compares_stderr = True

    def __init__(self, first: TapePlayer) -> None:
        self.first = first
        self._by_store: dict[EchoStore, TapePlayer] = {}
        self._numbers: dict[TapePlayer, Numbers] = {}
        self._is_taken_up = False

    def add(self, store: EchoStore, player: TapePlayer) -> None:
        self._by_store[store] = player
        self._numbers.setdefault(player, Numbers())

    def remove(self, store: EchoStore) -> None:
        """Another one is the same log, gone on with."""
        del self._by_store[store]
        self._is_taken_up = True

    def exchange(self, request: WireRequest) -> Answer | Live:
        here = self._here()
        if request.number:
            number = self._number(here, "exchange", request.lane, request.number)
            request = request._replace(number=number)
        answer = here.exchange(request)
        guard = auditing.active()
        if isinstance(answer, Live) and guard is not None:
            guard.permit(urlsplit(request.url).hostname or "")
        return answer

    def tool(self, call: ToolCall, lane: Lane, number: int) -> Served | None:
        here = self._here()
        return here.tool(call, lane, self._number(here, "tool", lane, number))

    def gives_agent(self, call: ToolCall, lane: Lane) -> bool:
        return self._here().gives_agent(call, lane)

    def agent_input(self, call: ToolCall, lane: Lane) -> dict[str, Any] | None:
        return self._here().agent_input(call, lane)

    def ambient(self, source: str, key: str, lane: Lane, number: int) -> tuple[Any] | None:
        return self._here().reads.ambient(source, key, lane)

    def shown(self, session: LCTLSession) -> Sequence[dict[str, Any]] | None:
        return self._of(session).reads.shown()

    def stopped(self, text: str) -> RerunStopped:
        return self._here().halt.stop("\n".join([text, "", *misses.where()]))

    def event(self, lane: Lane, number: int) -> None:
        here = self._here()
        here.turns.event(lane, self._number(here, "event", lane, number))

    def sleep(self, lane: Lane, number: int) -> bool:
        here = self._here()
        return here.turns.sleep(lane, self._number(here, "sleep", lane, number))

    async def sleep_async(self, lane: Lane, number: int) -> bool:
        here = self._here()
        return await here.turns.sleep_async(lane, self._number(here, "sleep", lane, number))

    def slept(self, lane: Lane, number: int) -> bool:
        here = self._here()
        return here.slept(lane, self._number(here, "sleep", lane, number))

    def timer(self, lane: Lane, number: int, handle: Any) -> bool | None:
        here = self._here()
        return here.turns.timer(lane, self._number(here, "timer", lane, number), handle)

    def overdue(self, lane: Lane, number: int, when: float) -> None:
        here = self._here()
        if here.reads.overdue(lane, self._number(here, OVERDUE, lane, number)):
            here.order.reach(when)

    async def read_async(self, source: str, lane: Lane, number: int) -> None:
        here = self._here()
        await here.turns.read_async(source, lane, self._number(here, source, lane, number))

    def resumed(self, seq: int, lane: str) -> float | None:
        return self._here().turns.resumed(lane, *_recorded(seq))

    def again_ms(self, lane: Lane) -> float | None:
        return self._here().again_ms(lane)

    def is_live(self, lane: Lane) -> bool:
        return lane in self._of(running()).live  # of the end of a job, as below: that opens no session

    def has_left(self, seq: int) -> bool:
        here = self._here()
        return isinstance(here, ForkPlayer) and seq > here.fork.prefix

    def is_spent(self) -> bool:
        return self._of(running()).order.is_spent()

    def ended(self, lane: Lane) -> Ended | None:
        return self._of(running()).turns.ended(lane)

    def seen(self, key: str, of: str, lane: Lane) -> list[int] | None:
        return self._of(running()).reads.seen(key, of, lane)

    def queue(self, lane: Lane, number: int) -> Turns | None:
        here = self._here()
        return here.turns.queue(lane, self._number(here, queueorder.KIND, lane, number))

    def queue_of_parent(self, lane: str, number: int) -> Turns | None:
        return self._here().turns.queue_of(queueorder.of_parent(lane), number)

    def taken(self, lane: Lane) -> Taken | None:
        return self._here().reads.taken(lane)

    def jobs(self, session: LCTLSession) -> dict[str, Any] | None:
        return self._of(session).reads.jobs()

    def aside(self, path: str) -> str | None:
        guard = auditing.active()
        return None if guard is None else guard.aside(path)

    def kept(self, hash: str) -> bytes | None:
        return self._here().tape.kept(hash)

    def beside(self, path: str, content: bytes | None, is_new: bool, frame: FrameType) -> str | None:
        guard = auditing.active()
        if guard is None or guard.asides is None:
            return None
        return guard.asides.of_database(path, content, frame, is_new=is_new)

    def store(
        self, path: str, content: bytes | None, is_new: bool, frame: FrameType, writes: bool
    ) -> str | None:
        guard = auditing.active()
        if guard is None or guard.asides is None:
            return None
        return guard.asides.of_store(path, content, frame, is_new=is_new, writes=writes)

    def anew(self, path: str, frame: FrameType) -> bool:
        guard = auditing.active()
        return guard is not None and guard.asides is not None and guard.asides.of_folder(path, frame)

    def command(self, key: str, line: str, lane: Lane) -> Command | None:
        here, guard = self._here(), auditing.active()
        entry = here.reads.command(key, lane)
        if entry is None or (guard is not None and guard.allows_command(line)):
            return None
        come, come_async = partial(here.turns.come, entry), partial(here.turns.come_async, entry)
        return Command(here.tape.data(entry), come, come_async)

    def as_recorded(self, path: str) -> None:
        guard = auditing.active()
        if guard is not None:
            guard.read.as_recorded(path)

    async def resumes_async(self, seq: int, lane: str) -> None:
        await self._here().turns.resumes_async(lane, *_recorded(seq))

    def _here(self) -> TapePlayer:
        return self.first if len(self._by_store) <= 1 else self._of(get_session())

    def _number(self, player: TapePlayer, kind: str, lane: Lane, number: int) -> int:
        """Which of its lane's crossings it is in the log, as the tape counts them."""
        if len(self._by_store) <= 1 and not self._is_taken_up:
            return number
        numbers = self._numbers.get(player)
        return number if numbers is None else numbers.of(kind, lane, number)

    def _of(self, session: LCTLSession | None) -> TapePlayer:
        """Of a session that ends, which the running code is in no more: to ask for one would open another."""
        store = session.store if session is not None else None
        return self._by_store.get(store, self.first) if isinstance(store, EchoStore) else self.first


def _recorded(seq: int) -> tuple[int, bool]:
    """Seq of the recorded event that this one is, and whether that is sure."""
    session = get_session()
    store = session.store if session is not None else None
    if isinstance(store, EchoStore):
        return store.recorded_seq(seq), not store.is_reordering
    return seq, True
