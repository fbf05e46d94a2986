"""What a program sees of tasks it waits for: which are done when `asyncio.wait` returns. Kept, and seen again
in a rerun.

Between the end of one task and the turn in which who waits for it goes on, others end; how many, the machine
decides. A loop that goes on with the first of them and starts what follows (LlamaIndex's workflows) starts
other tasks if there is one less.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from lctl.session.concurrency import latetasks, poolwaits, turns
from lctl.session.concurrency.ordered import OrderedSet, by_lane

#: What it is called among the looks at jobs (`lctl.session.concurrency.pooljobs.Seen`).
_KEY = "asyncio.wait"


async def _waited(original: Callable[..., Any], fs: Any, *args: Any, **options: Any) -> Any:
    if _is_refused(fs):
        return await original(fs, *args, **options)
    members = list(fs)
    if not _is_told(members, **options):
        done, pending = await original(members, *args, **options)
        return (by_lane(done), by_lane(pending)) if turns.active else (done, pending)
    members = list(by_lane(members))
    of = poolwaits.look_of(members)
    seen = poolwaits.recorded(_KEY, of)
    done, _ = await original(members, *args, **options)
    if seen is None:
        numbers = [number for number, one in enumerate(members) if one in done]
    else:
        numbers = [number for number in seen if number < len(members)]
        late = [members[number] for number in numbers if members[number] not in done]
        if late:
            await latetasks.come(original, late)
        came = [number for number in numbers if members[number].done()]
        if numbers and not came:  # it is another run: who waits goes on with what is done
            came = [number for number, one in enumerate(members) if one.done()]
        numbers = came
    poolwaits.keep(_KEY, of, numbers)
    shown = OrderedSet(members[number] for number in numbers)
    return shown, OrderedSet(one for one in members if one not in shown)


def _is_refused(futures: Any) -> bool:
    """Whether asyncio takes no such thing, and says so."""
    asyncio = sys.modules["asyncio"]
    return bool(asyncio.isfuture(futures) or asyncio.iscoroutine(futures))


def _is_told(members: list[Any], timeout: float | None = None, return_when: str = "ALL_COMPLETED") -> bool:
    """Whether it may return with some of them done: all are tasks of the program's."""
    open_end = timeout is not None or return_when != "ALL_COMPLETED"
    return open_end and len(members) > 1 and poolwaits.are_jobs(members)


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("asyncio.tasks", "", "wait", _waited),
    ("asyncio", "", "wait", _waited),
)
