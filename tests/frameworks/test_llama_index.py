"""LlamaIndex: agents, workflows, tools, hand-offs."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.testing import ModelServer, Reply, Request
from lctl.testing.integration_suite import Recorded
from tests.frameworks.homes import Threaded
from tests.rerun.harness import LCTL, Result, run

pytestmark = pytest.mark.frameworks


class TestLlamaIndex(Threaded):
    program = Path(__file__).parent / "programs" / "llama_agents.py"
    integration = "llama_index.core"
    requires = ("llama_index.core", "llama_index.llms.openai")

    def answer(self, request: Request) -> Any:
        said, done = " ".join(turn.text for turn in request.turns), request.tool_results
        if "You are Solo" in said and not done:
            return Reply(tool_calls=[("weather", {"city": "Rome" if "Rome" in said else "Atlantis"})])
        if "You are Keeper" in said and not done:
            return Reply(tool_calls=[("remove", {"what": "Oslo" if "Oslo" in said else "Rome"})])
        if "You are Guide" in said:
            if not done:
                return Reply(tool_calls=[("note", {"text": "sun"})])
            if len(done) <= 2:
                to = ("Nobody", "Writer")[len(done) - 1]
                return Reply(tool_calls=[("handoff", {"to_agent": to, "reason": "write"})])
        if "Think of Rome" in said:
            if "Observation:" not in request.turns[-1].text:
                return 'Thought: I need it.\nAction: weather\nAction Input: {"city": "Rome"}'
            return "Thought: I can answer.\nAnswer: Sunny."
        return "All is well."

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool; the tokens of each call are the wire's."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent Keeper: run",
                "  llm Keeper 103+3",
                "  llm Keeper 88+14",
                '  tool Keeper: remove{"what": "Oslo"} (id) = PermissionError',
                '  tool Keeper: remove{"what": "Oslo"} (id) = paused {"asks": {"prefix": "Remove Oslo?"}, "event": "workflows.events.HumanResponseEvent", "waiter_id": "remove"}',
                "agent Keeper: run",
                "  llm Keeper 105+3",
                "  llm Keeper 88+14",
                '  tool Keeper: remove{"what": "Rome"} (id) = "removed Rome"',
                '  tool Keeper: remove{"what": "Rome"} (id) = paused {"asks": {"prefix": "Remove Rome?"}, "event": "workflows.events.HumanResponseEvent", "waiter_id": "remove"}',
                "agent Solo: run",
                "  llm Solo 103+3",
                "  llm Solo 85+14",
                '  tool Solo: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "agent Solo: run",
                "  llm Solo 103+3",
                "  llm Solo 85+15",
                '  tool Solo: weather{"city": "Atlantis"} (id) = LookupError',
                "agent Thinker: run",
                "  llm Thinker 591+17",
                "  llm Thinker 623+10",
                '  tool Thinker: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "chain AgentWorkflow: run",
                "  agent Guide: turn",
                "    llm Guide 231+13",
                "  agent Guide: turn",
                "    llm Guide 246+20",
                "  agent Guide: turn",
                "    llm Guide 288+20",
                "  agent Writer: turn",
                "    llm Writer 138+3",
                "  handoff Guide -> Writer: write",
                '  tool Guide: handoff{"reason": "write", "to_agent": "Nobody"} (id) = "Agent Nobody not found. Please select a valid agent to hand off to. Valid agents: Writer"',
                '  tool Guide: handoff{"reason": "write", "to_agent": "Writer"} (id) = "Agent Writer is now handling the request due to the following reason: write.\\nPlease continue with the current request."',
                '  tool Guide: note{"text": "sun"} (id) = "noted"',
                "chain AgentWorkflow: run",
                "  agent Guide: turn",
                "    llm Guide None+None",
                "  agent Guide: turn",
                "    llm Guide None+None",
                "  agent Guide: turn",
                "    llm Guide None+None",
                "  agent Writer: turn",
                "    llm Writer None+None",
                "  handoff Guide -> Writer: write",
                '  tool Guide: handoff{"reason": "write", "to_agent": "Nobody"} (id) = "Agent Nobody not found. Please select a valid agent to hand off to. Valid agents: Writer"',
                '  tool Guide: handoff{"reason": "write", "to_agent": "Writer"} (id) = "Agent Writer is now handling the request due to the following reason: write.\\nPlease continue with the current request."',
                '  tool Guide: note{"text": "sun"} (id) = "noted"',
                "chain Journey: run",
                "  agent Solo: run",
                "    llm Solo 103+3",
                "    llm Solo 85+14",
                '    tool Solo: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  llm Journey 10+3",
                "chain Question: run",
                "chain Question: run [cancelled]",
                "chain main: RetrieverQueryEngine",
                "  llm main None+None",
                "  retriever main: SummaryIndexRetriever",
                "chain main: RetrieverQueryEngine",
                "  llm main None+None",
                "  retriever main: SummaryIndexRetriever",
                "chain main: RetrieverQueryEngine",
                "  llm main None+None",
                "  retriever main: SummaryIndexRetriever",
                "chain main: RetrieverQueryEngine [aborted]",
                "  retriever main: SummaryIndexRetriever",
                "chain main: SimpleChatEngine",
                "  llm main 22+3",
                "chain main: SimpleChatEngine",
                "  llm main 9+3",
                "llm main 11+3",
            ]
        )


@pytest.mark.parametrize("way", ["run", "auto_instrument"])
def test_what_tools_do_to_the_store_is_done_again(way: str, tmp_path: Path) -> None:
    """Objects, what is taken away, and that all in there is copied, the agent's memory too, but not by an edit that
    raises; the same by each way of recording, tools at once and ids that the framework draws among it."""
    first, environ = _recorded(way, "llama_stores.py", _stored, tmp_path)
    # The program's memory is the one in the store no longer, once a tool has edited that.
    assert "Done. 1 dict_keys" in first.out
    assert "Item(name='tea', wanted=datetime.date(2026, 1, 2))" in first.out
    assert "tidy __delitem__" in first.out  # an edit that raises is none
    assert "drop dropped" in first.out
    for n in range(2):
        log = tmp_path / f"again{n}.lctl.json"
        again = run([*LCTL, "rerun", str(first.log), "--output", str(log)], tmp_path, environ, log)
        assert (again.code, again.out) == (0, first.out), again.err
        assert again.events == first.events


@pytest.mark.parametrize("way", ["run", "auto_instrument"])
def test_tools_of_agents_at_once(way: str, tmp_path: Path) -> None:
    """How many of its tools were done when a workflow went on, decides what it starts next; which agent's
    threads were first to let it ask, whose turn it is."""
    first, environ = _recorded(way, "llama_tools_at_once.py", _three_tools, tmp_path)
    assert first.out.count("3 EUR") == 6
    log = tmp_path / "again.lctl.json"
    again = run([*LCTL, "rerun", str(first.log), "--output", str(log)], tmp_path, environ, log)
    assert again.code == 0, again.err
    assert " 27 exact" in again.err  # nine calls of models and eighteen of tools, none of them missing
    assert (again.out, again.events) == (first.out, first.events)


def _three_tools(request: Request) -> Any:
    done = len(request.tool_results)
    if done >= 6:
        return "Done."
    return Reply(tool_calls=[(name, {"name": f"item {done}"}) for name in ("lookup", "price", "stock")])


def _stored(request: Request) -> Any:
    asked, done = request.last_text, request.tool_results
    if "Add rice" in request.text:
        if "Observation:" in request.turns[-1].text:
            return "Thought: I can answer.\nAnswer: Rice is in."
        return 'Thought: I need it.\nAction: add\nAction Input: {"name": "rice"}'
    if done:
        return "Done."
    if "Buy" in asked:
        return Reply(tool_calls=[("add", {"name": "tea"}), ("add", {"name": "oil"})])
    if "Keep" in asked:
        return Reply(tool_calls=[("keep", {"name": "tea"})])
    return Reply(tool_calls=[("drop" if "Drop" in asked else "tidy", {})])


def _recorded(
    way: str, program: str, answer: Callable[[Request], Any], folder: Path
) -> tuple[Result, Mapping[str, str]]:
    """A program's run, and the environment it had."""
    for name in TestLlamaIndex.requires:
        if importlib.util.find_spec(name.partition(".")[0]) is None:
            pytest.skip(f"{name} is not installed")
    log, path = folder / "run.lctl.json", str(Path(__file__).parent / "programs" / program)
    command = [*LCTL, "run", "--output", str(log), path] if way == "run" else [sys.executable, path]
    with ModelServer(seed=1) as server:
        server.reply(answer, times=None)
        environ = {**server.environ, "AUTO": "1"} if way == "auto_instrument" else server.environ
        first = run(command, folder, environ, log)
    assert first.code == 0, first.err
    if way != "run":
        (log,) = (folder / "logs").glob("*.lctl.json")
    return first._replace(log=log), environ
