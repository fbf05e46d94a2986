"""LangChain agents, chains, streams, a fake model and a retriever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import Request
from lctl.testing.integration_suite import IntegrationSuite, Recorded
from tests.frameworks import answers

pytestmark = pytest.mark.frameworks


class TestLangChain(IntegrationSuite):
    program = Path(__file__).parent / "programs" / "langchain_agents.py"
    integration = "langchain_core"
    requires = (
        "langchain",
        "langchain_openai",
    )

    def answer(self, request: Request) -> Any:
        return answers.team(request)

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent boss: boss",
                "  node boss: model",
                "    llm boss: chat.completions",
                "  node boss: tools",
                "    agent expert: expert",
                "      node expert: model",
                "        llm expert: chat.completions",
                "      node expert: tools",
                '        tool weather({"city": "Atlantis"}) output "no such city"',
                "      node expert: tools",
                '        tool weather({"city": "Rome"}) output "Sunny in Rome."',
                "      node expert: model",
                "        llm expert: chat.completions",
                '    tool ask_expert({"question": "Where is it sunny?"}) output "Sunny in Rome; there is no Atlantis."',
                "  node boss: model",
                "    llm boss: chat.completions",
                "agent boss: boss",
                "  node boss: model",
                "    llm boss: chat.completions",
                "  node boss: tools",
                "    agent expert: expert",
                "      node expert: model",
                "        llm expert: chat.completions",
                "      node expert: tools",
                '        tool weather({"city": "Atlantis"}) output "no such city"',
                "      node expert: tools",
                '        tool weather({"city": "Rome"}) output "Sunny in Rome."',
                "      node expert: model",
                "        llm expert: chat.completions",
                '    tool ask_expert({"question": "Where is it sunny?"}) output "Sunny in Rome; there is no Atlantis."',
                "  node boss: model",
                "    llm boss: chat.completions",
                "chain main: RunnableSequence",
                "  llm main: chat.completions",
                "chain main: RunnableSequence",
                "  llm main: chat.completions",
                "chain main: RunnableSequence",
                "  llm main: llm",
                "retriever main: Library",
                "agent boss: boss",
                "  node boss: model",
                "    llm boss: chat.completions",
                "  node boss: tools",
                "    agent expert: expert",
                "      node expert: model",
                "        llm expert: chat.completions",
                "      node expert: tools",
                '        tool weather({"city": "Atlantis"}) output "no such city"',
                "      node expert: tools",
                '        tool weather({"city": "Rome"}) output "Sunny in Rome."',
                "      node expert: model",
                "        llm expert: chat.completions",
                '    tool ask_expert({"question": "Where is it sunny?"}) output "Sunny in Rome; there is no Atlantis."',
                "  node boss: model",
                "    llm boss: chat.completions",
                "agent boss: boss",
                "  node boss: model",
                "    llm boss: chat.completions",
                "  node boss: tools",
                "    agent expert: expert",
                "      node expert: model",
                "        llm expert: chat.completions",
                "      node expert: tools",
                '        tool weather({"city": "Atlantis"}) output "no such city"',
                "      node expert: tools",
                '        tool weather({"city": "Rome"}) output "Sunny in Rome."',
                "      node expert: model",
                "        llm expert: chat.completions",
                '    tool ask_expert({"question": "Where is it sunny?"}) output "Sunny in Rome; there is no Atlantis."',
                "  node boss: model",
                "    llm boss: chat.completions",
                "chain main: RunnableSequence",
                "  llm main: chat.completions",
                "chain main: RunnableSequence",
                "  llm main: chat.completions",
            ]
        )
