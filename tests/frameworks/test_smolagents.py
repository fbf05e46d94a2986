"""smolagents: agents that call tools, agents that write code, managed agents."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any, ClassVar

import pytest
from inline_snapshot import snapshot

from lctl.codec import open_log
from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession
from lctl.testing import ModelServer, Reply, Request
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


def test_runs_of_one_agent_at_once_keep_their_calls_ids(tmp_path: Path) -> None:
    """Each tool call has the id of the answer that asked for it, also where both ask for the same."""
    smolagents: Any = pytest.importorskip("smolagents", reason="smolagents is not installed")
    both = Barrier(2, timeout=60)

    class Meet(smolagents.Tool):
        name = "meet"
        description = "Waits for the other run."
        inputs: ClassVar = {"n": {"type": "integer", "description": "A number."}}
        output_type = "string"

        def forward(self, n: int) -> str:
            both.wait()
            return f"Met {n}."

    def answer(request: Request) -> Any:
        if any("Met" in turn.text for turn in request.turns):
            return Reply(tool_calls=[("final_answer", {"answer": "Done."})])
        return Reply(tool_calls=[("meet", {"n": 1}), ("meet", {"n": 2})])

    path = tmp_path / "log.lctl.json"
    ensure_installed()
    with ModelServer(seed=1) as server, LCTLSession("test", path):
        server.reply(answer, times=None)
        model = smolagents.OpenAIModel("gpt-4.1-mini", api_base=server.openai_url, api_key="test")
        agent = smolagents.ToolCallingAgent([Meet()], model, verbosity_level=-1, max_tool_threads=1)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(agent.run, ["First.", "Second."]))
    uninstrument()
    events = [event.to_dict() for event in open_log(path).events()]
    asked = [
        call["id"]
        for event in events
        if event["type"] == "message"
        for call in event["data"].get("tool_calls", ())
    ]
    made = [event["data"] for event in events if event["type"] == "tool_call"]
    met = [call["call_id"] for call in made if call["tool"] == "meet"]
    assert len(met) == len(set(met)) == 4
    assert set(met) <= set(asked)


def test_streams_that_are_read_in_turns_keep_their_calls_ids(tmp_path: Path) -> None:
    """Two agents' streams, of each an item at a time: each call has the id of its own agent's answer."""
    smolagents: Any = pytest.importorskip("smolagents", reason="smolagents is not installed")

    class Look(smolagents.Tool):
        name = "look"
        description = "Looks."
        inputs: ClassVar = {"at": {"type": "string", "description": "What."}}
        output_type = "string"

        def forward(self, at: str) -> str:
            return f"Seen {at}."

    def answer(request: Request) -> Any:
        if "Observation:" in request.turns[-1].text:
            return Reply(tool_calls=[("final_answer", {"answer": "Done."})])
        who = "ann" if "Ask ann." in request.text else "bob"
        return Reply(tool_calls=[("look", {"at": "both"}), ("look", {"at": who})])

    path = tmp_path / "log.lctl.json"
    ensure_installed()
    with ModelServer(seed=1) as server, LCTLSession("test", path):
        server.reply(answer, times=None)
        model = smolagents.OpenAIModel("gpt-4.1-mini", api_base=server.openai_url, api_key="test")
        agents = [
            smolagents.ToolCallingAgent([Look()], model, name=name, verbosity_level=-1) for name in "ab"
        ]
        streams = [
            one.run(f"Ask {who}.", stream=True) for one, who in zip(agents, ("ann", "bob"), strict=True)
        ]
        for _ in zip(*streams, strict=True):
            pass
        model.client.close()
    uninstrument()
    events = [event.to_dict() for event in open_log(path).events()]
    asked = {
        call["id"]: event["agent"]
        for event in events
        if event["type"] == "message"
        for call in event["data"].get("tool_calls", ())
    }
    made = [(e["data"]["call_id"], e["agent"]) for e in events if e["type"] == "tool_call"]
    assert len(made) == 6
    assert dict(made) == asked
