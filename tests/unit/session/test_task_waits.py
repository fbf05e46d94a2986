"""`asyncio.wait` as the program sees it: kept, and seen again in a rerun."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from lctl.session import LCTLSession
from tests.rerun.harness import LCTL, Result, run

PROGRAM = """
import asyncio

async def slept(number):
    await asyncio.sleep(number**2 / 25)  # far apart, for a machine that does much else
    return number

async def main():
    left = [asyncio.create_task(slept(number)) for number in (1, 2, 3)]
    while left:
        done, rest = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
        print(sorted(task.result() for task in done), len(rest))
        left = [task for task in left if task not in done]
    late = [asyncio.create_task(slept(number)) for number in (1, 100)]
    print([len(some) for some in await asyncio.wait(late, timeout=0.2)])
    late[1].cancel()

asyncio.run(main())
"""


OTHER = """
import asyncio

async def main():
    said = asyncio.create_task(asyncio.Event().wait(), name="said")
    ended = asyncio.create_task(asyncio.sleep(0.01), name="ended")
    server = await asyncio.start_server(print, "127.0.0.1", 0)  # the world's time is its
    done, _ = await asyncio.wait([said, ended], return_when=asyncio.FIRST_COMPLETED)
    print([task.get_name() for task in done])
    said.cancel()

asyncio.run(main())
"""


def recorded(folder: Path) -> Result:
    (folder / "program.py").write_text(PROGRAM)
    log = folder / "run.lctl.json"
    return run([*LCTL, "run", "--output", str(log), "program.py"], folder, {}, log)


def seen_of(path: Path) -> Any:
    (found,) = [e.data["value"] for e in open_log(path).events() if e.data.get("source") == "jobs"]
    return found["seen"]


def test_what_was_done_when_it_returned_is_kept(tmp_path: Path) -> None:
    first = recorded(tmp_path)
    assert first.out.splitlines() == ["[1] 2", "[2] 1", "[3] 0", "[1, 1]"], first.err
    assert seen_of(first.log) == [
        ["0.1", "asyncio.wait", "3 from 0.1.1", [0]],
        ["0.1", "asyncio.wait", "2 from 0.1.2", [0]],
        ["0.1", "asyncio.wait", "2 from 0.1.4", [0]],
    ]


@pytest.mark.slow
@pytest.mark.interpreter
@pytest.mark.parametrize(
    ("numbers", "out"),
    [
        ([0, 1], ["[1, 2] 1", "[3] 0"]),  # the second ended before the first look
        ([1], ["[2] 2", "[1] 1", "[3] 0"]),  # the first was not seen yet
        ([], ["[] 3", "[1] 2", "[2] 1", "[3] 0"]),
        ([0, 7], ["[1] 2", "[2] 1", "[3] 0"]),  # no such task
    ],
)
def test_a_rerun_sees_what_the_recording_has(tmp_path: Path, numbers: list[int], out: list[str]) -> None:
    first = recorded(tmp_path)
    kept = '["0.1","asyncio.wait","3 from 0.1.1",[0]]'
    text = first.log.read_text()
    assert text.count(kept) == 1
    first.log.write_text(text.replace(kept, kept.replace("[0]]", json.dumps(numbers) + "]")))
    again = run([*LCTL, "rerun", str(first.log)], tmp_path, {}, first.log)
    assert again.out.splitlines() == [*out, "[1, 1]"], again.err


@pytest.mark.slow
def test_a_rerun_in_which_another_one_is_done_goes_on_with_that(tmp_path: Path) -> None:
    """As a server that has been told to end, and has said less than in the recording before."""
    (tmp_path / "program.py").write_text(OTHER)
    log = tmp_path / "run.lctl.json"
    first = run([*LCTL, "run", "--output", str(log), "program.py"], tmp_path, {}, log)
    assert first.out == "['ended']\n"
    kept = '["0.1","asyncio.wait","2 from 0.1.1",[1]]'
    text = log.read_text()
    assert text.count(kept) == 1
    log.write_text(text.replace(kept, kept.replace("[1]", "[0]")))
    again = run([*LCTL, "rerun", str(log)], tmp_path, {}, log, timeout=20)
    assert again.out == first.out, again.err


def test_all_of_them_tell_nothing(tmp_path: Path) -> None:
    """And are what asyncio gives."""

    async def main() -> None:
        tasks = [asyncio.create_task(asyncio.sleep(0)) for _ in range(3)]
        done, pending = await asyncio.wait(set(tasks))
        assert (done, pending) == (set(tasks), set())
        assert type(done) is type(pending) is set
        done, pending = await asyncio.wait(tasks[:1], return_when=asyncio.FIRST_COMPLETED)
        assert (done, pending) == (set(tasks[:1]), set())
        assert type(done) is type(pending) is set

    with LCTLSession("c", tmp_path / "c.lctl.json") as session:
        session.add_fact("F", "x")
        asyncio.run(main())
    assert not [e for e in open_log(tmp_path / "c.lctl.json").events() if e.data.get("source") == "jobs"]


def test_what_asyncio_refuses_it_refuses(tmp_path: Path) -> None:
    async def main() -> None:
        task = asyncio.create_task(asyncio.sleep(0))
        made = asyncio.sleep(0)
        refused: list[Any] = [task, [made], [], 3]
        for futures in refused:
            with pytest.raises(ValueError if futures == [] else TypeError):
                await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
        with pytest.raises(ValueError, match="Invalid return_when"):
            await asyncio.wait([task], return_when="SOME")
        made.close()
        await task

    with LCTLSession("c", tmp_path / "c.lctl.json"):
        asyncio.run(main())
