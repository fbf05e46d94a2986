"""Whether matched events name matched messages: the same place in the conversation, in both runs."""

from __future__ import annotations

from collections.abc import Sequence

from lctl.analysis.cutters import reduced
from lctl.analysis.essence import apart
from lctl.analysis.trace import Trace


def misplaced(left: Trace, right: Trace, pairs: Sequence[int]) -> set[int]:
    """Left indices of events that name another message than their counterpart does.

    A message only one run has is looked through to the nearest one both have, so that inserting one into
    a conversation does not make everything behind it different. Of messages that say the same on the same
    way, as those of agents that are asked the same at once, one is as good as another: which of them is
    named was a matter of who came first.
    """
    near = _nearest(left, [m >= 0 for m in pairs])
    matched = bytearray(len(right))
    for m in pairs:
        if m >= 0:
            matched[m] = 1
    other_near = _nearest(right, matched)
    named, other_named = left.named.get, right.named.get
    found: set[int] = set()
    ways = _Ways(left, right, pairs)
    for n in left.named.keys() | right_named_on_left(right, pairs, left):
        m = pairs[n]
        if m < 0:
            continue
        mine, other = near.get(named(n), -1), other_near.get(other_named(m), -1)
        if (pairs[mine] if mine >= 0 else -1) != other and not ways.same(mine, other):
            found.add(n)
    return found


class _Ways:
    """Compares messages by what they say and what stands above them."""

    def __init__(self, left: Trace, right: Trace, pairs: Sequence[int]) -> None:
        self._left, self._right, self._pairs = left, right, pairs
        self._known: dict[tuple[int, int], bool] = {}

    def same(self, mine: int, other: int) -> bool:
        """Whether both say the same, and all on the way to them; -1 is the beginning."""
        way: dict[tuple[int, int], bool] = {}
        same: bool | None = None
        while same is None:
            place = (mine, other)
            if mine < 0 or other < 0 or self._pairs[mine] == other:
                same = mine == other or (mine >= 0 and self._pairs[mine] == other)
            elif place in self._known or place in way:
                same = self._known.get(place, False)
            elif _said(self._left, mine) != _said(self._right, other):
                self._known[place] = same = False
            else:
                way[place] = False
                mine, other = _above(self._left, mine), _above(self._right, other)
        self._known.update(dict.fromkeys(way, same))
        return same


def _above(trace: Trace, n: int) -> int:
    id = trace.named.get(n)
    return -1 if id is None else trace.messages.get(id, -1)


def _said(trace: Trace, n: int) -> bytes:
    return reduced(trace.types[n], apart(trace.log.event(trace.seqs[n]).data), trace.calls)


def right_named_on_left(right: Trace, pairs: Sequence[int], left: Trace) -> set[int]:
    """Left indices whose counterpart names a message while they name none."""
    named, mine = right.named, left.named
    return {n for n, m in enumerate(pairs) if m in named and n not in mine}


def _nearest(trace: Trace, matched: Sequence[int]) -> dict[bytes | None, int]:
    """Message id -> the message if it is matched, else its nearest matched ancestor, else -1."""
    nearest: dict[bytes | None, int] = {}
    named = trace.named
    for id, n in trace.messages.items():
        nearest[id] = n if matched[n] else nearest.get(named.get(n), -1)
    return nearest
