"""What a framework raises has no line of ours in its traceback: programs print it, and frameworks log it and show
it to models."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from lctl.testing import Fault, ModelServer, Reply, Request
from tests.rerun.harness import LCTL, run

pytestmark = pytest.mark.frameworks

#: `told(name, function)` prints whose modules the exception came through.
_HEAD = """
import asyncio, inspect, json, traceback

def modules(error):
    while error is not None:
        yield from (frame.f_globals["__name__"] for frame, _ in traceback.walk_tb(error.__traceback__))
        error = error.__cause__ or error.__context__

def told(name, function):
    try:
        made = function()
        if inspect.iscoroutine(made):
            asyncio.run(made)
    except Exception as error:
        ours = [one for one in modules(error) if one.partition(".")[0] in ("lctl", "lctl_integrations")]
        print(json.dumps([name, ours]))

def boom(x: int) -> str:
    "Boom."
    raise ValueError("boom")

async def boom_async(x: int) -> str:
    "Boom."
    raise ValueError("boom")
"""
#: By the modules it needs: a program, and what fails in it.
_PROGRAMS = {
    "agents": (
        """
from agents import Agent, Runner, function_tool, set_tracing_disabled

set_tracing_disabled(True)
tool = function_tool(boom, failure_error_function=None)
told("model", lambda: Runner.run(Agent(name="one", model="gpt-4.1"), "Fail."))
told("tool", lambda: Runner.run(Agent(name="one", model="gpt-4.1", tools=[tool]), "Call."))
""",
        ["model", "tool"],
    ),
    "langgraph langchain_openai": (
        """
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

told("tool", lambda: tool(boom).invoke({"x": 1}))
told("async tool", lambda: tool(boom_async).ainvoke({"x": 1}))
graph = StateGraph(MessagesState)
for name in ("left", "right"):
    graph.add_node(name, lambda state: boom(1))
    graph.add_edge(START, name)
told("nodes at once", lambda: graph.compile().invoke({"messages": []}))
kept, one = graph.compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
told("update", lambda: kept.update_state(one, {"messages": []}, as_node="none"))
told("async update", lambda: kept.aupdate_state(one, {"messages": []}, as_node="none"))
""",
        ["tool", "async tool", "nodes at once", "update", "async update"],
    ),
    "llama_index.core": (
        """
from llama_index.core.tools import FunctionTool

told("tool", lambda: FunctionTool.from_defaults(async_fn=boom_async).acall(x=1))
""",
        ["tool"],
    ),
    "smolagents": (
        """
from smolagents import Tool

class Boom(Tool):
    name, description, output_type = "boom", "Boom.", "string"
    inputs = {"x": {"type": "integer", "description": "A number."}}

    def forward(self, x: int):
        raise ValueError("boom")

told("tool", lambda: Boom()(x=1))
""",
        ["tool"],
    ),
    "haystack": (
        """
from haystack.tools import create_tool_from_function

told("tool", lambda: create_tool_from_function(boom).invoke(x=1))
""",
        ["tool"],
    ),
    "semantic_kernel": (
        """
from semantic_kernel import Kernel
from semantic_kernel.functions import kernel_function

class Plugin:
    @kernel_function
    def boom(self, x: int) -> str:
        raise ValueError("boom")

kernel = Kernel()
kernel.add_plugin(Plugin(), "one")
told("function", lambda: kernel.invoke(plugin_name="one", function_name="boom", x=1))
""",
        ["function"],
    ),
    "agent_framework agent_framework_openai": (
        """
from agent_framework import Agent, tool
from agent_framework.openai import OpenAIChatCompletionClient

async def asked():
    await Agent(client=OpenAIChatCompletionClient(model="gpt-4.1"), name="one").run("Fail.")

told("model", asked)
told("tool", lambda: tool(boom).invoke(arguments={"x": 1}))
""",
        ["model", "tool"],
    ),
}


def _answer(request: Request) -> Reply | Fault:
    return Reply(tool_calls=[(request.tools[0], {"x": 1})]) if request.tools else Fault(400)


@pytest.mark.parametrize("needs", _PROGRAMS)
def test_no_line_of_ours(needs: str, tmp_path: Path) -> None:
    for module in needs.split():
        if importlib.util.find_spec(module.partition(".")[0]) is None:
            pytest.skip(f"needs: {module}")
    program, failures = _PROGRAMS[needs]
    (tmp_path / "failing.py").write_text(_HEAD + program)
    log = tmp_path / "run.lctl.json"
    quiet = {"HAYSTACK_TELEMETRY_ENABLED": "False", "HOME": str(tmp_path)}
    with ModelServer(seed=1) as server:
        server.reply(_answer, times=None)
        environ = {**server.environ, **quiet}
        recorded = run([*LCTL, "run", "--output", str(log), "failing.py"], tmp_path, environ, log)
    assert recorded.code == 0, recorded.err
    told = [json.loads(line) for line in recorded.out.splitlines() if line.startswith("[")]
    assert told == [[name, []] for name in failures]
