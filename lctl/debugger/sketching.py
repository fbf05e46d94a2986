"""The time bar of a long log before it has been read: drawn from a few hundred looks into it.

Lines are about alike in length, so looks at even distances in the file are at even distances in the run. Each
tells who was at work around it; how many events are between two of them the seqs say.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from typing import NamedTuple

from lctl.debugger.columns import Columns
from lctl.debugger.heads import read_heads
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.events import Lane, Timeline

_LOOKS = 160
_LOOK = 4096  # bytes of one
_LANES = 100
_MARKS = 2000


class _Look(NamedTuple):
    """Some events next to each other: the first one's seq and time, and whose they are."""

    seq: int
    ms: float | None
    agents: dict[str, int]


def sketch(run: Opened, columns: Columns, first: int, last: int, width: int, by: str) -> Timeline:
    """The window from first to last, about as it will be; what is marked is what has been read so far."""
    looks: list[_Look] = run.kept("looks", lambda: _looks(run), passing=True)
    seqs = [one.seq for one in looks]
    edges = _edges(looks, first, last, width, by)
    bins = len(edges) - 1
    counts: dict[str, list[int]] = {}
    for n in range(bins):
        near = looks[max(0, bisect_right(seqs, (edges[n] + edges[n + 1]) // 2) - 1)] if looks else None
        if near is None:
            continue
        events, share = edges[n + 1] - edges[n], sum(near.agents.values())
        for agent, count in near.agents.items():
            counts.setdefault(agent, [0] * bins)[n] = round(events * count / share)
    with columns.lock:
        errors, more = columns.between(columns.errors, first, last, _MARKS)
        checkpoints, _ = columns.between(columns.checkpoints, first, last, _MARKS)
        handoffs, _ = columns.between(columns.handoffs, first, last, _MARKS)
    return Timeline(
        first=first,
        last=last,
        by=by,
        edges=edges,
        ms=[_ms(looks, seqs, edge) for edge in edges],
        progress=min(columns.progress, 0.99),
        lanes=[
            Lane(agent=agent, total=sum(some), counts=some, errors=[0] * bins, spans=None)
            for agent, some in list(counts.items())[:_LANES]
        ],
        errors=errors,
        checkpoints=checkpoints,
        handoffs=handoffs,
        cut={"errors": more, "checkpoints": False, "handoffs": False},
    )


def _looks(run: Opened) -> list[_Look]:
    lines = run.log.buffer()
    if lines is None:
        return []
    data, size = lines.data, lines.end - lines.begin
    found: list[_Look] = []
    for n in range(_LOOKS):
        at = lines.begin + size * n // _LOOKS
        piece = bytes(data[at : min(at + _LOOK, lines.end)])
        begin = piece.find(b"\n") + 1 if n else 0
        heads = read_heads(piece[begin : piece.rfind(b"\n") + 1])
        if heads and (not found or heads[0].seq > found[-1].seq):
            agents = Counter(head.agent for head in heads)
            found.append(_Look(heads[0].seq, run.ms(heads[0].timestamp), agents))
    return found


def _edges(looks: list[_Look], first: int, last: int, width: int, by: str) -> list[int]:
    count = last - first + 1
    if by == "time":
        times = [one.ms for one in looks if one.ms is not None]
        start, end = _ms(looks, [one.seq for one in looks], first), times[-1] if times else None
        if start is not None and end is not None and end > start and sorted(times) == times:
            at = [_seq(looks, start + (end - start) * n / width) for n in range(width + 1)]
            return [first, *(max(first, min(one, last)) for one in at[1:-1]), last + 1]
    bins = min(width, count)
    return [first + count * n // bins for n in range(bins + 1)]


def _seq(looks: list[_Look], ms: float) -> int:
    """The seq at a time, between two looks by proportion."""
    n = bisect_left(looks, ms, key=lambda one: one.ms or 0.0)
    if n == 0 or n >= len(looks):
        return looks[min(n, len(looks) - 1)].seq
    one, other = looks[n - 1], looks[n]
    here, there = one.ms or 0.0, other.ms or 0.0
    share = (ms - here) / (there - here) if there > here else 0.0
    return one.seq + round(share * (other.seq - one.seq))


def _ms(looks: list[_Look], seqs: list[int], seq: int) -> float | None:
    """The time of a seq, between two looks by proportion."""
    n = bisect_left(seqs, seq)
    if not looks:
        return None
    if n == 0 or n >= len(looks):
        return looks[min(n, len(looks) - 1)].ms
    one, other = looks[n - 1], looks[n]
    if one.ms is None or other.ms is None:
        return one.ms
    return round(one.ms + (other.ms - one.ms) * (seq - one.seq) / (other.seq - one.seq), 3)
