"""Clocks that the program sets with time-machine, which writes into them as the interpreter has them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.ambient.conftest import Result, Run

pytest.importorskip("time_machine", reason="needs: pip install 'lctl[test]'")

TRAVELS = """
import time, datetime, warnings
from datetime import date, datetime as early
import time_machine

before = time.time_ns()
with time_machine.travel("2019-01-01T12:00+00:00", tick=False):
    print(time.time(), early.now().year, date.today(), time.gmtime().tm_year, time.strftime("%Y"))
    with time_machine.travel("2018-06-01"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from 3.12 on
            print(early.utcnow().year)
    print(datetime.datetime.now().year)
print(0 <= time.time_ns() - before < 60e9, early.now().year > 2020)
"""
SAID = "1546344000.0 2019 2019-01-01 2019 2019\n2018\n2019\nTrue True\n"


def test_times_set_are_those_read(twice: Callable[..., tuple[Result, Result]]) -> None:
    """And those before and after are on the tape."""
    recorded, served = twice(TRAVELS)
    assert recorded.out == served.out == SAID
    assert [read["key"] for read in recorded.reads if read["source"] == "clock"] == [
        "time.time_ns",
        "time.time_ns",
        "datetime.now",
    ]


def test_also_where_only_its_part_in_c_is_loaded_by_import(run: Run) -> None:
    """pytest loads the other, a plugin, by itself."""
    code = TRAVELS.replace("import time_machine", "import _time_machine, time_machine")
    assert run(code).out == SAID


@pytest.mark.parametrize("place", ["before = ", "with time_machine"])
def test_also_where_recording_begins_later(place: str, run: Run) -> None:
    """After the import of what sets them."""
    begins = "from lctl.instrument import auto_instrument, uninstrument\nuninstrument()\n"
    code = TRAVELS.replace(place, f"auto_instrument(record='full')\n{place}", 1)
    assert run(begins + code).out == SAID
