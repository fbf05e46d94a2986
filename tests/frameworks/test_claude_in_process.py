"""claude-agent-sdk as patched in a process, and tasks handed to it: its messages, errors and classes stay."""

from __future__ import annotations

import asyncio
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from lctl.guard import guard
from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession
from tests.frameworks import claudes

sdk: Any = pytest.importorskip("claude_agent_sdk", reason="needs: pip install claude-agent-sdk")
pytestmark = pytest.mark.frameworks


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return claudes.put(tmp_path, monkeypatch)


def test_traced_task_by_another_hand(tmp_path: Path) -> None:
    """What carries the task out may be anything; also where a loop runs."""
    from lctl.claude import traced_task

    async def main() -> Any:
        return traced_task("explore", "Find it", run=lambda prompt: prompt.upper())

    with LCTLSession(path=tmp_path / "run.lctl.json") as session:
        assert asyncio.run(main()) == "FIND IT"
    start, end = session.to_dict()["events"][:2]
    assert (start["agent"], start["data"]["input_summary"]) == ("explore", "Find it")
    assert (end["data"]["outcome"], end["data"]["output"]) == ("success", "FIND IT")


async def _asked(prompt: str) -> list[str]:
    async def added(args: Any) -> Any:
        return {"content": [{"type": "text", "text": str(args["a"] + args["b"])}]}

    add = sdk.tool("add", "Add", {"a": int, "b": int})(added)

    async def hook(*_: Any) -> Any:
        return {}

    options = sdk.ClaudeAgentOptions(
        cli_path="./claude",
        mcp_servers={"calc": sdk.create_sdk_mcp_server("calc", tools=[add])},
        hooks={"PreToolUse": [sdk.HookMatcher(matcher="Bash", hooks=[hook])]},
    )
    return [str(message) async for message in sdk.query(prompt=prompt, options=options)]


PLACES = (
    "a Claude process",
    "a message sent by the Claude Agent SDK",
    "a message received by the Claude Agent SDK",
    "a question of Claude's",
    "a tool of the Claude Agent SDK",
    "the end of a Claude process",
)


@pytest.mark.parametrize("place", PLACES)
def test_a_failure_of_ours_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """Raised at every hook of ours: the messages are the same, and what was missed is counted."""
    uninstrument()
    wanted = asyncio.run(_asked("work on it"))

    def fail(here: str) -> None:
        if here == place:
            raise RuntimeError("ours")

    monkeypatch.setattr(guard, "policy", "report")
    monkeypatch.setattr(guard, "failures", {})
    monkeypatch.setattr(guard, "trial", fail)
    try:
        with LCTLSession(path=folder / "run.lctl.json"):
            ensure_installed()
            assert asyncio.run(_asked("work on it")) == wanted
        assert guard.failures[place] > 0
    finally:
        uninstrument()


def test_classes_are_as_before(folder: Path) -> None:
    """After two installations and one removal."""
    internal = "claude_agent_sdk._internal"
    transport = import_module(f"{internal}.transport.subprocess_cli").SubprocessCLITransport
    query = import_module(f"{internal}.query").Query

    def parts() -> list[tuple[str, int]]:
        return [(name, id(value)) for cls in (transport, query) for name, value in vars(cls).items()]

    uninstrument()
    before = parts()
    ensure_installed()
    ensure_installed()
    assert parts() != before
    uninstrument()
    assert parts() == before


def test_a_task_that_fails_raises_what_the_sdk_raises(folder: Path) -> None:
    from lctl.claude import traced_task

    with (
        LCTLSession(path=folder / "run.lctl.json") as session,
        pytest.raises(sdk.ProcessError, match="on fire"),
    ):
        traced_task("explore", "crash please", options=sdk.ClaudeAgentOptions(cli_path="./claude"))
    ends = [e["data"]["outcome"] for e in session.to_dict()["events"] if e["type"] == "step_end"]
    assert ends == ["success", "error", "error"]  # the call, the turn, the task
    uninstrument()
