"""A LangGraph graph that calls OpenAI Agents SDK agents: each call once, in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import Request
from lctl.testing.integration_suite import IntegrationSuite, Recorded
from tests.frameworks import answers

pytestmark = pytest.mark.frameworks


class TestTwoFrameworks(IntegrationSuite):
    program = Path(__file__).parent / "programs" / "graph_calls_agents.py"
    integration = "langgraph.pregel"
    requires = (
        "langgraph",
        "langchain_openai",
        "agents",
    )

    def answer(self, request: Request) -> Any:
        return answers.team(request)

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool."""
        assert self.outline(recorded.events) == snapshot(
            [
                "chain both: both",
                "  node boss: boss",
                "    agent boss: boss",
                "      node boss: model",
                "        llm boss: chat.completions",
                "      node boss: tools",
                "        task boss: Agent workflow",
                "          agent expert: expert",
                "            llm expert: responses",
                '            tool weather({"city": "Atlantis"}) output "Sunny in Atlantis."',
                '            tool weather({"city": "Rome"}) output "Sunny in Rome."',
                "            llm expert: responses",
                '        tool ask_expert({"question": "Where is it sunny?"}) output "Sunny in Rome; there is no Atlantis."',
                "      node boss: model",
                "        llm boss: chat.completions",
                "  node check: check",
                "    task check: Agent workflow",
                "      agent expert: expert",
                "        llm expert: responses",
                '        tool weather({"city": "Atlantis"}) output "Sunny in Atlantis."',
                '        tool weather({"city": "Rome"}) output "Sunny in Rome."',
                "        llm expert: responses",
            ]
        )
