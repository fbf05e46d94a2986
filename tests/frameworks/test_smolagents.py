"""smolagents: agents that call tools, agents that write code, managed agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import Reply, Request
from lctl.testing.integration_suite import Recorded
from tests.frameworks.homes import Threaded

pytestmark = pytest.mark.frameworks

_CODE = 'km = distance("Rome")\nprint(weather(city="Rome"))\nprint(km)'


class TestSmolAgents(Threaded):
    program = Path(__file__).parent / "programs" / "smol_agents.py"
    integration = "smolagents"
    requires = ("smolagents", "openai")

    def answer(self, request: Request) -> Any:
        said, last = " ".join(turn.text for turn in request.turns), request.turns[-1]
        began = "New task:" in last.text and "Observation:" not in last.text
        if "You are scout" in said:
            if began:
                return Reply(tool_calls=[("weather", {"city": "Rome"}), ("distance", {"city": "Rome"})])
            return Reply(tool_calls=[("final_answer", {"answer": "Sunny, 400 km."})])
        if "You are coder" in said:
            return f"Thoughts: I look.\n<code>\n{_CODE if began else 'final_answer(km)'}\n</code>"
        if "You are manager" in said:
            if began:
                return Reply(tool_calls=[("scout", {"task": "Scout."}), ("coder", {"task": "Reckon."})])
            return Reply(tool_calls=[("final_answer", {"answer": "Managed."})])
        code = 'found = scout(task="Scout.")' if began else "final_answer('Led.')"
        return f"Thoughts: I lead.\n<code>\n{code}\n</code>"

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool; the tokens of each call are the wire's."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent coder: run",
                "  llm coder 2202+23",
                "  llm coder 2298+13",
                '  tool coder: distance{"city": "Rome"} = 400',
                '  tool coder: final_answer{"answer": 400} = 400',
                '  tool coder: weather{"city": "Rome"} = "Sunny in Rome."',
                "agent leader: run",
                "  agent scout: run",
                "    llm scout 1241+28",
                "    llm scout 1324+18",
                '    tool scout: distance{"city": "Rome"} (id) = 400',
                '    tool scout: final_answer{"answer": "Sunny, 400 km."} (id) = "Sunny, 400 km."',
                '    tool scout: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  llm leader 2319+16",
                "  llm leader 2411+14",
                '  tool leader: final_answer{"answer": "Led."} = "Led."',
                '  tool leader: scout{"task": "Scout."} = "Here is the final answer from your managed agent \'scout\':\\nSunny, 400 km."',
                "agent manager: run",
                "  agent coder: run",
                "    llm coder 2383+23",
                "    llm coder 2479+13",
                '    tool coder: distance{"city": "Rome"} = 400',
                '    tool coder: final_answer{"answer": 400} = 400',
                '    tool coder: weather{"city": "Rome"} = "Sunny in Rome."',
                "  agent scout: run",
                "    llm scout 1241+28",
                "    llm scout 1324+18",
                '    tool scout: distance{"city": "Rome"} (id) = 400',
                '    tool scout: final_answer{"answer": "Sunny, 400 km."} (id) = "Sunny, 400 km."',
                '    tool scout: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  llm manager 1357+30",
                "  llm manager 1469+17",
                '  tool manager: coder{"task": "Reckon."} (id) = "Here is the final answer from your managed agent \'coder\':\\n400"',
                '  tool manager: final_answer{"answer": "Managed."} (id) = "Managed."',
                '  tool manager: scout{"task": "Scout."} (id) = "Here is the final answer from your managed agent \'scout\':\\nSunny, 400 km."',
                "agent scout: run",
                "  llm scout 1059+28",
                "  llm scout 1142+18",
                '  tool scout: distance{"city": "Rome"} (id) = 400',
                '  tool scout: final_answer{"answer": "Sunny, 400 km."} (id) = "Sunny, 400 km."',
                '  tool scout: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent scout: run",
                "  llm scout 1059+28",
                "  llm scout 1142+18",
                '  tool scout: distance{"city": "Rome"} (id) = 400',
                '  tool scout: final_answer{"answer": "Sunny, 400 km."} (id) = "Sunny, 400 km."',
                '  tool scout: weather{"city": "Rome"} (id) = "Sunny in Rome."',
            ]
        )
