"""The player: answers each crossing of the border from the tape, or says why it cannot."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from lctl.errors import RerunStopped
from lctl.instrument import traffic
from lctl.rerun import misses
from lctl.rerun.answers import EndOfTape, RecordedAnswer
from lctl.rerun.certificate import Tally
from lctl.rerun.halting import Halt
from lctl.rerun.matching import Match, Matcher
from lctl.rerun.ordering import END, RESUMED, START, keys
from lctl.rerun.repeating import Repeater, inherited_edits
from lctl.rerun.resumption import Resumptions
from lctl.rerun.tape import Tape
from lctl.rerun.tools import equal_call, made_up_id, served
from lctl.session import lanes
from lctl.session.border import LOGGED, Live, RecordedError, WireRequest
from lctl.session.wrapping import Served

if TYPE_CHECKING:
    from lctl.rerun.drawnids import DrawnIds
    from lctl.rerun.entries import Entry
    from lctl.rerun.settings import Settings
    from lctl.rerun.waiting import Order
    from lctl.session.lanes import Lane
    from lctl.session.toolcalls import ToolCall


class Place(NamedTuple):
    """Where a call stands, for rules that address it.

    Attributes:
        seq: of the recorded event that answers it; None where the tape has none.
        after_fork: it comes after the event the run is forked at.
    """

    seq: int | None
    agent: str
    lane: str
    after_fork: bool


class Rules(Protocol):
    """Edits of a fork. None: leave it as it is."""

    def request(self, entry: Entry | None, request: WireRequest, place: Place) -> bytes | None: ...

    def result(self, entry: Entry, call: WireRequest | ToolCall, place: Place) -> Any: ...


class TapePlayer:
    """Serves one process from one tape (`lctl.session.border.Player`).

    Attributes:
        tally: how what was asked was answered.
        halt: the end of the rerun.
        ids: that this process draws where the recording has others.
        equivalent: seqs of exchanges served as exact whose requests said the same in other bytes.
    """

    def __init__(
        self, tape: Tape, settings: Settings, order: Order, halt: Halt, rules: Rules | None = None
    ) -> None:
        self.tape = tape
        self.settings = settings
        self.order = order
        self.tally = Tally()
        self.again: list[str] = []  # recorded tool calls that only running them answers
        self.halt = halt
        self.equivalent: set[int] = set()
        self.ids: DrawnIds | None = None
        self._rules = rules
        self._matcher = Matcher(tape)
        self._repeater = Repeater(inherited_edits(tape))
        self._resumptions = Resumptions(tape)
        self._read: dict[tuple[str, str], int] = {}  # how many reads of a lane and source were served
        #: Whether a recorded event of such a body is stored in its recorded place.
        self.fills: Callable[[int], bool] = lambda seq: False
        self._skipped: set[int] = set()  # events of bodies that were not run
        self._latched: dict[str, int] = {}  # lane that went live -> how many it had spawned by then
        self._lock = threading.Lock()

    # -- exchanges -------------------------------------------------------------------------

    def stopped(self, text: str) -> RerunStopped:
        return self.halt.stop(text)

    def exchange(self, request: WireRequest) -> RecordedAnswer | Live:
        """Raises RerunStopped where the tape does not hold it."""
        known = self._as_recorded(request)
        said = self._answered(known)
        if isinstance(said, Live) and said.body is None and known is not request:
            return said._replace(body=known.body)  # as what the model was served has them
        return said

    def _as_recorded(self, request: WireRequest) -> WireRequest:
        """With the recorded ids in the place of those that stand for them."""
        if self.ids is None or request.body is None or not request.editable:
            return request
        body = self.ids.as_recorded(request.body)
        url = self.ids.as_recorded(request.url.encode()).decode()
        same = body == request.body and url == request.url
        return request if same else request._replace(body=body, url=url)

    def _answered(self, request: WireRequest) -> RecordedAnswer | Live:
        self.halt.check()
        lane = request.lane
        if request.kind in ("telemetry", "suppressed") or not (request.number or request.provider):
            return self._unrecorded(request)
        if self._latched and self._is_latched(lane):
            return self._edited_live(None, request)
        hash = request.hash() if request.provider is not None else None
        match = self._matcher.exchange(request, hash)
        if match.how != "exact":
            known = self._with_recorded_ids(match, request) or self._as_forked(request)
            if known is not None:
                match, request = known
        entry = match.entry
        if match.how == "pending":
            return self._unfinished(match, lane)
        if entry is not None and self._rules is not None:
            made = self._ruled(match, entry, request)
            if made is not None:
                return made
        if match.how == "exact":
            assert entry is not None
            if self.settings.all_live and self._after_fork(entry):
                return self._live(lane)
            return self._serve(match, entry, request)
        return self._inexact(match, request)

    def _with_recorded_ids(self, match: Match, request: WireRequest) -> tuple[Match, WireRequest] | None:
        """It is the recorded one but for ids that were drawn anew."""
        entry = match.entry
        if self.ids is None or entry is None or not self._matcher.learn(self.ids, entry, request):
            return None
        one = self._as_recorded(request)
        found = self._matcher.exchange(one, one.hash() if one.provider is not None else None, again=True)
        return (found, one) if found.how == "exact" else None

    def _as_forked(self, request: WireRequest) -> tuple[Match, WireRequest] | None:
        """The recording is a fork's: what it has of this request is what its edits made of it."""
        for one in self._repeater.candidates(request):
            assert one.body is not None
            match = self._matcher.exchange(one, "sha256:" + sha256(one.body).hexdigest(), again=True)
            if match.how == "exact":
                return match, one
        return None

    def _unrecorded(self, request: WireRequest) -> RecordedAnswer | Live:
        """What no recording of this kind holds."""
        if request.kind == "telemetry":  # nobody reads what is answered; and nothing leaves in a rerun
            return _without_content(self.order, 200)
        host = urlsplit(request.url).hostname or ""
        if self.settings.on_miss == "live" or host in self.settings.allow or "network" in self.settings.allow:
            return self._let_out()
        if traffic.is_news(request.url):
            return _without_content(self.order, 404)
        self.tally.add("unmatched")
        raise self.halt.stop(misses.of_unrecorded(request, host))

    def _inexact(self, match: Match, request: WireRequest) -> RecordedAnswer | Live:
        entry = match.entry
        policy = self.settings.policy
        if match.how == "none" and self.tape.log.open:
            return EndOfTape(self.order, self.end_of_tape)
        if policy == "until-divergence" and not self._in_prefix(entry):
            return self._edited_live(entry, request)
        if policy == "pin" and entry is not None:
            if match.how == "moved" or self._matcher.is_alike(entry, request):
                return self._serve(match, entry, request)
        elif match.how == "moved" and self.settings.on_miss == "live" and entry is not None:
            return self._serve(match, entry, request)
        if self.settings.on_miss == "live":
            return self._let_out()
        if request.provider is None and traffic.is_news(request.url):
            return _without_content(self.order, 404)
        self.tally.add("unmatched")
        raise self.halt.stop(misses.of_exchange(self._matcher, match, request, policy))

    def _serve(self, match: Match, entry: Entry, request: WireRequest) -> RecordedAnswer:
        if self.tape.log.open and not self.tape.is_whole(entry):
            return EndOfTape(self.order, self.end_of_tape)
        data = self.tape.data(entry)
        if data.get("dropped"):
            self.tally.add("unmatched")
            raise self.halt.stop(
                f"the answer of event {entry.seq} was too long to be kept whole: {data['dropped']} bytes "
                "of it are missing, so it cannot be served"
            )
        self._take(match)
        self.tally.add(match.how)
        if match.how == "exact" and not (match.hash_equal and request.url == data.get("url")):
            self.equivalent.add(entry.seq)
        error = data.get("error")
        raised = RecordedError.of(error) if isinstance(error, dict) and not entry.cancelled else None
        answer = RecordedAnswer(
            self.order,
            (self.tape.mark + entry.lane, "exchange", entry.number),
            entry.status,
            data.get("headers") or {},
            raised,
            lambda: [chunk for _, chunk in self.tape.chunks(entry)],
            timed=entry.at is not None,
            streamed=entry.times is not None,
            endless=entry.cancelled,
            lingering=entry.lingering,
            match=None if match.how == "exact" else match.how,
        )
        answer.encoding = data.get("encoded")
        answer.closed_early = bool(data.get("closed_early"))
        answer.body = request.body  # with recorded ids, and the edits of an earlier fork
        return answer

    def _take(self, match: Match) -> None:
        """`match` is served; nobody will ask for what was passed over."""
        for entry in self._matcher.take(match):
            for key in keys(entry, self.tape.mark):
                self.order.drop(key)

    def _unfinished(self, match: Match, lane: Lane) -> RecordedAnswer:
        """A call that the recording saw leave and nothing more: it stays pending, or the recording ended."""
        assert match.entry is not None
        self._take(match)
        self.tally.add("exact")
        if all(entry.used for entry in self.tape.entries if entry.kind == "exchange"):
            return EndOfTape(self.order, self.end_of_tape)
        key = (self.tape.mark + lane.path, "exchange", match.number)
        return RecordedAnswer(self.order, key, None, {}, None, list, streamed=False, endless=True, match=None)

    # -- live --------------------------------------------------------------------------------

    def _let_out(self, body: bytes | None = None) -> Live:
        self.tally.add("live")
        return Live(body)

    def _live(self, lane: Lane, body: bytes | None = None) -> Live:
        """From here on this lane, and what it starts, is live."""
        with self._lock:
            self._latched.setdefault(lane.path, _spawned(lane))
        self.order.forget(self.tape.mark + lane.path)
        return self._let_out(body)

    def _edited_live(self, entry: Entry | None, request: WireRequest) -> Live:
        body = None
        if self._rules is not None:
            body = self._rules.request(entry, request, self._place(entry, request.lane))
        return self._live(request.lane, body)

    def is_live(self, lane: Lane) -> bool:
        """Whether this lane has left the tape."""
        return bool(self._latched) and self._is_latched(lane)

    def _is_latched(self, lane: Lane) -> bool:
        at: Lane | None = lane
        while at is not None:
            if at.path in self._latched and at is lane:
                return True
            parent = at.parent
            started = None if parent is None else self._latched.get(parent.path)
            if started is not None and not 0 < at.index <= started:
                return True
            at = parent
        return False

    # -- forks -------------------------------------------------------------------------------

    def _ruled(self, match: Match, entry: Entry, request: WireRequest) -> RecordedAnswer | Live | None:
        """What an edit makes of a recorded call; None where none addresses it."""
        assert self._rules is not None
        place = self._place(entry, request.lane)
        edited = self._rules.result(entry, request, place)
        if edited is not None:
            self._take(match)
            self.tally.add("edited")
            answer: RecordedAnswer = edited
            return answer
        body = self._rules.request(entry, request, place)
        if body is not None:
            return self._live(request.lane, body)
        return None

    def _place(self, entry: Entry | None, lane: Lane) -> Place:
        if entry is None:
            return Place(None, "", lane.path, True)
        return Place(entry.seq, entry.agent, lane.path, self._after_fork(entry))

    def _after_fork(self, entry: Entry) -> bool:
        return self.settings.at is not None and entry.seq > self.settings.at

    def _in_prefix(self, entry: Entry | None) -> bool:
        """Before the event a run is forked at nothing may differ."""
        return entry is not None and self.settings.at is not None and entry.seq <= self.settings.at

    # -- tools and ambient reads -----------------------------------------------------------------

    def tool(self, call: ToolCall, lane: Lane, number: int) -> Served | None:
        """Raises RerunStopped where the tape does not hold it."""
        self.halt.check()
        if self._latched and self._is_latched(lane):
            self.tally.add("executed")
            return None
        clean = self._matcher.comparer.clean
        match = self._matcher.other(
            lane.path, "tool", lambda entry: equal_call(self.tape.data(entry), call, clean, self.ids)
        )
        entry = match.entry
        if match.how == "none" and self.tape.log.open:
            raise self.end_of_tape()
        if entry is not None and self._rules is not None:
            edited = self._rules.result(entry, call, self._place(entry, lane))
            if edited is not None:
                self._take(match)
                self.tally.add("edited")
                return edited  # type: ignore[no-any-return]
        if entry is not None and (match.how == "exact" or self.settings.policy == "pin"):
            return self._serve_tool(match, entry, call)
        if self.settings.policy == "until-divergence" and not self._in_prefix(entry):
            self._live(lane)
        elif self.settings.on_miss == "stop":
            self.tally.add("unmatched")
            detail = []
            if entry is not None:
                data = self.tape.data(entry)
                detail = misses.diff_lines(
                    misses.told(data.get("tool"), data.get("input")),
                    misses.told(call.tool, call.input),
                    entry.seq,
                )
            raise self.halt.stop(
                misses.of_other("tool call", call.tool, match, lane.path, detail, self.settings.policy)
            )
        self.tally.add("executed")
        return None

    def _serve_tool(self, match: Match, entry: Entry, call: ToolCall) -> Served | None:
        self._take(match)
        found = served(
            self.tape.data(entry),
            call,
            self.order,
            (self.tape.mark + entry.lane, "tool", entry.number),
            entry.cancelled,
        )
        self.tally.add("executed" if found is None else match.how)
        if found is not None:
            found.match = None if match.how == "exact" else match.how
            found.call_id = made_up_id(self.tape.data(entry), call)
            found.placed, found.events = self._inside(found.outcome.inside)
        else:
            self.order.drop((self.tape.mark + entry.lane, "tool", entry.number, START))
            self.again.append(f"event {entry.seq}: {call.tool}: {self.tape.data(entry)['tape']['executed']}")
        return found

    def _inside(self, ranges: Sequence[tuple[int, int]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The events of a served tool's body, which does not run: nobody will ask for what it asked for.
        First those that are recorded where they were."""
        placed: list[dict[str, Any]] = []
        events: list[dict[str, Any]] = []
        for first, last in ranges:
            for event in self.tape.log.events(first, last + 1):
                (placed if self.fills(event.seq) else events).append(event.to_dict())
                self._skipped.add(event.seq)
        for entry in self.tape.entries if ranges else ():
            if entry.seq in self._skipped and not entry.used:
                entry.used = True
                for key in keys(entry, self.tape.mark):
                    self.order.drop(key)
        return placed, events

    def ambient(self, source: str, key: str, lane: Lane, number: int) -> tuple[Any] | None:
        """Raises RerunStopped where the tape does not hold it."""
        if self._latched and self._is_latched(lane):
            return None
        place = (lane.path, source)
        row = self.tape.reads.get(place, ())
        if not (self.tape.has_ambient or row):
            return None
        self.halt.check()
        at = self._read.get(place, 0)
        if source == LOGGED:  # libraries need not say the same again
            at = next((n for n in range(at, len(row)) if row[n].key == key), len(row))
            if at == len(row):
                return None
        if at < len(row) and row[at].key == key:
            self._read[place] = at + 1
            self.tally.reads += 1
            return (row[at].value,)
        if at >= len(row) and self.tape.log.open:
            raise self.end_of_tape()
        if self.settings.policy == "strict" and self.settings.on_miss == "stop":
            self.tally.add("unmatched")
            recorded = row[at] if at < len(row) else None
            raise self.halt.stop(misses.of_read(source, key, lane.path, at + 1, recorded))
        self.tally.add("executed")
        return None

    def shown(self) -> list[dict[str, Any]] | None:
        if self.settings.at is not None or self._latched:
            return None
        return [] if self.halt.why is not None else self.tape.shown

    def event(self, lane: Lane, number: int) -> None:
        row = self.tape.lanes.get((lane.path, "event"), ())
        if number <= len(row) and not (self._latched and self._is_latched(lane)):
            self.order.wait((self.tape.mark + lane.path, "event", number, 0))

    def sleep(self, lane: Lane, number: int) -> bool:
        entry = self._slept(lane, number)
        if entry is not None:
            if entry.cancelled:
                self.order.never()
            self.order.wait((self.tape.mark + entry.lane, "sleep", entry.number, 0))
        return entry is not None

    async def sleep_async(self, lane: Lane, number: int) -> bool:
        entry = self._slept(lane, number)
        if entry is not None:
            key = (self.tape.mark + entry.lane, "sleep", entry.number)
            if entry.cancelled:
                await self.order.never_async((*key, END))
            await self.order.wait_async((*key, 0))
        return entry is not None

    async def read_async(self, source: str, lane: Lane, number: int) -> None:
        row = self.tape.lanes.get((lane.path, source), ())
        if number > len(row):
            return
        entry = row[number - 1]
        key = (self.tape.mark + entry.lane, source, number)
        if entry.cancelled:
            await self.order.never_async((*key, END))
        await self.order.wait_async((*key, 0))

    def resumed(self, seq: int, sure: bool = True) -> float | None:
        lane = lanes.current()
        found = None if self.is_live(lane) else self._resumptions.take(lane.path, seq, sure)
        if found is None:
            return None
        entry, at = found
        self.order.wait((self.tape.mark + entry.lane, entry.kind, entry.number, RESUMED))
        return at

    async def resumes_async(self, seq: int, sure: bool = True) -> None:
        lane = lanes.current()
        found = None if self.is_live(lane) else self._resumptions.find(lane.path, seq, sure)
        if found is not None:
            entry, _ = found
            await self.order.resume_async((self.tape.mark + entry.lane, entry.kind, entry.number, RESUMED))

    def _slept(self, lane: Lane, number: int) -> Entry | None:
        row = self.tape.lanes.get((lane.path, "sleep"), ())
        if number > len(row) or (self._latched and self._is_latched(lane)):
            return None
        entry = row[number - 1]
        entry.used = True
        return entry

    # -- the end -----------------------------------------------------------------------------

    def end_of_tape(self) -> RerunStopped:
        """The recording was cut off here (its program was killed): what to raise."""
        last = self.tape.log.last_seq
        return self.halt.stop(
            f"the recording ends here, with event {last}: its program did not get further", reached=True
        )

    def unaddressed(self) -> list[str]:
        """Edits that changed nothing, and why."""
        return []

    def unused(self) -> list[str]:
        """What was recorded and not asked for."""
        found = [f"event {entry.seq}: {entry.place}" for entry in self.tape.entries if not entry.used]
        for (lane, source), row in self.tape.reads.items():
            left = sum(one.seq not in self._skipped for one in row[self._read.get((lane, source), 0) :])
            # A seed is taken from the header of each session, not asked for.
            if left and source not in ("seed", LOGGED):
                what = f"{left} {source} read{'' if left == 1 else 's'} of lane {lane}"
                found.append(f"event {row[-left].seq}: {what}")
        return found


def _without_content(order: Order, status: int) -> RecordedAnswer:
    """What clients of telemetry expect (200), and who asks for news that nobody recorded (404)."""
    head = {"content-type": "application/json"}
    return RecordedAnswer(
        order, ("", "", 0), status, head, None, lambda: [b"{}"], streamed=False, endless=False, match=None
    )


def _spawned(lane: Lane) -> int:
    """How many lanes `lane` has started."""
    return lane.spawned
