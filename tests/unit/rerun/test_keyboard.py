"""A program that hung, and that somebody ended by Ctrl-C: a rerun ends by it with nobody at the keys."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lctl.testing import Fault, ModelServer, Reply
from tests.unit.rerun.commands import ASKING

if os.name == "nt":
    pytest.skip("Ctrl-C is sent by signals of POSIX", allow_module_level=True)

IN_A_CALL = """
for text in ("One", "Two"):
    print("asking", flush=True)
    print(answer([{"role": "user", "content": text}]), flush=True)
"""
IN_A_CALL_BESIDE_TASKS = """
import asyncio

async def call(text):
    async with httpx.AsyncClient(base_url=client.base_url, headers=client.headers) as its:
        asked = {"model": "m", "messages": [{"role": "user", "content": text}]}
        return await its.post("/chat/completions", json=asked)

async def main():
    for text in ("One", "Two"):
        print("asking", flush=True)
        await asyncio.gather(call(text), asyncio.sleep(0.01))

asyncio.run(main())
"""
IN_A_SLEEP = """
import time
print("asking", answer([{"role": "user", "content": "One"}]), flush=True)
print("asking", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(IN_A_CALL, marks=pytest.mark.slow),
        IN_A_CALL_BESIDE_TASKS,
        pytest.param(IN_A_SLEEP, marks=pytest.mark.slow),
    ],
)
def test_it_ends_by_it_again(program: str, tmp_path: Path) -> None:
    """Where it hung, with what it had done until then, and its traceback; and exactly."""
    (tmp_path / "agent.py").write_text(ASKING + program)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "LCTL"))}
    with ModelServer() as server:
        server.script(["Yes.", Reply("No.", fault=Fault(hang=20))])
        with subprocess.Popen(
            [sys.executable, "-m", "lctl", "run", "-o", "run.lctl.json", "agent.py"],
            cwd=tmp_path,
            env=clean | server.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as started:
            assert started.stdout is not None
            asked = 0
            while asked < 2:
                asked += "asking" in started.stdout.readline()
            while program is not IN_A_SLEEP and server.count < 2:
                time.sleep(0.01)
            time.sleep(0.1)  # until it waits
            started.send_signal(signal.SIGINT)
            assert started.wait(20) == -signal.SIGINT
    again = subprocess.run(
        [sys.executable, "-m", "lctl", "rerun", "run.lctl.json"],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "lctl: rerun exact" in again.stderr, again.stderr
    assert again.stderr.count("\nKeyboardInterrupt") == 1
    assert again.stdout.count("asking") == 2
