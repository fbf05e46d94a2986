"""CrewAI's memory: what it found, memories of earlier runs among it, is found again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lctl.testing import ModelServer, Reply, Request
from tests.rerun.harness import LCTL, Result, run

pytestmark = [pytest.mark.frameworks, pytest.mark.long]

PROGRAM = """
import os
if os.environ.get("AUTO"):
    import lctl
    lctl.auto_instrument()
from crewai import LLM, Agent, Crew, Task

ann = Agent(role="Ann", goal="Answer.", backstory="-", llm=LLM(model="openai/gpt-4.1-mini"))
task = Task(description="Say what we know of pears.", expected_output="a sentence", agent=ann)
print(Crew(agents=[ann], tasks=[task], memory=True).kickoff().raw)
"""


def answered(request: Request) -> Reply:
    text = " ".join(turn.text for turn in request.turns)
    if "You extract discrete" in text:
        return Reply(text=json.dumps({"memories": ["Pears are green."]}))
    return Reply(text="Green, as we know." if "Pears are green." in text else "Green, I guess.")


@pytest.mark.parametrize("way", ["run", "auto_instrument"])
def test_memories_of_earlier_runs_are_found_again(way: str, tmp_path: Path) -> None:
    pytest.importorskip("crewai", reason="crewai is not installed")
    pytest.importorskip("lancedb", reason="lancedb is not installed")
    (tmp_path / "pears.py").write_text(PROGRAM)
    with ModelServer(seed=1) as server:
        server.reply(answered, times=None)
        environ = {**server.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
        environ |= {"OTEL_SDK_DISABLED": "true", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        before = _recorded(way, "before", tmp_path, environ)
        first = _recorded(way, "first", tmp_path, environ)
    assert "Green, I guess." in before.out
    assert "Green, as we know." in first.out
    found = [e["data"] for e in first.events if e["data"].get("key") == "crewai memory search"]
    assert any(data["value"]["found"] for data in found)
    again = run([*LCTL, "rerun", str(first.log)], tmp_path, environ, first.log)
    assert again.out == first.out, again.err
    if way == "auto_instrument":  # by `lctl run` threads that keep memories may be told in another order
        assert again.code == 0, again.err


def _recorded(way: str, name: str, folder: Path, environ: dict[str, str]) -> Result:
    log = folder / f"{name}.lctl.json"
    if way == "run":
        result = run([*LCTL, "run", "--output", str(log), "pears.py"], folder, environ, log)
    else:
        logs = {**environ, "AUTO": "1", "LCTL_DIR": name}
        result = run([sys.executable, "pears.py"], folder, logs, log)
        result = result._replace(log=next((folder / name).glob("*.lctl.json")))
    assert result.code == 0, result.err
    return result
