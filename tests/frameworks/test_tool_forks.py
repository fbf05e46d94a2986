"""A fork puts another result in the place of a tool's, in whatever form the framework passes results on."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from lctl.testing import Reply, Request
from lctl.testing.server import ModelServer

pytestmark = [pytest.mark.frameworks, pytest.mark.long]

_ADD = '''
def add(a: int, b: int) -> int:
    """Adds two numbers.

    Args:
        a: one
        b: another
    """
    return a + b
'''

#: Who asks a model that calls `add` twice at once; and what each needs.
_AGENTS = {
    "agents": """
from agents import Agent, Runner, function_tool
print(Runner.run_sync(Agent(name="sums", model="gpt-4.1", tools=[function_tool(add)]), "Add.").final_output)
""",
    "ag2": """
import asyncio
from ag2 import Agent
from ag2.config import OpenAIConfig
agent = Agent("sums", config=OpenAIConfig(model="gpt-4.1"), tools=[add])
print(asyncio.run(agent.ask("Add.")).body)
""",
    "llama_index.core": """
import asyncio, os
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI
async def main():
    llm = OpenAI(model="gpt-4.1", api_base=os.environ["OPENAI_BASE_URL"])
    print(await FunctionAgent(tools=[add], llm=llm).run("Add."))
asyncio.run(main())
""",
    "langchain": """
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
agent = create_agent(ChatOpenAI(model="gpt-4.1"), [add])
print(agent.invoke({"messages": "Add."})["messages"][-1].content)
""",
    "pydantic_ai": """
from pydantic_ai import Agent
print(Agent("openai-chat:gpt-4.1", tools=[add]).run_sync("Add.").output)
""",
    "autogen_agentchat": """
import asyncio
from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
model = OpenAIChatCompletionClient(model="gpt-4.1")
agent = AssistantAgent("sums", model, tools=[add], reflect_on_tool_use=True)
print(asyncio.run(agent.run(task="Add.")).messages[-1].content)
""",
    "smolagents": """
import os
from smolagents import OpenAIServerModel, ToolCallingAgent, tool
model = OpenAIServerModel("gpt-4.1", api_base=os.environ["OPENAI_BASE_URL"], api_key="none")
print(ToolCallingAgent([tool(add)], model, verbosity_level=0).run("Add."))
""",
    "crewai": """
from crewai import Agent, Crew, Task
from crewai.tools import tool
agent = Agent(role="sums", goal="add", backstory="none", llm="openai/gpt-4.1", tools=[tool("add")(add)])
task = Task(description="Add.", expected_output="sums", agent=agent)
print(Crew(agents=[agent], tasks=[task]).kickoff().raw)
""",
    "strands": """
from strands import Agent, tool
from strands.models.openai import OpenAIModel
print(Agent(model=OpenAIModel(model_id="gpt-4.1"), tools=[tool(add)], callback_handler=None)("Add."))
""",
    "agno": """
from agno.agent import Agent
from agno.models.openai import OpenAIChat
print(Agent(model=OpenAIChat(id="gpt-4.1"), tools=[add], telemetry=False).run("Add.").content)
""",
    "haystack": """
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
agent = Agent(chat_generator=OpenAIChatGenerator(model="gpt-4.1"), tools=[create_tool_from_function(add)])
print(agent.run(messages=[ChatMessage.from_user("Add.")])["messages"][-1].text)
""",
    "semantic_kernel": """
import asyncio
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.functions import kernel_function
class Sums:
    add = staticmethod(kernel_function(name="add")(add))
async def main():
    service = OpenAIChatCompletion(ai_model_id="gpt-4.1")
    agent = ChatCompletionAgent(service=service, name="sums", plugins=[Sums()])
    print(await agent.get_response("Add."))
asyncio.run(main())
""",
    "agent_framework": """
import asyncio
from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient
print(asyncio.run(Agent(OpenAIChatCompletionClient(model="gpt-4.1"), "Add.", tools=[add]).run("Add.")).text)
""",
}


def _answer(request: Request) -> Any:
    if request.tool_results or len(request.body.get("messages", ())) > 2:
        if "final_answer" in request.tools:
            return Reply(tool_calls=[("final_answer", {"answer": "done"})])
        return "done"
    name = next(name for name in request.tools if name.endswith("add"))
    return Reply(tool_calls=[(name, {"a": 2, "b": 3}), (name, {"a": 4, "b": 5})])


@pytest.fixture
def lctl(tmp_path: Path) -> Any:
    home = tmp_path / "home"

    def run(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
        kept |= {"HOME": str(home), "XDG_DATA_HOME": str(home), "CREWAI_DISABLE_TELEMETRY": "true", **environ}
        shutil.rmtree(home, ignore_errors=True)  # CrewAI does more where it has no database there yet
        home.mkdir()
        command = [sys.executable, "-m", "lctl", *words]
        return subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True, timeout=200)

    return run


@pytest.mark.parametrize("framework", _AGENTS)
def test_results_and_arguments_are_others(framework: str, lctl: Any, tmp_path: Path) -> None:
    """Put there by an edit; and what stands for a result where tools do not run. The model is told of it."""
    try:
        found = importlib.util.find_spec(framework)
    except ModuleNotFoundError:
        found = None
    if found is None:
        pytest.skip(f"needs: {framework}")
    program = tmp_path / "agent.py"
    program.write_text(_ADD + _AGENTS[framework])
    with ModelServer(seed=1) as server:
        server.reply(_answer, times=None)
        recorded = lctl("run", "-o", "run.lctl.json", "agent.py", **server.environ)
        assert recorded.returncode == 0, recorded.stderr
        calls = [
            event for event in open_log(tmp_path / "run.lctl.json").events() if event.type == "tool_call"
        ]
        first = next(call for call in calls if call.data["tool"].endswith("add"))
        allow = f"write:{tmp_path / 'home'}"
        fork = ["fork", "run.lctl.json", "--yes", "--allow", allow, "--at"]
        at = [*fork, str(first.seq)]

        before = server.count
        edit = f'tool:{first.data["tool"]}="another result"'
        edits = ("--result", edit, "--set", "model=gpt-5")
        forked = lctl(*at, "-o", "edited.lctl.json", *edits, "--tools", "dry-run", **server.environ)
        assert forked.returncode == 0, forked.stderr
        (told,) = server.requests[before:]
        assert "another result" in str(told.body)
        assert told.body["model"] == "gpt-5"

        before = server.count
        edit = f"tool:{first.data['tool']}.input.a=100"
        options = ("-o", "asked.lctl.json", "--set", edit, "--tools", "live")
        forked = lctl(*fork, str(first.seq - 1), *options, **server.environ)
        assert forked.returncode == 0, forked.stderr
        sums = re.findall(r"(?<!\d)10[35](?!\d)", str(server.requests[before].body))
        assert sums
        events = list(open_log(tmp_path / "asked.lctl.json").events())
        asked = [
            event.data["input"]["a"]
            for event in events
            if event.type == "tool_call" and "a" in event.data["input"]
        ]
        assert 100 in asked
        before = server.count
        again = lctl("rerun", "asked.lctl.json", "--allow", allow)
        assert again.returncode == 0, again.stderr
        assert server.count == before
