"""Pydantic AI: delegation, retries of tools, approvals, structured output, streams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import Reply, Request
from lctl.testing.integration_suite import IntegrationSuite, Recorded
from tests.frameworks import answers, outlines

pytestmark = pytest.mark.frameworks


class TestPydanticAI(IntegrationSuite):
    program = Path(__file__).parent / "programs" / "pydantic_team.py"
    integration = "pydantic_ai"
    requires = (
        "pydantic_ai",
        "openai",
    )

    def answer(self, request: Request) -> Any:
        return answers.team(request)

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent boss: run",
                "  llm boss: chat.completions",
                "  agent expert: run",
                "    llm expert: chat.completions",
                '    tool weather({"city": "Atlantis"}) error {"message": "no such city", "type": "pydantic_ai.exceptions.ModelRetry"}',
                '    tool weather({"city": "Rome"}) output "Sunny in Rome."',
                "    llm expert: chat.completions",
                '  tool ask_expert({"question": "Where is it sunny?"}) output "Sunny in Rome; there is no Atlantis."',
                "  llm boss: chat.completions",
                "agent namer: run",
                "  llm namer: chat.completions",
                "agent pilot: run",
                "  llm pilot: chat.completions",
                '  ended: paused [{"for": "approval", "tool": "launch", "input": {"rocket": "Ariane"}, "call_": "call_"}]',
                "agent pilot: run",
                '  tool launch({"rocket": "Ariane"}) output "Ariane launched"',
                "  llm pilot: chat.completions",
                "agent tester: run",
                "  llm tester: llm",
                "agent boss: run",
                "  llm boss: chat.completions",
                "  agent expert: run",
                "    llm expert: chat.completions",
                '    tool weather({"city": "Atlantis"}) error {"message": "no such city", "type": "pydantic_ai.exceptions.ModelRetry"}',
                '    tool weather({"city": "Rome"}) output "Sunny in Rome."',
                "    llm expert: chat.completions",
                '  tool ask_expert({"question": "Where is it sunny?"}) output "Sunny in Rome; there is no Atlantis."',
                "  llm boss: chat.completions",
                "agent boss: run",
                "  llm boss: chat.completions",
                "  agent expert: run",
                "    llm expert: chat.completions",
                '    tool weather({"city": "Atlantis"}) error {"message": "no such city", "type": "pydantic_ai.exceptions.ModelRetry"}',
                '    tool weather({"city": "Rome"}) output "Sunny in Rome."',
                "    llm expert: chat.completions",
                '  tool ask_expert({"question": "Where is it sunny?"}) output "Sunny in Rome; there is no Atlantis."',
                "  llm boss: chat.completions",
            ]
        )

    def test_what_a_run_goes_on_with(self, recorded: Recorded) -> None:
        """The decision on each call that the run before it stopped at."""
        began = [event["data"] for event in recorded.events if event["type"] == "step_start"]
        (resumed,) = [data["resume"] for data in began if "resume" in data]
        (stopped,) = [
            event["data"]["interrupts"] for event in recorded.events if "interrupts" in event["data"]
        ]
        assert resumed == [{**call, "approved": True} for call in stopped]


class TestPydanticDeps(IntegrationSuite):
    """Tools that change what lies deep in their dependencies: a rerun changes it alike."""

    program = Path(__file__).parent / "programs" / "pydantic_deps.py"
    integration = "pydantic_ai"
    requires = (
        "pydantic_ai",
        "openai",
    )

    def answer(self, request: Request) -> Any:
        if "clerk" in request.tools:
            if "clerk?" in request.turns[-1].text:
                return Reply(tool_calls=[("clerk", {"question": "Whose?"})])
            name = "nobody" if request.turns[-1].text == "Whose?" else "ann"
            return Reply(tool_calls=[("final_result_look_up", {"name": name})])
        if not request.tools:
            return "Bob's."
        if request.tool_results:
            return "It is moved."
        if "sell" in request.tools:
            items = {"sell": "moon", "far_sell": "pear", "wrap": "fig"}
            return Reply(tool_calls=[(name, {"item": item}) for name, item in items.items()])
        moves = [{"giver": "ann", "taker": "bob", "amount": amount} for amount in (3, 300)]
        return Reply(tool_calls=[*(("move", one) for one in moves), ("later_give_back", {"amount": 1})])

    def test_a_tool_is_called_what_the_model_calls_it(self, recorded: Recorded) -> None:
        """Not by its name within a toolset that gives it another one: two may hold tools of one name."""
        calls = [e["data"] for e in recorded.events if e["type"] == "tool_call" and e["agent"] == "banker"]
        assert sorted(call["tool"] for call in calls) == ["later_give_back", "move", "move"]

    def test_tools_of_a_toolset_of_ones_own(self, recorded: Recorded) -> None:
        """Served in a rerun like others, which counts what they count.
        What one has another toolset do is one call."""
        assert json.loads(recorded.out.splitlines()[-1])[-2] == ["It is moved.", 1, 1]
        calls = [e["data"] for e in recorded.events if e["type"] == "tool_call" and e["agent"] == "seller"]
        told = sorted([(call["tool"], call.get("output"), "call_id" in call) for call in calls], key=str)
        wrapped = "The clerk wrapped a fig"
        assert told == [("far_sell", {"sold": "pear"}, True), ("sell", None, True), ("wrap", wrapped, True)]

    def test_functions_that_give_the_output_are_tools(self, recorded: Recorded) -> None:
        """One of a streamed answer once, when it is whole."""
        assert json.loads(recorded.out.splitlines()[-1])[-1] == [10.0, "Bob's.", 10.0, 3]
        calls = [e["data"] for e in recorded.events if e["type"] == "tool_call" and e["agent"] == "teller"]
        told = [(call["tool"], call["input"], "error" in call) for call in calls]
        look = "final_result_look_up"
        assert told == [
            (look, {"name": "nobody"}, True),
            (look, {"name": "ann"}, False),
            ("clerk", {"question": "Whose?"}, False),
            (look, {"name": "ann"}, False),
        ]


class TestGraphs(IntegrationSuite):
    """The graph that an agent is inside of itself is none."""

    program = Path(__file__).parent / "programs" / "pydantic_graphs.py"
    integration = "pydantic_graph"
    requires = ("pydantic_ai", "pydantic_graph", "openai")

    def answer(self, request: Request) -> Any:
        return f"Answered: {request.last_text}"

    @staticmethod
    def outline(events: list[dict[str, Any]]) -> list[str]:
        """Sorted: which of a graph's branches is told first depends on the answers."""
        return outlines.outline(events, tokens=False)

    def test_its_log(self, recorded: Recorded) -> None:
        assert self.outline(recorded.events) == snapshot(
            [
                "chain crowd: crowd",
                "  node split: split",
                "  node work: work",
                "    agent asker: run",
                "      llm asker",
                "chain crowd: crowd",
                "  node split: split",
                "  node work: work",
                "    agent asker: run",
                "      llm asker",
                "  node work: work",
                "    agent asker: run",
                "      llm asker",
                "chain crowd: crowd [error]",
                "  node split: split",
                "  node work: work [error]",
                "    error work: LookupError: no such city",
                "chain quiz: quiz",
                "  node Ask: Ask",
                "    agent asker: run",
                "      llm asker",
                "  node Ask: Ask",
                "    agent asker: run",
                "      llm asker",
                "  node Judge: Judge",
                "    agent judge: run",
                "      llm judge",
                "  node Judge: Judge",
                "    agent judge: run",
                "      llm judge",
                "  node start: start",
                "chain quiz: quiz [aborted]",
                "  node Ask: Ask",
                "    agent asker: run",
                "      llm asker",
                "  node start: start",
            ]
        )
        assert outlines.unnested(recorded.events) == []
        ends = {event["step"]: event["data"] for event in recorded.events if event["type"] == "step_end"}
        gave = {
            event["data"]["intent"]: ends[event["seq"]].get("output")
            for event in recorded.events
            if event["type"] == "step_start" and event["data"]["kind"] in ("node", "chain")
        }
        assert gave["split"] == ["BONN"]
        assert gave["work"] == "Answered: Go to BONN."
        assert gave["crowd"] == ["Answered: Go to BONN."]
