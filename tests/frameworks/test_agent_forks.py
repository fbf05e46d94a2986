"""A fork puts another result, or other arguments, in the place of those of an agent that is a tool of another."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from lctl.testing import Reply, Request
from lctl.testing.server import ModelServer
from tests.frameworks.test_installed import is_installed

pytestmark = [pytest.mark.frameworks, pytest.mark.long]

_PAY = '''
def pay(amount: int) -> str:
    """Pays.

    Args:
        amount: how much
    """
    with open("paid.txt", "a") as file:
        file.write("paid ")
    return f"paid {amount}"
'''

#: A boss who has an expert, and pays: both at once where the framework lets agents be asked so.
_TEAMS = {
    "agents": """
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI
model = OpenAIChatCompletionsModel("gpt-4.1", AsyncOpenAI())
expert = Agent("expert", instructions="You are the expert.", model=model)
tools = [expert.as_tool("ask_expert", "Asks."), function_tool(pay)]
boss = Agent("boss", instructions="You are the boss.", model=model, tools=tools)
run = Runner.run_sync(boss, "Ask.")
print(run.final_output, run.context_wrapper.usage.total_tokens)
""",
    "agent_framework": """
import asyncio
from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient
client = OpenAIChatCompletionClient(model="gpt-4.1")
expert = Agent(client, "You are the expert.", name="expert")
tools = [expert.as_tool(name="ask_expert", description="Asks."), pay]
print(asyncio.run(Agent(client, "You are the boss.", name="boss", tools=tools).run("Ask.")).text)
""",
    "agno": """
from agno.agent import Agent
from agno.models.openai import OpenAIChat
from agno.team import Team
model = OpenAIChat(id="gpt-4.1")
expert = Agent(model=model, name="expert", id="expert", instructions="You are the expert.", telemetry=False)
made = {"model": model, "tools": [pay], "instructions": "You are the boss.", "telemetry": False}
print(Team(members=[expert], **made).run("Ask.").content)
""",
    "crewai": """
from crewai import Agent, Crew, Task
from crewai.tools import tool
made = {"backstory": "none", "llm": "openai/gpt-4.1"}
expert = Agent(role="expert", goal="You are the expert.", **made)
tools = [tool("pay")(pay)]
boss = Agent(role="boss", goal="You are the boss.", allow_delegation=True, tools=tools, **made)
task = Task(description="Ask.", expected_output="an answer", agent=boss)
print(Crew(agents=[boss, expert], tasks=[task]).kickoff().raw)
""",
    "google.adk": """
import asyncio
from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
made = {"model": "gemini-2.5-flash"}
expert = LlmAgent(name="ask_expert", instruction="You are the expert.", **made)
boss = LlmAgent(name="boss", instruction="You are the boss.", tools=[AgentTool(expert), pay], **made)
events = asyncio.run(InMemoryRunner(agent=boss).run_debug("Ask.", quiet=True))
print(events[-1].content.parts[0].text)
""",
    "haystack": """
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import AgentTool, create_tool_from_function
model = OpenAIChatGenerator(model="gpt-4.1")
expert = Agent(chat_generator=model, system_prompt="You are the expert.")
tools = [AgentTool(agent=expert, name="ask_expert", description="Asks."), create_tool_from_function(pay)]
boss = Agent(chat_generator=model, system_prompt="You are the boss.", tools=tools)
print(boss.run(messages=[ChatMessage.from_user("Ask.")])["messages"][-1].text)
""",
    "smolagents": """
import os
from smolagents import OpenAIServerModel, ToolCallingAgent, tool
model = OpenAIServerModel("gpt-4.1", api_base=os.environ["OPENAI_BASE_URL"], api_key="none")
made = {"model": model, "verbosity_level": 0}
expert = ToolCallingAgent([], name="ask_expert", description="Asks.", instructions="You are the expert.", **made)
boss = ToolCallingAgent([tool(pay)], managed_agents=[expert], instructions="You are the boss.", **made)
print(boss.run("Ask."))
""",
}

#: The tool that the expert is, by the model's name for it.
_ASKS = ("ask_expert", "delegate_task_to_member", "delegate_work_to_coworker")


def _answer(request: Request) -> Any:
    """The expert says what it was asked; the boss what it was told."""
    told = " ".join([*request.tool_results, *(turn.text for turn in request.turns[1:]), request.last_text])
    final = "final_answer" in request.tools
    if "You are the expert." in request.system:
        said = "It rains." if "rain" in told.lower() else "The sun shines."
        return Reply(tool_calls=[("final_answer", {"answer": said})]) if final else said
    if "ask_expert" not in told and "paid" not in told and not request.tool_results:
        ask = next(name for name in _ASKS if name in request.tools)
        return Reply(tool_calls=[(ask, _asked(*request.schemas[ask]["properties"])), ("pay", {"amount": 3})])
    return Reply(tool_calls=[("final_answer", {"answer": "done"})]) if final else "done"


def _asked(name: str, *others: str) -> dict[str, Any]:
    known = {"task": "Sunny?", "context": "none", "coworker": "expert", "member_id": "expert"}
    if name in known:
        return {one: value for one, value in known.items() if one in (name, *others)}
    return {name: [{"role": "user", "content": [{"text": "Sunny?"}]}] if name == "messages" else "Sunny?"}


@pytest.mark.parametrize("framework", _TEAMS)
def test_results_and_arguments_of_agents(framework: str, tmp_path: Path) -> None:
    """The expert is not asked, or asked something else; what was paid beside it is not paid again; and the
    reruns of these forks are exact."""
    if not is_installed(framework):
        pytest.skip(f"needs: {framework}")
    (tmp_path / "team.py").write_text(_PAY + _TEAMS[framework])
    home = tmp_path / "home"

    def lctl(*words: str) -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
        kept |= {"HOME": str(home), "XDG_DATA_HOME": str(home), "OPENAI_AGENTS_DISABLE_TRACING": "1"}
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        command = [sys.executable, "-m", "lctl", *words]
        environ = {**kept, **server.environ}
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with ModelServer(seed=1) as server:
        server.reply(_answer, times=None)
        lctl("run", "-o", "run.lctl.json", "team.py")
        events = list(open_log(tmp_path / "run.lctl.json").events())
        call = next(event for event in events if event.data.get("subagent"))
        asked = next(event.seq for event in events if event.type == "step_end")
        tool = call.data["tool"].lower().replace(" ", "_")
        name, old = next(iter(call.data["input"].items()))
        new = (
            '"Will it rain?"'
            if isinstance(old, str)
            else '[{"role": "user", "content": [{"text": "Rain?"}]}]'
        )
        allow = ["--allow", f"write:{home}", "--yes", "--tools", "recorded"]
        allow += ["--tool-policy", "final_answer=live"]
        for log, at, edit in (
            ("gave", call.seq, ["--result", f'tool:{tool}="Who knows?"']),
            ("asked", asked, ["--set", f"tool:{tool}.input.{name}={new}"]),
        ):
            before = server.count
            out = lctl("fork", "run.lctl.json", "-o", f"{log}.lctl.json", "--at", str(at), *edit, *allow)
            made = server.requests[before:]
            experts = ["You are the expert." in request.system for request in made]
            assert experts == ([False] if log == "gave" else [True, False])
            assert ("Who knows?" if log == "gave" else "It rains.") in str(made[-1].body)
            assert lctl("rerun", f"{log}.lctl.json", "--allow", f"write:{home}") == out
            assert server.count == before + len(made)
    assert (tmp_path / "paid.txt").read_text() == "paid "
