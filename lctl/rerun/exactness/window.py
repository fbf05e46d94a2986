"""Events of concurrent tasks that a rerun records in another order than the recording did.

What reaches a program comes in the recorded order; what its tasks report of themselves in between (a step
that ends while another's answer is read) may fall on either side of it, by a turn of the event loop. The
program sees nothing of that order. So a rerun that comes to say other than what was recorded holds its
events back until they are the recorded ones again, each of them, in whatever order; then the recorded
lines stand, and the seqs by which later events refer to them are the recorded ones.

What one step says stays in its order, as do the steps of one lane and everything that crossed the border.

A fork is the recording up to one event only. What its other tasks record before that is there (a live answer
that came sooner than a recorded one) is held back, too, and comes behind it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import orjson

from lctl.rerun.exactness.past import Block, Past
from lctl.rerun.exactness.reordering import Names
from lctl.rerun.order.borders import Noted, Told, in_order

#: Events that are held back at most, and of these such as are not found; then they are another history.
_HELD, _MANY = 1024, 128
#: Of an event's data: what is the same, word by word, in one that is to be it.
_TOLD = ("lane", "tool", "role", "kind", "outcome")
#: Whether two lines say the same.
Same = Callable[[bytes, bytes], bool]
#: Type, task or thread, and the how-manyth there.
_Crossing: TypeAlias = tuple[str, str, int]


class Window:
    """Lines held back from the first that is not the recorded one, until all are among those recorded.

    Steps of several tasks may begin alike. Which is which is told by what crosses the border in them, as that
    says of which task it is: also of such as were found, and stored, before the window opened.

    Attributes:
        before: how many of the events were.
    """

    def __init__(self, names: Names, same: Same, past: Past) -> None:
        self.before = 0
        self.recorded: list[bytes] = []
        self.held: list[bytes] = []
        self._lanes: list[str] = []  # in which those were told
        self._names = names
        self._same = same
        self._past = past
        self._were: dict[int, int] = {}  # which recorded events those before the window were
        self._events: tuple[list[Noted], list[Noted]] = ([], [])  # of `held` and `recorded`
        self._open: list[int] = []  # of `held`: not found yet
        self._left: list[int] = []  # of `recorded`: not found yet
        self._owed: deque[int] = deque()  # of `recorded`: to be served, and not held yet
        self._served: dict[int, int] = {}  # of `held`, by `recorded`
        self._found: list[tuple[int, int]] = []
        self._crossings: tuple[dict[_Crossing, int], dict[_Crossing, int]] = ({}, {})
        self._counts: tuple[Counter[Any], Counter[Any]] = (Counter(), Counter())
        self._tried: set[tuple[int, int]] = set()  # of `held` and `recorded`, by the names known so far
        self._sure: dict[int, int] = {}  # recorded seqs of steps, by theirs in this run
        self._taken: set[int] = set()  # of the recorded seqs
        self._is_beyond = False
        self._unlike: set[tuple[int, int]] = set()  # ends, of `held` and `recorded`, that say something else

    def add(self, recorded: bytes | None, now: bytes, lane: str) -> bool:
        """One more of each, that of this run told in `lane`; whether the window is whole.

        Args:
            recorded: None: nothing more need be found, but what was recorded before.
        """
        self._open.append(len(self.held))
        self.held.append(now)
        self._lanes.append(lane)
        crossed = [self._note(0, now)]
        if recorded is None:
            self._is_beyond = True
        else:
            self._left.append(len(self.recorded))
            self.recorded.append(recorded)
            crossed.append(self._note(1, recorded))
        self._names.doubt(self._events[0][-1].seq)
        while self._match():
            pass
        while (any(crossed) and self._learn()) or self._learn_of_ends():
            self._match_again()
        return self._is_whole()

    def owe(self, recorded: bytes) -> None:
        """A recorded event that comes of the tape itself, for which there is no number yet."""
        self._owed.append(len(self.recorded))
        self.recorded.append(recorded)
        self._note(1, recorded)

    @property
    def owed(self) -> int:
        return len(self._owed)

    def serve(self, seq: int) -> bool:
        """The first of those has the number `seq` in this run; whether the window is whole."""
        place = self._owed.popleft()
        self._served[len(self.held)] = place
        self._found.append((len(self.held), place))
        self.held.append(orjson.dumps(orjson.loads(self.recorded[place]) | {"seq": seq}))
        self._lanes.append("")
        self._note(0, self.held[-1])
        return self._is_whole()

    def close(self) -> list[tuple[bytes, bytes]]:
        """The recorded lines of what was held back, each with what was found to be it."""
        if not self._is_beyond:  # behind which no window is opened any more
            self._past.add(Block(self.recorded, self.held, self._lanes, self._served))
        found = {m: self.held[n] for n, m in self._found}
        return [(self.recorded[m], found[m]) for m in range(self.before, len(self.recorded))]

    def rest(self) -> list[bytes]:
        """What was held back and is none of the recorded events, behind these."""
        first = self._events[1][-1].seq + 1
        seqs = {self._events[0][n].seq: first + place for place, n in enumerate(self._open)}
        self._rename(seqs)
        return [self._names.line(self.held[n], seqs[self._events[0][n].seq]) for n in self._open]

    def give_up(self) -> list[bytes]:
        """What was held back, as it came."""
        for event in self._events[0]:
            self._names.learn(event.seq, self._were.get(event.seq, event.seq))
        return [self._names.line(line) for line in self.held[self.before :]]

    @property
    def is_lost(self) -> bool:
        """Whether this is another history, and no other order."""
        many = len(self._open) >= _MANY or len(self.held) >= _HELD
        return many or (self._is_found() and not self._is_in_order())

    def _is_whole(self) -> bool:
        return self._is_found() and self._is_in_order()

    def _is_found(self) -> bool:
        return not (self._left or self._owed) if self._is_beyond else not (self._open or self._owed)

    def _note(self, side: int, line: bytes) -> bool:
        """Know an event of the run (0) or of the recording (1); whether it tells of which task it is."""
        event = orjson.loads(line)
        data = event["data"]
        told = tuple(data.get(name) for name in _TOLD)
        alike = event["type"], event.get("agent"), *(one for one in told if isinstance(one, str))
        place = len(self._events[side])
        self._events[side].append(Noted(event["type"], event["seq"], event.get("step"), alike))
        lane = data.get("lane")
        if event["type"] not in ("exchange", "tool_call") or not isinstance(lane, str):
            return False
        counts = self._counts[side]
        counts[event["type"], lane] += 1
        self._crossings[side][event["type"], lane, counts[event["type"], lane]] = place
        return True

    def _match(self) -> bool:
        """Find one more; an event may refer only to what was found before it."""
        now, then = self._events
        for n in self._open:
            event = now[n]
            for m in self._left:
                old = then[m]
                if old.alike != event.alike or (n, m) in self._tried or not self._may_be(event, old):
                    continue
                self._names.learn(event.seq, old.seq)
                if self._same(self.recorded[m], self._names.line(self.held[n], old.seq)):
                    self._open.remove(n)
                    self._left.remove(m)
                    self._found.append((n, m))
                    self._tried.clear()
                    return True
                self._names.doubt(event.seq)
                self._tried.add((n, m))
        return False

    def _may_be(self, event: Noted, old: Noted) -> bool:
        if event.type != "step_start":
            return True
        return self._sure[event.seq] == old.seq if event.seq in self._sure else old.seq not in self._taken

    def _learn(self) -> bool:
        """Which steps a crossing was in, then and now; whether others had been taken for these."""
        now, then = self._crossings
        pairs = [(n, then.get(crossing)) for crossing, n in now.items() if n in self._open]
        return any(m in self._left and self._tell_apart(n, m) for n, m in pairs if m is not None)

    def _tell_apart(self, n: int, m: int) -> bool:
        event, old = self._events[0][n], self._events[1][m]
        pairs = self._chain(event.step, old.step)
        if all(now in self._sure for now, _ in pairs) or any(
            self._sure.get(now, then) != then for now, then in pairs
        ):
            return False
        is_it = self._would_be(n, m, pairs)
        if is_it:
            self._be_sure(pairs)
        return is_it

    def _learn_of_ends(self) -> bool:
        """Whether a step in which nothing happened was taken for another that ended otherwise."""
        now, then = self._events
        ends = [n for n in self._open if now[n].type == "step_end" and now[n].step not in self._sure]
        left = [m for m in self._left if then[m].type == "step_end" and then[m].step not in self._taken]
        for n, m in ((n, m) for n in ends for m in left if (n, m) not in self._unlike):
            step, old = now[n].step, then[m].step
            if step is None or old is None or not self._would_be(n, m, [(step, old)]):
                self._unlike.add((n, m))
                continue
            pairs = self._chain(step, old)
            if pairs and all(self._names.found(a) == b for a, b in pairs[1:]) and self._are_alike(*pairs[0]):
                self._be_sure(pairs[:1])
                return True
        return False

    def _would_be(self, n: int, m: int, pairs: list[tuple[int, int]]) -> bool:
        """Whether they say the same if these steps are the same."""
        known = {now: self._names.found(now) for now, _ in pairs}
        self._rename(dict(pairs))
        is_it = self._same(self.recorded[m], self._names.line(self.held[n], self._events[1][m].seq))
        self._rename(known)
        return is_it

    def _be_sure(self, pairs: list[tuple[int, int]]) -> None:
        self._sure.update(pairs)
        self._taken.update(then for _, then in pairs)
        self._reach_back({step for pair in pairs for step in pair})

    def _are_alike(self, now: int, then: int) -> bool:
        """Whether a step of the run and one of the recording began alike, and nothing happened in them."""
        begun = []
        for side, (lines, seq) in enumerate(((self.held, now), (self.recorded, then))):
            kept = [*self._past.lines(side), *lines]
            if sum(b'"step":%d,' % seq in line for line in kept) > 1:
                return False
            begun += [line for line in kept if line.startswith(b'{"seq":%d,' % seq)]
        return len(begun) == 2 and self._same(begun[1], self._names.line(begun[0], then))

    def _rename(self, seqs: Mapping[int, int | None]) -> None:
        for now, then in seqs.items():
            if then is None:
                self._names.doubt(now)
            else:
                self._names.learn(now, then)

    def _chain(self, now: Any, then: Any) -> list[tuple[int, int]]:
        """A step of the run and one of the recording, and the steps around both, up to one that is known."""
        here = [{one.seq: one.step for one in each if one.type == "step_start"} for each in self._events]
        before: list[dict[int, int | None]] = []
        pairs: list[tuple[int, int]] = []
        while True:
            if now in here[0] and then in here[1]:
                around = here[0][now], here[1][then]
            elif isinstance(now, int) and isinstance(then, int) and self._names.seq(now) != then:
                before = before or [self._past.began(0) | here[0], self._past.began(1) | here[1]]
                if now not in before[0] or then not in before[1]:
                    return []
                around = before[0][now], before[1][then]
            else:
                return pairs
            pairs.append((now, then))
            now, then = around

    def _reach_back(self, seqs: set[int]) -> None:
        """Take what was found before the window into it, if one of these steps is in there."""
        blocks = self._past.take_back(seqs - {event.seq for events in self._events for event in events})
        if not blocks:
            return
        recorded = self.recorded
        blocks.append(Block(recorded, self.held, self._lanes, self._served))
        self.recorded, self.held, self._lanes, self._served = [], [], [], {}
        for block in blocks:
            n, m = len(self.held), len(self.recorded)
            self._served |= {n + one: m + other for one, other in block.served.items()}
            self.held += block.held
            self._lanes += block.lanes
            self.recorded += block.recorded
        shift = len(self.recorded) - len(recorded)
        self.before += shift
        self._owed = deque(place + shift for place in self._owed)
        self._events, self._crossings, self._counts = ([], []), ({}, {}), (Counter(), Counter())
        self._unlike.clear()
        for side, lines in enumerate((self.held, self.recorded)):
            for line in lines:
                self._note(side, line)
        were = {one.seq: self._names.seq(one.seq) for one in self._events[0][: self.before]}
        self._were = were | self._were

    def _match_again(self) -> None:
        for n, event in enumerate(self._events[0]):
            if n not in self._served:
                self._names.doubt(event.seq)
        served = set(self._served.values()) | set(self._owed)
        self._found = list(self._served.items())
        self._open = [n for n in range(len(self.held)) if n not in self._served]
        self._left = [m for m in range(len(self.recorded)) if m not in served]
        self._tried.clear()
        while self._match():
            pass

    def _is_in_order(self) -> bool:
        told = []
        for n, m in sorted(self._found):
            line = self.recorded[m] if n in self._served else self._names.line(self.held[n])
            told.append(Told(orjson.loads(line), m, self._lanes[n]))
        return in_order(told, self._events[1]) and not self._is_overtaken()

    def _is_overtaken(self) -> bool:
        """Whether a lane told something beyond before what it was to tell."""
        last = {self._lanes[n]: n for n, _ in sorted(self._found) if n not in self._served}
        return any(n < last.get(self._lanes[n], -1) for n in self._open)
