"""The OpenAI Agents SDK: agents as tools, hand-offs, guardrails, streams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import Reply, Request
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


class TestPeople(IntegrationSuite):
    """Hand-offs with words, approvals, a context with depth, a tool that is given up."""

    program = Path(__file__).parent / "programs" / "agents_people.py"
    integration = "agents"
    requires = ("agents",)

    def answer(self, request: Request) -> Any:
        done = len(request.tool_results)
        if "add" in request.tools:
            if not done:
                return Reply(tool_calls=[("add", {"name": "pear"}), ("add", {"name": "fig"})])
            return Reply(tool_calls=[("escalate", {"reason": "angry", "urgency": 3})])
        calls: dict[str, dict[str, Any]] = {
            "pay": {"amount": 7},
            "ask_cashier": {"input": "Pay 7"},
            "wait_for_ever": {},
        }
        for name, arguments in calls.items():
            if name in request.tools and not done:
                return Reply(tool_calls=[(name, arguments)])
        return "All is well."

    def test_a_hand_off_has_its_words(self, recorded: Recorded) -> None:
        data = next(event["data"] for event in recorded.events if event["type"] == "handoff")
        assert data.pop("call_id").startswith("call_")
        words = {"reason": "angry", "urgency": 3}
        assert data == {"from": "clerk", "to": "human", "reason": "angry", "input": words}

    def test_who_waits_for_an_approval_is_paused(self, recorded: Recorded) -> None:
        """The run and its agent, and those around them; and what the run is gone on with is its beginning's."""
        starts = {e["seq"]: e for e in recorded.events if e["type"] == "step_start"}
        paused = [e for e in recorded.events if e["data"].get("outcome") == "paused"]
        kinds = [(e["agent"], starts[e["step"]]["data"]["kind"]) for e in paused]
        of_boss = [("cashier", "agent"), ("boss", "task"), ("boss", "agent"), ("main", "task")]
        assert kinds == [("cashier", "agent"), ("main", "task"), *of_boss]
        for event in paused:
            (wait,) = event["data"]["interrupts"]
            assert wait.pop("call_id").startswith("call_")
            assert wait == {"for": "approval", "tool": "pay", "input": {"amount": 7}}
        resumed = [e["data"] for e in starts.values() if "resume" in e["data"]]
        known = [(d["starts"], [(r["tool"], r.get("approved")) for r in d["resume"]]) for d in resumed]
        assert known[:2] == [("cashier", [("pay", True)]), ("boss", [("pay", None)])]
        asked = [e["data"] for e in recorded.events if e["data"].get("tool") == "ask_cashier"]
        assert ["paused" in call for call in asked] == [True, False]

    def test_a_tool_that_is_given_up_is_cancelled(self, recorded: Recorded) -> None:
        (call,) = (e["data"] for e in recorded.events if e["data"].get("tool") == "wait_for_ever")
        assert call["error"]["type"] == "asyncio.exceptions.CancelledError"
        assert call["tape"]["inside"]
