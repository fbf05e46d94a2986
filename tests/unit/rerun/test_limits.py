"""Limits of time that ran out in a recording do so in its rerun, at the same place among what came."""

from __future__ import annotations

from pathlib import Path

from tests.unit.rerun.commands import Run

_LIMITED = """
import asyncio, select
import anyio, lctl

@lctl.tool
async def look(seconds):
    await asyncio.sleep(seconds)
    return seconds

async def seen(seconds):
    print("seen", await look(seconds))

async def limit():
    async with asyncio.timeout(0.05):
        await asyncio.Event().wait()

async def limited(name, wait):
    try:
        await wait
    except TimeoutError:
        print(name, "late")

async def scope():
    with anyio.move_on_after(0.05):
        await asyncio.Event().wait()
    print("scope is over")

async def main():
    looks = [asyncio.create_task(seen(n / 1000)) for n in (80, 90, 300)]
    await asyncio.sleep(0)
    select.select([], [], [], 0.07)  # passes in a rerun, and its clock does not know
    asyncio.get_running_loop().call_later(0.05, print, "called")
    unused = asyncio.get_running_loop().call_later(0.2, print, "never called")
    await asyncio.gather(
        limited("timeout", limit()),
        limited("wait_for", asyncio.wait_for(asyncio.Event().wait(), 0.05)),
        scope(),
    )
    print(len((await asyncio.wait(looks, timeout=0.01))[0]), "of 3")
    unused.cancel()
    await asyncio.gather(*looks)

asyncio.run(main())
"""


def test_limits_run_out_where_they_did(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(_LIMITED)
    recorded = lctl("run", "agent.py")
    assert recorded.stdout.count("late") == 2
    again = lctl("rerun", "last")
    assert "rerun exact" in again.stderr, again.stderr
    assert again.stdout == recorded.stdout
