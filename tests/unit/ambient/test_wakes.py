"""What threads hand to event loops is noted where it comes of a job or a call of theirs."""

from __future__ import annotations

import pytest

from tests.unit.ambient.conftest import Run

#: A thread makes a call and ends; one that is not Python's own gets its number, and tells the loop something.
TOLD = """
import _thread, asyncio, lctl, sys, threading

numbers = []

@lctl.tool
def look():
    numbers.append(_thread.get_ident())

def tell(loop, told):
    loop.call_soon_threadsafe(told.set_result, _thread.get_ident())

async def main():
    loop = asyncio.get_running_loop()
    for _ in range(200):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        told = loop.create_future()
        _thread.start_new_thread(tell, (loop, told))
        if await told == numbers[-1]:
            return
    print("no number was given twice")

asyncio.run(main())
"""


def test_a_thread_that_ended_does_not_lend_its_call_to_the_next_of_its_number(run: Run) -> None:
    result = run(TOLD)
    if result.out:
        pytest.skip(result.out)
    assert [data for data in result.reads if data["source"] == "wake"] == []
