"""Agno's printed answers: a rerun prints them again, how long they took, too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.testing import Reply, Request
from lctl.testing.integration_suite import IntegrationSuite, Recorded
from lctl.testing.server import ModelServer

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
