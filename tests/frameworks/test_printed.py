"""What frameworks give is printed with the ids and times they put into it, and some write the time into the
prompt. A rerun of `lctl run` draws the same ids and reads the same times."""

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

from lctl.testing import Reply, Request
from lctl.testing.server import ModelServer

pytestmark = [pytest.mark.frameworks, pytest.mark.long]

_PROGRAMS = Path(__file__).parent / "programs"
#: What each program needs, by its name.
_NEEDS = {
    "agents": ("agents", "pydantic_ai"),
    "agno": ("agno",),
    "autogen": ("autogen_agentchat", "autogen_ext"),
    "crewai": ("crewai",),
    "dspy": ("dspy",),
    "haystack": ("haystack",),
    "langchain": ("langchain", "langchain_openai", "langgraph"),
    "strands": ("strands",),
}
_QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "OTEL_SDK_DISABLED": "true",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "OPENAI_AGENTS_DISABLE_TRACING": "0",
    "HTTPS_PROXY": "http://127.0.0.1:9",
}
_ADDRESS = re.compile(r" at 0x[0-9a-f]+>")


def _answer(request: Request) -> Any:
    if any(name.startswith("to_") for name in request.tools):
        return {0: Reply(tool_calls=[("to_ann", {})]), 1: Reply(tool_calls=[("to_bob", {})])}.get(
            len(request.tool_results), "Both are done."
        )
    if "turn" in request.tools and request.last_text == "use the tool" and not request.tool_results:
        return Reply(tool_calls=[("turn", {"text": "abc"})])
    if "[[ ##" in request.last_text:
        return "[[ ## answer ## ]]\nThat.\n\n[[ ## completed ## ]]"
    return f"After {len(request.body['messages'])} messages."


def _lctl(words: list[str], folder: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)  # CrewAI keeps a database there, and does more where it has none
    home.mkdir()
    return subprocess.run(
        [sys.executable, "-m", "lctl", *words],
        cwd=folder,
        env={**kept, **_QUIET, "HOME": str(home), "XDG_DATA_HOME": str(home), **environ},
        capture_output=True,
        text=True,
        timeout=180,
    )


@pytest.mark.parametrize("name", _NEEDS)
def test_what_is_printed_is_printed_again(name: str, tmp_path: Path) -> None:
    for module in _NEEDS[name]:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs: {module}")
    with ModelServer(seed=5) as server:
        server.reply(_answer, times=None)
        program = str(_PROGRAMS / f"printed_{name}.py")
        recorded = _lctl(
            ["run", "-o", "run.lctl.json", program], tmp_path, {**server.environ, "LCTL_STRICT": "1"}
        )
        assert recorded.returncode == 0, recorded.stderr
    again = _lctl(["rerun", "run.lctl.json", "--allow", f"write:{tmp_path}"], tmp_path, {})
    assert _ADDRESS.sub("", again.stdout) == _ADDRESS.sub("", recorded.stdout), again.stderr
    assert again.returncode == 0, again.stderr
    assert "log equal, output equal" in again.stderr, again.stderr


def test_a_state_that_a_tool_hands_on_by_one_line(tmp_path: Path) -> None:
    """With the messages in it, each once: of a recording by `auto_instrument()`, which holds no ids."""
    for module in _NEEDS["langchain"]:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs: {module}")
    text = (_PROGRAMS / "printed_langchain.py").read_text()
    program = tmp_path / "program.py"
    program.write_text(
        text.replace("import asyncio\n", "import asyncio\nimport lctl; lctl.auto_instrument()\n", 1)
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
    with ModelServer(seed=5) as server:
        server.reply(_answer, times=None)
        recorded = subprocess.run(
            [sys.executable, str(program)],
            cwd=tmp_path,
            env={**kept, **server.environ},
            capture_output=True,
            text=True,
            timeout=180,
        )
    assert recorded.returncode == 0, recorded.stderr
    (log,) = (tmp_path / ".lctl").glob("*.lctl.json")
    again = _lctl(["rerun", str(log)], tmp_path, {})
    assert again.returncode == 0, again.stderr
    assert "log equal" in again.stderr
