"""Which event of one run is which event of the other.

Both logs are trees of steps. From the top down, what happened in a step is matched with what happened in
its counterpart: events of one agent in their order, child steps by what is in them whatever their order,
prompt messages by their place in the conversation wherever they were first recorded. So the interleaving
of concurrent work, and every number that follows from it, makes no difference.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from lctl.analysis import likeness
from lctl.analysis.align import align
from lctl.analysis.steptree import Body, Side
from lctl.analysis.trace import STEP, Trace
from lctl.state.collection import paused

_TOP = -1

Levels = Sequence[likeness.Likeness]


@paused(ageing=True)
def match(left: Trace, right: Trace) -> tuple[Sequence[int], Sequence[int]]:
    """For each event of either side, the index of its counterpart or -1."""
    if left.keys == right.keys and left.owners == right.owners:
        same = range(len(left))
        return same, same
    matching = _Matching(Side(left), Side(right))
    matching.run()
    return matching.left.pairs, matching.right.pairs


class _Matching:
    def __init__(self, left: Side, right: Side) -> None:
        self.left = left
        self.right = right
        self._later: list[tuple[list[int], list[int]]] = []

    def run(self) -> None:
        left, right = self.left, self.right
        pairs, deep, other_deep = left.pairs, left.deep, right.deep
        self._match_pool()
        pool, other_pool = _by_owner(left), _by_owner(right)
        todo = [(_TOP, _TOP)]
        while todo:
            step, counterpart = todo.pop()
            mine, other = left.items[step], right.items[counterpart]
            keys, other_keys = [deep[n] for n in mine], [other_deep[m] for m in other]
            if keys == other_keys or self._place_by_place(mine, other, keys, other_keys):
                self._pair(mine, other)
            else:
                self._match_bodies(left.body(step), right.body(counterpart))
            if step in pool and counterpart in other_pool:
                self._match_local_pool(pool[step], other_pool[counterpart])
            for n in left.steps[step]:
                if pairs[n] >= 0:
                    todo.append((n, pairs[n]))
        self._pair_moved()

    def _place_by_place(
        self, mine: list[int], other: list[int], keys: list[int], other_keys: list[int]
    ) -> bool:
        """What differs is the same thing with other values, each in its place, and nothing of it stands
        elsewhere: no better match is to be found."""
        if len(mine) != len(other):
            return False
        unlike = [place for place, key in enumerate(keys) if key != other_keys[place]]
        steps = []
        left, right, classes = self.left, self.right, self.left.trace.classes
        for place in unlike:
            n, m = mine[place], other[place]
            if not likeness.is_named_alike(left, n, right, m):
                return False
            if classes[n] == STEP:
                steps.append((n, m))
        if len(unlike) == 1:
            return True
        if not {keys[n] for n in unlike}.isdisjoint([other_keys[n] for n in unlike]):
            return False
        return self._is_nothing_elsewhere(steps)

    def _is_nothing_elsewhere(self, steps: list[tuple[int, int]]) -> bool:
        """Whether none of the steps is more like the counterpart of another one than like its own."""
        for like in likeness.LIKE_STEPS:
            if len(steps) < 2:
                return True
            keys = like(self.left, [n for n, _ in steps])
            other_keys = like(self.right, [m for _, m in steps])
            if keys == other_keys:
                return True
            unlike = [place for place, key in enumerate(keys) if key != other_keys[place]]
            if not {keys[n] for n in unlike}.isdisjoint([other_keys[n] for n in unlike]):
                return False
            steps = [steps[place] for place in unlike]
        return True

    def _match_bodies(self, body: Body, counterpart: Body) -> None:
        self._match_steps(body.steps, counterpart.steps)
        self._match_events(body, counterpart)
        self._match_loose(body.loose, counterpart.loose)

    # -- one kind of thing in one body ---------------------------------------------------

    def _match_steps(self, mine: list[int], other: list[int]) -> None:
        """By content first, in any order: siblings that do the same are the same whoever came first."""
        free, other_free = self.left.free(mine), self.right.free(other)
        inside, other_inside = self.left.inside, self.right.inside
        nothing_alike = {inside[n] for n in free}.isdisjoint([other_inside[m] for m in other_free])
        for like, pair in (
            (likeness.whole, self._pair_alike),
            (likeness.place, self._pair_alike),
            (likeness.content, self._pair_in_order),
            (likeness.content, self._pair_alike),
        ):
            if nothing_alike and like is not likeness.place:
                continue
            if not free or not other_free:
                return
            keys, other_keys = like(self.left, free), like(self.right, other_free)
            if not set(keys).isdisjoint(other_keys):
                pair(free, other_free, keys, other_keys)
                free, other_free = self.left.free(free), self.right.free(other_free)
        if self._pair_gaps(mine, other, likeness.STEP_LEVELS):
            self._pair_changed(self.left.free(mine), self.right.free(other), likeness.STEP_LEVELS)

    def _match_events(self, body: Body, counterpart: Body) -> None:
        for lane, mine in body.lanes.items():
            other = counterpart.lanes.get(lane)
            if other is not None:
                self._match_lane(mine, other, body, counterpart)
        if len(body.lanes) > 1 or body.lanes.keys() != counterpart.lanes.keys():
            mine = self.left.free(n for lane in body.lanes.values() for n in lane)
            other = self.right.free(n for lane in counterpart.lanes.values() for n in lane)
            self._pair_changed(sorted(mine), sorted(other), (likeness.under_another_agent,))

    def _match_lane(self, mine: list[int], other: list[int], body: Body, counterpart: Body) -> None:
        keys, other_keys = self._keys(mine, other)
        if keys == other_keys:
            self._pair(mine, other)
            return
        if not set(keys).isdisjoint(other_keys):
            self._pair_in_order(mine, other, keys, other_keys)
            free, other_free = self.left.free(mine), self.right.free(other)
            keys, other_keys = self._keys(free, other_free)
            if not set(keys).isdisjoint(other_keys) and (
                self.left.is_parallel(body, mine) or self.right.is_parallel(counterpart, other)
            ):
                self._pair_alike(free, other_free, keys, other_keys)
        self._pair_gaps(mine, other, likeness.EVENT_LEVELS)

    def _match_loose(self, mine: list[int], other: list[int]) -> None:
        if not mine or not other:
            return
        self._pair_alike(mine, other, *self._keys(mine, other))
        self._pair_gaps(mine, other, likeness.EVENT_LEVELS)

    # -- prompt messages and blobs ---------------------------------------------------------

    def _match_pool(self) -> None:
        """By the way to them. Where several strands say the same, each with that of its agent first."""
        mine, other = self.left.pool, self.right.pool
        keys, other_keys = likeness.way(self.left, mine), likeness.way(self.right, other)
        if len(set(keys)) < len(keys) or len(set(other_keys)) < len(other_keys):
            self._pair_alike(
                mine, other, likeness.own_way(self.left, mine), likeness.own_way(self.right, other)
            )
            mine, other = self.left.free(mine), self.right.free(other)
            keys, other_keys = likeness.way(self.left, mine), likeness.way(self.right, other)
        self._pair_alike(mine, other, keys, other_keys)

    def _match_local_pool(self, mine: list[int], other: list[int]) -> None:
        mine, other = self.left.free(mine), self.right.free(other)
        if mine and other:
            keys, other_keys = self._keys(mine, other)
            if not set(keys).isdisjoint(other_keys):
                self._pair_in_order(mine, other, keys, other_keys)
            self._later.append((mine, other))

    def _pair_moved(self) -> None:
        """What is left: first the same message recorded in another step, then messages that changed."""
        mine, other = self.left.free(self.left.pool), self.right.free(self.right.pool)
        self._pair_alike(mine, other, *self._keys(mine, other))
        for free, other_free in self._later:
            self._pair_changed(self.left.free(free), self.right.free(other_free), likeness.EVENT_LEVELS)

    # -- ways to pair --------------------------------------------------------------------------

    def _keys(self, mine: Iterable[int], other: Iterable[int]) -> tuple[list[int], list[int]]:
        return [self.left.keys[n] for n in mine], [self.right.keys[n] for n in other]

    def _pair(self, mine: Iterable[int], other: Iterable[int]) -> None:
        pairs, other_pairs = self.left.pairs, self.right.pairs
        for n, m in zip(mine, other, strict=True):
            pairs[n] = m
            other_pairs[m] = n

    def _pair_in_order(
        self,
        mine: Sequence[int],
        other: Sequence[int],
        keys: Sequence[Hashable],
        other_keys: Sequence[Hashable],
    ) -> int:
        """Equal keys, as many as keep their order: so many."""
        pairs, other_pairs = self.left.pairs, self.right.pairs
        places = align(keys, other_keys)
        for n, place in zip(mine, places, strict=True):
            if place >= 0:
                m = other[place]
                pairs[n] = m
                other_pairs[m] = n
        return len(places) - places.count(-1)

    def _pair_alike(
        self,
        mine: Sequence[int],
        other: Sequence[int],
        keys: Sequence[Hashable],
        other_keys: Sequence[Hashable],
    ) -> None:
        """Equal keys in any order, the n-th of a key with the n-th."""
        if keys == other_keys:
            self._pair(mine, other)
            return
        pairs, other_pairs = self.left.pairs, self.right.pairs
        wanted = set(keys)
        waiting: dict[Hashable, list[int]] = {}
        for m, key in zip(reversed(other), reversed(other_keys), strict=True):
            if key in wanted:
                waiting.setdefault(key, []).append(m)
        for n, key in zip(mine, keys, strict=True):
            alike = waiting.get(key)
            if alike:
                m = alike.pop()
                pairs[n] = m
                other_pairs[m] = n

    def _pair_gaps(
        self, mine: Sequence[int], other: Sequence[int], levels: Sequence[likeness.Likeness]
    ) -> bool:
        """What stands between the same two neighbours on both sides, as the same event changed. False if
        nothing stands between anything: then all of either side has been tried."""
        pairs = self.left.pairs
        if max([pairs[n] for n in mine], default=-1) < 0:
            self._pair_changed(list(mine), self.right.free(other), levels)
            return False
        places = {m: place for place, m in enumerate(other)}
        gap: list[int] = []
        after = 0
        for n in mine:
            if pairs[n] < 0:
                gap.append(n)
                continue
            place = places.get(pairs[n], -1)
            if place < after:  # matched out of order: no neighbour to go by
                continue
            if gap and place > after:
                self._pair_changed(gap, self.right.free(other[after:place]), levels)
            gap = []
            after = place + 1
        if gap:
            self._pair_changed(gap, self.right.free(other[after:]), levels)
        return True

    def _pair_changed(self, mine: list[int], other: list[int], levels: Levels) -> None:
        for level in levels:
            if not mine or not other:
                return
            keys, other_keys = level(self.left, mine), level(self.right, other)
            if not set(keys).isdisjoint(other_keys):
                if self._pair_in_order(mine, other, keys, other_keys) in (len(mine), len(other)):
                    return
                mine, other = self.left.free(mine), self.right.free(other)


def _by_owner(side: Side) -> dict[int, list[int]]:
    """Unmatched prompt messages and blobs by the step they stand in."""
    found: dict[int, list[int]] = {}
    for n in side.free(side.pool):
        found.setdefault(side.trace.owners[n], []).append(n)
    return found
