"""Semantic Kernel: agents, kernel functions, filters, orchestrations."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.codec import open_log
from lctl.testing import ModelServer, Reply, Request, ToolCall
from lctl.testing.integration_suite import Recorded
from tests.frameworks.homes import Threaded

pytestmark = pytest.mark.frameworks


class TestSemanticKernel(Threaded):
    program = Path(__file__).parent / "programs" / "semantic_kernel_agents.py"
    integration = "semantic_kernel"
    requires = ("semantic_kernel", "openai")

    def answer(self, request: Request) -> Any:
        tools, done = request.tools, request.tool_results
        system = request.system
        if "namer" in system:
            return Reply(json={"name": "Rome", "people": 2800000})
        if "pilot" in system and not done:
            return Reply(tool_calls=[("Weather-launch", {"rocket": "Ariane"})])
        if "triage" in system and not done:
            return Reply(tool_calls=[("Handoff-transfer_to_refunds", {})])
        if "refunds" in system and done:
            return Reply(tool_calls=[("Handoff-complete_task", {"task_summary": "Refunded."})])
        if "boss" in system and not done:
            return Reply(tool_calls=[("expert-expert", {"messages": "Where is it sunny?"})])
        if "Maps-height" in tools and not done:
            places = ["Rome", "Atlantis"]
            return Reply(tool_calls=[("Maps-height", {"place": place}) for place in places])
        if "Weather-weather" not in tools or done:
            return f"After {len(done)} results: {sum(map(len, done))}"
        cities = [("Weather-weather", {"city": "Rome"}), ("Weather-weather", {"city": "Atlantis"})]
        return Reply(tool_calls=[*cities, ("Weather-distance", {"city": "Oslo"})])

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool; the tokens of each call are the wire's."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent boss: run",
                "  agent expert: run",
                "    llm expert 165+49",
                "    llm expert 232+5",
                '    tool expert: Weather-distance{"city": "Oslo"} (id) = {"km": 400}',
                '    tool expert: Weather-weather{"city": "Atlantis"} (id) = LookupError',
                '    tool expert: Weather-weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  llm boss 119+21",
                "  llm boss 145+5",
                '  tool boss: expert-expert{"messages": "Where is it sunny?"} (id) = "After 3 results: 100"',
                "agent left: run",
                "  llm left 65+31",
                "  llm left 94+5",
                '  tool left: Maps-height{"place": "Atlantis"} (id) = 80',
                '  tool left: Maps-height{"place": "Rome"} (id) = 40',
                "agent namer: run",
                "  llm namer 18+8",
                "agent parrot: run",
                "  llm parrot None+None",
                "agent pilot: run",
                "  llm pilot 163+17",
                "  llm pilot 184+5",
                '  tool pilot: Weather-launch{"rocket": "Ariane"} (id) (from messages) = "Nobody agreed."',
                "agent right: run",
                "  llm right 65+31",
                "  llm right 94+5",
                '  tool right: Maps-height{"place": "Atlantis"} (id) = 80',
                '  tool right: Maps-height{"place": "Rome"} (id) = 40',
                "agent scout: run",
                "  llm scout 163+49",
                "  llm scout 230+5",
                '  tool scout: Weather-distance{"city": "Oslo"} (id) = {"km": 400}',
                '  tool scout: Weather-weather{"city": "Atlantis"} (id) = LookupError',
                '  tool scout: Weather-weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent scout: run",
                "  llm scout 163+49",
                "  llm scout 230+5",
                '  tool scout: Weather-distance{"city": "Oslo"} (id) = {"km": 400}',
                '  tool scout: Weather-weather{"city": "Atlantis"} (id) = LookupError',
                '  tool scout: Weather-weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent scout: run",
                "  llm scout 245+49",
                "  llm scout 312+5",
                '  tool scout: Weather-distance{"city": "Oslo"} (id) = {"km": 400}',
                '  tool scout: Weather-weather{"city": "Atlantis"} (id) = LookupError',
                '  tool scout: Weather-weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "chain ConcurrentOrchestration: orchestration",
                "  agent one: run",
                "    llm one 64+31",
                "    llm one 93+5",
                '    tool one: Maps-height{"place": "Atlantis"} (id) = 80',
                '    tool one: Maps-height{"place": "Rome"} (id) = 40',
                "  agent two: run",
                "    llm two 64+31",
                "    llm two 93+5",
                '    tool two: Maps-height{"place": "Atlantis"} (id) = 80',
                '    tool two: Maps-height{"place": "Rome"} (id) = 40',
                "chain HandoffOrchestration: orchestration",
                "  agent refunds: run",
                "    llm refunds 265+49",
                "    llm refunds 332+21",
                '    tool refunds: Handoff-complete_task{"task_summary": "Refunded."} (id) = null',
                '    tool refunds: Weather-distance{"city": "Oslo"} (id) = {"km": 400}',
                '    tool refunds: Weather-weather{"city": "Atlantis"} (id) = LookupError',
                '    tool refunds: Weather-weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  agent triage: run",
                "    handoff triage -> refunds: None",
                "    llm triage 125+16",
                "    tool triage: Handoff-transfer_to_refunds{} (id) = null",
                "chain SequentialOrchestration: orchestration",
                "  agent first: run",
                "    llm first 163+49",
                "    llm first 230+5",
                '    tool first: Weather-distance{"city": "Oslo"} (id) = {"km": 400}',
                '    tool first: Weather-weather{"city": "Atlantis"} (id) = LookupError',
                '    tool first: Weather-weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  agent second: run",
                "    llm second 20+5",
                "chain main: ask",
                "  llm main 10+5",
                '  tool main: math-Add{"amount": "3", "input": "2"} = 5.0',
                "chain main: greeting",
                "  llm main 10+5",
                "chain main: prompt",
                "  llm main 10+5",
                "chain main: prompt",
                "  llm main 10+5",
                'tool main: math-Add{"amount": 22, "input": 20} = 42.0',
            ]
        )


class TestServices(Threaded):
    """Each model call once, though Bedrock's is made in a thread that knows nothing of the request."""

    program = Path(__file__).parent / "programs" / "semantic_kernel_services.py"
    integration = "semantic_kernel"
    requires = ("semantic_kernel", "boto3", "google.genai", "ollama")

    def answer(self, request: Request) -> Any:
        done = request.tool_results
        if done:
            return f"After {len(done)} results."
        count, order = request.tools  # each service writes their names in its own way
        return Reply(tool_calls=[(count, {"item": "pears"}), (order, {"item": "figs", "number": 2})])

    def test_its_calls(self, recorded: Recorded) -> None:
        """No model call but those of the wire; a call's id is the model's, and Google and Ollama give none."""
        starts = [e["data"] for e in recorded.events if e["type"] == "step_start"]
        models = [data.get("operation") for data in starts if data["kind"] == "llm"]
        assert models == ["converse"] * 4 + ["generate_content"] * 4 + ["ollama.chat"] * 4
        calls = [e["data"] for e in recorded.events if e["type"] == "tool_call"]
        assert ["call_id" in data for data in calls] == [True] * 4 + [False] * 8


def test_a_function_that_a_filter_calls_again_is_called_for_the_same_call(tmp_path: Path) -> None:
    """Each try has the id of the model's call; what else the filter calls has none."""
    pytest.importorskip("semantic_kernel", reason="semantic-kernel is not installed")
    program = Path(__file__).parent / "programs" / "semantic_kernel_retries.py"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
    with ModelServer(seed=1) as server:
        server.reply(Reply(tool_calls=[ToolCall("Shop-price", {"item": "pear"}, "call_1")]))
        server.reply("Cheap.", times=None)
        command = [sys.executable, "-m", "lctl", "run", "-o", "run.lctl.json", str(program)]
        done = subprocess.run(
            command, cwd=tmp_path, env={**kept, **server.environ}, capture_output=True, text=True, timeout=300
        )
    assert done.stdout == "Cheap.\n", done.stderr
    calls = [
        event.data for event in open_log(tmp_path / "run.lctl.json").events() if event.type == "tool_call"
    ]
    told = [(call["tool"], call.get("call_id"), call.get("output")) for call in calls]
    assert told == [
        ("Shop-price", "call_1", None),
        ("Shop-price", "call_1", 2.5),
        ("Shop-note", None, "noted"),
    ]
