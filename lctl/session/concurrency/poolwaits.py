"""What a program sees of its pool jobs: which are done when `wait` returns, and which comes next of
`as_completed`. Kept, and seen again in a rerun (`lctl.session.concurrency.pooljobs`)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from typing import Any

from lctl.session import border
from lctl.session.concurrency import lanes, turns
from lctl.session.concurrency.ordered import OrderedSet, by_lane
from lctl.session.concurrency.pooljobs import Seen


def _waited(
    original: Callable[..., Any],
    fs: Any,
    timeout: float | None = None,
    return_when: str = "ALL_COMPLETED",
) -> Any:
    members = list(by_lane(fs))
    if not are_jobs(members):
        return original(members, timeout, return_when)
    open_end = len(members) > 1 and (timeout is not None or return_when != "ALL_COMPLETED")
    seen = recorded("wait", look_of(members)) if open_end else None
    if seen is not None:
        known = [members[number] for number in seen if number < len(members)]
        original(known)
        done = OrderedSet(known)
    else:
        found = original(members, timeout, return_when)[0]
        done = OrderedSet(one for one in members if one in found)
    if open_end:
        keep("wait", look_of(members), [number for number, one in enumerate(members) if one in done])
    kind = sys.modules["concurrent.futures._base"].DoneAndNotDoneFutures
    return kind(done, OrderedSet(one for one in members if one not in done))


def _completed(
    original: Callable[..., Any], fs: Any, timeout: float | None = None
) -> Generator[Any, None, None]:
    members = list(by_lane(fs))
    if len(members) < 2 or not are_jobs(members):
        yield from original(members, timeout)
        return
    left, count = dict(enumerate(members)), len(members)
    of, jobs = look_of(members), list[int]()
    seen = recorded("as_completed", of) or ()
    kept = False
    del fs, members  # nothing here keeps what the program is done with
    wait = sys.modules["concurrent.futures"].wait
    for number in seen:
        if number in left:
            wait([left[number]])
            jobs.append(number)
            kept = kept or keep("as_completed", of, jobs)
            yield left.pop(number)
    numbers = {id(one): number for number, one in left.items()}
    try:
        for one in _by_end(original, list(left.values()), timeout):
            number = numbers[id(one)]
            jobs.append(number)
            kept = kept or keep("as_completed", of, jobs)  # a job's first call may open the log
            del left[number]
            yield one
    except TimeoutError:  # which does not know of those that were given before
        raise TimeoutError(f"{len(left)} (of {count}) futures unfinished") from None


def _by_end(
    original: Callable[..., Any], futures: list[Any], timeout: float | None
) -> Generator[Any, None, None]:
    """In the order in which they end. Those that are done already come first, in the order of a set."""
    done = sum(one.done() for one in futures)
    completed = original(futures, timeout)  # from its first answer on it notes what is done, in order
    first = by_lane([one for _, one in zip(range(done), completed, strict=False)])
    del futures
    while first:
        yield first.pop()
    yield from completed


def are_jobs(members: list[Any]) -> bool:
    """Whether each has a place of its own among what the program started."""
    lanes_of = (getattr(one, turns.LANE, None) for one in members)
    return all(lane is not None and lane.index for lane in lanes_of)


def look_of(members: list[Any]) -> str:
    """What tells a look at some jobs from one at others: how many, and the lane of the first."""
    return f"{len(members)} from {getattr(members[0], turns.LANE).path}"


def recorded(key: str, of: str) -> list[int] | None:
    """What the recording has; None where nothing is served, or it has nothing of the kind."""
    player = border.playing
    return None if player is None else player.seen(key, of, lanes.current())


def keep(key: str, of: str, jobs: list[Any]) -> bool:
    """Keep what is seen, if anything is recorded yet: `jobs` itself, which may grow. Whether it is kept. What
    a recording says is kept, too: a fork's log has it from nowhere else."""
    from lctl.session import default  # which needs this module

    kept = default.pool_jobs()
    if kept is None:
        return False
    kept.see(Seen(lanes.current().path, key, of, jobs))
    return True


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("concurrent.futures._base", "", "wait", _waited),
    ("concurrent.futures", "", "wait", _waited),
    ("concurrent.futures._base", "", "as_completed", _completed),
    ("concurrent.futures", "", "as_completed", _completed),
)
