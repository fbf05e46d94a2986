"""Where in a turn something is put: counted in those of the program's callbacks that run behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from lctl.clock import system_clock
from lctl.session.concurrency import lanes, turnplaces
from lctl.session.concurrency.lane import Lane
from lctl.session.concurrency.underway import UnderWay, busy_lanes


def on_ready(put: Callable[[Any], object], *busy: str) -> Callable[[int], int]:
    """What a loop has to do after `put`; gives the place that so many are behind."""
    places: list[int] = []

    async def main() -> None:
        loop: Any = asyncio.get_running_loop()
        before = list(loop._ready)
        put(loop)
        ready = [handle for handle in loop._ready if handle not in before]
        places.extend(turnplaces.index(ready, many, busy) for many in range(5))

    asyncio.run(main())
    return places.__getitem__


def test_each_of_the_programs_own_counts() -> None:
    place = on_ready(lambda loop: [loop.call_soon(str, n) for n in range(3)])
    assert [place(many) for many in range(4)] == [3, 2, 1, 0]


def test_it_is_before_the_first_of_them_where_there_are_fewer() -> None:
    """And not before what does not count: what came before it in the same turn is among that."""

    def put(loop: Any) -> None:
        loop.call_soon(loop._read_from_self)
        loop.call_soon(str, 1)

    assert on_ready(put)(4) == 1
    assert on_ready(lambda loop: loop.call_soon(loop._read_from_self))(2) == 1


def test_what_brings_a_threads_result_does_not_count() -> None:
    def put(loop: Any) -> None:
        done: Future[int] = Future()
        asyncio.wrap_future(done)
        done.set_result(1)

    assert on_ready(put)(1) == 1


def test_the_end_of_a_task_of_a_group_counts() -> None:
    def put(loop: Any) -> None:
        done = loop.create_future()
        done.cancel()
        loop.call_soon(asyncio.TaskGroup()._on_task_done, done)

    assert on_ready(put)(1) == 0


def test_what_is_given_up_does_not_count() -> None:
    assert on_ready(lambda loop: loop.call_soon(str, 1).cancel())(1) == 1


def test_the_steps_of_who_waits_for_a_call_do_not_count() -> None:
    """Nor those of tools' bodies, and of what libraries start for themselves."""

    def put_in(lane: Lane) -> Callable[[Any], None]:
        def put(loop: Any) -> None:
            token = lanes.enter(lane)
            loop.call_soon(str, 1)
            lanes.leave(token)

        return put

    lane = Lane("0").spawn()
    assert on_ready(put_in(lane))(1) == 0
    assert on_ready(put_in(lane), lane.path)(1) == 1
    assert on_ready(put_in(lane.aside()))(1) == 1
    assert on_ready(put_in(lane.body(1, "look")))(1) == 1


def test_a_callback_that_says_nothing_of_itself_does_not_count() -> None:
    parts = {"__module__": None, "__call__": lambda self: None, "func": property(lambda self: 1 / 0)}
    odd: Any = type("Odd", (), parts)()
    assert on_ready(lambda loop: loop.call_soon(odd))(1) == 1


def test_a_session_that_is_gone_has_no_call_under_way() -> None:
    known = UnderWay(system_clock)
    token = lanes.enter(Lane("0.7"))
    known.begin()
    lanes.leave(token)
    assert "0.7" in busy_lanes()
    del known
    assert "0.7" not in busy_lanes()
