"""Which recorded crossing a lane goes on with, told by its seq or, where that is not settled, by its lane."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from lctl.rerun.order.conductor import Conductor
from lctl.rerun.order.moments import RESUMED
from lctl.rerun.order.resumption import Resumptions
from lctl.rerun.tape.entries import Entry


def resumptions(*crossings: tuple[str, int, float]) -> Resumptions:
    entries = {seq: (Entry("exchange", lane, seq, seq), at) for lane, seq, at in crossings}
    for entry, _ in entries.values():
        entry.used = True
    tape: Any = SimpleNamespace(resumed=entries)
    return Resumptions(tape)


def test_by_its_seq_and_once() -> None:
    made = resumptions(("0.1", 5, 1.0), ("0.2", 6, 2.0))
    found = made.take("0.2", 6, True)
    assert found is not None
    assert found[1] == 2.0
    assert made.take("0.2", 6, True) is None
    assert made.take("0.1", 6, True) is None
    assert made.take("0.1", 7, True) is None


def test_two_tasks_whose_events_have_changed_places() -> None:
    """While that is not settled the seq of one is the other's; its lane says which it is."""
    made = resumptions(("0.1", 5, 1.0), ("0.2", 6, 2.0))
    for lane, seq, at in (("0.2", 5, 2.0), ("0.1", 6, 1.0)):
        found = made.take(lane, seq, False)
        assert found is not None
        assert found[1] == at
    assert made.take("0.1", 9, False) is None


def test_what_has_not_been_served_does_not_go_on() -> None:
    made = resumptions(("0.1", 5, 1.0))
    made._by_seq[5][0].used = False
    assert made.take("0.1", 9, False) is None


def test_who_goes_on_does_not_wait_for_another_of_its_own_loop() -> None:
    """By the clocks the other's answer had come before, but nobody had looked, nor could look now."""
    answer, end, on = ("0.1", "exchange", 1, 0), ("0.2", "tool", 1, 0), ("0.2", "tool", 1, RESUMED)
    conductor = Conductor([(1.0, end, 0), (1.0, answer, 0), (2.0, on)])
    order: list[str] = []

    async def answered() -> None:
        await conductor.wait_async(answer)
        order.append("answered")

    async def ended() -> None:
        await conductor.wait_async(end)
        conductor.wait(on)
        order.append("went on")

    async def main() -> None:
        await asyncio.wait_for(asyncio.gather(answered(), ended()), 30)

    conductor.install()
    try:
        asyncio.run(main())
    finally:
        conductor.uninstall()
    assert order == ["went on", "answered"]
    assert conductor.violations == []
