"""Calls that are cancelled, or whose client is closed, before their answers come."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rerun.harness import World, record, rerun

pytestmark = pytest.mark.slow


def test_a_client_that_is_closed_with_calls_under_way(tmp_path: Path) -> None:
    """They fail, each as its connection is closed, before the loop ends and cancels what is left."""
    with World() as world:
        first = record("closes_in_flight.py", tmp_path, world.environ)
    assert first.code == 0, first.err
    errors = [event["data"].get("error") for event in first.events if event["type"] == "exchange"]
    assert "ReadError" in [error["type"] for error in errors if error]
    again = rerun(first.log, tmp_path)
    assert again.code == 0, again.err
    assert again.out == first.out
    assert again.events == first.events


def test_streams_that_are_cancelled_at_once_end_in_their_order(tmp_path: Path) -> None:
    with World() as world:
        first = record("streams_raced.py", tmp_path, world.environ)
    assert first.code == 0, first.err
    assert b"CancelledError" in first.log.read_bytes()
    for _ in range(2):
        again = rerun(first.log, tmp_path)
        assert again.code == 0, again.err
        assert (again.out, again.events) == (first.out, first.events)
        (tmp_path / "reversed").mkdir(exist_ok=True)


def test_a_program_that_ends_during_its_only_call(tmp_path: Path) -> None:
    """The call is in the log, its answer is not: a daemon thread waited for it, and does so again."""
    with World() as world:
        first = record("ends_during_its_call.py", tmp_path, world.environ)
    assert first.code == 0, first.err
    types = [event["type"] for event in first.events]
    assert ("step_start" in types, "step_end" in types) == (True, False)
    again = rerun(first.log, tmp_path)
    assert again.code == 0, again.err
    assert "rerun exact: up to event" in again.err
    assert again.out.startswith(first.out)
