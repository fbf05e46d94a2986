"""ag2: agents, tools, agents as tools, sub-tasks."""

from __future__ import annotations

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
