"""Haystack: a generator that gives tool calls without an id has an empty one for them where it streams (Google's)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession

pytestmark = pytest.mark.frameworks


def test_a_call_without_an_id_has_none(tmp_path: Path) -> None:
    haystack = pytest.importorskip("haystack")
    agents = pytest.importorskip("haystack.components.agents")
    data = pytest.importorskip("haystack.dataclasses")
    tools = pytest.importorskip("haystack.tools")

    @haystack.component  # type: ignore[untyped-decorator, unused-ignore]
    class Asking:
        @haystack.component.output_types(replies=list[data.ChatMessage])  # type: ignore[untyped-decorator, unused-ignore]
        def run(self, messages: list[Any], tools: Any = None) -> dict[str, Any]:
            if messages[-1].tool_call_results:
                return {"replies": [data.ChatMessage.from_assistant("Sunny.")]}
            calls = [data.ToolCall("weather", {"city": city}, id="") for city in ("Rome", "Oslo")]
            return {"replies": [data.ChatMessage.from_assistant(tool_calls=calls)]}

    def weather(city: str) -> str:
        """The weather of a city."""
        return f"sunny in {city}"

    ensure_installed()
    log = tmp_path / "ids.lctl.json"
    try:
        with LCTLSession("ids", log):
            agent = agents.Agent(chat_generator=Asking(), tools=[tools.create_tool_from_function(weather)])
            agent.run(messages=[data.ChatMessage.from_user("Weather?")])
    finally:
        uninstrument()
    calls = [event.data for event in open_log(log).events() if event.type == "tool_call"]
    assert [call["input"]["city"] for call in calls] == ["Rome", "Oslo"]
    assert not any("call_id" in call for call in calls)
