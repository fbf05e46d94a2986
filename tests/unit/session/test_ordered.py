"""Sets that are gone through in an order, and where a recording to be run again has them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.session.concurrency.ordered import OrderedSet

NUMBERS = st.lists(st.integers(0, 9))
CHANGES = st.sampled_from(
    [f"{name}_update" for name in ("difference", "intersection", "symmetric_difference")]
    + ["update", "__ior__", "__isub__", "__iand__", "__ixor__"]
)
MAKES = st.sampled_from(
    ["union", "difference", "intersection", "symmetric_difference", "__or__", "__sub__", "__and__", "__xor__"]
)


@settings(deadline=None)
@given(NUMBERS, st.lists(st.tuples(CHANGES, NUMBERS)), st.lists(st.tuples(MAKES, NUMBERS)))
def test_it_is_a_set_in_the_order_of_adding(first: Any, changes: Any, makes: Any) -> None:
    """Against a set: what is in it; against the order in which its members came: how it is gone through."""
    ours, plain = OrderedSet(first), set(first)
    came = list(dict.fromkeys(first))
    for name, members in changes:
        getattr(ours, name)(set(members))
        getattr(plain, name)(set(members))
        came = [one for one in [*came, *sorted(set(members) - set(came))] if one in plain]
        assert ours == plain
        assert len(list(ours)) == len(plain)
        kept = [one for one in came if one not in members]
        assert [one for one in ours if one not in members] == kept
        came = list(ours)
    for name, members in makes:
        made = getattr(ours, name)(set(members))
        assert made == getattr(plain, name)(set(members))
        assert [one for one in made if one in plain] == [one for one in ours if one in made]
    for member in list(ours):
        assert ours.pop() == member
    assert not ours and list(ours) == []


def test_adding_and_leaving() -> None:
    ours = OrderedSet("ba")
    ours.add("c")
    ours.add("a")
    ours.discard("x")
    ours.remove("b")
    assert list(ours) == ["a", "c"] and ours == {"a", "c"} and bool(ours)
    ours.clear()
    assert list(ours) == [] and not ours


PROGRAM = """
import asyncio, concurrent.futures

async def nap(n):
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        seen.append(n)
        raise

async def main():
    tasks = {asyncio.create_task(nap(n), name=str(n)) for n in range(40)}
    await asyncio.sleep(0)
    done, pending = await asyncio.wait(tasks, timeout=0)
    assert isinstance(pending, set)
    print([task.get_name() for task in pending] == [str(n) for n in range(40)])

seen = []
asyncio.run(main())
print(seen == list(range(40)))
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    jobs = [pool.submit(int, n) for n in range(40)]
    print([job.result() for job in concurrent.futures.wait(jobs).done] == list(range(40)))
    print([job.result() for job in concurrent.futures.as_completed(reversed(jobs))] == list(range(40)))
"""


def test_sets_of_tasks_in_a_recording_to_be_run_again(tmp_path: Path) -> None:
    """What `wait` gives and what the end of `asyncio.run` cancels comes as it was started."""
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "lctl", "run", "--output", "run.lctl.json", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["True"] * 4, done.stderr


def test_elsewhere_they_are_sets_of_asyncio() -> None:
    """Where nothing is to be run again, nothing is changed."""

    async def main() -> None:
        task = asyncio.ensure_future(asyncio.sleep(0))
        done, _ = await asyncio.wait([task])
        assert type(done) is set
        assert type(asyncio.all_tasks()) is set

    asyncio.run(main())
