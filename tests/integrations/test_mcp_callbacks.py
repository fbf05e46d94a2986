"""MCP clients whose server speaks while it works for them: their callbacks are called in a rerun, too."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.integrations.test_mcp import lctl, serving
from tests.rerun.harness import RERUNS

pytest.importorskip("mcp")
pytest.importorskip("openai")
pytestmark = pytest.mark.slow

SERVER = """
import random, sys, warnings
try:
    from mcp.server.mcpserver import Context, MCPServer as Server
    late, early = {"port": int(sys.argv[2])}, {}
except ImportError:
    from mcp.server.fastmcp import Context, FastMCP as Server
    late, early = {}, {"port": int(sys.argv[2])}
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel

warnings.simplefilter("ignore")
server = Server("shop", **early)

class Sure(BaseModel):
    sure: bool

@server.tool()
async def pay(amount: int, ctx: Context) -> str:
    for n in range(3):
        await ctx.report_progress(n, 3, f"{n} of {amount}: {random.random()}")
        word = f"{n} of {amount}: {random.random()}"
        await ctx.session.send_log_message(level="info", data=word, related_request_id=ctx.request_id)
    return f"receipt {random.random()}"

@server.tool()
async def ask(topic: str, ctx: Context) -> str:
    text = TextContent(type="text", text=f"{topic}? {random.random()}")
    message = SamplingMessage(role="user", content=text)
    given = {"messages": [message], "max_tokens": 9, "related_request_id": ctx.request_id}
    answers = [(await ctx.session.create_message(**given)).content.text for _ in range(2)]
    roots = (await ctx.session.list_roots()).roots
    return f"{answers} {await ctx.elicit('sure?', Sure)} {len(roots)} {random.random()}"

@server.resource("notes://{name}")
def note(name: str) -> str:
    return f"a note for {name}: {random.random()}"

server.run(sys.argv[1], **(late if sys.argv[1] != "stdio" else {}))
"""

AGENT = """
import asyncio, sys
import lctl
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI

if sys.argv[2] == "auto":
    lctl.auto_instrument()
model = AsyncOpenAI()

def connected():
    if sys.argv[1] == "stdio":
        return stdio_client(StdioServerParameters(command=sys.executable, args=["server.py", "stdio", "0"]))
    return streamable_http_client(sys.argv[1])

async def logged(params):
    print("log", params.data)

async def handled(message):
    print("message", type(getattr(message, "root", message)).__name__)

async def sampled(context, params):
    text = params.messages[0].content.text
    print("sampling", text)
    asked = [{"role": "user", "content": text}]
    answer = await model.chat.completions.create(model="gpt-4.1", messages=asked)
    content = types.TextContent(type="text", text=answer.choices[0].message.content)
    return types.CreateMessageResult(role="assistant", content=content, model="gpt-4.1")

async def elicited(context, params):
    print("elicitation", params.message)
    return types.ElicitResult(action="accept", content={"sure": True})

async def rooted(context):
    print("roots")
    return types.ListRootsResult(roots=[types.Root(uri="file:///tmp/x")])

async def pay(session, amount):
    async def progressed(progress, total, message):
        print("progress", amount, progress, total, message)

    answer = await session.call_tool("pay", {"amount": amount}, progress_callback=progressed)
    print("paid", amount, answer.content[0].text)

async def ask(session, topic):
    print(topic, (await session.call_tool("ask", {"topic": topic})).content[0].text)

async def main():
    callbacks = {
        "logging_callback": logged, "message_handler": handled, "sampling_callback": sampled,
        "elicitation_callback": elicited, "list_roots_callback": rooted,
    }
    async with connected() as streams, ClientSession(*streams[:2], **callbacks) as session:
        await session.initialize()
        for _ in range(2):
            print([tool.name for tool in (await session.list_tools()).tools])
        print((await session.read_resource("notes://ada")).contents)
        try:
            await session.read_resource("nothing://ada")
        except Exception as error:
            print(type(error).__name__, error)
        await pay(session, 9)
        await ask(session, "one")
        await asyncio.gather(*(pay(session, n) for n in range(3)), ask(session, "two"))

asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "agent.py").write_text(AGENT)
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    return tmp_path


def recorded(
    folder: Path, by: str, transport: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The log of the agent, and what it printed; its servers are gone."""
    address = serving(folder) if transport == "http" else nullcontext("stdio")
    with ModelServer(random_answers=True) as server, address as where:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        if by == "run":
            ran = lctl(folder, "run", "agent.py", where, by)
        else:
            environ = {**os.environ, "LCTL_DIR": str(folder / "logs"), "LCTL_STRICT": "1"}
            command = [sys.executable, "agent.py", where, by]
            ran = subprocess.run(
                command, cwd=folder, env=environ, capture_output=True, text=True, timeout=120, check=False
            )
    assert ran.returncode == 0, ran.stderr
    return next((folder / "logs").glob("*.lctl.json")), ran


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("by", ["run", "auto"])
def test_callbacks_are_called_again(
    by: str, transport: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order in which they were, and the model calls that they make are served."""
    log, ran = recorded(folder, by, transport, monkeypatch)
    assert ran.stdout.count("progress") == 12
    assert ran.stdout.count("sampling") == 4
    assert _tools(log) == (["ask"] * 2 + ["pay"] * 4 if by == "auto" else _ASKED)
    assert sum(event.type == "exchange" for event in open_log(log).events()) == 4
    (folder / "server.py").unlink()
    for _ in range(min(3, RERUNS)):
        again = lctl(folder, "rerun", "last")
        assert again.returncode == 0, again.stderr
        assert again.stdout == ran.stdout


#: By `lctl run`, what is asked beside tools is recorded as calls, too.
_ASKED = sorted(
    ["ask"] * 2 + ["pay"] * 4
    + ["mcp initialize", "mcp tools/list", "mcp tools/list"] + ["mcp resources/read"] * 2
)  # fmt: skip


def _tools(log: Path) -> list[Any]:
    return sorted(event.data["tool"] for event in open_log(log).events() if event.type == "tool_call")


def test_an_answer_that_is_there_already_is_referred_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, _ = recorded(folder, "auto", "stdio", monkeypatch)
    reads = [event.data for event in open_log(log).events() if event.type == "ambient"]
    listed = [read["value"] for read in reads if read["key"] == "tools/list"]
    assert [list(value) for value in listed] == [["result"], ["as"]]


@pytest.mark.parametrize("by", ["run", "auto"])
def test_a_fork_goes_on_with_callbacks(by: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tape has is told from it, and then the server itself speaks."""
    log, ran = recorded(folder, by, "stdio", monkeypatch)
    first = next(
        e.seq for e in open_log(log).events() if e.type == "tool_call" and e.data["input"] == {"amount": 9}
    )
    with ModelServer(random_answers=True) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        fork = lctl(folder, "fork", "last", "--at", str(first), "--tools", "live")
    assert fork.returncode == 0, fork.stderr
    until = ran.stdout.index("sampling one")
    assert fork.stdout[:until] == ran.stdout[:until]
    assert fork.stdout[until:] != ran.stdout[until:]
    assert fork.stdout.count("progress") == 12
    assert fork.stdout.count("sampling") == 4


LISTENER = """
import asyncio, sys
from mcp import Client, StdioServerParameters

SERVER = '''
from mcp.server.mcpserver import Context, MCPServer
server = MCPServer("shop", log_level="ERROR")

@server.tool()
async def open_shop(name: str, ctx: Context) -> str:
    server.add_tool(lambda: "sold", name=name)
    await ctx.notify_tools_changed()
    return name + " is open"

server.run()
'''

async def main():
    async with Client(StdioServerParameters(command=sys.executable, args=["-c", SERVER])) as client:
        async with client.listen(tools_list_changed=True) as told:
            print((await client.call_tool("open_shop", {"name": "bakery"})).content[0].text)
            print(await anext(aiter(told)), [tool.name for tool in (await client.list_tools()).tools])

asyncio.run(main())
"""


@pytest.mark.parametrize("record", ["full", "model"])
def test_who_listens_is_told_again(tmp_path: Path, record: str) -> None:
    """The server's word that it has heard the request was waited for in a rerun, which has no server."""
    pytest.importorskip("mcp.client.subscriptions", reason="mcp 1 has none")
    (tmp_path / "agent.py").write_text(LISTENER)
    recorded = lctl(tmp_path, "run", "--record", record, "-o", "run.lctl.json", "agent.py")
    assert recorded.returncode == 0, recorded.stderr
    told = "bakery is open\nToolsListChanged() ['open_shop', 'bakery']\n"
    for _ in range(min(3, RERUNS)):
        again = lctl(tmp_path, "rerun", "run.lctl.json")
        assert (again.returncode, again.stdout) == (0, told), again.stderr
        assert "log equal" in again.stderr
