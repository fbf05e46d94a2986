"""CrewAI: guardrails, of functions and of words; tasks that are told at length."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
from inline_snapshot import snapshot

from lctl.testing import Reply, Request
from lctl.testing.integration_suite import Recorded
from tests.frameworks.homes import AtHome

pytestmark = [pytest.mark.frameworks, pytest.mark.long]


class TestGuarded(AtHome):
    program = Path(__file__).parent / "programs" / "crewai_guarded.py"
    integration = "crewai"
    requires = ("crewai",)
    environ: ClassVar = {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"}

    def answer(self, request: Request) -> Any:
        said = " ".join(turn.text for turn in request.turns)
        if "must rhyme" in said:
            return Reply(json={"valid": True, "feedback": None})
        return "A line that is long enough." if "too short" in said or "Judge" in said else "Short."

    def test_its_log(self, recorded: Recorded) -> None:
        """What judges is a step, with the model calls that it makes; a task's intent is one line."""
        assert self.outline(recorded.events) == snapshot(
            [
                "chain failed: kickoff [error]",
                "  task Writer: Fail. [error]",
                "    agent Writer: execute",
                "      llm Writer 72+2",
                "    guardrail Writer: broken [error]",
                "      error Writer: LookupError: no ruler",
                "chain judged: kickoff",
                "  task Writer: Judge it.",
                "    agent Writer: execute",
                "      llm Writer 73+7",
                "    guardrail Writer: The line must rhyme.",
                "      agent Guardrail Agent: execute",
                "        llm Guardrail Agent 214+8",
                "chain refused: kickoff",
                "  task Writer: Write a line about each of the rivers of the country, in the order of their length, longest first, …",
                "    agent Writer: execute",
                "      llm Writer 105+2",
                "    agent Writer: execute",
                "      llm Writer 150+7",
                "    guardrail Writer: long_enough",
                "    guardrail Writer: long_enough",
            ]
        )

    def test_what_it_said(self, recorded: Recorded) -> None:
        events = recorded.events
        steps = {e["seq"]: e["data"] for e in events if e["type"] == "step_start"}
        ends = {e["step"]: e["data"] for e in events if e["type"] == "step_end"}
        guards = [ends[seq] for seq, data in steps.items() if data["kind"] == "guardrail"]
        assert [(end["outcome"], end.get("triggered"), end.get("reason")) for end in guards] == [
            ("success", True, "too short"),
            ("success", False, None),
            ("success", False, None),
            ("error", None, None),
        ]
        long = next(data for data in steps.values() if data["kind"] == "task")
        assert len(long["intent"]) == 100
        assert long["input_summary"].endswith("- its length")
