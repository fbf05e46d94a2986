"""ADK: agents, agents as tools, transfers, workflows, calls that wait for the user."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import Reply, Request
from lctl.testing.integration_suite import Recorded
from tests.frameworks.homes import Threaded

pytestmark = pytest.mark.frameworks

#: What the model of an agent calls.
_CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "boss": [("expert", {"request": "Where is it sunny?"}), ("weather", {"city": "Paris"})],
    "expert": [("weather", {"city": "Rome"}), ("visit", {"city": "Rome"})],
    "lead": [("transfer_to_agent", {"agent_name": "helper"})],
    "helper": [("weather", {"city": "Oslo"})],
    "left": [("visit", {"city": "Lima"})],
    "right": [("visit", {"city": "Bonn"})],
    "ender": [("enough", {})],
    "teller": [("weather", {"city": "Oslo"})],
    "pool": [("weather", {"city": "Oslo"}), ("weather", {"city": "Bern"})],
    "payer": [("pay", {"amount": 3}), ("weather", {"city": "Oslo"})],
    "sailor": [("weather", {"city": "Atlantis"})],
    "waiter": [("wait", {"reason": "for nothing"})],
}


class TestGoogleADK(Threaded):
    program = Path(__file__).parent / "programs" / "adk_agents.py"
    integration = "google.adk"
    requires = ("google.adk",)

    def answer(self, request: Request) -> Any:
        name = request.system.partition("You are ")[2].partition(".")[0]
        calls = [] if request.tool_results else _CALLS.get(name, [])
        return Reply(tool_calls=calls) if calls else f"{name} is done."

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool; what waited, failed and was cut off."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent boss: run",
                "  agent expert: run",
                "    llm expert 147+28",
                "    llm expert 179+4",
                '    tool expert: visit{"city": "Rome"} = {"visited": "Rome"}',
                '    tool expert: weather{"city": "Rome"} = "sunny in Rome"',
                "  llm boss 132+32",
                "  llm boss 170+4",
                '  tool boss: expert{"request": "Where is it sunny?"} = "expert is done."',
                '  tool boss: weather{"city": "Paris"} = "sunny in Paris"',
                "agent helper: run",
                "  llm helper 646+14",
                "  llm helper 667+4",
                '  tool helper: weather{"city": "Oslo"} = "sunny in Oslo"',
                "agent lead: run",
                "  handoff lead -> helper: None",
                "  llm lead 289+19",
                '  tool lead: transfer_to_agent{"agent_name": "helper"} = null',
                "agent payer: run",
                "  llm payer 169+4",
                '  tool payer: pay{"amount": 3} = {"paid": 3}',
                "agent payer: run [paused]",
                "  llm payer 141+26",
                '  tool payer: weather{"city": "Oslo"} = "sunny in Oslo"',
                "agent pool: run",
                "  llm pool 128+4",
                "  llm pool 94+28",
                '  tool pool: weather{"city": "Bern"} = "sunny in Bern"',
                '  tool pool: weather{"city": "Oslo"} = "sunny in Oslo"',
                "agent sailor: run [error]",
                "  error sailor: LookupError: no such city",
                "  llm sailor 96+15",
                '  tool sailor: weather{"city": "Atlantis"} = LookupError',
                "agent teller: run",
                "  llm teller 117+4",
                "  llm teller 96+14",
                '  tool teller: weather{"city": "Oslo"} = "sunny in Oslo"',
                "agent waiter: run [cancelled]",
                "  llm waiter 92+15",
                '  tool waiter: wait{"reason": "for nothing"} = asyncio.exceptions.CancelledError',
                "chain flow: SequentialAgent",
                "  agent first: run",
                "    llm first 38+4",
                "  chain again: LoopAgent",
                "    agent ender: run",
                "      llm ender 1011+4",
                "      llm ender 996+11",
                '      tool ender: enough{} = {"enough": true}',
                "  chain beside: ParallelAgent",
                "    agent left: run",
                "      llm left 221+14",
                "      llm left 240+4",
                '      tool left: visit{"city": "Lima"} = {"visited": "Lima"}',
                "    agent right: run",
                "      llm right 222+14",
                "      llm right 241+4",
                '      tool right: visit{"city": "Bonn"} = {"visited": "Bonn"}',
                "chain work: Workflow",
                "  node letters: FunctionNode",
                "  node upper: FunctionNode",
            ]
        )

    def test_what_waits(self, recorded: Recorded) -> None:
        """The call that the user has to agree to, and for what it waits."""
        ends = [event["data"] for event in recorded.events if event["data"].get("outcome") == "paused"]
        assert [end["interrupts"] for end in ends] == snapshot(
            [[{"tool": "pay", "input": {"amount": 3}, "waits_for": "confirmation"}]]
        )


class TestArtifacts(Threaded):
    """What tools save is there in a rerun, too, which does not run them."""

    program = Path(__file__).parent / "programs" / "adk_artifacts.py"
    integration = "google.adk"
    requires = ("google.adk",)

    def answer(self, request: Request) -> Any:
        """Each tool once, one after another."""
        done, tools = len(request.tool_results), request.tools
        if done == len(tools):
            return "Done."
        given = {"request": "Write."} if tools[done] == "author" else {"name": "page"}
        return Reply(tool_calls=[(tools[done], given)])

    def test_who_looks_later_finds_it(self, recorded: Recorded) -> None:
        """Each version, also of an agent that is a tool, and of a tool that failed."""
        picture = ["page", 2, "89504e4700"]
        assert json.loads(recorded.out) == [
            ["Done.", picture],
            ["Done.", picture],
            ["no paper", ["page", 1, "Lost?"]],
        ]
