"""Agents with tools of an MCP server: each call is one tool call, and an error where the server says so."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.testing import ModelServer, Reply, Request
from tests.rerun.harness import LCTL, run

pytestmark = pytest.mark.frameworks

PROGRAMS = Path(__file__).parent / "programs"

#: Frameworks (modules) -> what they need, and the ends of the names that their model knows the tool by.
FRAMEWORKS = {
    "agents": ("mcp", ["pay", "shop__pay"]),
    "ag2": ("mcp", ["pay", "shop_pay"]),
    "fastmcp": ("pydantic_ai", ["pay", "shop_pay"]),
    "agent_framework": ("mcp.client.subscriptions", ["pay", "shop_pay"]),
    "agno": ("fastmcp", ["pay", "shop_pay"]),
    "langchain_mcp_adapters": ("langchain_openai", ["pay", "shop_pay"]),
    "semantic_kernel": ("mcp", ["pay"]),
    "crewai": ("mcp", ["_pay"]),
}


def _answer(request: Request) -> Any:
    names = [name for name in request.tools if name.endswith("pay")]
    if request.tool_results or not names:
        return f"Done: {len(request.tool_results)}"
    return Reply(tool_calls=[(name, {"amount": amount}) for name in names for amount in (1, 13)])


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_call_is_recorded_once_and_fails_where_the_server_says_so(framework: str, tmp_path: Path) -> None:
    needed, ends = FRAMEWORKS[framework]
    if framework == "langchain_mcp_adapters" and _is_there("mcp.client.subscriptions"):
        pytest.skip("the adapters need mcp 1")
    for name in (framework, needed):
        if not _is_there(name):
            pytest.skip(f"{name} is not installed")
    shutil.copy(PROGRAMS / "mcp_shop.py", tmp_path / "shop.py")
    log, again = tmp_path / "first.lctl.json", tmp_path / "again.lctl.json"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    with ModelServer(seed=1) as server:
        server.reply(_answer, times=None)
        environ = {**server.environ, "LCTL_STRICT": "1", "PATH": path, "HOME": str(tmp_path)}
        command = [*LCTL, "run", "-o", str(log), str(PROGRAMS / "mcp_agents.py"), framework]
        first = run(command, tmp_path, environ, log)
    assert first.code == 0, first.err[-3000:]
    assert first.out == "Done: 2\n" * len(ends)
    calls = [event["data"] for event in first.events if event["type"] == "tool_call"]
    calls = [call for call in calls if not call["tool"].startswith("mcp ")]  # what is asked beside tools
    told = [(call["tool"], call["input"]["amount"], "error" in call) for call in calls]
    names = list(dict.fromkeys(call["tool"] for call in calls))
    assert [name.endswith(end) for name, end in zip(names, ends, strict=True)] == [True] * len(ends)
    assert sorted(told) == sorted((name, n, n == 13) for name in names for n in (1, 13))
    assert all(call["call_id"] and "derived" not in call for call in calls)
    assert all("Error executing tool pay" in call["error"]["message"] for call in calls if "error" in call)
    rerun = run([*LCTL, "rerun", str(log), "-o", str(again)], tmp_path, environ, again)
    assert (rerun.code, rerun.out) == (0, first.out), rerun.err
    assert "log equal" in rerun.err
    assert (tmp_path / "paid.txt").read_text().split() == ["1"] * len(ends)


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # what it is part of is not there
        return False
