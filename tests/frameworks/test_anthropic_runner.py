"""anthropic's own tool runners: each function that they call is a tool, and the turns are one conversation."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from lctl.testing import Reply, Request
from lctl.testing.integration_suite import IntegrationSuite, Recorded

pytestmark = pytest.mark.frameworks


class TestAnthropicRunner(IntegrationSuite):
    program = Path(__file__).parent / "programs" / "anthropic_runner.py"
    integration = "anthropic"
    # Its tool runners.
    requires = ("anthropic", "anthropic.lib.tools")

    def answer(self, request: Request) -> Any:
        name = request.tools[0] if request.tools else "weather"
        if not any(turn.calls for turn in request.turns):
            calls: list[tuple[str, dict[str, Any]]] = [(name, {"city": "Rome"}), (name, {"city": "Atlantis"})]
            return Reply("I look.", tool_calls=[("dice", {"sides": 6})] if name == "dice" else calls)
        if len(request.tool_results) == 2:
            return Reply(tool_calls=[("weather", {"city": "Oslo", "unit": "f"})])
        return f"It is {request.tool_results[-1]}."

    def test_every_tool_is_one_call(self, recorded: Recorded) -> None:
        told = json.loads(recorded.out.splitlines()[-1])
        assert told[0] == ["tool_use", "tool_use", "end_turn"]
        assert told[1:3] == ["It is sunny in Oslo, 4 f.", ["I look.", "", "It is sunny in Oslo, 4 f."]]
        assert told[3] == ["It is one of 6: yes."] * 2
        calls = [event["data"] for event in recorded.events if event["type"] == "tool_call"]
        assert [call["tool"] for call in calls] == ["weather"] * 9 + ["dice"] * 2
        assert not any(call.get("derived") for call in calls)
        assert [call["error"]["message"] for call in calls if "error" in call] == ["no such city"] * 3

    def test_its_turns_are_one_conversation(self, recorded: Recorded) -> None:
        """The provider may keep a thread, of which each request has only what is new."""
        messages = {e["data"]["message_id"]: e["data"] for e in recorded.events if e["type"] == "message"}
        roots = [message for message in messages.values() if message["parent_id"] is None]
        assert [root["content"] for root in roots] == [
            "The weather?",
            "And?",
            "Slowly?",
            "Throw for ann",
            "Throw for bob",
        ]

    def test_threads_are_used_where_the_sdk_has_them(self, recorded: Recorded) -> None:
        kept = importlib.util.find_spec("anthropic.lib.threads") is not None
        starts = [event["data"] for event in recorded.events if event["type"] == "step_start"]
        threads = [(start.get("params") or {}).get("thread", {}).get("type") for start in starts]
        assert threads.count("continue") == (8 if kept else 0)
