"""In which turns of its loop a program gets the pieces of streams, where it has something else to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lctl.session.concurrency import turns
from lctl.testing import ModelServer, Reply
from tests.rerun.harness import Result, record, rerun

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("how", ["apart", "together"])
def test_pieces_over_aiohttp_come_in_their_turns(how: str, tmp_path: Path) -> None:
    """They came while a task gave its loop turns: between these, and not when the loop was at rest; or all of
    one stream's, and the head and pieces of another's, were there when the loop looked."""
    pytest.importorskip("aiohttp")
    first = _recorded("streams_in_turns_aiohttp.py", how, tmp_path)
    assert re.search(r"turn( B)+ turn", first.out)
    exchanges = [event["data"] for event in first.events if event["type"] == "exchange"]
    assert [len(data["turns"]) for data in exchanges] == [len(data["chunks"]) for data in exchanges]
    for _ in range(2):
        _is_exact(first, tmp_path)


@pytest.mark.parametrize("how", ["tasks", "threads"])
def test_what_a_stream_began_goes_on_before_its_first_piece(how: str, tmp_path: Path) -> None:
    """The head of an answer came long before the rest: another call was made upon it, and answered first."""
    first = _recorded("stream_begun.py", how, tmp_path, delay=0.3)
    assert first.out.startswith("One two three. piece")
    _is_exact(first, tmp_path)


def test_pieces_that_were_there_when_they_were_asked_for(tmp_path: Path) -> None:
    """Nobody waited for them: a reader that goes on, as there is room in a queue, has them at once."""
    first = _recorded(
        "streams_into_queue.py", "", tmp_path, "One two three four five six seven.", delay=0.004
    )
    exchanges = [event["data"] for event in first.events if event["type"] == "exchange"]
    assert all(turns.AT_ONCE in data["turns"] for data in exchanges)
    _is_exact(first, tmp_path)


def _recorded(
    program: str, how: str, folder: Path, text: str = "One two three.", delay: float = 0.1
) -> Result:
    with ModelServer(chunk_delay=delay) as server:
        server.reply(lambda request: Reply(text=text), times=None)
        first = record(program, folder, {**server.environ, "HOW": how})
    assert first.code == 0, first.err
    return first


def _is_exact(first: Result, folder: Path) -> None:
    again = rerun(first.log, folder)
    assert again.out == first.out
    assert again.code == 0, again.err
    assert again.events == first.events
