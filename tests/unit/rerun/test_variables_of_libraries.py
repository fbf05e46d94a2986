"""A recording by one line runs again under the variables on which hangs what libraries send."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.instrument import provenance
from lctl.testing import ModelServer
from tests.unit.rerun.commands import Run

pytestmark = [pytest.mark.slow, pytest.mark.interpreter]

PROGRAM = """
import lctl
lctl.auto_instrument()
from openai import OpenAI

with OpenAI() as client:
    asked = {"messages": [{"role": "user", "content": "Hello."}]}
    if client.base_url.host != "api.openai.com":  # as LangChain does with `stream_options`
        asked["seed"] = 3
    print(client.base_url.port, client.organization)
    print(client.chat.completions.create(model="gpt-4o-mini", **asked).choices[0].message.content)
"""


@pytest.mark.parametrize(
    "later", [{}, {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_ORG_ID": "other"}]
)
def test_they_are_as_recorded(
    later: dict[str, str], tmp_path: Path, python: Run, lctl: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent.py").write_text(PROGRAM)
    monkeypatch.delenv("OPENAI_ORG_ID", raising=False)
    with ModelServer() as server, monkeypatch.context() as outer:
        outer.setenv("OPENAI_BASE_URL", server.openai_url)
        outer.setenv("OPENAI_API_KEY", "sk-proj-" + "a1B2" * 12)
        recorded = python("agent.py")
    assert recorded.returncode == 0, recorded.stderr
    (log,) = (tmp_path / ".lctl").glob("*.lctl.json")
    assert "a1B2" not in log.read_text()
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for name, value in later.items():
        monkeypatch.setenv(name, value)
    again = lctl("rerun", str(log))
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


def test_one_with_a_secret_in_it_is_not_kept_and_stands_as_it_is_now(
    tmp_path: Path, python: Run, lctl: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent.py").write_text(PROGRAM)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-" + "a1B2" * 12)
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url.replace("://", "://ada:hunter2hunter2@"))
        recorded = python("agent.py")
    assert recorded.returncode == 0, recorded.stderr
    (log,) = (tmp_path / ".lctl").glob("*.lctl.json")
    assert "hunter2" not in log.read_text()
    assert open_log(log).chain["program"]["env"]["OPENAI_BASE_URL"] is None
    again = lctl("rerun", str(log))
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


ORDER = """
import lctl
lctl.auto_instrument()
from openai import OpenAI

words = " ".join({f"word{n}" for n in range(50)})
with OpenAI() as client:
    asked = [{"role": "user", "content": words}]
    print(client.chat.completions.create(model="gpt-4.1", messages=asked).choices[0].message.content)
"""


def test_a_hash_seed_that_was_set_is_kept(tmp_path: Path, lctl: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A set that gets into a prompt has the recorded order again."""
    (tmp_path / "agent.py").write_text(ORDER)
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    with ModelServer() as server, monkeypatch.context() as outer:
        outer.setenv("OPENAI_BASE_URL", server.openai_url)
        outer.setenv("PYTHONHASHSEED", "5")
        outer.delenv("LCTL_DIR", raising=False)
        command = [sys.executable, "agent.py"]
        recorded = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert recorded.returncode == 0, recorded.stderr
    (log,) = (tmp_path / ".lctl").glob("*.lctl.json")
    assert open_log(log).chain["program"]["hashseed"] == "5"
    again = lctl("rerun", str(log))
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


@pytest.mark.parametrize(
    "name",
    ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_REGION", "CO_API_URL", "OLLAMA_HOST"],
)
def test_where_clients_ask_is_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 and Cohere take it from names of their own."""
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_PROFILE", "mine")
    kept = provenance.program(None, full=False)["env"]
    assert kept[name] == "http://127.0.0.1:9"
    assert "AWS_PROFILE" not in kept
