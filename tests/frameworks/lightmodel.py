"""What the programs of light frameworks ask, and are answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lctl.testing import Reply, Request
from tests.frameworks.homes import Threaded

PROGRAMS = Path(__file__).parent / "programs"


class Light(Threaded):
    """A model that asks every tool it is offered, and then says how much it learned."""

    def answer(self, request: Request) -> Any:
        tools, done = request.tools, request.tool_results
        calls = []
        if "ask_expert" in tools:
            calls.append(("ask_expert", {"question": "Where is it sunny?"}))
        if "weather" in tools:
            calls += [("weather", {"city": "Rome"}), ("weather", {"city": "Atlantis"})]
        if "distance" in tools:
            calls.append(("distance", {"city": "Oslo"}))
        return Reply(tool_calls=calls) if calls and not done else f"After {len(done)}: {sum(map(len, done))}"
