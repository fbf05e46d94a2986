"""Events that tools set and the program waits for: a rerun, which does not run the tools, sets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rerun.harness import LCTL, run

_BEGIN = """
import asyncio, threading
import lctl

"""

_PROGRAMS = {
    "asyncio": """
done = asyncio.Event()

@lctl.tool
async def finish(what):
    done.set()
    return what

async def main():
    task = asyncio.create_task(finish("tea"))
    await done.wait()
    print(await task)

asyncio.run(main())
""",
    "threading": """
done, busy = threading.Event(), threading.Event()
busy.set()

@lctl.tool
def finish(what):
    busy.clear()
    done.set()
    return what

thread = threading.Thread(target=finish, args=("tea",))
thread.start()
done.wait()
thread.join()
print(done.is_set(), busy.is_set())
""",
    "cancelled": """
async def main():
    begun = asyncio.Event()

    @lctl.tool
    async def brew(what):
        begun.set()
        await asyncio.sleep(3600)

    task = asyncio.create_task(brew("tea"))
    await begun.wait()
    task.cancel()
    print(await asyncio.gather(task, return_exceptions=True))

asyncio.run(main())
""",
}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_what_waits_for_a_tool_goes_on(name: str, tmp_path: Path) -> None:
    """It would wait for ever."""
    program, log, again = (tmp_path / part for part in ("tea.py", "tea.lctl.json", "again.lctl.json"))
    program.write_text(_BEGIN + _PROGRAMS[name])
    environ = {"LCTL_DIR": str(tmp_path), "LCTL_STRICT": "1"}
    first = run([*LCTL, "run", "--output", str(log), str(program)], tmp_path, environ, log)
    assert first.code == 0, first.err
    rerun = run([*LCTL, "rerun", str(log), "--output", str(again)], tmp_path, environ, again)
    assert rerun.code == 0, rerun.err
    assert (rerun.out, rerun.events) == (first.out, first.events)
