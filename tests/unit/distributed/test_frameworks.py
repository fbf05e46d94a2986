"""Trace context through Celery and MCP, the real ones."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.distributed import connect_celery, extract, ray_remote
from lctl.kinship import link_to
from lctl.session import LCTLSession
from lctl.stores.opening import close_stores, open_store


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The store that everything here records into."""
    for name in ("LCTL_PARENT", "LCTL_PROPAGATE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("LCTL_QUIET", "1")
    monkeypatch.setenv("LCTL_STORE", f"sqlite:///{tmp_path}/runs.db")
    yield f"sqlite:///{tmp_path}/runs.db"
    close_stores()


@pytest.mark.frameworks
@pytest.mark.filterwarnings("default")
def test_a_celery_task_is_a_child(place: str) -> None:
    """Of whoever sent it; also where the worker runs it later."""
    celery = pytest.importorskip("celery", reason="pip install celery")
    from celery.contrib.testing.worker import start_worker  # type: ignore[import-untyped, unused-ignore]

    app = celery.Celery("shop", broker="memory://", backend="cache+memory://")
    connect_celery()
    connect_celery()

    @app.task(name="pay")  # type: ignore[untyped-decorator, unused-ignore]
    def pay(amount: int) -> int:
        session = lctl.get_session()
        assert session is not None
        session.add_fact("F1", f"paid {amount}", 0.5)
        return amount

    with start_worker(app, perform_ping_check=False, pool="solo"):
        with LCTLSession("sender") as session:
            session.add_fact("F1", "one", 0.5)
            result = pay.delay(5)
        assert result.get(timeout=30) == 5
    (child,) = open_store(place).children("sender")
    assert child.chain["parent"] == link_to(session.store.chain, "sender", 1)
    log = lctl.load(f"{place}#{child.id}")
    assert [(event.type, event.agent) for event in log.events] == [
        ("step_start", "pay"),
        ("fact_added", "pay"),
        ("step_end", "pay"),
    ]


@pytest.mark.frameworks
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_ray_task_is_a_child(place: str) -> None:
    """Each call of the moment it was made at, in a worker that Ray started before."""
    ray: Any = pytest.importorskip("ray", reason="pip install 'lctl[ray]'")

    def pay(amount: int) -> int:
        session = lctl.get_session()
        assert session is not None
        session.add_fact("F1", f"paid {amount}", 0.5)
        return amount

    environment = {"LCTL_STORE": place, "LCTL_QUIET": "1"}
    ray.init(num_cpus=1, include_dashboard=False, runtime_env={"env_vars": environment})
    try:
        task = ray_remote(pay)
        with LCTLSession("sender") as session:
            first = task.remote(1)
            session.add_fact("F1", "one", 0.5)
            second = task.options(num_cpus=1).remote(2)
            assert ray.get([first, second]) == [1, 2]
        with pytest.raises(TypeError):
            task(3)
    finally:
        ray.shutdown()
    children = open_store(place).children("sender")
    found = {lctl.load(f"{place}#{one.id}").state.facts["F1"].text: one.chain["parent"] for one in children}
    assert found == {f"paid {n + 1}": link_to(session.store.chain, "sender", n) for n in range(2)}


def test_an_mcp_tool_call_carries_it() -> None:
    """In `_meta`, beside what the program puts there; a server sees who calls."""
    pytest.importorskip("mcp", reason="pip install mcp")
    from mcp import types

    from lctl_integrations import mcp as integration

    def request(meta: Any) -> Any:
        given = {} if meta is None else {"_meta": meta}
        params = types.CallToolRequestParams(name="pay", arguments={"amount": 5}, **given)
        return types.CallToolRequest(method="tools/call", params=params)

    with LCTLSession("caller") as session:
        session.add_fact("F1", "one", 0.5)
        for meta in (None, {"progressToken": 7}, {"tracestate": "vendor=1"}):
            asked = request(meta)
            integration._tell((asked,), {})
            sent = asked.model_dump(by_alias=True, mode="json", exclude_none=True)["params"]["_meta"]
            origin = extract(sent)
            assert (origin.chain_id, origin.seq) == ("caller", 1)
            assert sent.get("progressToken") == (meta or {}).get("progressToken")
            assert sent["tracestate"].endswith("vendor=1") is (meta == {"tracestate": "vendor=1"})
    alone = request(None)
    integration._tell((alone,), {})
    assert "_meta" not in alone.model_dump(by_alias=True, mode="json", exclude_none=True)["params"]


@pytest.mark.slow
def test_an_mcp_server_sees_its_caller(tmp_path: Path) -> None:
    """Over a real transport: what the tool reads of its request leads to the caller's chain."""
    pytest.importorskip("mcp", reason="pip install mcp")
    program = tmp_path / "server.py"
    program.write_text(
        """
from lctl.distributed import extract
try:
    from mcp.server.mcpserver import MCPServer as Server, Context
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server, Context
server = Server("shop")

@server.tool()
def who(ctx: Context) -> str:
    return extract(ctx.request_context.meta).chain_id

server.run("stdio")
"""
    )
    said = asyncio.run(_ask(program))
    assert said == "caller"


async def _ask(program: Path) -> str:
    import os
    import sys

    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    env = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ.get("PATH", "")}
    lctl.auto_instrument()
    try:
        async with LCTLSession("caller"):
            parameters = StdioServerParameters(command=sys.executable, args=[str(program)], env=env)
            async with stdio_client(parameters) as streams, ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                answer: Any = await session.call_tool("who", {})
                return str(answer.content[0].text)
    finally:
        lctl.uninstrument()
