"""What stands between the events that two runs share: what either of them did alone there.

`pairs`: for each event of a run, by index, its counterpart in the other one or -1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def following(pairs: Sequence[int], other_pairs: Sequence[int]) -> Iterator[tuple[int, int]]:
    """What only the right has, each with what of the left it comes behind."""
    after, is_end = -1, False
    for m, n in enumerate(other_pairs):
        if n >= 0:
            after, is_end = n, False
            continue
        while not is_end and after + 1 < len(pairs) and pairs[after + 1] < 0:
            after += 1
        is_end = True
        yield m, after


def opposite(n: int, pairs: Sequence[int], other_pairs: Sequence[int]) -> int:
    """What the other side did, and this one did not, where it lacks the event: -1 if it did nothing else."""
    if pairs[n] >= 0:
        return pairs[n]
    before = (pairs[k] for k in range(n - 1, -1, -1))
    m = next((paired for paired in before if paired >= 0), -1) + 1
    return m if m < len(other_pairs) and other_pairs[m] < 0 else -1
