"""What tools give, in a rerun of a whole program."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.codec import open_log
from tests.unit.rerun.commands import Run, Twice


def test_sets_are_the_same_whatever_the_hashes_of_their_elements(
    twice: Twice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WARM_PYTHON", raising=False)  # warm programs have one seed of hashes
    recorded, again = twice("""
import lctl

@lctl.tool
def found(n: int) -> set:
    with open("ran", "a") as file:
        file.write("x")
    return {f"{n}", f"other{n}", f"third{n}"}

for n in range(40):
    print(list(found(n)))
print(len(open("ran").read()))
""")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


def test_a_tool_that_had_to_run_again_is_named_with_the_reason(twice: Twice) -> None:
    recorded, again = twice("""
import lctl

@lctl.tool
def opened(name: str):
    return open(name)

print(opened("agent.py").readline())
""")
    assert again.returncode == 1
    assert again.stdout == recorded.stdout
    assert "1 executed" in again.stderr
    assert "run again: event " in again.stderr
    assert ": opened: " in again.stderr
    assert "TextIOWrapper" in again.stderr


def test_what_such_a_tool_does_is_refused_with_the_reason(twice: Twice) -> None:
    """It is a recorded tool already: what helps is a result that can be kept."""
    _, again = twice("""
import lctl

@lctl.tool
def opened(name: str):
    return open(name, "w")

opened("ledger.txt")
""")
    assert again.returncode != 0
    assert "Record it as a tool" not in again.stderr
    assert "lctl.faithful.register" in again.stderr
    assert ": opened: " in again.stderr
    assert "or let it happen with --allow write:" in again.stderr


def test_generators_that_give_nothing_gave_an_empty_list(twice: Twice, lctl: Run, tmp_path: Path) -> None:
    """They were told as `null`. One of a loop ends at once, which the protocol knows of tools, too."""
    recorded, again = twice("""
import asyncio
import lctl

@lctl.tool
def lines(n: int):
    yield from range(n)

@lctl.tool
async def ticks(n: int):
    for tick in range(n):
        yield tick

@lctl.tool
def broken():
    raise ValueError("before anything")
    yield

async def collected(stream):
    return [one async for one in stream]

print(list(lines(0)), list(lines(2)), asyncio.run(collected(ticks(0))), asyncio.run(collected(ticks(1))))
try:
    list(broken())
except ValueError as error:
    print(error)
""")
    assert "rerun exact" in again.stderr, again.stderr
    assert again.stdout == recorded.stdout
    told = [e.data for e in open_log(tmp_path / "run.lctl.json").events() if e.type == "tool_call"]
    assert [data.get("output", "none") for data in told] == [[], [0, 1], [], [0], "none"]
    checked = lctl("validate", "run.lctl.json")
    assert checked.returncode == 0, checked.stdout
