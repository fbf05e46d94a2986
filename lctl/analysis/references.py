"""Whether matched events name matched messages: the same place in the conversation, in both runs."""

from __future__ import annotations

from collections.abc import Sequence

from lctl.analysis.trace import Trace


def misplaced(left: Trace, right: Trace, pairs: Sequence[int]) -> set[int]:
    """Left indices of events that name another message than their counterpart does.

    A message only one run has is looked through to the nearest one both have, so that inserting one into
    a conversation does not make everything behind it different.
    """
    near = _nearest(left, [m >= 0 for m in pairs])
    matched = bytearray(len(right))
    for m in pairs:
        if m >= 0:
            matched[m] = 1
    other_near = _nearest(right, matched)
    named, other_named = left.named.get, right.named.get
    found: set[int] = set()
    for n in left.named.keys() | right_named_on_left(right, pairs, left):
        m = pairs[n]
        if m < 0:
            continue
        mine, other = near.get(named(n), -1), other_near.get(other_named(m), -1)
        if (pairs[mine] if mine >= 0 else -1) != other:
            found.add(n)
    return found


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
