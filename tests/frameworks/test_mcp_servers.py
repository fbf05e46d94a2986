"""MCP servers in the program's own process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log

pytestmark = pytest.mark.frameworks

#: What the server's tools read and wait for is a part of their calls.
PROGRAM = """
import asyncio, datetime, os, random
import lctl
try:
    from mcp import Client as connected
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server
    from mcp.shared.memory import create_connected_server_and_client_session
    connected = lambda server: create_connected_server_and_client_session(server._mcp_server)
server = Server("shop")

@lctl.tool
def price() -> int:
    return int(random.random() * 1000)

@server.tool()
async def pay(amount: int) -> str:
    with open("ledger.txt", "a") as ledger:
        ledger.write(f"{amount}\\n")
    await asyncio.sleep(0.01)
    return f"{datetime.datetime.now()} {os.environ.get('SHOP')} {amount * price()}"

async def main():
    async with connected(server) as client:
        for answer in await asyncio.gather(*(client.call_tool("pay", {"amount": n}) for n in range(3))):
            print(answer.content[0].text)

asyncio.run(main())
"""


@pytest.mark.parametrize("record", ["full", "model"])
def test_what_a_server_does_for_a_call_is_served_with_it(tmp_path: Path, record: str) -> None:
    """Though version 1's does so in a task of its own."""
    pytest.importorskip("mcp", reason="mcp is not installed")
    (tmp_path / "program.py").write_text(PROGRAM)
    recorded = _lctl(tmp_path, "run", "--record", record, "--output", "run.lctl.json", "program.py")
    assert recorded.returncode == 0, recorded.stderr
    for _ in range(2):
        again = _lctl(tmp_path, "rerun", "run.lctl.json")
        assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert sorted((tmp_path / "ledger.txt").read_text().split()) == ["0", "1", "2"]


def test_a_forks_result_has_the_form_that_the_tool_promises(tmp_path: Path) -> None:
    """A client refuses one without it."""
    pytest.importorskip("mcp", reason="mcp is not installed")
    (tmp_path / "program.py").write_text(PROGRAM)
    recorded = _lctl(tmp_path, "run", "--output", "run.lctl.json", "program.py")
    assert recorded.returncode == 0, recorded.stderr
    events = open_log(tmp_path / "run.lctl.json").events()
    paid = next(e.seq for e in events if e.type == "tool_call" and e.data["tool"] == "pay")
    words = [
        "fork",
        "run.lctl.json",
        "--at",
        str(paid),
        "--result",
        'all tool:pay="free"',
        "-o",
        "fork.lctl.json",
    ]
    forked = _lctl(tmp_path, *words)
    assert "free" in forked.stdout.splitlines(), forked.stderr
    again = _lctl(tmp_path, "rerun", "fork.lctl.json")
    assert (again.returncode, again.stdout) == (0, forked.stdout), again.stderr


def _lctl(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lctl", *words]
    environ = {**os.environ, "LCTL_STRICT": "1"}
    return subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=120, check=False
    )
