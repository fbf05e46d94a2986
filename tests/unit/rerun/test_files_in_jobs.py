"""Files that a program has read by threads, to which it hands functions of libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.rerun.commands import Run, again_aside, found

pytestmark = pytest.mark.slow

_THREADS = """
import asyncio
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from pathlib import Path

path = Path("notes.txt")

async def main():
    text = await asyncio.to_thread(path.read_text) if await asyncio.to_thread(path.exists) else "nothing"
    await asyncio.to_thread(path.write_text, text + ", one")
    loop = asyncio.get_running_loop()
    print(text, await loop.run_in_executor(None, os.path.getsize, "notes.txt"))
    print((await asyncio.to_thread(subprocess.run, "echo x >> world.txt; echo said", shell=True,
        capture_output=True, text=True)).stdout)

with ThreadPool(1) as pool:
    print(pool.apply(os.path.exists, ("notes.txt",)))
asyncio.run(main())
with ThreadPoolExecutor(1) as pool:
    print(pool.submit(path.read_text).result())
"""

_ANYIO = """
import anyio

async def main():
    path = anyio.Path("notes.txt")
    text = await path.read_text() if await path.exists() else "nothing"
    async with await anyio.open_file("notes.txt", "w") as file:
        await file.write(text + ", one")
    print(text)

anyio.run(main)
"""


@pytest.mark.parametrize("program", [_THREADS, _ANYIO], ids=["threads", "anyio"])
def test_they_are_as_they_were(program: str, lctl: Run, tmp_path: Path) -> None:
    """The second run finds what the first has left; in reruns of both that is gone on from since."""
    (tmp_path / "agent.py").write_text(program)
    runs = [lctl("run", "-o", f"{name}.lctl.json", "agent.py") for name in ("first", "second")]
    assert runs[0].stdout != runs[1].stdout, runs[0].stderr
    assert found(tmp_path / "first.lctl.json", "there")
    kept = (tmp_path / "notes.txt").read_text()
    assert kept == "nothing, one, one"
    again_aside(lctl, runs)
    assert (tmp_path / "notes.txt").read_text() == kept
    if program is _THREADS:
        assert (tmp_path / "world.txt").read_text() == "x\n" * 2
