"""Agent frameworks that lctl has no integration of: recorded at the wire, run again from it."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

from tests.rerun.harness import PROGRAMS as FOLDER
from tests.rerun.harness import RERUNS, Result, World, record, rerun, run

pytestmark = [pytest.mark.frameworks, pytest.mark.long]

#: Program, the modules it imports.
PROGRAMS = {
    "framework_langchain.py": ("langchain", "langchain_openai"),
    "framework_langgraph.py": ("langgraph", "langchain_openai"),
    "framework_agents.py": ("agents",),
    "framework_pydantic_ai.py": ("pydantic_ai", "anthropic"),
    "framework_crewai.py": ("crewai",),
    "through_litellm.py": ("litellm",),
}
TIMES = min(RERUNS, 5)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_a_framework_is_the_same_again(program: str, tmp_path: Path) -> None:
    for name in PROGRAMS[program]:
        if not _is_there(name):
            pytest.skip(f"{name} is not installed")
    first = _recorded(program, tmp_path)
    assert sum(event["type"] == "exchange" for event in first.events) > 3
    home = tmp_path / "home"
    for _ in range(TIMES):
        again = rerun(first.log, tmp_path, "--allow", f"write:{home}", environ=_environ(home))
        assert again.code == 0, again.err
        assert again.out == first.out
        assert again.events == first.events


@pytest.mark.parametrize("program", ["langgraph_branches.py", "langgraph_interrupts.py"])
def test_branches_in_threads_are_the_same_in_a_recording_by_auto_instrument(
    program: str, tmp_path: Path
) -> None:
    """Which of a graph's branches ends first nothing orders, and nothing that reaches it depends on it. What
    they ask of a human has an id that is new in each run."""
    pytest.importorskip("langgraph")
    first = run([sys.executable, str(FOLDER / program)], tmp_path, {}, tmp_path)
    assert first.code == 0, first.err
    (log,) = (tmp_path / "logs").glob("*.lctl.json")
    first = first._replace(log=log)
    for _ in range(TIMES):
        again = rerun(log, tmp_path)
        assert again.code == 0, again.err
        assert (again.out, again.events) == (first.out, first.events)


@pytest.mark.parametrize("way", ["full", "auto"])
def test_limits_in_seconds_that_libraries_keep_come_when_they_came(way: str, tmp_path: Path) -> None:
    """Of a workflow, of its retries, of tenacity: they look at clocks, and wait on the loop."""
    for name in ("llama_index.core", "llama_index.llms.openai"):
        if not _is_there(name):
            pytest.skip(f"{name} is not installed")
    with World() as world:
        first = _recorded_by(way, "llama_index_limits.py", tmp_path, world.environ)
    assert first.code == 0, first.err
    assert "Slow: Operation timed out after 0.5 seconds" in first.out
    again = rerun(first.log, tmp_path)
    assert again.code == 0, again.err
    assert (again.out, again.events) == (first.out, first.events)


@pytest.mark.parametrize("way", ["full", "auto"])
def test_prices_that_litellm_asks_for_again_are_no_part_of_the_program(way: str, tmp_path: Path) -> None:
    """How often it does in its thread hangs on how long the program lives; a rerun has no network to ask."""
    pytest.importorskip("litellm")
    with World() as world:
        environ = {**world.environ, **_environ(tmp_path / "home"), "HTTPS_PROXY": "http://127.0.0.1:9"}
        environ["LITELLM_LOCAL_MODEL_COST_MAP"] = ""
        if way == "full":
            first = record("litellm_prices.py", tmp_path, environ)
        else:
            first = run(
                [sys.executable, str(FOLDER / "litellm_prices.py"), "auto"], tmp_path, environ, tmp_path
            )
            (log,) = (tmp_path / "logs").glob("*.lctl.json")
            first = first._replace(log=log)
    assert first.code == 0, first.err
    assert "retrying in" in first.err
    again = rerun(first.log, tmp_path, environ={"LITELLM_LOCAL_MODEL_COST_MAP": ""})
    assert again.code == 0, again.err
    assert (again.out, again.events) == (first.out, first.events)


@pytest.mark.parametrize("way", ["full", "auto"])
def test_many_tools_of_llama_index_at_once_are_the_same(way: str, tmp_path: Path) -> None:
    """Three agents whose tools take a few milliseconds while others are begun."""
    for name in ("llama_index.core", "llama_index.llms.openai"):
        if not _is_there(name):
            pytest.skip(f"{name} is not installed")
    with World() as world:
        first = _recorded_by(way, "framework_llama_index.py", tmp_path, world.environ)
    assert first.code == 0, first.err
    for _ in range(TIMES):
        again = rerun(first.log, tmp_path)
        assert again.code == 0, again.err
        assert (again.out, again.events) == (first.out, first.events)


def _recorded_by(way: str, program: str, folder: Path, environ: dict[str, str]) -> Result:
    """By `lctl run`, or by `auto_instrument()` in the program itself."""
    if way == "full":
        return record(program, folder, environ)
    first = run([sys.executable, str(FOLDER / program), "auto"], folder, environ, folder)
    (log,) = (folder / "logs").glob("*.lctl.json")
    return first._replace(log=log)


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of the package it is in
        return False


def _environ(home: Path) -> dict[str, str]:
    """CrewAI keeps a database in the user's home, and behaves otherwise when it finds one: files are not on
    the tape. Here the home is a folder of the test's, where a rerun may write too, and every run finds it
    empty. litellm does not fetch its prices, nor does CrewAI report to its makers."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    return {
        "HOME": str(home),
        "XDG_DATA_HOME": str(home),
        "CREWAI_DISABLE_TELEMETRY": "true",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def _recorded(program: str, folder: Path) -> Result:
    with World() as world:
        nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9"}  # what frameworks report to their makers
        first = record(program, folder, {**world.environ, **_environ(folder / "home"), **nowhere})
        assert world.count > 0
    assert first.code == 0, first.err
    return first
