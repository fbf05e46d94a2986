"""The OpenAI Agents SDK: agents as tools, hand-offs, guardrails, streams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import Request
from lctl.testing.integration_suite import IntegrationSuite, Recorded
from tests.frameworks import answers

pytestmark = pytest.mark.frameworks


class TestOpenAIAgents(IntegrationSuite):
    program = Path(__file__).parent / "programs" / "agents_sdk.py"
    integration = "agents"
    requires = ("agents",)

    def answer(self, request: Request) -> Any:
        return answers.team(request)

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool."""
        assert self.outline(recorded.events) == snapshot(
            [
                "task main: Agent workflow",
                "  agent boss: boss",
                "    guardrail boss: polite",
                "    llm boss: responses",
                "    task boss: Agent workflow",
                "      agent expert: expert",
                "        llm expert: responses",
                '        tool weather({"city": "Atlantis"}) error {"message": "no such city", "type": "LookupError"}',
                '        tool weather({"city": "Rome"}) output "Sunny in Rome."',
                "        llm expert: responses",
                '    tool ask_expert({"input": "Where is it sunny?"}) output "Sunny in Rome; there is no Atlantis."',
                "    llm boss: responses",
                "    handoff boss -> writer",
                "  agent writer: writer",
                '    tool transfer_to_writer({}) output "{\\"assistant\\": \\"writer\\"}" (from messages)',
                "    llm writer: responses",
                "task main: Agent workflow",
                "  agent boss: boss",
                "    guardrail boss: polite",
                "    llm boss: chat.completions",
                "    task boss: Agent workflow",
                "      agent expert: expert",
                "        llm expert: chat.completions",
                '        tool weather({"city": "Atlantis"}) error {"message": "no such city", "type": "LookupError"}',
                '        tool weather({"city": "Rome"}) output "Sunny in Rome."',
                "        llm expert: chat.completions",
                '    tool ask_expert({"input": "Where is it sunny?"}) output "Sunny in Rome; there is no Atlantis."',
                "    llm boss: chat.completions",
                "    handoff boss -> writer",
                "  agent writer: writer",
                '    tool transfer_to_writer({}) output "{\\"assistant\\": \\"writer\\"}" (from messages)',
                "    llm writer: chat.completions",
                "task main: Agent workflow",
                "  agent boss: boss",
                "    guardrail boss: polite",
                "    llm boss: responses",
                "    task boss: Agent workflow",
                "      agent expert: expert",
                "        llm expert: responses",
                '        tool weather({"city": "Atlantis"}) error {"message": "no such city", "type": "LookupError"}',
                '        tool weather({"city": "Rome"}) output "Sunny in Rome."',
                "        llm expert: responses",
                '    tool ask_expert({"input": "Where is it sunny?"}) output "Sunny in Rome; there is no Atlantis."',
                "    llm boss: responses",
                "    handoff boss -> writer",
                "  agent writer: writer",
                '    tool transfer_to_writer({}) output "{\\"assistant\\": \\"writer\\"}" (from messages)',
                "    llm writer: responses",
            ]
        )
