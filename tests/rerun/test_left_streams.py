"""Streams and clients that a program leaves to the garbage collector."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rerun.harness import Result, World, record, rerun

pytestmark = pytest.mark.slow


def _run_otherwise(program: str, name: str, is_there: bool, folder: Path) -> tuple[Result, Result]:
    """It is recorded where that folder is there, or is not, and run again where it is not, or is."""
    flag = folder / name
    if is_there:
        flag.mkdir()
    with World() as world:
        first = record(program, folder, world.environ)
    assert first.code == 0, first.err
    if is_there:
        flag.rmdir()
    else:
        flag.mkdir()
    again = rerun(first.log, folder)
    assert again.code == 0, again.err
    return first, again


@pytest.mark.parametrize("closes", [True, False])
def test_whether_a_stream_was_closed_at_the_very_end_or_left_is_no_difference(
    closes: bool, tmp_path: Path
) -> None:
    """Where a loop ends, the addresses of generators decide it."""
    first, again = _run_otherwise("stream_at_the_end.py", "close", closes, tmp_path)
    assert (again.out, again.events) == (first.out, first.events)


def test_when_the_collector_comes_is_nothing_a_recording_tells(tmp_path: Path) -> None:
    """A stream it ends is recorded with the end of the log, and so it is in a run where it does not come."""
    (tmp_path / "collect").mkdir()
    with World() as world:
        first = record("stream_left.py", tmp_path, world.environ)
    assert first.code == 0, first.err
    exchanges = [event["data"] for event in first.events if event["type"] == "exchange"]
    assert [data.get("left") for data in exchanges] == [None, None, True]
    assert exchanges[2]["closed_early"]
    assert not exchanges[2]["complete"]
    for collects in (True, False):
        if not collects:
            (tmp_path / "collect").rmdir()
        again = rerun(first.log, tmp_path)
        assert again.code == 0, again.err
        assert again.out == first.out
        assert again.events == first.events


@pytest.mark.parametrize("collects", [True, False])
def test_when_the_collector_has_a_loop_close_a_stream_is_nothing_a_recording_tells(
    collects: bool, tmp_path: Path
) -> None:
    """As above, of generators that only their loop can close, behind the collection."""
    first, again = _run_otherwise("stream_cut_off.py", "collect", collects, tmp_path)
    exchanges = [event["data"] for event in first.events if event["type"] == "exchange"]
    assert [data["complete"] for data in exchanges] == [True, True, True, False]
    assert exchanges[3]["closed_early"]
    assert (again.out, again.events) == (first.out, first.events)


@pytest.mark.parametrize("collects", [True, False])
@pytest.mark.parametrize("program", ["clients_thrown_away.py", "clients_thrown_away_in_threads.py"])
def test_when_the_collector_has_a_loop_close_clients_is_nothing_a_recording_tells(
    program: str, collects: bool, tmp_path: Path
) -> None:
    """Tasks that close them take no place of the program's own; their loops wait for no turn."""
    first, again = _run_otherwise(program, "collect", collects, tmp_path)
    assert (again.out, again.events) == (first.out, first.events)
