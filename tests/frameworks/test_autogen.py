"""AutoGen: agents, teams, hand-offs, agents as tools, and messages between agents of autogen_core."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import Fault, ModelServer, Reply, Request
from lctl.testing.integration_suite import Recorded
from lctl_integrations.autogen_code import Executors
from tests.frameworks import outlines
from tests.frameworks.homes import Threaded
from tests.rerun.harness import LCTL, run

pytestmark = pytest.mark.frameworks


def test_executors_that_lack_their_packages_are_not_waited_for() -> None:
    """Doctor imports what it waits for."""
    pytest.importorskip("autogen_ext", reason="autogen-ext is not installed")
    assert [import_module(name).__name__ for name in Executors().modules] == list(Executors().modules)


FAILING = """
import asyncio
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient

one = AssistantAgent("one", OpenAIChatCompletionClient(model="gpt-4.1-mini"))
try:
    asyncio.run(RoundRobinGroupChat([one], max_turns=1).run(task="Talk."))
except RuntimeError as error:
    print(error)
"""


def test_a_teams_failure_is_told_as_it_is_without_lctl(tmp_path: Path) -> None:
    """AutoGen puts the traceback of an agent's into the text of the team's."""
    pytest.importorskip("autogen_ext", reason="autogen-ext is not installed")
    (tmp_path / "failing.py").write_text(FAILING)
    log = tmp_path / "run.lctl.json"
    with ModelServer(seed=1) as server:
        server.reply(Fault(400, times=None), times=None)
        plain = run([sys.executable, "failing.py"], tmp_path, server.environ, log)
        recorded = run([*LCTL, "run", "--output", str(log), "failing.py"], tmp_path, server.environ, log)
    assert "_openai_client.py" in plain.out
    assert recorded.out == plain.out


class TestAutoGen(Threaded):
    program = Path(__file__).parent / "programs" / "autogen_teams.py"
    integration = "autogen_agentchat"
    requires = ("autogen_agentchat", "autogen_ext", "tiktoken")

    def answer(self, request: Request) -> Any:
        said, done = " ".join(turn.text for turn in request.turns), request.tool_results
        if "You are Solo" in said and not done:
            place = "Rome" if "Rome" in said else "Atlantis"
            return Reply(tool_calls=[("weather", {"city": place}), ("distance", {"city": place})])
        if "You are Guide" in said and not done:
            return Reply(tool_calls=[("transfer_to_writer", {})])
        if "You are Boss" in said and not done:
            return Reply(tool_calls=[("Helper", {"task": "Help."})])
        if "You are Coder" in said and not done:
            return Reply(tool_calls=[("CodeExecutor", {"code": "print(6 * 9)"})])
        return "All is well. DONE"

    @staticmethod
    def outline(events: list[dict[str, Any]]) -> list[str]:
        """Code is executed in a temporary folder."""
        return [
            re.sub(r'"code_file": "[^"]*"', '"code_file": "..."', line) for line in outlines.outline(events)
        ]

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool; the tokens of each call are the wire's."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent Coder: run",
                "  llm Coder 104+17",
                '  tool Coder: CodeExecutor{"code": "print(6 * 9)"} (id) = "54\\n"',
                "agent Runner: run",
                '  tool Runner: execute_code_blocks{"code_blocks": [{"code": "print(6 * 7)\\n", "language": "python"}]} = {"exit_code": 0, "output": "42\\n", "code_file": "..."}',
                "agent Solo: run",
                "  llm Solo 153+28",
                "  llm Solo 47+5",
                '  tool Solo: distance{"city": "Rome"} (id) = 400',
                '  tool Solo: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent Solo: run",
                "  llm Solo 153+30",
                "  llm Solo 48+5",
                '  tool Solo: distance{"city": "Atlantis"} (id) = 800',
                '  tool Solo: weather{"city": "Atlantis"} (id) = LookupError',
                "agent clerk: Question",
                "  agent expert: Question",
                "    llm expert 11+5",
                "  agent expert: Question",
                "    llm expert 11+5",
                "agent tools: FunctionCall [error]",
                "  error tools: tool_failure: ToolExecutionException(call_id='distance', content=\"Error: 1 validation error fo",
                '  tool tools: distance{"town": "Rome"} (id) = pydantic_core._pydantic_core.ValidationError',
                "agent tools: FunctionCall [error]",
                "  error tools: tool_failure: ToolExecutionException(call_id='weather', content='Error: no such city', name='w",
                '  tool tools: weather{"city": "Atlantis"} (id) = LookupError',
                "chain RoundRobinGroupChat: RoundRobinGroupChat",
                "  agent Boss: turn",
                "    agent Helper: run",
                "      llm Helper 17+5",
                "    llm Boss None+None",
                '    tool Boss: Helper{"task": "Help."} (id) = "All is well. DONE"',
                "chain RoundRobinGroupChat: RoundRobinGroupChat",
                "  agent Talker: turn",
                "    llm Talker 17+5",
                "chain Swarm: Swarm",
                "  agent Guide: turn",
                "    handoff Guide -> Writer: Transferred to Writer, adopting the role of Writer immediately.",
                "    llm Guide 135+14",
                '    tool Guide: transfer_to_writer{} (id) = "Transferred to Writer, adopting the role of Writer immediately."',
                "  agent Writer: turn",
                "    llm Writer 39+5",
            ]
        )
