"""Haystack: of the ids that its generators give tool calls, the log has those of the messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession

pytestmark = pytest.mark.frameworks

_NEEDED = "needs: pip install haystack-ai"


def test_ids_of_calls(tmp_path: Path) -> None:
    """Google's streamed calls have an empty one; those of the Responses API that of their item."""
    haystack = pytest.importorskip("haystack", reason=_NEEDED)
    agents = pytest.importorskip("haystack.components.agents", reason=_NEEDED)
    data: Any = pytest.importorskip("haystack.dataclasses", reason=_NEEDED)
    replies: Any = list[data.ChatMessage]
    tools = pytest.importorskip("haystack.tools", reason=_NEEDED)

    @haystack.component  # type: ignore[untyped-decorator, unused-ignore]
    class Asking:
        @haystack.component.output_types(replies=replies)  # type: ignore[untyped-decorator, unused-ignore]
        def run(self, messages: list[Any], tools: Any = None) -> dict[str, Any]:
            if messages[-1].tool_call_results:
                return {"replies": [data.ChatMessage.from_assistant("Sunny.")]}
            calls = [
                data.ToolCall("weather", {"city": "Rome"}, id=""),
                data.ToolCall("weather", {"city": "Oslo"}, id="fc_1", extra={"call_id": "call_1"}),
            ]
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
    ids = [(call["input"]["city"], call.get("call_id")) for call in calls]
    assert ids == [("Rome", None), ("Oslo", "call_1")]
