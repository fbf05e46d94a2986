"""Strands: agents, tools, a human asked, graphs and swarms."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import Reply, Request
from lctl.testing.integration_suite import Recorded
from lctl.testing.server import ModelServer
from tests.frameworks.homes import Threaded

pytestmark = pytest.mark.frameworks


class TestStrands(Threaded):
    program = Path(__file__).parent / "programs" / "strands_agents.py"
    integration = "strands"
    requires = ("strands", "openai")

    def answer(self, request: Request) -> Any:
        tools, done = request.tools, request.tool_results
        if "City" in tools:
            return Reply(tool_calls=[("City", {"name": "Rome", "people": 2800000})])
        if done or not tools:
            return f"After {len(done)} results: {sum(map(len, done))}"
        if "handoff_to_agent" in tools:
            if "planner" not in request.system:
                return "Built."
            return Reply(tool_calls=[("handoff_to_agent", {"agent_name": "builder", "message": "Go on."})])
        asked = {
            "ask_expert": [("ask_expert", {"input": "Where is it sunny?"})],
            "remember": [("remember", {"fact": "Rome is old"}), ("remember", {"fact": "So is Athens"})],
            "launch": [("launch", {"rocket": "Ariane"})],
            "weather": [("weather", {"city": "Rome"}), ("weather", {"city": "Atlantis"})],
        }
        calls = next(calls for name, calls in asked.items() if name in tools)
        if "distance" in tools:
            calls = [*calls, ("distance", {"city": "Oslo"}), ("search", {"question": "moose"})]
        return Reply(tool_calls=calls)

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool; the tokens of each call are the wire's."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent boss: run",
                "  agent expert: run",
                "    llm expert 111+5",
                "    llm expert 73+29",
                '    tool expert: weather{"city": "Atlantis"} (id) = LookupError',
                '    tool expert: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  llm boss 175+19",
                "  llm boss 199+5",
                '  tool boss: ask_expert{"input": "Where is it sunny?"} (id) = "After 2 results: 47\\n"',
                "agent boss: run",
                "  agent expert: run",
                "    llm expert 111+5",
                "    llm expert 73+29",
                '    tool expert: weather{"city": "Atlantis"} (id) = LookupError',
                '    tool expert: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  llm boss 75+19",
                "  llm boss 99+5",
                '  tool boss: ask_expert{"input": "Where is it sunny?"} (id) = "After 2 results: 47\\n"',
                "agent expert: run",
                "  llm expert 109+5",
                "  llm expert 71+29",
                '  tool expert: weather{"city": "Atlantis"} (id) = LookupError',
                '  tool expert: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent keeper: run",
                "  llm keeper 101+5",
                "  llm keeper 69+32",
                '  tool keeper: remember{"fact": "Rome is old"} (id) = "1 facts"',
                '  tool keeper: remember{"fact": "So is Athens"} (id) = "2 facts"',
                "agent left: run",
                "  llm left 109+5",
                "  llm left 71+29",
                '  tool left: weather{"city": "Atlantis"} (id) = LookupError',
                '  tool left: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent namer: run",
                "  llm namer 143+17",
                "agent parrot: run",
                "  llm parrot 3+4",
                "agent pilot: run",
                "  llm pilot 97+5",
                '  tool pilot: launch{"rocket": "Ariane"} (id) = "Ariane launched: yes"',
                "agent pilot: run [paused]",
                "  llm pilot 77+15",
                (
                    '  tool pilot: launch{"rocket": "Ariane"} (id) = paused {"name": "launch", '
                    '"reason": {"rocket": "Ariane"}}'
                ),
                "agent right: run",
                "  llm right 109+5",
                "  llm right 71+29",
                '  tool right: weather{"city": "Atlantis"} (id) = LookupError',
                '  tool right: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent scout: run",
                "  llm scout 109+5",
                "  llm scout 71+29",
                '  tool scout: weather{"city": "Atlantis"} (id) = LookupError',
                '  tool scout: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent scout: run",
                "  llm scout 180+58",
                "  llm scout 252+5",
                '  tool scout: distance{"city": "Oslo"} (id) = {"km": 400, "city": "Oslo"}',
                '  tool scout: search{"question": "moose"} (id) = ["searching", "found nothing on moose"]',
                '  tool scout: weather{"city": "Atlantis"} (id) = LookupError',
                '  tool scout: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "chain default_graph: Graph",
                "  node check: node",
                "    agent check: run",
                "      llm check 18+5",
                "  node research: node",
                "    agent research: run",
                "      llm research 110+5",
                "      llm research 72+29",
                '      tool research: weather{"city": "Atlantis"} (id) = LookupError',
                '      tool research: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  node write: node",
                "    agent write: run",
                "      llm write 52+5",
                "chain default_swarm: Swarm",
                "  node builder: node",
                "    agent builder: run",
                "      llm builder 251+2",
                "  node planner: node",
                "    agent planner: run",
                "      handoff planner -> builder: Go on.",
                "      llm planner 233+23",
                "      llm planner 264+5",
                '      tool planner: handoff_to_agent{"agent_name": "builder", "message": "Go on."} (id) = "Handing off to builder: Go on."',
                'tool main: ask_expert{"input": "Directly?"} (id) = "After 2 results: 47\\n"',
            ]
        )


class TestResponses(Threaded):
    """Streams of which Strands takes the last event, and which it does not close."""

    program = Path(__file__).parent / "programs" / "strands_responses.py"
    integration = "strands"
    requires = ("strands", "openai", "google.genai")

    def answer(self, request: Request) -> Any:
        if request.tool_results:
            return f"After {len(request.tool_results)} results."
        return Reply(tool_calls=[("weather", {"city": "Rome"}), ("weather", {"city": "Atlantis"})])

    def test_its_log(self, recorded: Recorded) -> None:
        """Each call is in the step of the agent that asked, and ends in it."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent Google: run",
                "  llm Google 110+4",
                "  llm Google 64+29",
                '  tool Google: weather{"city": "Atlantis"} (id) = LookupError',
                '  tool Google: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent Left: run",
                "  llm Left 101+4",
                "  llm Left 59+29",
                '  tool Left: weather{"city": "Atlantis"} (id) = LookupError',
                '  tool Left: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent Right: run",
                "  llm Right 101+4",
                "  llm Right 59+29",
                '  tool Right: weather{"city": "Atlantis"} (id) = LookupError',
                '  tool Right: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent Solo: run",
                "  llm Solo 101+4",
                "  llm Solo 59+29",
                '  tool Solo: weather{"city": "Atlantis"} (id) = LookupError',
                '  tool Solo: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent Streamer: run",
                "  llm Streamer 101+4",
                "  llm Streamer 59+29",
                '  tool Streamer: weather{"city": "Atlantis"} (id) = LookupError',
                '  tool Streamer: weather{"city": "Rome"} (id) = "Sunny in Rome."',
            ]
        )


def test_ids_of_calls_by_the_program_itself(tmp_path: Path) -> None:
    """Drawn from `random`, which a recording by `auto_instrument()` does not hold; the prompts have them."""
    if importlib.util.find_spec("strands") is None:
        pytest.skip("needs: strands")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
        environ = {**kept, **server.environ, "LCTL_STRICT": "1"}
        command = [sys.executable, *words]
        return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=200)

    with ModelServer(seed=1) as server:
        server.reply("Well.", times=None)
        recorded = run(str(Path(__file__).parent / "programs" / "strands_direct.py"))
    assert recorded.returncode == 0, recorded.stderr
    again = run("-m", "lctl", "rerun", "last")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "log equal" in again.stderr, again.stderr


def test_a_tool_of_an_mcp_server_is_served(tmp_path: Path) -> None:
    """Its thread hands the result to the agent's loop; in a rerun nothing is handed, and nothing missing."""
    for name in ("strands", "openai", "mcp.server.fastmcp"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    program = Path(__file__).parent / "programs" / "strands_mcp.py"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}

    def lctl(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "lctl", *words]
        given = {**kept, "LCTL_DIR": str(tmp_path), **environ}
        return subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, timeout=300)

    with ModelServer(seed=1) as server:
        server.reply(Reply(tool_calls=[("echo", {"text": "hi"})]))
        server.reply("It echoes.", times=None)
        done = lctl("run", "-o", "run.lctl.json", str(program), **server.environ)
    assert done.returncode == 0, done.stderr
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, done.stdout), again.stderr
    assert (tmp_path / "asked.txt").read_text() == "hi"
