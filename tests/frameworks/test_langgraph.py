"""LangGraph nodes, subgraphs, retries, hand-offs, interrupts, checkpoints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import Reply, Request
from lctl.testing.integration_suite import IntegrationSuite, Recorded
from tests.frameworks import answers

pytestmark = pytest.mark.frameworks


class TestLangGraph(IntegrationSuite):
    program = Path(__file__).parent / "programs" / "langgraph_team.py"
    integration = "langgraph.pregel"
    requires = (
        "langgraph",
        "langchain",
        "langchain_openai",
    )

    def answer(self, request: Request) -> Any:
        return answers.team(request)

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool."""
        assert self.outline(recorded.events) == snapshot(
            [
                "chain board: board",
                "  checkpoint input",
                "  checkpoint loop",
                "  node collect: collect",
                "    error connection_failed: the archive is closed",
                "    ended: error",
                "  node collect: collect",
                "  checkpoint loop",
                "  node draft: draft",
                "    chain draft: writer",
                "      checkpoint input",
                "      checkpoint loop",
                "      node write: write",
                "        llm write: chat.completions",
                "      checkpoint loop",
                "  checkpoint loop",
                "  node route: route",
                "    handoff route -> review",
                "  checkpoint loop",
                "  node review: review",
                '    ended: paused [{"question": "Good?"}]',
                '  ended: paused [{"question": "Good?"}]',
                "chain board: board",
                "  node review: review",
                "    llm review: chat.completions",
                "  checkpoint loop",
                "checkpoint update",
                "chain swarm: swarm",
                "  checkpoint input",
                "  checkpoint loop",
                "  node alice: alice",
                "    agent alice: alice",
                "      checkpoint input",
                "      checkpoint loop",
                "      node alice: model",
                "        llm alice: chat.completions",
                "      checkpoint loop",
                "      node alice: tools",
                '        tool transfer_to_bob({}) output {"goto": "bob", "graph": "__parent__", "update": {"messages": [{"content": "transferred", "role": "tool", "tool_call_id": "call_"}]}}',
                "        handoff alice -> bob",
                "  checkpoint loop",
                "  node bob: bob",
                "    agent bob: bob",
                "      checkpoint input",
                "      checkpoint loop",
                "      node bob: model",
                "        llm bob: chat.completions",
                "      checkpoint loop",
                "      node bob: tools",
                '        tool launch({"rocket": "Ariane"}) paused [{"launch": "Ariane"}]',
                '        ended: paused [{"launch": "Ariane"}]',
                '      ended: paused [{"launch": "Ariane"}]',
                '    ended: paused [{"launch": "Ariane"}]',
                '  ended: paused [{"launch": "Ariane"}]',
                "chain swarm: swarm",
                "  node bob: bob",
                "    agent bob: bob",
                "      node bob: tools",
                '        tool launch({"rocket": "Ariane"}) output "Ariane: go"',
                "      checkpoint loop",
                "      node bob: model",
                "        llm bob: chat.completions",
                "      checkpoint loop",
                "  checkpoint loop",
            ]
        )


class TestTools(IntegrationSuite):
    """What tools do to the graph they run in, and tasks of the functional API: a rerun does not run the tools,
    and the program sees the same stream and the same store."""

    program = Path(__file__).parent / "programs" / "langgraph_tools.py"
    integration = "langgraph.pregel"
    requires = ("langgraph", "langchain", "langchain_openai")

    def answer(self, request: Request) -> Any:
        """Each tool once, one after another; then what it was told."""
        done = len(request.tool_results)
        if done < len(request.tools):
            name = request.tools[done]
            return Reply(tool_calls=[(name, _ARGUMENTS[name])])
        return f"{request.system} {request.last_text}"

    @staticmethod
    def outline(events: list[dict[str, Any]]) -> list[str]:
        """In no order: of tasks at once it falls out which fails first."""
        return sorted(IntegrationSuite.outline(events))

    def test_what_tools_wrote_is_on_the_tape(self, recorded: Recorded) -> None:
        """Chunks and puts, with the call that made them."""
        calls = [event["data"] for event in recorded.events if event["type"] == "tool_call"]
        done = {call["tool"]: call.get("tape", {}).get("after") for call in calls}
        assert all(done[name] for name in ("weather", "remember", "recall", "launch", "shelve")), done

    def test_tasks_are_steps(self, recorded: Recorded) -> None:
        """Each task of an entrypoint, each of its tries, with the calls made in it."""
        lines = self.outline(recorded.events)
        assert lines.count("    node draft: draft") == 3
        assert lines.count("      llm draft: chat.completions") == 3
        assert lines.count("    node stamp: stamp") == 6
        assert lines.count("      error connection_failed: no ink") == 2


class TestAsking(IntegrationSuite):
    """Tokens of the model and updates of the agent that a tool asks are in the stream of the graph around; also in
    that of a rerun, which does not run the tool."""

    program = Path(__file__).parent / "programs" / "langgraph_asks.py"
    integration = "langgraph.pregel"
    requires = ("langgraph", "langchain", "langchain_openai")

    def answer(self, request: Request) -> Any:
        """Each tool once, one after another; then a few words."""
        done = len(request.tool_results)
        if done < len(request.tools):
            name = request.tools[done]
            return Reply(tool_calls=[(name, {"text" if name == "translate" else "question": "Where to?"})])
        return f"Told {done} of {request.last_text}"

    def test_what_was_streamed_within_is_on_the_tape(self, recorded: Recorded) -> None:
        """With the call of the tool that asked, each piece once."""
        calls = [event["data"] for event in recorded.events if event["type"] == "tool_call"]
        kept = {call["tool"] for call in calls if call.get("tape", {}).get("after")}
        assert kept == {"translate", "ask_guide", "ask_scout"}
        assert recorded.out.count('"AIMessageChunk", "Told", "model"') == 4
        assert recorded.out.count('"AIMessageChunk", "Told", "tools"') == 3


_ARGUMENTS = {
    "weather": {"city": "Rome"},
    "remember": {"what": "rivers"},
    "recall": {"what": "lakes"},
    "launch": {"rocket": "Ariane"},
    "send_to_desk": {"job": "Write it."},
    "shelve": {"title": "Of tea"},
}


def test_of_hand_offs_at_once_the_first_is_taken(tmp_path: Path) -> None:
    """LangGraph takes one of them by its address: another one in every run, and in a rerun."""
    pytest.importorskip("langgraph")
    program = Path(__file__).parent / "programs" / "langgraph_relay.py"
    for number in range(3):
        log = tmp_path / f"{number}.lctl.json"
        command = [sys.executable, "-m", "lctl", "run", "--output", str(log), str(program)]
        assert IntegrationSuite._run(command, tmp_path, {}) == "['desk 0']\n"
    again = [sys.executable, "-m", "lctl", "rerun", str(log), "--output", str(tmp_path / "again.lctl.json")]
    assert IntegrationSuite._run(again, tmp_path, {}) == "['desk 0']\n"
