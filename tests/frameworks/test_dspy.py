"""DSPy: modules, agents, tools, over its own HTTP engine."""

from __future__ import annotations

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
