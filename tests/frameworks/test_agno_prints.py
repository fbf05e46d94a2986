"""Agno: printed answers (a rerun prints them again, how long they took, too), memories, workflows event by event."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import Reply, Request
from lctl.testing.integration_suite import IntegrationSuite, Recorded
from lctl.testing.server import ModelServer
from tests.frameworks.homes import Threaded

pytestmark = pytest.mark.frameworks


class TestAgnoPrints(IntegrationSuite):
    program = Path(__file__).parent / "programs" / "agno_prints.py"
    integration = "agno"
    requires = ("agno", "openai")

    def answer(self, request: Request) -> Any:
        if request.tool_results:
            return f"It is {request.tool_results[-1]}."
        return Reply(tool_calls=[("add", {"amount": 3})])

    def test_what_the_toolkit_counts(self, recorded: Recorded) -> None:
        assert json.loads(recorded.out.splitlines()[-1]) == [3, 6, "It is 9 now.", 9]

    def test_times_are_printed_again(self, server: ModelServer, tmp_path: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
        environ = {**kept, **server.environ, "LCTL_DIR": str(tmp_path)}
        ran = []
        for words in (
            ["run", "-o", "run.lctl.json", str(self.program), "--timed"],
            ["rerun", "run.lctl.json"],
        ):
            command = [sys.executable, "-m", "lctl", *words]
            done = subprocess.run(
                command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=self.timeout
            )
            assert done.returncode == 0, done.stderr
            ran.append(done)
        assert ran[0].stdout.count("Response (") == 2
        assert ran[1].stdout == ran[0].stdout
        assert "output equal" in ran[1].stderr


class TestAgnoRemembers(Threaded):
    program = Path(__file__).parent / "programs" / "agno_remembers.py"
    integration = "agno"
    requires = ("agno", "openai")

    def answer(self, request: Request) -> Any:
        if request.tool_results or not request.tools:
            return "You like tea." if "likes tea" in request.system else "Done."
        memory = {"memory": "likes tea", "topics": ["tea"]}
        known: dict[str, Any] = {"launch": {"rocket": "Ariane"}, "add_memory": memory}
        return Reply(tool_calls=[(name, known[name]) for name in request.tools if name in known])

    def test_what_is_remembered_is_in_the_next_prompt(self, recorded: Recorded) -> None:
        """And so a rerun has to remember it, too."""
        assert json.loads(recorded.out.splitlines()[-1])[0][:2] == ["Done.", "You like tea."]

    def test_its_log(self, recorded: Recorded) -> None:
        """A workflow holds all its steps also where its agents' events are in its stream."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent Keeper: run",
                "  llm Keeper 112+4",
                "  llm Keeper 1219+21",
                "  llm Keeper 1247+4",
                '  tool Keeper: add_memory{"memory": "likes tea", "topics": ["tea"]} (id) = "Memory added successfully"',
                "agent Keeper: run",
                "  llm Keeper 1193+21",
                "  llm Keeper 1221+2",
                "  llm Keeper 49+2",
                '  tool Keeper: add_memory{"memory": "likes tea", "topics": ["tea"]} (id) = "Memory added successfully"',
                "chain Launches: Workflow [paused]",
                "  node launch: Step [paused]",
                "    agent Pilot: run [paused]",
                "      llm Pilot 73+15",
                "chain Outer: Workflow",
                "  node failing: Step [error]",
                "  node first: Step",
                "    agent First: run",
                "      llm First 8+2",
                "  node in: Step",
                "    chain Inner: Workflow",
                "      node look: Step",
                "        agent Looker: run",
                "          llm Looker 9+2",
                "  node last: Step",
                "    agent Last: run",
                "      llm Last 15+2",
                "chain Sends: Workflow [paused]",
            ]
        )
