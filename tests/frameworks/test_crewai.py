"""CrewAI: crews, tasks, agents, delegation, flows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from inline_snapshot import snapshot

from lctl.testing import Fault, ModelServer, Reply, Request
from lctl.testing.integration_suite import Recorded
from tests.frameworks.homes import AtHome
from tests.frameworks.outlines import outline
from tests.rerun.harness import LCTL, Result, run

pytestmark = [pytest.mark.frameworks, pytest.mark.long]


HOUSE = """
import os
if os.environ.get("AUTO"):
    import lctl
    lctl.auto_instrument()
from crewai import LLM, Agent, Crew, Task

def crew(name):
    agent = Agent(role=name, goal="Answer.", backstory="-", llm=LLM(model="openai/gpt-4.1-mini"))
    return Crew(agents=[agent], tasks=[Task(description="Go.", expected_output="a word", agent=agent)])

print([crew(name).kickoff().raw for name in ("Ann", "Bob")])
"""


@pytest.mark.parametrize("way", ["run", "auto_instrument"])
def test_a_rerun_leaves_what_crewai_keeps_at_home(way: str, tmp_path: Path) -> None:
    """Its database, its settings, and that it has asked the user for consent, which the first run on a machine
    does: a rerun has places of its own for them, and asks again."""
    pytest.importorskip("crewai", reason="crewai is not installed")
    (tmp_path / "house.py").write_text(HOUSE)
    home = tmp_path / "home"
    home.mkdir()
    with ModelServer(seed=1) as server:
        environ = {**server.environ, "OTEL_SDK_DISABLED": "true", "HOME": str(home), "LCTL_DIR": "logs"}
        if way == "auto_instrument":
            first = run([sys.executable, "house.py"], tmp_path, {**environ, "AUTO": "1"}, tmp_path / "x")
            first = first._replace(log=next((tmp_path / "logs").glob("*.lctl.json")))
        else:
            log = tmp_path / "run.lctl.json"
            first = run([*LCTL, "run", "--output", str(log), "house.py"], tmp_path, environ, log)
    assert first.code == 0, first.err
    kept = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert {".crewai_user.json", "latest_kickoff_task_outputs.db"} <= {path.name for path in kept}
    again = run([*LCTL, "rerun", str(first.log)], tmp_path, environ, first.log)
    assert (again.code, again.out) == (0, first.out), again.err
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == kept


ASKED = """
from crewai import LLM, Agent, Crew, Process, Task

llm = LLM(model="openai/gpt-4.1-mini")
scout = Agent(role="Scout", goal="Find.", backstory="-", llm=llm)
task = Task(description="Ask them.", expected_output="a word")
print(Crew(agents=[scout], tasks=[task], process=Process.hierarchical, manager_llm=llm).kickoff().raw)
"""


def test_an_agent_that_is_asked_again_while_it_works(tmp_path: Path) -> None:
    """CrewAI refuses it, three times: each is an end of its own, and none of what is under way."""
    pytest.importorskip("crewai", reason="crewai is not installed")

    def answer(request: Request) -> Any:
        if "tools" not in request.body:  # the scout
            return Reply("Found.", fault=Fault(delay=1))
        asked = {"question": "Where?", "context": "-", "coworker": "Scout"}
        both = [("ask_question_to_coworker", asked)] * 2
        return "Done." if request.tool_results else Reply(tool_calls=both)

    first = _recorded(ASKED, answer, tmp_path)
    found = outline(first.events)
    at = found.index("        llm Scout 103+2")
    assert found[at - 1] == "      agent Scout: execute"
    assert found.count("      agent Scout: execute [error]") == 3


KNOWN = """
import os
from crewai import LLM, Agent, Crew, Task
from crewai.knowledge.source.string_knowledge_source import StringKnowledgeSource

model = {"model": "text-embedding-3-small", "api_key": "test", "api_base": os.environ["OPENAI_BASE_URL"]}
pears = StringKnowledgeSource(content="Pears are green.")
for name in ("Ann", "Bob"):
    agent = Agent(role=name, goal="Answer.", backstory="-", llm=LLM(model="openai/gpt-4.1-mini", max_retries=0))
    task = Task(description="Pears?", expected_output="a word", agent=agent)
    crew = Crew(agents=[agent], tasks=[task], knowledge_sources=[pears], embedder={"provider": "openai", "config": model})
    print(crew.kickoff().raw)
"""


def test_what_is_looked_up_in_knowledge(tmp_path: Path) -> None:
    """The search is a step, with the call that makes a query for it, and ends where that fails."""
    pytest.importorskip("crewai", reason="crewai is not installed")
    pytest.importorskip("chromadb", reason="chromadb is not installed")
    queries = iter(("What are pears?", Fault(400)))

    def answer(request: Request) -> Any:
        if request.operation == "embeddings":
            return None
        return next(queries) if "rewrite" in request.turns[0].text else "Green."

    first = _recorded(KNOWN, answer, tmp_path)
    assert "lctl: could not" not in first.err
    found = [line for line in outline(first.events, tokens=False) if "embedding" not in line]
    assert found == snapshot(
        [
            "chain crew: kickoff",
            "  task Ann: Pears?",
            "    agent Ann: execute",
            "      llm Ann",
            "    retriever Ann: knowledge",
            "      llm Ann",
            "chain crew: kickoff",
            "  task Bob: Pears?",
            "    agent Bob: execute",
            "      llm Bob",
            "    retriever Bob: knowledge [error]",
            "      error Bob: invalid_format: Error code: 400 - {'error': {'message': 'The request was not valid.', 'type': 'i",
            "      llm Bob [error]",
            "        error Bob: invalid_format: The request was not valid.",
        ]
    )
    ends = [e["data"] for e in first.events if e["type"] == "step_end" and "query" in e["data"]]
    assert [(data["query"], data["output"]) for data in ends] == snapshot(
        [("What are pears?", "Additional Information: Pears are green.")]
    )


CALLED = """
import json
from pathlib import Path
from crewai import LLM

def weather(city):
    with Path("asked.txt").open("a") as file:
        file.write(city)
    return {"Rome": "Sunny."}[city]

city = {"type": "object", "properties": {"city": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "weather", "description": "-", "parameters": city}}]
for model in ("openai/gpt-4.1-mini", "anthropic/claude-sonnet-4-5"):
    llm = LLM(model=model, max_tokens=50)
    for place in ("Rome", "Oslo"):
        print(llm.call(f"How is {place}?", tools=tools, available_functions={"weather": weather}))
"""


def test_functions_that_a_model_is_given_to_call(tmp_path: Path) -> None:
    """Not as tools of CrewAI, but with the call: each is a tool call, and not called in a rerun."""
    pytest.importorskip("crewai", reason="crewai is not installed")

    def answer(request: Request) -> Any:
        city = "Rome" if "Rome" in request.text else "Oslo"
        return Reply(tool_calls=[("weather", {"city": city})])

    first = _recorded(CALLED, answer, tmp_path)
    assert [line for line in outline(first.events) if line.startswith("tool")] == [
        'tool main: weather{"city": "Oslo"} = KeyError',
        'tool main: weather{"city": "Oslo"} = KeyError',
        'tool main: weather{"city": "Rome"} = "Sunny."',
        'tool main: weather{"city": "Rome"} = "Sunny."',
    ]
    (tmp_path / "asked.txt").unlink()
    again = run([*LCTL, "rerun", str(first.log)], tmp_path, {"OTEL_SDK_DISABLED": "true"}, first.log)
    assert (again.code, again.out) == (0, first.out), again.err
    assert not (tmp_path / "asked.txt").exists()


COUNTED = """
from crewai import LLM
from crewai.events.utils.console_formatter import ConsoleFormatter

started = ConsoleFormatter.handle_tool_usage_started

def hesitate(*args, **kwargs):
    for _ in range(id(object()) // 16 % 100 * 10_000):  # other times in each run
        pass
    started(*args, **kwargs)

ConsoleFormatter.handle_tool_usage_started = hesitate
city = {"type": "object", "properties": {"city": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "weather", "description": "-", "parameters": city}}]
llm = LLM(model="openai/gpt-4.1-mini", max_tokens=50)
for place in range(30):
    print(llm.call(f"How is {place}?", tools=tools, available_functions={"weather": lambda city: "Sunny."}))
"""


def test_how_often_a_tool_was_used_is_counted_in_turn(tmp_path: Path) -> None:
    """By threads that print it, whoever of them comes first."""
    pytest.importorskip("crewai", reason="crewai is not installed")

    def answer(request: Request) -> Any:
        return Reply(tool_calls=[("weather", {"city": "Rome"})])

    first = _recorded(COUNTED, answer, tmp_path)
    again = run([*LCTL, "rerun", str(first.log)], tmp_path, {"OTEL_SDK_DISABLED": "true"}, first.log)
    assert (again.code, again.out) == (0, first.out), again.err
    assert first.out.count("Tool Execution Completed (#") == 30


def _recorded(text: str, answer: Any, folder: Path) -> Result:
    """The program of `text`, run in a home of its own."""
    (folder / "program.py").write_text(text)
    log = folder / "run.lctl.json"
    with ModelServer(seed=1) as server:
        server.reply(answer, times=None)
        environ = {**server.environ, "OTEL_SDK_DISABLED": "true", "HOME": str(folder)}
        environ["XDG_DATA_HOME"] = str(folder / "data")
        first = run([*LCTL, "run", "--output", str(log), "program.py"], folder, environ, log)
    assert first.code == 0, first.err
    return first


class TestCrewAI(AtHome):
    program = Path(__file__).parent / "programs" / "crewai_crew.py"
    integration = "crewai"
    requires = ("crewai",)
    environ: ClassVar = {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"}

    def answer(self, request: Request) -> Any:
        text, done = request.turns[-1].text, request.tool_results
        if "Find a place" in text and not done:
            return Reply(tool_calls=[("weather", {"city": "Rome"}), ("weather", {"city": "Atlantis"})])
        if "Dive for it" in text and not done:
            return Reply(tool_calls=[("weather", {"city": "Atlantis"})])
        if "Measure the way" in text and not done:
            return Reply(tool_calls=[("distance", {"city": "Rome"})])
        if "Write a line" in text and not done:
            task = {"task": "Check the weather.", "context": "Rome", "coworker": "scout"}
            return Reply(tool_calls=[("delegate_work_to_coworker", task)])
        return f"Rome is sunny ({len(done)})."

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool; the tokens of each call are the wire's."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent Diver: execute [error]",
                "  error Diver: ToolExecutionFailedError: Tool 'weather' failed during 'Dive for it.': no such city (code: LookupError)",
                "  llm Diver 123+15",
                '  tool Diver: weather{"city": "Atlantis"} (id) = LookupError',
                "agent Rower: execute",
                "  llm Rower 36+5",
                "chain Journey: kickoff",
                "  node Journey: plan",
                "  node Journey: travel",
                "    chain travel: kickoff",
                "      task Guide: Measure the way.",
                "        agent Guide: execute",
                "          llm Guide 129+14",
                "          llm Guide 150+5",
                '          tool Guide: distance{"city": "Rome"} (id) = {"city": "Rome", "km": 400}',
                "      task Scout: find",
                "        agent Scout: execute",
                "          llm Scout 126+29",
                "          llm Scout 164+5",
                '          tool Scout: weather{"city": "Atlantis"} (id) = LookupError',
                '          tool Scout: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "      task Writer: Write a line for Rome.",
                "        agent Writer: execute",
                "          agent Scout: execute",
                "            llm Scout 158+5",
                "          handoff Writer -> Scout: Check the weather.",
                "          llm Writer 478+32",
                "          llm Writer 515+5",
                '          tool Writer: Delegate work to coworker{"context": "Rome", "coworker": "scout", "task": "Check the weather."} (id) = "Rome is sunny (0)."',
                "chain dive: kickoff [error]",
                "  task Diver: Dive for it. [error]",
                "    agent Diver: execute [error]",
                "      error Diver: ToolExecutionFailedError: Tool 'weather' failed during 'Dive for it.': no such city (code: LookupError)",
                "      llm Diver 123+15",
                '      tool Diver: weather{"city": "Atlantis"} (id) = LookupError',
                "chain travel: kickoff",
                "  task Guide: Measure the way.",
                "    agent Guide: execute",
                "      llm Guide 129+14",
                "      llm Guide 150+5",
                '      tool Guide: distance{"city": "Rome"} (id) = {"city": "Rome", "km": 400}',
                "  task Scout: find",
                "    agent Scout: execute",
                "      llm Scout 126+29",
                "      llm Scout 164+5",
                '      tool Scout: weather{"city": "Atlantis"} (id) = LookupError',
                '      tool Scout: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  task Writer: Write a line for Ann.",
                "    agent Writer: execute",
                "      agent Scout: execute",
                "        llm Scout 158+5",
                "      handoff Writer -> Scout: Check the weather.",
                "      llm Writer 478+32",
                "      llm Writer 515+5",
                '      tool Writer: Delegate work to coworker{"context": "Rome", "coworker": "scout", "task": "Check the weather."} (id) = "Rome is sunny (0)."',
                "chain travel: kickoff",
                "  task Guide: Measure the way.",
                "    agent Guide: execute",
                "      llm Guide 129+14",
                "      llm Guide 150+5",
                '      tool Guide: distance{"city": "Rome"} (id) = {"city": "Rome", "km": 400}',
                "  task Scout: find",
                "    agent Scout: execute",
                "      llm Scout 126+29",
                "      llm Scout 164+5",
                '      tool Scout: weather{"city": "Atlantis"} (id) = LookupError',
                '      tool Scout: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  task Writer: Write a line for Bob.",
                "    agent Writer: execute",
                "      agent Scout: execute",
                "        llm Scout 158+5",
                "      handoff Writer -> Scout: Check the weather.",
                "      llm Writer 478+32",
                "      llm Writer 515+5",
                '      tool Writer: Delegate work to coworker{"context": "Rome", "coworker": "scout", "task": "Check the weather."} (id) = "Rome is sunny (0)."',
                "chain travel: kickoff",
                "  task Guide: Measure the way.",
                "    agent Guide: execute",
                "      llm Guide 129+14",
                "      llm Guide 150+5",
                '      tool Guide: distance{"city": "Rome"} (id) = {"city": "Rome", "km": 400}',
                "  task Scout: find",
                "    agent Scout: execute",
                "      llm Scout 126+29",
                "      llm Scout 164+5",
                '      tool Scout: weather{"city": "Atlantis"} (id) = LookupError',
                '      tool Scout: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  task Writer: Write a line for Cid.",
                "    agent Writer: execute",
                "      agent Scout: execute",
                "        llm Scout 158+5",
                "      handoff Writer -> Scout: Check the weather.",
                "      llm Writer 478+32",
                "      llm Writer 515+5",
                '      tool Writer: Delegate work to coworker{"context": "Rome", "coworker": "scout", "task": "Check the weather."} (id) = "Rome is sunny (0)."',
                "chain travel: kickoff",
                "  task Guide: Measure the way.",
                "    agent Guide: execute",
                "      llm Guide 129+14",
                "      llm Guide 150+5",
                '      tool Guide: distance{"city": "Rome"} (id) = {"city": "Rome", "km": 400}',
                "  task Scout: find",
                "    agent Scout: execute",
                "      llm Scout 126+29",
                "      llm Scout 164+5",
                '      tool Scout: weather{"city": "Atlantis"} (id) = LookupError',
                '      tool Scout: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  task Writer: Write a line for Dot.",
                "    agent Writer: execute",
                "      agent Scout: execute",
                "        llm Scout 158+5",
                "      handoff Writer -> Scout: Check the weather.",
                "      llm Writer 478+32",
                "      llm Writer 515+5",
                '      tool Writer: Delegate work to coworker{"context": "Rome", "coworker": "scout", "task": "Check the weather."} (id) = "Rome is sunny (0)."',
                "chain travel: kickoff",
                "  task Guide: Measure the way.",
                "    agent Guide: execute",
                "      llm Guide 129+14",
                "      llm Guide 150+5",
                '      tool Guide: distance{"city": "Rome"} (id) = {"city": "Rome", "km": 400}',
                "  task Scout: find",
                "    agent Scout: execute",
                "      llm Scout 126+29",
                "      llm Scout 164+5",
                '      tool Scout: weather{"city": "Atlantis"} (id) = LookupError',
                '      tool Scout: weather{"city": "Rome"} (id) = "Sunny in Rome."',
                "  task Writer: Write a line for Eve.",
                "    agent Writer: execute",
                "      agent Scout: execute",
                "        llm Scout 158+5",
                "      handoff Writer -> Scout: Check the weather.",
                "      llm Writer 478+32",
                "      llm Writer 515+5",
                '      tool Writer: Delegate work to coworker{"context": "Rome", "coworker": "scout", "task": "Check the weather."} (id) = "Rome is sunny (0)."',
            ]
        )
