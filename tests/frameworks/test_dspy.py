"""DSPy: modules, agents, tools, over its own HTTP engine."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from inline_snapshot import snapshot

import lctl
import lctl_integrations
from lctl.testing import Fault, ModelServer, Reply, Request
from lctl.testing.integration_suite import Recorded
from tests.frameworks import outlines
from tests.frameworks.homes import AtHome
from tests.rerun.harness import LCTL, run

pytestmark = pytest.mark.frameworks


def _fields(**fields: str) -> str:
    said = "".join(f"[[ ## {name} ## ]]\n{value}\n\n" for name, value in fields.items())
    return f"{said}[[ ## completed ## ]]"


class TestDSPy(AtHome):
    program = Path(__file__).parent / "programs" / "dspy_modules.py"
    integration = "dspy"
    requires = ("dspy",)
    environ: ClassVar = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}

    def answer(self, request: Request) -> Any:
        said = request.turns[-1].text
        if said == "Refuse":
            return Fault(400)
        if said == "Cut":
            return Reply("All is well, and goes on.", fault=Fault(drop_after=0))
        first = said.rpartition("starting with the field `[[ ## ")[2].partition(" ##")[0]
        if first == "next_thought":
            tool = ("weather", "distance", "finish")[min(said.count("## observation_"), 2)]
            city = "Rome" if "Rome" in said else "Atlantis"
            args = "{}" if tool == "finish" else f'{{"city": "{city}"}}'
            return _fields(next_thought="I go on.", next_tool_name=tool, next_tool_args=args)
        if first == "reasoning" and "`[[ ## answer ## ]]`" in said:
            return _fields(reasoning="It is so.", answer="Sunny.")
        if first == "reasoning":
            return _fields(reasoning="It is so.", line="All is well.")
        return _fields(line="All is well.")

    @staticmethod
    def outline(events: list[dict[str, Any]]) -> list[str]:
        return outlines.outline(events, tokens=False)

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool."""
        assert self.outline(recorded.events) == snapshot(
            [
                "chain Journey: forward",
                "  agent ReAct: place -> answer",
                "    chain ReAct: ChainOfThought(forward)",
                "      chain ReAct: Predict(place, trajectory -> reasoning, answer)",
                "        llm ReAct",
                "    chain ReAct: Predict(place, trajectory -> next_thought, next_tool_name, next_tool_args)",
                "      llm ReAct",
                "    chain ReAct: Predict(place, trajectory -> next_thought, next_tool_name, next_tool_args)",
                "      llm ReAct",
                "    chain ReAct: Predict(place, trajectory -> next_thought, next_tool_name, next_tool_args)",
                "      llm ReAct",
                '    tool ReAct: distance{"city": "Atlantis"} = 800',
                '    tool ReAct: finish{} = "Completed."',
                '    tool ReAct: weather{"city": "Atlantis"} = LookupError',
                "  chain Journey: ChainOfThought(forward)",
                "    chain Journey: Predict(answer -> reasoning, line)",
                "      llm Journey",
                "chain Journey: forward",
                "  agent ReAct: place -> answer",
                "    chain ReAct: ChainOfThought(forward)",
                "      chain ReAct: Predict(place, trajectory -> reasoning, answer)",
                "        llm ReAct",
                "    chain ReAct: Predict(place, trajectory -> next_thought, next_tool_name, next_tool_args)",
                "      llm ReAct",
                "    chain ReAct: Predict(place, trajectory -> next_thought, next_tool_name, next_tool_args)",
                "      llm ReAct",
                "    chain ReAct: Predict(place, trajectory -> next_thought, next_tool_name, next_tool_args)",
                "      llm ReAct",
                '    tool ReAct: distance{"city": "Rome"} = 400',
                '    tool ReAct: finish{} = "Completed."',
                '    tool ReAct: weather{"city": "Rome"} = "Sunny in Rome."',
                "  chain Journey: ChainOfThought(forward)",
                "    chain Journey: Predict(answer -> reasoning, line)",
                "      llm Journey",
                "chain Journey: forward",
                "  agent ReAct: place -> answer",
                "    chain ReAct: ChainOfThought(forward)",
                "      chain ReAct: Predict(place, trajectory -> reasoning, answer)",
                "        llm ReAct",
                "    chain ReAct: Predict(place, trajectory -> next_thought, next_tool_name, next_tool_args)",
                "      llm ReAct",
                "    chain ReAct: Predict(place, trajectory -> next_thought, next_tool_name, next_tool_args)",
                "      llm ReAct",
                "    chain ReAct: Predict(place, trajectory -> next_thought, next_tool_name, next_tool_args)",
                "      llm ReAct",
                '    tool ReAct: distance{"city": "Rome"} = 400',
                '    tool ReAct: finish{} = "Completed."',
                '    tool ReAct: weather{"city": "Rome"} = "Sunny in Rome."',
                "  chain Journey: ChainOfThought(forward)",
                "    chain Journey: Predict(answer -> reasoning, line)",
                "      llm Journey",
                "chain main: Predict(answer -> line)",
                "  llm main",
                "chain main: Predict(answer -> line)",
                "  llm main",
                "chain main: Predict(answer -> line)",
                "  llm main",
                "chain main: Predict(answer -> line)",
                "  llm main",
                "llm main [error]",
                "  error main: connection_lost: connection closed with 302 body bytes outstanding",
                "llm main [error]",
                "  error main: invalid_format: The request was not valid.",
                'tool main: distance{"city": "Rome"} = 400',
                'tool main: weather{"city": "Atlantis"} = LookupError',
                'tool main: weather{"city": "Rome"} = "Sunny in Rome."',
                'tool main: weather{"city": "Rome"} = "Sunny in Rome."',
                'tool main: weather{"city": "Rome"} = "Sunny in Rome."',
                'tool main: weather{"city": "Rome"} = "Sunny in Rome."',
            ]
        )


class TestCode(AtHome):
    """Code of models that an interpreter executes in a process of its own: a rerun starts none."""

    program = Path(__file__).parent / "programs" / "dspy_code.py"
    integration = "dspy"
    requires = ("dspy",)
    environ: ClassVar = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}

    def answer(self, request: Request) -> Any:
        return _code(request)

    @staticmethod
    def outline(events: list[dict[str, Any]]) -> list[str]:
        """Without the code that DSPy itself executes for its `RLM`, and most of what that reads: both are long."""
        lines = outlines.outline(events, tokens=False)
        own = [line for line in lines if "Sandbox side of the dspy facade" not in line]
        return [re.sub(r"(A long text\. )+", "...", line) for line in own]

    def test_its_log(self, recorded: Recorded) -> None:
        """What was executed, what it gave, which tools and models it asked."""
        assert self.outline(recorded.events) == snapshot(
            [
                "agent RLM: context, query -> answer",
                "  chain RLM: Predict(variables_info, repl_history, iteration -> reasoning, code)",
                "    llm RLM",
                "  chain RLM: Predict(variables_info, repl_history, iteration -> reasoning, code)",
                "    llm RLM",
                "  llm RLM",
                '  tool RLM: execute_code{"code": "SUBMIT(answer=f\'{found} {n}\')", "variables": {"query": "What of it?"}} = {"final": {"answer": "A sub-answer. 1300"}}',
                '  tool RLM: execute_code{"code": "n = len(context)\\nfound = llm_query(\'What is it?\')\\nprint(found, weather(city=\'Rome\'))", "variables": {"context": "...", "query": "What of it?"}} = "A sub-answer. Sunny in Rome."',
                '  tool RLM: weather{"city": "Rome"} = "Sunny in Rome."',
                "chain main: ProgramOfThought(question -> answer)",
                "  chain main: ChainOfThought(forward)",
                "    chain main: Predict(question -> reasoning, generated_code)",
                "      llm main",
                "  chain main: ChainOfThought(forward)",
                "    chain main: Predict(question, final_generated_code, code_output -> reasoning, answer)",
                "      llm main",
                '  tool main: execute_code{"code": "x = 1 + 1\\nSUBMIT(x)"} = {"final": {"output": 2}}',
                'tool main: execute_code{"code": "1 / 0"} = dspy.primitives.code_interpreter.CodeExecutionError',
                'tool main: execute_code{"code": "SUBMIT(x)"} = {"final": {"output": "Sunny in Oslo."}}',
                'tool main: execute_code{"code": "n * 2", "variables": {"n": 21}} = 42',
                'tool main: execute_code{"code": "print("} = SyntaxError',
                'tool main: execute_code{"code": "weather(city=\'Atlantis\')"} = dspy.primitives.code_interpreter.CodeExecutionError',
                'tool main: execute_code{"code": "x + \'!\'"} = "Sunny in Oslo.!"',
                'tool main: execute_code{"code": "x = weather(city=\'Oslo\')\\nprint(x)"} = "Sunny in Oslo."',
            ]
        )

    def test_what_it_reads_is_in_the_log_once(self, recorded: Recorded) -> None:
        """Though an `RLM` gives it to its interpreter with each piece of code."""
        calls = [event["data"]["input"] for event in recorded.events if event["type"] == "tool_call"]
        read = [call["variables"] for call in calls if "query" in call.get("variables", {})]
        assert [set(variables) for variables in read] == [{"context", "query"}, {"query"}]


def test_a_fork_puts_another_result_in_the_place_of_executed_codes(tmp_path: Path) -> None:
    """What code submits and what it prints, without executing it; what comes later is executed."""
    pytest.importorskip("dspy")
    program = Path(__file__).parent / "programs" / "dspy_code.py"
    log, forked = tmp_path / "run.lctl.json", tmp_path / "forked.lctl.json"
    with ModelServer(seed=1) as server:
        server.reply(_code, times=None)
        environ = {
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "DSPY_CACHEDIR": str(tmp_path / "c"),
            **server.environ,
        }
        first = run([*LCTL, "run", "--output", str(log), str(program)], tmp_path, environ, log)
        assert first.code == 0, first.err
        thought = next(event for event in first.events if event["type"] == "tool_call")
        assert thought["data"]["output"] == {"final": {"output": 2}}
        submitted = 'tool:execute_code={"final": {"output": 3}}'
        command = [
            "fork",
            str(log),
            "--at",
            str(thought["seq"]),
            "--result",
            f"@{thought['seq']} {submitted}",
        ]
        more = ["--tools", "live", "--yes", "-o", str(forked)]
        again = run([*LCTL, *command, *more], tmp_path, environ, forked)
        assert again.code == 0, again.err
        told = [json.loads(one.out) for one in (first, again)]
    assert (told[0][0], told[1][0]) == ("It is 2.", "It is 3.")
    assert told[0][1:] == told[1][1:]


def _code(request: Request) -> str:
    """Code for those who ask for code."""
    asked = request.system.partition("Your output fields are:")[2].partition("All interactions")[0]
    if "`generated_code`" in asked:
        return _fields(reasoning="I count.", generated_code="```python\nx = 1 + 1\nSUBMIT(x)\n```")
    if "`code`" in asked and "A sub-answer." in request.text:
        return _fields(reasoning="I know.", code="```python\nSUBMIT(answer=f'{found} {n}')\n```")
    if "`code`" in asked:
        look = "n = len(context)\nfound = llm_query('What is it?')\nprint(found, weather(city='Rome'))"
        return _fields(reasoning="I look.", code=f"```python\n{look}\n```")
    if "`answer`" in asked:
        number = re.findall(r'"output": (\d+)', request.text)[-1]
        return _fields(reasoning="It is so.", answer=f"It is {number}.")
    return "A sub-answer."


def test_answers_of_the_cache_on_disk_are_on_the_tape(tmp_path: Path) -> None:
    """A run that asks, and one that finds its answer on disk: each runs again, whatever is there by then, and
    without leave to write there."""
    pytest.importorskip("dspy")
    program = Path(__file__).parent / "programs" / "dspy_cached.py"
    environ = {"DSPY_CACHEDIR": str(tmp_path / "cache"), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with ModelServer(seed=1) as server:
        server.reply(_fields(answer="Sunny."), times=None)
        logs = [tmp_path / f"{name}.lctl.json" for name in ("asked", "found")]
        for log in logs:
            command = [*LCTL, "run", "--output", str(log), str(program)]
            first = run(command, tmp_path, {**environ, **server.environ}, log)
            assert (first.code, first.out) == (0, "Sunny. Sunny.\n"), first.err
        assert server.count == 1
    for log in logs:
        again = run([*LCTL, "rerun", str(log)], tmp_path, environ, log)
        assert (again.code, again.out) == (0, "Sunny. Sunny.\n"), again.err
        assert "rerun exact" in again.err


@pytest.mark.parametrize("way", ["run", "auto_instrument"])
def test_what_a_model_is_shown_of_a_failed_tool_is_the_same_again(way: str, tmp_path: Path) -> None:
    """The traceback, whose frames a rerun has not; and when calls were made, which DSPy prints of them."""
    pytest.importorskip("dspy")
    program = Path(__file__).parent / "programs" / "dspy_told.py"
    log = tmp_path / "run.lctl.json"
    with ModelServer(seed=1) as server:
        server.reply(_shown, times=None)
        environ = {
            **server.environ,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "DSPY_CACHEDIR": str(tmp_path / "c"),
        }
        if way == "run":
            first = run([*LCTL, "run", "--output", str(log), str(program)], tmp_path, environ, log)
        else:
            environ["AUTO"] = "1"
            first = run([sys.executable, str(program)], tmp_path, environ, log)
            (log,) = (tmp_path / "logs").glob("*.lctl.json")
        told = [request.text for request in server.requests]
    assert first.code == 0, first.err
    assert any('raise LookupError(f"no {city}")' in text for text in told)
    for package in (lctl, lctl_integrations):
        assert not any(str(Path(str(package.__file__)).parent) in text for text in told)
    second = tmp_path / "again.lctl.json"
    again = run([*LCTL, "rerun", str(log), "--output", str(second)], tmp_path, environ, second)
    assert again.code == 0, again.err
    assert again.events == first._replace(log=log).events
    if way == "run":
        assert "User message:" in first.out
        assert again.out == first.out


def _shown(request: Request) -> str:
    said = request.turns[-1].text
    if "`[[ ## reasoning ## ]]`" in said:
        return _fields(reasoning="It is so.", answer="Nobody knows.")
    tool, args = ("finish", "{}") if "## observation_0" in said else ("weather", '{"city": "Rome"}')
    return _fields(next_thought="I go on.", next_tool_name=tool, next_tool_args=args)
