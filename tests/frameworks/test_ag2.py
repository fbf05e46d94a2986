"""ag2: agents, tools, agents as tools, sub-tasks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import Reply, Request
from lctl.testing.integration_suite import Recorded
from tests.frameworks import outlines
from tests.frameworks.homes import Threaded

pytestmark = pytest.mark.frameworks


class TestAG2(Threaded):
    program = Path(__file__).parent / "programs" / "ag2_agents.py"
    integration = "ag2"
    requires = ("ag2",)

    def answer(self, request: Request) -> Any:
        said, done = " ".join(turn.text for turn in request.turns), request.tool_results
        if "You are Solo" in said and not done:
            city = "Rome" if "Rome" in said else "Atlantis"
            return Reply(tool_calls=[("weather", {"city": city}), ("distance", {"city": city})])
        if "You are Boss" in said and not done:
            return Reply(tool_calls=[("helper", {"objective": "Help."})])
        if "You are Helper" in said and not done:
            return Reply(tool_calls=[("weather", {"city": "Rome"})])
        if "You are Chief" in said and not done and "Part one" not in said:
            return Reply(tool_calls=[("run_subtask", {"task": "Part one."})])
        return "All is well."

    @staticmethod
    def outline(events: list[dict[str, Any]]) -> list[str]:
        return outlines.outline(events, tokens=False)

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent Boss: turn",
                "  agent Helper: turn",
                "    llm Helper",
                "    llm Helper",
                '    tool Helper: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  llm Boss",
                "  llm Boss",
                '  tool Boss: helper{"objective": "Help."} (id) = "All is well."',
                "agent Chief: turn",
                "  agent subtask: turn",
                "    llm subtask",
                "  llm Chief",
                "  llm Chief",
                '  tool Chief: run_subtask{"task": "Part one."} (id) = "All is well."',
                "agent Solo: turn",
                "  llm Solo",
                "  llm Solo",
                '  tool Solo: distance{"city": "Atlantis"} (id) = {"city": "Atlantis", "km": 800}',
                '  tool Solo: weather{"city": "Atlantis"} (id) = LookupError',
                "agent Solo: turn",
                "  llm Solo",
                "  llm Solo",
                '  tool Solo: distance{"city": "Rome"} (id) = {"city": "Rome", "km": 400}',
                '  tool Solo: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent Solo: turn",
                "  llm Solo",
                "  llm Solo",
                '  tool Solo: distance{"city": "Rome"} (id) = {"city": "Rome", "km": 400}',
                '  tool Solo: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent Solo: turn",
                "  llm Solo",
                "  llm Solo",
                '  tool Solo: distance{"city": "Rome"} (id) = {"city": "Rome", "km": 400}',
                '  tool Solo: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent Streamer: turn",
                "  llm Streamer",
            ]
        )


class TestNetwork(Threaded):
    """Tools that let others hear of something run in a rerun: what comes of it is recorded beside them. The ids
    that they show a model, and by which it asks, are the recorded ones. One at a time: which of two that work at once
    ends first in the log is not surely the same in a rerun."""

    program = Path(__file__).parent / "programs" / "ag2_network.py"
    integration = "ag2"
    requires = ("ag2",)

    def answer(self, request: Request) -> Any:
        if "You are Chief" not in request.system:
            return "Well enough."
        channel = re.search(r'"channel_id": ?"(\w+)"', " ".join(request.tool_results))
        steps: list[list[tuple[str, dict[str, Any]]]] = [
            [("peers", {"action": "find"})],
            [("channels", {"action": "open", "type": "consulting", "target": "Ann", "message": "Well?"})],
            [("channels", {"action": "info", "channel_id": channel[1] if channel else ""})],
            [("delegate", {"target": "Ann", "prompt": "Work, Ann."})],
            [("delegate", {"target": "Bob", "prompt": "Work, Bob."})],
        ]
        done = len(request.tool_results)
        return (
            Reply(tool_calls=steps[done]) if done < len(steps) else f"All of {channel and channel[1]} work."
        )

    @staticmethod
    def outline(events: list[dict[str, Any]]) -> list[str]:
        """But ids, and what a channel says of itself: it may have ended by then, and has times."""
        hidden = [json.loads(re.sub("[0-9a-f]{32}", "(id)", json.dumps(event))) for event in events]
        for event in hidden:
            if event["type"] == "tool_call" and event["data"]["input"].get("action") == "info":
                event["data"]["output"] = event["data"]["output"]["type"]
        return outlines.outline(hidden, tokens=False)

    def test_its_log(self, recorded: Recorded) -> None:
        assert self.outline(recorded.events) == snapshot(
            [
                "agent Ann: turn",
                "  llm Ann",
                "agent Ann: turn",
                "  llm Ann",
                "agent Bob: turn",
                "  llm Bob",
                "agent Chief: turn",
                "  llm Chief",
                "  llm Chief",
                "  llm Chief",
                "  llm Chief",
                "  llm Chief",
                "  llm Chief",
                '  tool Chief: channels{"action": "info", "channel_id": "(id)"} (id) = "consulting"',
                '  tool Chief: channels{"action": "open", "message": "Well?", "target": "Ann", "type": "consulting"} (id) = {"channel_id": "(id)", "type": "consulting", "participants": ["(id)", "(id)"], "seed_envelope_id": "(id)"}',
                '  tool Chief: delegate{"prompt": "Work, Ann.", "target": "Ann"} (id) = "Well enough."',
                '  tool Chief: delegate{"prompt": "Work, Bob.", "target": "Bob"} (id) = "Well enough."',
                '  tool Chief: peers{"action": "find"} (id) = [{"name": "Ann", "agent_id": "(id)", "summary": "", "capabilities": [], "observed_success_rate": null, "cost": null}, {"name": "Bob", "agent_id": "(id)", "summary": "", "capabilities": [], "observed_success_rate": null, "cost": null}]',
            ]
        )


class TestDoings(Threaded):
    """What tools do beside their results: a rerun, which does not run them and asks no human, does it again."""

    program = Path(__file__).parent / "programs" / "ag2_doings.py"
    integration = "ag2"
    requires = ("ag2",)

    def answer(self, request: Request) -> Any:
        """One call after another; then what is left of the history."""
        done = len(request.tool_results)
        asked = " ".join(turn.text for turn in request.turns)
        if "Photograph" in asked or "Garble" in asked:
            garbled = ("weather", "no JSON")
            return Reply(tool_calls=[garbled if "Garble" in asked else ("photograph", {"city": "Rome"})])
        if "And now?" in asked or "no Atlantis" in asked or done >= len(_CITIES):
            return f"{done} {asked}"
        return Reply(tool_calls=[("weather", {"city": _CITIES[done]})])

    @staticmethod
    def outline(events: list[dict[str, Any]]) -> list[str]:
        return outlines.outline(events, tokens=False)

    def test_the_program_sees_it(self, recorded: Recorded) -> None:
        body, rows, looked, variables, heard, _, kinds, _, _ = json.loads(recorded.out.splitlines()[-1])
        assert "There is no Atlantis." in body
        assert rows == looked == list(_CITIES)
        assert variables["counts"] == {"Rome": 1, "Atlantis": 1}
        assert heard == ["Rome", "Rome", "sunny", "Atlantis", "Atlantis"]
        assert "HumanMessage" in kinds

    def test_a_call_that_is_left_to_the_client_is_paused(self, recorded: Recorded) -> None:
        """And so is its turn: nothing failed."""
        (call,) = (e["data"] for e in recorded.events if e["data"].get("tool") == "photograph")
        assert call["paused"] == {"for": "a result from outside"}
        assert "error" not in call
        (turn,) = (e["data"] for e in recorded.events if "interrupts" in e["data"])
        wait = {"tool": "photograph", "input": {"city": "Rome"}, "call_id": call["call_id"]}
        assert (turn["outcome"], turn["interrupts"]) == ("paused", [{**call["paused"], **wait}])

    def test_a_call_that_is_no_json_is_a_failed_call(self, recorded: Recorded) -> None:
        calls = [e["data"] for e in recorded.events if e["type"] == "tool_call"]
        (call,) = (data for data in calls if data["input"] == {"arguments": "no JSON"})
        assert call["error"]["type"] == "json.decoder.JSONDecodeError"


_CITIES = ("Rome", "Atlantis")


class TestWorkflow(Threaded):
    program = Path(__file__).parent / "programs" / "ag2_workflow.py"
    integration = "ag2"
    requires = ("ag2",)

    def answer(self, request: Request) -> Any:
        calls = {
            "route": {"query": "a bill"},
            "escalate": {"reason": "too much"},
            "finish": {"summary": "Paid."},
        }
        for name, input in calls.items():
            if name in request.tools and not request.tool_results:
                return Reply(tool_calls=[(name, input)])
        return "Done."

    @staticmethod
    def outline(events: list[dict[str, Any]]) -> list[str]:
        return outlines.outline(events, tokens=False)

    def test_its_log(self, recorded: Recorded) -> None:
        """To whom a turn hands over, the tool says or the graph."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent Chief: turn",
                "  llm Chief",
                "  llm Chief",
                '  tool Chief: finish{"summary": "Paid."} (id) = {"summary": "Paid.", "reason": "finished"}',
                "agent Clerk: turn",
                "  llm Clerk",
                "  llm Clerk",
                '  tool Clerk: escalate{"reason": "too much"} (id) = "escalated"',
                "agent Triage: turn",
                "  llm Triage",
                "  llm Triage",
                '  tool Triage: route{"query": "a bill"} (id) = {"target": "Clerk", "reason": "by load"}',
                "handoff Clerk -> Chief: too much",
                "handoff Triage -> Clerk: by load",
            ]
        )
