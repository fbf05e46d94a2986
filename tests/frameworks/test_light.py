"""Haystack and Agno: who acts and which tools run; the same again offline."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from inline_snapshot import snapshot

from lctl.testing import Fault, Reply, Request
from lctl.testing.integration_suite import Recorded
from tests.frameworks.lightmodel import PROGRAMS, Light

pytestmark = pytest.mark.frameworks


class TestHaystack(Light):
    program = PROGRAMS / "haystack_agent.py"
    integration = "haystack"
    requires = ("haystack", "openai")
    environ: ClassVar = {"HAYSTACK_TELEMETRY_ENABLED": "False"}

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool; the tokens of each call are the wire's."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent agent: run",
                "  llm agent 107+3",
                "  llm agent 55+29",
                '  tool agent: weather{"city": "Atlantis"} (id) = haystack.tools.errors.ToolInvocationError',
                '  tool agent: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "agent agent: run",
                "  llm agent 109+3",
                "  llm agent 57+29",
                '  tool agent: weather{"city": "Atlantis"} (id) = haystack.tools.errors.ToolInvocationError',
                '  tool agent: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "agent agent: run",
                "  llm agent 109+3",
                "  llm agent 57+29",
                '  tool agent: weather{"city": "Atlantis"} (id) = haystack.tools.errors.ToolInvocationError',
                '  tool agent: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "agent agent: run",
                "  llm agent None+None",
                "  llm agent None+None",
                '  tool agent: weather{"city": "Atlantis"} (id) = haystack.tools.errors.ToolInvocationError',
                '  tool agent: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "agent agent: run",
                "  llm agent None+None",
                "  llm agent None+None",
                '  tool agent: weather{"city": "Atlantis"} (id) = haystack.tools.errors.ToolInvocationError',
                '  tool agent: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "chain pipeline: run",
                "  node model: OpenAIChatGenerator",
                "    llm model 10+3",
                "  node prompt: ChatPromptBuilder",
            ]
        )


class TestHaystackState(Light):
    program = PROGRAMS / "haystack_state.py"
    integration = "haystack"
    requires = ("haystack", "openai")
    environ: ClassVar = {"HAYSTACK_TELEMETRY_ENABLED": "False"}

    def answer(self, request: Request) -> Any:
        asked: dict[str, Any] = {
            "ask_expert": {"messages": [{"role": "user", "content": [{"text": "Remember it"}]}]},
            "remember": {"fact": "Rome is old"},
        }
        calls = [(name, given) for name, given in asked.items() if name in request.tools]
        return Reply(tool_calls=calls) if calls and not request.tool_results else super().answer(request)

    def test_its_log(self, recorded: Recorded) -> None:
        """A tool's input is what the model gave; an agent's answer is what it said; parts of a pipeline are in it."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent agent: run",
                "  agent agent: run",
                "    llm agent 54+16",
                "    llm agent 74+3",
                '    tool agent: remember{"fact": "Rome is old"} (id) = "kept Rome is old"',
                "  llm agent None+None",
                "  llm agent None+None",
                '  tool agent: ask_expert{"messages": [{"content": [{"text": "Remember it"}], "role": "user"}]} (id) = "After 1: 16"',
                "agent agent: run",
                "  llm agent 54+16",
                "  llm agent 74+3",
                '  tool agent: remember{"fact": "Rome is old"} (id) = "kept Rome is old"',
                "chain pipeline: run",
                "  node keeper: Agent",
                "    agent keeper: run",
                "      llm keeper 54+16",
                "      llm keeper 74+3",
                '      tool keeper: remember{"fact": "Rome is old"} (id) = "kept Rome is old"',
            ]
        )


class TestAgno(Light):
    program = PROGRAMS / "agno_agents.py"
    integration = "agno"
    requires = ("agno", "openai")

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool; the tokens of each call are the wire's."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent Answering: run",
                "  llm Answering 51+29",
                "  llm Answering 87+3",
                '  tool Answering: weather{"city": "Atlantis"} (id) = ValueError',
                '  tool Answering: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "agent Answering: run",
                "  llm Answering 54+29",
                "  llm Answering 90+3",
                '  tool Answering: weather{"city": "Atlantis"} (id) = ValueError',
                '  tool Answering: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "agent Crew: team",
                "  llm Crew 526+3",
                "agent Left: run",
                "  llm Left 55+14",
                "  llm Left 71+3",
                '  tool Left: distance{"city": "Oslo"} (id) = "400 km"',
                "agent Piecemeal: run",
                "  llm Piecemeal 58+14",
                "  llm Piecemeal 74+3",
                '  tool Piecemeal: distance{"city": "Oslo"} (id) = "400 km"',
                "agent Right: run",
                "  llm Right 55+14",
                "  llm Right 71+3",
                '  tool Right: distance{"city": "Oslo"} (id) = "400 km"',
                "agent Scout: run",
                "  llm Scout 102+43",
                "  llm Scout 146+3",
                '  tool Scout: distance{"city": "Oslo"} (id) = "400 km"',
                '  tool Scout: weather{"city": "Atlantis"} (id) = ValueError',
                '  tool Scout: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "agent Scout: run",
                "  llm Scout 55+29",
                "  llm Scout 87+3",
                '  tool Scout: weather{"city": "Atlantis"} (id) = ValueError',
                '  tool Scout: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "agent Scout: run",
                "  llm Scout 58+29",
                "  llm Scout 90+3",
                '  tool Scout: weather{"city": "Atlantis"} (id) = ValueError',
                '  tool Scout: weather{"city": "Rome"} (id) = "sunny in Rome"',
            ]
        )


class TestAgnoFlows(Light):
    program = PROGRAMS / "agno_flows.py"
    integration = "agno"
    requires = ("agno", "openai")

    def answer(self, request: Request) -> Any:
        asked = {
            "delegate_task_to_member": {"member_id": "scout", "task": "Weather?"},
            "launch": {"rocket": "Ariane"},
            "search": {"question": "moose"},
        }
        calls = [(name, given) for name, given in asked.items() if name in request.tools]
        if "Overload" in request.last_text:
            return Fault(400)
        return Reply(tool_calls=calls) if calls and not request.tool_results else super().answer(request)

    def test_its_log(self, recorded: Recorded) -> None:
        """Workflows hold their steps, a member's work is in its leader's run, a run that waits has paused."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent Crew: team",
                "  agent Scout: run",
                "    llm Scout 55+29",
                "    llm Scout 89+3",
                '    tool Scout: weather{"city": "Atlantis"} (id) = "sunny in Atlantis"',
                '    tool Scout: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "  llm Crew 524+24",
                "  llm Crew 551+3",
                '  tool Crew: delegate_task_to_member{"member_id": "scout", "task": "Weather?"} (id) = "After 2: 30"',
                "agent Crew: team",
                "  agent Scout: run",
                "    llm Scout 55+29",
                "    llm Scout 89+3",
                '    tool Scout: weather{"city": "Atlantis"} (id) = "sunny in Atlantis"',
                '    tool Scout: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "  llm Crew 524+24",
                "  llm Crew 551+3",
                '  tool Crew: delegate_task_to_member{"member_id": "scout", "task": "Weather?"} (id) = "After 2: 30"',
                "agent Pilot: continue",
                "  llm Pilot 100+3",
                '  tool Pilot: launch{"rocket": "Ariane"} (id) (from messages) = "Function call was rejected by the user"',
                "agent Pilot: continue",
                "  llm Pilot 94+3",
                '  tool Pilot: launch{"rocket": "Ariane"} (id) = "Ariane launched"',
                "agent Pilot: run [paused]",
                "  llm Pilot 75+15",
                "agent Pilot: run [paused]",
                "  llm Pilot 75+15",
                "agent Seeker: run",
                "  llm Seeker 59+15",
                "  llm Seeker 78+3",
                '  tool Seeker: search{"question": "moose"} (id) = ["looked for ", "moose"]',
                "agent Seeker: run",
                "  llm Seeker 59+15",
                "  llm Seeker 78+3",
                '  tool Seeker: search{"question": "moose"} (id) = ["looked for ", "moose"]',
                "agent Unlucky: run [error]",
                "  llm Unlucky None+None [error]",
                "    error Unlucky: invalid_format: The request was not valid.",
                "chain Flow: Workflow",
                "  node again: Loop",
                "    node polish: Step",
                "      agent Polisher: run",
                "        llm Polisher 20+3",
                "    node polish: Step",
                "      agent Polisher: run",
                "        llm Polisher 20+3",
                "  node both: Parallel",
                "    node left: Step",
                "      agent Left: run",
                "        llm Left 10+3",
                "    node right: Step",
                "      agent Right: run",
                "        llm Right 10+3",
                "  node look: Step",
                "    agent Looker: run",
                "      llm Looker 55+29",
                "      llm Looker 89+3",
                '      tool Looker: weather{"city": "Atlantis"} (id) = "sunny in Atlantis"',
                '      tool Looker: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "  node shortened: Step",
                "chain Flow: Workflow",
                "  node again: Loop",
                "    node polish: Step",
                "      agent Polisher: run",
                "        llm Polisher 20+3",
                "    node polish: Step",
                "      agent Polisher: run",
                "        llm Polisher 20+3",
                "  node both: Parallel",
                "    node left: Step",
                "      agent Left: run",
                "        llm Left 10+3",
                "    node right: Step",
                "      agent Right: run",
                "        llm Right 10+3",
                "  node look: Step",
                "    agent Looker: run",
                "      llm Looker 55+29",
                "      llm Looker 89+3",
                '      tool Looker: weather{"city": "Atlantis"} (id) = "sunny in Atlantis"',
                '      tool Looker: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "  node shortened: Step",
                "chain Flow: Workflow",
                "  node again: Loop",
                "    node polish: Step",
                "      agent Polisher: run",
                "        llm Polisher 20+3",
                "    node polish: Step",
                "      agent Polisher: run",
                "        llm Polisher 20+3",
                "  node both: Parallel",
                "    node left: Step",
                "      agent Left: run",
                "        llm Left 10+3",
                "    node right: Step",
                "      agent Right: run",
                "        llm Right 10+3",
                "  node look: Step",
                "    agent Looker: run",
                "      llm Looker 55+29",
                "      llm Looker 89+3",
                '      tool Looker: weather{"city": "Atlantis"} (id) = "sunny in Atlantis"',
                '      tool Looker: weather{"city": "Rome"} (id) = "sunny in Rome"',
                "  node shortened: Step",
            ]
        )

    def test_what_a_run_waits_for(self, recorded: Recorded) -> None:
        ends = [event["data"] for event in recorded.events if event["type"] == "step_end"]
        waits = [one for end in ends for one in end.get("interrupts") or ()]
        assert [(one["tool"], one["input"], one["waits_for"]) for one in waits] == [
            ("launch", {"rocket": "Ariane"}, "confirmation")
        ] * 2
