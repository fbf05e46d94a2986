"""The player: answers each crossing of the border from the tape, or says why it cannot."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lctl.errors import RerunStopped
from lctl.instrument import traffic
from lctl.rerun.edits.repeating import Repeater, inherited_edits
from lctl.rerun.exactness.certificate import Tally
from lctl.rerun.guarding.halting import Halt
from lctl.rerun.order.livelanes import LiveLanes
from lctl.rerun.order.moments import START
from lctl.rerun.order.ordering import keys
from lctl.rerun.order.sharing import Shared
from lctl.rerun.order.turns import Turns
from lctl.rerun.serving import misses
from lctl.rerun.serving.answermaking import (
    answer_without_content,
    pending_answer,
    served_answer,
    shared_answer,
)
from lctl.rerun.serving.answers import EndOfTape, RecordedAnswer
from lctl.rerun.serving.matching import Match, Matcher
from lctl.rerun.tape.reads import Reads
from lctl.rerun.tape.skippedbodies import SkippedBodies
from lctl.rerun.tape.tape import Tape
from lctl.rerun.tooling.agenttools import AgentTools
from lctl.rerun.tooling.toolplayer import ToolPlayer
from lctl.session.border import Live, WireRequest
from lctl.session.concurrency import heardsignals

if TYPE_CHECKING:
    from lctl.rerun.order.waiting import Order
    from lctl.rerun.settings import Settings
    from lctl.rerun.tape.drawnids import DrawnIds
    from lctl.rerun.tape.entries import Entry
    from lctl.session.concurrency.lane import Lane

#: Real seconds for which a child that goes on behind its recording, by sleeps, has nothing to do each time.
_PAUSE = 0.08
#: Sleeps of the program's behind all that was recorded, after which it is taken to go on for ever.
_FOR_EVER = 500
_GOES_ON = """the program goes on where its recording has ended, and sleeps again and again
  What ended it is not on the tape: a signal that it handles, perhaps, or another program."""


class TapePlayer(ToolPlayer):
    """Serves one session of a process from its tape (what `lctl.session.border.Player` says of each call).

    Attributes:
        tally: how what was asked was answered.
        again: recorded tool calls that only running them answers, with the reason.
        halt: the end of the rerun.
        ids: that this process draws where the recording has others.
        live: the lanes that have left the tape.
        reads: of clock, chance and environment.
        bodies: of tools, that are not run.
        turns: in which the program goes on.
        equivalent: seqs of exchanges served as exact whose requests said the same in other bytes.
        ends: the recording was cut off (its program was killed), and this run ends with it; a fork goes on
            live.
    """

    def __init__(self, tape: Tape, settings: Settings, order: Order, halt: Halt) -> None:
        self.tape = tape
        self.ends = tape.log.open and settings.at is None
        self._slept_on = 0
        self.settings = settings
        self.order = order
        self.tally = Tally()
        self.again: list[str] = []
        self.halt = halt
        self.equivalent: set[int] = set()
        self.ids: DrawnIds | None = None
        self.live = LiveLanes()
        self.reads = Reads(tape, settings, self.tally, halt, self.live)
        self.turns = Turns(tape, order, self.live, is_fork=settings.at is not None)
        self._matcher = Matcher(tape)
        self._shared = Shared(self._matcher)
        self._agents = AgentTools(tape, self._matcher)
        self._repeater = Repeater(inherited_edits(tape))
        self.bodies = SkippedBodies(tape, order, are_filled=settings.at is None)

    # -- exchanges -------------------------------------------------------------------------

    def exchange(self, request: WireRequest) -> RecordedAnswer | Live:
        """Raises RerunStopped where the tape does not hold it."""
        known = self._as_recorded(request)
        said = self._answered(known)
        if isinstance(said, Live) and said.body is None and known is not request:
            return said._replace(body=known.body, url=known.url)  # as what the model was served has them
        return said

    def again_ms(self, lane: Lane) -> float | None:
        """See `border.Player.again_ms`."""
        entry = None if lane in self.live else self._matcher.following(lane.path, "exchange")
        if entry is None:
            return None
        return self.order.until((self.tape.mark + lane.path, entry.kind, entry.number, START))

    def _as_recorded(self, request: WireRequest) -> WireRequest:
        """With the recorded ids in the place of those that stand for them."""
        if self.ids is None or self.ids.are_recorded or request.body is None or not request.editable:
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
        if lane in self.live:
            return self._diverged(None, request)
        if request.provider is None and traffic.is_shared(request.method, request.url):
            kept = self._shared.find(request)
            if kept is not None:
                self.tally.add("exact")
                return shared_answer(self.tape, self.order, *kept)
        hash = request.hash() if request.provider is not None else None
        match = self._matcher.exchange(request, hash)
        if match.how != "exact":
            known = self._with_recorded_ids(match, request) or self._as_forked(request)
            if known is not None:
                match, request = known
        entry = match.entry
        if match.how == "pending":
            return self._unfinished(match, request)
        if entry is not None:
            made = self._ruled(match, entry, request)
            if made is not None:
                return made
        if match.how == "exact":
            assert entry is not None
            if self.settings.all_live and not self._in_prefix(entry):
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
            known = (match, one) if match.how == "exact" else self._with_recorded_ids(match, one)
            if known is not None:
                return known
        return None

    def _unrecorded(self, request: WireRequest) -> RecordedAnswer | Live:
        """What no recording of this kind holds."""
        if _is_telling(request):  # hardly anybody reads what is answered; and nothing leaves in a rerun
            return answer_without_content(self.order, 200)
        host = urlsplit(request.url).hostname or ""
        if self.settings.on_miss == "live" or host in self.settings.allow or "network" in self.settings.allow:
            return self._let_out()
        if traffic.is_news(request.url):
            return answer_without_content(self.order, 404)
        self.tally.add("unmatched")
        raise self.halt.stop(misses.of_unrecorded(request, host))

    def _inexact(self, match: Match, request: WireRequest) -> RecordedAnswer | Live:
        entry = match.entry
        policy = self.settings.policy
        if match.how == "none" and self.ends:
            return EndOfTape(self.order, self._end_of_tape)
        beyond = match.how == "none" and self.tape.log.open  # even if others have not got as far yet
        if policy == "until-divergence" and (beyond or not self._in_prefix(entry)):
            return self._diverged(entry, request)
        if policy == "pin" and entry is not None:
            if match.how == "moved" or self._matcher.is_alike(entry, request):
                return self._serve(match, entry, request)
        elif match.how == "moved" and self.settings.on_miss == "live" and entry is not None:
            return self._serve(match, entry, request)
        if self.settings.on_miss == "live":
            return self._let_out()
        if request.provider is None and traffic.is_news(request.url):
            return answer_without_content(self.order, 404)
        if match.how == "none" and _is_telling(request):
            return answer_without_content(self.order, 200)
        self.tally.add("unmatched")
        raise self.halt.stop(misses.of_exchange(self._matcher, match, request, policy))

    def _serve(self, match: Match, entry: Entry, request: WireRequest) -> RecordedAnswer | Live:
        if self.tape.log.open and not self.tape.is_whole(entry):
            if not self.ends:
                self._take(match)
                return self._diverged(None, request)
            return EndOfTape(self.order, self._end_of_tape)
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
        answer = served_answer(self.tape, self.order, entry, data)
        answer.match = None if match.how == "exact" else match.how
        if self.tape.log.open and self.ends:
            answer.end = self._end_of_tape
        answer.body, answer.url = request.body, request.url  # with recorded ids, and an earlier fork's edits
        return answer

    def _take(self, match: Match) -> None:
        """`match` is served; nobody will ask for what was passed over."""
        if match.entry is not None and match.entry.counted:
            self.order.count()
        for entry in self._matcher.take(match):
            for key in keys(entry, self.tape.mark):
                self.order.drop(key)

    def _unfinished(self, match: Match, request: WireRequest) -> RecordedAnswer | Live:
        """A call that the recording saw leave and nothing more: it stays pending, or the recording ended."""
        assert match.entry is not None
        self._take(match)
        if self.tape.log.open and not self.ends:
            return self._diverged(None, request)
        self.tally.add("exact")
        if all(entry.used for entry in self.tape.entries if entry.kind == "exchange"):
            return EndOfTape(self.order, self._end_of_tape)
        return pending_answer(self.order, (self.tape.mark + request.lane.path, "exchange", match.number))

    # -- live --------------------------------------------------------------------------------

    def _let_out(self, changed: Live | None = None) -> Live:
        self.tally.add("live")
        return changed or Live()

    def _live(self, lane: Lane, changed: Live | None = None) -> Live:
        """From here on this lane, and what it starts, is live."""
        self._leave_tape(lane)
        return self._let_out(changed)

    def _leave_tape(self, lane: Lane) -> None:
        self.live.add(lane)
        self.order.forget(self.tape.mark + lane.path)

    # -- forks -------------------------------------------------------------------------------

    def _ruled(self, match: Match, entry: Entry, request: WireRequest) -> RecordedAnswer | Live | None:
        """What an edit makes of a recorded call; None where none addresses it."""
        return None

    def _diverged(self, entry: Entry | None, request: WireRequest) -> RecordedAnswer | Live:
        """A call that leaves the tape, or comes after one that has. `entry`: what stands there instead."""
        return self._live(request.lane)

    def _in_prefix(self, entry: Entry | None) -> bool:
        """Before the event a run is forked at nothing may differ."""
        return entry is not None and self.settings.at is not None and entry.seq <= self.settings.at

    # -- the end -----------------------------------------------------------------------------

    def slept(self, lane: Lane, number: int) -> bool:
        """A program that was killed in its sleep had not: what it had recorded by then comes before. Of a
        child that heard a signal then, and handled it, nothing says so."""
        recorded = self.turns.sleeps(lane)
        if lane in self.live or number <= recorded:
            return False
        if self.ends and self.order.gap() > 0:
            return True
        if self.ends:
            raise self._end_of_tape()
        if recorded and self.halt.linger is not None:
            self.halt.linger(_PAUSE)
        elif self.order.is_spent() and self._is_strict():
            self._slept_on += 1
            if self._slept_on > _FOR_EVER:
                raise self.halt.stop(_GOES_ON)
        return False

    def _is_strict(self) -> bool:
        settings = self.settings
        return settings.at is None and settings.policy == "strict" and settings.on_miss == "stop"

    def _end_of_tape(self) -> RerunStopped:
        return self.halt.at_end_of(self.tape.log)

    def unaddressed(self) -> list[str]:
        """Edits that changed nothing, and why."""
        return []

    def unused(self) -> list[str]:
        """What was recorded and not asked for."""
        heard = heardsignals.LANE.path  # of signals their events tell whether they came, by whomever
        left = [entry for entry in self.tape.entries if not entry.used and entry.lane != heard]
        found = [f"event {entry.seq}: {entry.place}" for entry in left]
        return found + self.reads.unused(self.bodies.seqs)


def _is_telling(request: WireRequest) -> bool:
    """Whether a tool of observability asks or sends something: it does without where it gets nothing."""
    return request.kind == "telemetry" or (
        request.kind == "http" and traffic.is_host_of_telemetry(request.url)
    )
