"""The demo: what it records, that a seed fixes it, and what it says without the SDKs."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from lctl.demo import DemoResult, run_demo
from lctl.errors import MissingExtra
from lctl.instrument.bodies import rebuild_body
from tests.warm.starting import python_path

pytest.importorskip("openai")
pytest.importorskip("anthropic")

ROOT = Path(__file__).parents[3]
#: Keys whose value is a time, or a hash over times.
TIMES = re.compile(r"^(date|timestamp|.*_ms|state_hash|events_hash)$")
#: Times inside the wire's own bytes, and the port the system chose.
ON_THE_WIRE = re.compile(r'"created(_at)?": ?\d+|127\.0\.0\.1:\d+')


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[DemoResult]:
    """Two recordings with seed 7, one with seed 8."""
    folder = tmp_path_factory.mktemp("demo")
    return [run_demo(seed, folder / f"{n}.lctl.json") for n, seed in enumerate((7, 7, 8))]


def bare(value: Any) -> Any:
    """A value without times and ports."""
    if isinstance(value, dict):
        return {k: bare(v) for k, v in value.items() if not TIMES.search(k)}
    if isinstance(value, list):
        return [bare(v) for v in value]
    return ON_THE_WIRE.sub("", value) if isinstance(value, str) else value


def content(result: DemoResult) -> list[Any]:
    """The events of a demo without times. Stream chunks keep their bytes and lose their arrival."""
    events = [e.to_dict() for e in open_log(result.path).events()]
    for event in events:
        if event["type"] in ("exchange", "tool_call"):
            for when in ("at", "turn", "counted"):  # turns of the loop until the network brought it
                event["data"].pop(when, None)
        if "chunks" in event["data"]:
            event["data"]["chunks"] = rebuild_body(event["data"], {}).decode()
            event["data"].pop("around", None)
    return [bare(event) for event in events]


def test_the_story_is_in_the_log(logs: list[DemoResult]) -> None:
    """Three agents, two providers, a retried 429, parallel tools, hand-offs, a consensus, a repair."""
    result = logs[0]
    events = list(open_log(result.path).events())
    assert 25 <= result.events == len(events) <= 70
    assert result.agents == ("code-analyzer", "security-reviewer", "fix-implementer")
    assert (result.model_calls, result.attempts, result.errors) == (7, 8, 1)
    assert sorted(result.facts) == ["F1", "F2", "F3"] and result.facts["F1"][1] == 0.99
    assert "2 rows before and 0 after" in result.answer and result.tokens > 500
    types = [e.type for e in events]
    assert types.count("handoff") == 3 and types.count("checkpoint") == 1
    llm = [e.data for e in events if e.type == "step_start" and e.data.get("kind") == "llm"]
    assert {d["operation"] for d in llm} == {"chat.completions", "messages", "responses"}
    assert {d["provider"] for d in llm} == {"openai", "anthropic"}
    assert [d for d in llm if d.get("stream")] and all(
        e.data["outcome"] == "success" for e in events if e.type == "step_end"
    )
    consensus = [e.data["consensus"] for e in events if "consensus" in e.data]
    assert consensus[0]["assessors"] == ["code-analyzer", "security-reviewer"]


def test_each_tool_call_is_recorded_once(logs: list[DemoResult]) -> None:
    """The decorator's event stands; the same call is not derived from the messages as well."""
    calls = [e.data for e in open_log(logs[0].path).events() if e.type == "tool_call"]
    assert [c["tool"] for c in calls] == ["grep", "grep", "grep", "apply_fix"]
    assert calls[-1]["output"]["exploit_rows"] == [2, 0] and logs[0].tool_calls == 4


def test_the_two_analyses_overlap(logs: list[DemoResult]) -> None:
    """Both steps of the analyzer are open at once, each with its own model calls."""
    starts = [e for e in open_log(logs[0].path).events() if e.type == "step_start"]
    analyses = [e.seq for e in starts if e.agent == "code-analyzer" and e.data.get("kind") != "llm"]
    ends = {e.step: e.seq for e in open_log(logs[0].path).events() if e.type == "step_end"}
    assert analyses[1] < ends[analyses[0]] < ends[analyses[1]]
    calls = [e.step for e in starts if e.agent == "code-analyzer" and e.data.get("kind") == "llm"]
    assert [calls.count(step) for step in analyses] == [2, 2]


def test_the_same_seed_gives_the_same_log(logs: list[DemoResult]) -> None:
    """Event by event, nothing but times differs."""
    for one, other in zip(content(logs[0]), content(logs[1]), strict=True):
        assert one == other


def test_another_seed_gives_another_review(logs: list[DemoResult]) -> None:
    """Other facts, from other tool inputs or other words."""
    assert logs[0].facts != logs[2].facts
    assert content(logs[0]) != content(logs[2])


@pytest.mark.slow
def test_printing_and_bad_arguments(tmp_path: Path) -> None:
    """`python -m lctl.demo 3` prints what was recorded; anything else is a usage line."""
    env = {**os.environ, "PYTHONPATH": python_path(ROOT, ROOT / "integrations")}
    command = [sys.executable, "-m", "lctl.demo"]
    done = subprocess.run([*command, "3"], cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    (log,) = (tmp_path / ".lctl").glob("*.lctl.json")
    assert done.stdout.endswith(f"recorded in {log.relative_to(tmp_path)}\n")
    assert "7 model calls in 8 attempts, 4 tool calls" in done.stdout
    wrong = subprocess.run(
        [*command, "x"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert (wrong.returncode, wrong.stderr) == (2, "usage: python -m lctl.demo [SEED]\n")


def test_it_runs_inside_a_running_loop(logs: list[DemoResult], tmp_path: Path) -> None:
    """As in a notebook cell; the recording is the same, but for where the turns of that loop are counted."""

    async def cell() -> DemoResult:
        return run_demo(7, tmp_path / "x.lctl.json")

    result = asyncio.run(cell())
    assert (result.agents, result.facts) == (logs[0].agents, logs[0].facts)
    recorded, expected = (
        [(event.type, event.step) for event in open_log(path).events() if event.type != "ambient"]
        for path in (result.path, logs[0].path)
    )
    assert recorded == expected


def test_without_the_sdks_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One line with the command, before anything was recorded."""
    monkeypatch.setattr("lctl.demo.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'lctl\[demo\]'"):
        run_demo(1, tmp_path / "x.lctl.json")
    assert not list(tmp_path.iterdir())
