"""LangGraph nodes, subgraphs, retries, hand-offs, interrupts, checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import Request
from lctl.testing.integration_suite import IntegrationSuite, Recorded
from tests.frameworks import answers

pytestmark = pytest.mark.frameworks


class TestLangGraph(IntegrationSuite):
    program = Path(__file__).parent / "programs" / "langgraph_team.py"
    integration = "langgraph.pregel"
    requires = (
        "langgraph",
        "langchain",
        "langchain_openai",
    )

    def answer(self, request: Request) -> Any:
        return answers.team(request)

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool."""
        assert self.outline(recorded.events) == snapshot(
            [
                "chain board: board",
                "  checkpoint input",
                "  checkpoint loop",
                "  node collect: collect",
                "    error connection_failed: the archive is closed",
                "    ended: error",
                "  node collect: collect",
                "  checkpoint loop",
                "  node draft: draft",
                "    chain draft: writer",
                "      checkpoint input",
                "      checkpoint loop",
                "      node write: write",
                "        llm write: chat.completions",
                "      checkpoint loop",
                "  checkpoint loop",
                "  node route: route",
                "    handoff route -> review",
                "  checkpoint loop",
                "  node review: review",
                '    ended: paused [{"question": "Good?"}]',
                '  ended: paused [{"question": "Good?"}]',
                "chain board: board",
                "  node review: review",
                "    llm review: chat.completions",
                "  checkpoint loop",
                "checkpoint update",
                "chain swarm: swarm",
                "  checkpoint input",
                "  checkpoint loop",
                "  node alice: alice",
                "    agent alice: alice",
                "      checkpoint input",
                "      checkpoint loop",
                "      node alice: model",
                "        llm alice: chat.completions",
                "      checkpoint loop",
                "      node alice: tools",
                '        tool transfer_to_bob({}) output {"goto": "bob", "graph": "__parent__", "update": {"messages": [{"content": "transferred", "role": "tool", "tool_call_id": "call_"}]}}',
                "        handoff alice -> bob",
                "  checkpoint loop",
                "  node bob: bob",
                "    agent bob: bob",
                "      checkpoint input",
                "      checkpoint loop",
                "      node bob: model",
                "        llm bob: chat.completions",
                "      checkpoint loop",
                "      node bob: tools",
                '        tool launch({"rocket": "Ariane"}) paused [{"launch": "Ariane"}]',
                '        ended: paused [{"launch": "Ariane"}]',
                '      ended: paused [{"launch": "Ariane"}]',
                '    ended: paused [{"launch": "Ariane"}]',
                '  ended: paused [{"launch": "Ariane"}]',
                "chain swarm: swarm",
                "  node bob: bob",
                "    agent bob: bob",
                "      node bob: tools",
                '        tool launch({"rocket": "Ariane"}) output "Ariane: go"',
                "      checkpoint loop",
                "      node bob: model",
                "        llm bob: chat.completions",
                "      checkpoint loop",
                "  checkpoint loop",
            ]
        )
