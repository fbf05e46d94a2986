"""MCP agents recorded and run again: no server is started or reached."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lctl.codec import open_log
from tests.rerun.harness import RERUNS

mcp = pytest.importorskip("mcp")
pytestmark = pytest.mark.slow

SERVER = """
import random, sys
try:
    from mcp.server.mcpserver import MCPServer as Server
    late, early = {"port": int(sys.argv[2])}, {}
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server
    late, early = {}, {"port": int(sys.argv[2])}
server = Server("shop", **early)

@server.tool()
def pay(amount: int) -> dict:
    with open("ledger.txt", "a") as ledger:
        ledger.write(f"{amount}\\n")
    if amount > 50:
        raise ValueError("too much")
    return {"receipt": random.random()}

@server.resource("notes://{name}")
def note(name: str) -> str:
    return f"a note for {name}"

async def serve_websocket(scope, receive, send):
    from mcp.server.websocket import websocket_server
    async with websocket_server(scope, receive, send) as streams:
        inner = server._mcp_server
        await inner.run(*streams, inner.create_initialization_options())

if sys.argv[1] == "websocket":
    import uvicorn
    uvicorn.run(serve_websocket, port=int(sys.argv[2]), lifespan="off", log_level="error")
else:
    server.run(sys.argv[1], **(late if sys.argv[1] != "stdio" else {}))
"""

AGENT = """
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

def connected():
    if sys.argv[1] == "stdio":
        return stdio_client(StdioServerParameters(command=sys.executable, args=["server.py", "stdio", "0"]))
    if sys.argv[1].startswith("ws"):
        from mcp.client.websocket import websocket_client
        return websocket_client(sys.argv[1])
    return streamable_http_client(sys.argv[1])

async def pay(session, amount):
    answer = await session.call_tool("pay", {"amount": amount})
    return type(answer).__name__, answer.model_dump(), answer.content[0].text

async def main():
    async with connected() as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        print([tool.name for tool in (await session.list_tools()).tools])
        print(await pay(session, 3), await pay(session, 60))
        print(await asyncio.gather(*(pay(session, n) for n in range(5))))

asyncio.run(main())
"""


READER = """
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
import lctl

@lctl.tool
def price() -> int:
    return 3

async def main():
    amount = price()
    server = StdioServerParameters(command=sys.executable, args=["server.py", "stdio", "0"])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        print((await session.read_resource("notes://ada")).contents)
        for n in range(2):
            answer = await session.call_tool("pay", {"amount": amount + n})
            print(answer.model_dump()["content"][0]["text"].split(":")[0].strip("{ \\n"))

asyncio.run(main())
"""

#: Version 2 first asks what the server is, and greets none that tells.
CLIENT = """
import asyncio, sys
from mcp import Client, StdioServerParameters

async def main():
    server = StdioServerParameters(command=sys.executable, args=["server.py", "stdio", "0"])
    for _ in range(2):
        async with Client(server) as client:
            print([tool.name for tool in (await client.list_tools()).tools])
            print((await client.call_tool("pay", {"amount": 3})).content[0].text)

asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "reader.py").write_text(READER)
    (tmp_path / "client.py").write_text(CLIENT)
    return tmp_path


def lctl(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "LCTL_DIR": str(folder / "logs"), "LCTL_STRICT": "1"}
    command = [sys.executable, "-m", "lctl", *words]
    return subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=120, check=False
    )


def check_reruns(folder: Path, address: str, recorded: subprocess.CompletedProcess[str]) -> None:
    assert recorded.returncode == 0, recorded.stderr
    log = open_log(folder / "run.lctl.json")
    calls = [event.data for event in log.events() if event.type == "tool_call"]
    assert [call["tool"] for call in calls[:4]] == ["mcp initialize", "mcp tools/list", "pay", "pay"]
    assert not [event for event in log.events() if event.type == "exchange"]
    ledger = (folder / "ledger.txt").read_text()
    for _ in range(min(3, RERUNS)):
        again = lctl(folder, "rerun", "run.lctl.json")
        assert again.returncode == 0, again.stderr
        assert again.stdout == recorded.stdout
        assert (folder / "ledger.txt").read_text() == ledger


def test_a_server_over_stdio(folder: Path) -> None:
    """Its process is not started again, and nothing is paid twice."""
    recorded = lctl(folder, "run", "--output", "run.lctl.json", "agent.py", "stdio")
    (folder / "server.py").unlink()
    check_reruns(folder, "stdio", recorded)


@pytest.mark.skipif(not hasattr(mcp, "Client"), reason="a client of version 2")
@pytest.mark.parametrize("words", [("run", "client.py"), ("run", "--record", "model", "client.py")])
def test_a_server_that_tells_what_it_is(folder: Path, words: tuple[str, ...]) -> None:
    """Before it is asked for anything, and without a greeting: no process is started to hear it again."""
    recorded = lctl(folder, words[0], "--output", "run.lctl.json", *words[1:])
    assert recorded.returncode == 0, recorded.stderr
    (folder / "server.py").unlink()
    again = lctl(folder, "rerun", "run.lctl.json")
    assert again.returncode == 0, again.stderr
    assert again.stdout == recorded.stdout


@pytest.mark.parametrize("how", ["streamable-http", "websocket"])
def test_a_server_over_the_network(how: str, folder: Path) -> None:
    """Of the traffic beneath the calls nothing is recorded, and in a rerun there is none."""
    if how == "websocket":
        pytest.importorskip("mcp.client.websocket", reason="version 1 has it")
        pytest.importorskip("websockets", reason="needs: pip install 'lctl[test]'")
    with serving(folder, how) as address:
        recorded = lctl(folder, "run", "--output", "run.lctl.json", "agent.py", address)
    check_reruns(folder, address, recorded)


@contextmanager
def serving(folder: Path, how: str = "streamable-http") -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "server.py", how, str(port)]
    server = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"{'ws' if how == 'websocket' else 'http'}://127.0.0.1:{port}/mcp"
    finally:
        server.kill()
        server.wait()


def test_a_resource_is_read_again(folder: Path) -> None:
    """Its address is a URL of pydantic's in version 1."""
    recorded = lctl(folder, "run", "--output", "run.lctl.json", "reader.py")
    assert recorded.returncode == 0, recorded.stderr
    (folder / "server.py").unlink()
    again = lctl(folder, "rerun", "run.lctl.json")
    assert again.returncode == 0, again.stderr
    assert again.stdout == recorded.stdout
    assert "a note for ada" in again.stdout


def test_a_tool_that_failed_is_a_failure(folder: Path) -> None:
    """It says so in its result."""
    assert lctl(folder, "run", "--output", "run.lctl.json", "agent.py", "stdio").returncode == 0
    calls = [event.data for event in open_log(folder / "run.lctl.json").events() if event.type == "tool_call"]
    failed = [call for call in calls if call["tool"] == "pay" and call["input"] == {"amount": 60}]
    assert [call["error"]["type"] for call in failed] == ["ToolError"]
    assert "Error executing tool pay" in failed[0]["error"]["message"]
    assert all("error" not in call for call in calls if call not in failed)


def test_a_fork_goes_on_with_the_server(folder: Path) -> None:
    """It is started where it is first needed, and greeted."""
    assert lctl(folder, "run", "--output", "run.lctl.json", "reader.py").returncode == 0
    at = str(_seq(folder, "price"))
    fork = lctl(folder, "fork", "run.lctl.json", "--at", at, "--result", "tool:price=20", "--tools", "live")
    assert fork.returncode == 0, fork.stderr
    assert (folder / "ledger.txt").read_text() == "3\n4\n20\n21\n"


def test_a_result_that_is_edited_is_a_result_of_mcp(folder: Path) -> None:
    """And so is that of a tool that is not run."""
    assert lctl(folder, "run", "--output", "run.lctl.json", "reader.py").returncode == 0
    result = 'tool:pay={"content": [{"type": "text", "text": "gratis"}], "structuredContent": {"receipt": 0}}'
    fork = lctl(folder, "fork", "run.lctl.json", "--at", str(_seq(folder, "pay")), "--result", result)
    assert fork.returncode == 0, fork.stderr
    assert fork.stdout.endswith("gratis\ngratis\n")
    at = str(_seq(folder, "price"))
    fork = lctl(folder, "fork", "run.lctl.json", "--at", at, "--result", "tool:price=20")
    assert fork.returncode == 0, fork.stderr
    assert fork.stdout.count("dry_run") == 2
    assert (folder / "ledger.txt").read_text() == "3\n4\n"


def _seq(folder: Path, tool: str) -> int:
    """Of the first call of a tool."""
    events = open_log(folder / "run.lctl.json").events()
    return next(event.seq for event in events if event.type == "tool_call" and event.data["tool"] == tool)
