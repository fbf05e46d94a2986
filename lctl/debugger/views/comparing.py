"""Two runs side by side: differences, and rows that stand beside each other."""

from __future__ import annotations

from lctl.analysis.diff import Diff, diff
from lctl.analysis.differences import Difference as Differed
from lctl.analysis.differences import title
from lctl.analysis.forkpoint import fork_point
from lctl.analysis.stats import Stats
from lctl.debugger.asking import Question
from lctl.debugger.opened import Opened
from lctl.debugger.serving import Server
from lctl.debugger.shapes.common import Row
from lctl.debugger.shapes.findings import Comparison, Difference, Field, ForkPoint, Pair, Pairs, Side
from lctl.debugger.views.rows import events_from, row
from lctl.events import Event

_BLOCKS = 5000


class CompareAsked(Question, kw_only=True):
    left: str
    right: str
    offset: int = 0
    limit: int = 200


class Compared:
    """The comparison of two opened runs, and their rows in one order.

    Attributes:
        order: (left seq or 0, right seq or 0, number of the difference or -1), in the order of the left run;
            what only the right one has stands behind what it followed.
    """

    def __init__(self, left: Opened, right: Opened) -> None:
        self.left = left
        self.right = right
        self.diff: Diff = diff(left.log, right.log, left.prices)
        self.parted = fork_point(left.log, right.log)
        self.order = _order(self.diff)

    @property
    def blocks(self) -> list[tuple[int, int, int]]:
        """Stretches of both runs, one higher each time on both sides."""
        found: list[list[int]] = []
        for left, right, _ in self.order:
            if not left or not right:
                continue
            last = found[-1] if found else None
            if last is not None and left == last[0] + last[2] and right == last[1] + last[2]:
                last[2] += 1
            else:
                found.append([left, right, 1])
        return [(one[0], one[1], one[2]) for one in found[:_BLOCKS]]


def _order(found: Diff) -> list[tuple[int, int, int]]:
    numbers = found.differences.numbers()
    return [(left, right, numbers.get((left, right), -1)) for left, right in found.pairs()]


def compared(server: Server, asked: CompareAsked) -> Compared:
    left, right = server.runs.open(asked.left), server.runs.open(asked.right)
    return left.kept(("compare", right.key, right.version, id(right)), lambda: Compared(left, right))


def compare(server: Server, asked: CompareAsked) -> Comparison:
    """What one run did and the other did not."""
    both = compared(server, asked)
    found = both.diff.differences
    offset = max(0, asked.offset)
    shown = found[offset : offset + max(1, min(asked.limit, 1000))]
    after = offset + len(shown)
    return Comparison(
        left=_side(both.left, both.diff.left),
        right=_side(both.right, both.diff.right),
        fork=None
        if both.parted is None
        else ForkPoint(
            seq=both.parted["seq"] if type(both.parted["seq"]) is int else None,
            fork=both.parted["fork"],
            edits=[str(edit) for edit in both.parted["edits"]],
        ),
        equal=both.diff.equal,
        total=len(found),
        next=after if after < len(found) else None,
        differences=[_difference(both, n, one) for n, one in enumerate(shown, offset)],
        blocks=both.blocks,
    )


def _difference(both: Compared, n: int, one: Differed) -> Difference:
    return Difference(
        n=n,
        kind=one.kind,
        title=title(one),
        events=one.events,
        left=_row(both.left, one.left),
        right=_row(both.right, one.right),
        fields=[
            Field(path=field.path, left=field.left, right=field.right, unified=list(field.unified))
            for field in one.fields
        ],
    )


def _row(run: Opened, event: Event | None) -> Row | None:
    return None if event is None else row(run, event, 0)


def _side(run: Opened, sums: Stats) -> Side:
    return Side(
        key=run.key,
        id=run.log.id,
        events=sums.events,
        duration_ms=sums.duration_ms,
        tokens=sums.used_tokens,
        cost=sums.worth,
        errors=sums.errors,
        llm_calls=sums.llm_calls,
        live_calls=sums.llm_calls - sums.inherited_calls,
        live_tokens=sums.tokens.total if sums.tokens_known else None,
        live_cost=sums.cost,
        tool_calls=sums.tool_calls,
        first_seq=run.log.first_seq,
        last_seq=run.log.last_seq,
    )


def compare_rows(server: Server, asked: CompareAsked) -> Pairs:
    """The runs row by row, what belongs together beside each other."""
    both = compared(server, asked)
    offset = max(0, asked.offset)
    some = both.order[offset : offset + max(1, min(asked.limit, 1000))]
    mine = _rows(both.left, [left for left, _, _ in some if left])
    theirs = _rows(both.right, [right for _, right, _ in some if right])
    after = offset + len(some)
    return Pairs(
        rows=[
            Pair(
                left=mine.get(left),
                right=theirs.get(right),
                kind="added" if not left else "removed" if not right else "changed" if n >= 0 else "same",
                difference=n if n >= 0 else None,
            )
            for left, right, n in some
        ],
        total=len(both.order),
        next=after if after < len(both.order) else None,
    )


def _rows(run: Opened, seqs: list[int]) -> dict[int, Row]:
    if not seqs:
        return {}
    wanted = {*seqs}
    low, high = min(seqs), max(seqs)
    if high - low > 20 * len(seqs) + 1000:
        return {seq: row(run, run.event(seq), 0) for seq in seqs}
    return {
        event.seq: row(run, event, size)
        for event, size in events_from(run, low, high + 1)
        if event.seq in wanted
    }
