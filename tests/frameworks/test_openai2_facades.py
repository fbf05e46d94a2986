"""The names of the specification: recording that begins without `lctl.auto_instrument()`."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer

pytestmark = pytest.mark.frameworks

CREW = """
from crewai import LLM, Agent, Task
from lctl.crewai import LCTLCrew

scout = Agent(role="Scout", goal="Find", backstory="Knows maps.", llm=LLM(model="openai/gpt-4.1-mini"))
task = Task(description="Find a place.", expected_output="A place.", agent=scout)
print(LCTLCrew(agents=[scout], tasks=[task]).kickoff().raw)
"""
AUTOGEN = """
import asyncio
from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from lctl.autogen import enable_lctl

enable_lctl()
scout = AssistantAgent("Scout", model_client=OpenAIChatCompletionClient(model="gpt-4.1-mini"))
print(asyncio.run(scout.run(task="Find a place.")).messages[-1].content)
"""


@pytest.mark.parametrize(("needs", "program"), [("crewai", CREW), ("autogen_agentchat", AUTOGEN)])
def test_a_facade_alone_records(needs: str, program: str, tmp_path: Path) -> None:
    """Its program prints the answer and leaves a log with the agent's step and the model call in it."""
    if importlib.util.find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")
    with ModelServer() as server:
        server.reply("Rome.", times=None)
        environ = {**os.environ, **server.environ, "HOME": str(tmp_path), "LCTL_DIR": str(tmp_path / "logs")}
        environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=environ,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "Rome."
    [log] = (tmp_path / "logs").glob("*.lctl.json")
    starts = [event.to_dict() for event in open_log(log).events() if event.type == "step_start"]
    agents = [event["seq"] for event in starts if event["data"]["kind"] == "agent"]
    [call] = [event for event in starts if event["data"]["kind"] == "llm"]
    assert (call["agent"], call["step"]) == ("Scout", agents[-1])


@pytest.mark.parametrize("name", ["crewai", "autogen"])
def test_without_its_framework_a_facade_says_what_to_install(name: str) -> None:
    modules = ("crewai",) if name == "crewai" else ("autogen_agentchat", "autogen_core")
    if any(importlib.util.find_spec(module) for module in modules):
        pytest.skip(f"{modules[0]} is installed")
    code = f"import lctl.{name}" + ("; lctl.autogen.enable_lctl()" if name == "autogen" else "")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install" in done.stderr.splitlines()[-1]
