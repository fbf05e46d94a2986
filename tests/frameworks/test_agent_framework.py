"""Agent Framework: who acts and which tools run; the same again offline."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from inline_snapshot import snapshot

from lctl.testing import Reply, Request
from lctl.testing.integration_suite import Recorded
from tests.frameworks.lightmodel import PROGRAMS, Light

pytestmark = pytest.mark.frameworks


class TestAgentFramework(Light):
    environ: ClassVar = {"WARM_PYTHON": ""}  # forked, 3 of its reruns died of SIGSEGV: why, is not known
    program = PROGRAMS / "agent_framework_agents.py"
    integration = "agent_framework"
    requires = ("agent_framework", "openai")

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool; the tokens of each call are the wire's."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent Boss: run",
                "  agent Expert: run",
                "    llm Expert 110+3",
                "    llm Expert 75+29",
                '    tool Expert: weather{"city": "Atlantis"} (id) = ValueError',
                '    tool Expert: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "  llm Boss 102+3",
                "  llm Boss 79+20",
                '  tool Boss: ask_expert{"question": "Where is it sunny?"} (id) = "After 2: 36"',
                "agent Left: run",
                "  llm Left 73+14",
                "  llm Left 90+3",
                '  tool Left: distance{"city": "Oslo"} (id) = {"km": 400}',
                "agent Piecemeal: run",
                "  llm Piecemeal 108+3",
                "  llm Piecemeal 73+29",
                '  tool Piecemeal: weather{"city": "Atlantis"} (id) = ValueError',
                '  tool Piecemeal: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "agent Right: run",
                "  llm Right 73+14",
                "  llm Right 90+3",
                '  tool Right: distance{"city": "Oslo"} (id) = {"km": 400}',
                "agent Scout: run",
                "  llm Scout 128+43",
                "  llm Scout 176+3",
                '  tool Scout: distance{"city": "Oslo"} (id) = {"km": 400}',
                '  tool Scout: weather{"city": "Atlantis"} (id) = ValueError',
                '  tool Scout: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "agent Scout: run",
                "  llm Scout 131+43",
                "  llm Scout 179+3",
                '  tool Scout: distance{"city": "Oslo"} (id) = {"km": 400}',
                '  tool Scout: weather{"city": "Atlantis"} (id) = ValueError',
                '  tool Scout: weather{"city": "Rome"} (id) = "sunny in Rome"',
            ]
        )


class TestAgentFrameworkFlows(Light):
    program = PROGRAMS / "agent_framework_flows.py"
    integration = "agent_framework"
    requires = ("agent_framework", "openai")

    def answer(self, request: Request) -> Any:
        if "launch" in request.tools and not request.tool_results:
            return Reply(tool_calls=[("launch", {"rocket": "Ariane"})])
        return super().answer(request)

    def test_its_log(self, recorded: Recorded) -> None:
        """Executors work in their workflow, which waits for who is asked; what hands on says so."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent pilot: run",
                "  llm pilot 98+3",
                '  tool pilot: launch{"rocket": "Ariane"} (id) = "Ariane launched"',
                "agent pilot: run [paused]",
                "  llm pilot 79+15",
                "agent streamer: run",
                "  llm streamer 101+3",
                '  tool streamer: launch{"rocket": "Ariane"} (id) = "Ariane launched"',
                "agent streamer: run [paused]",
                "  llm streamer 82+15",
                "chain WorkflowBuilder: workflow",
                "  node reviewer: AgentExecutor",
                "    agent reviewer: run",
                "      llm reviewer 59+3",
                "  node writer: AgentExecutor",
                "    agent writer: run",
                "      llm writer 106+3",
                "      llm writer 72+29",
                '      tool writer: weather{"city": "Atlantis"} (id) = "sunny in Atlantis"',
                '      tool writer: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "chain WorkflowBuilder: workflow",
                "  node reviewer: AgentExecutor",
                "    agent reviewer: run",
                "      llm reviewer 62+3",
                "  node writer: AgentExecutor",
                "    agent writer: run",
                "      llm writer 109+3",
                "      llm writer 75+29",
                '      tool writer: weather{"city": "Atlantis"} (id) = "sunny in Atlantis"',
                '      tool writer: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "chain question: workflow",
                "  node asks: Asks",
                "chain question: workflow [paused]",
                "  node asks: Asks",
                "chain texts: workflow",
                "  handoff upper -> turn: None",
                "  node turn: FunctionExecutor",
                "  node upper: Upper",
            ]
        )

    def test_what_is_waited_for(self, recorded: Recorded) -> None:
        ends = [event["data"] for event in recorded.events if event["type"] == "step_end"]
        assert [end["interrupts"] for end in ends if end["outcome"] == "paused"] == [
            [{"name": "asks", "reason": "Sure?"}],
            [{"tool": "launch", "input": {"rocket": "Ariane"}}],
            [{"tool": "launch", "input": {"rocket": "Ariane"}}],
        ]
