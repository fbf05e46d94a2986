"""A real back end: Arize Phoenix, run on this machine, takes the export and shows what happened.

It is an application with many dependencies of its own: install it apart and name its command in
LCTL_TEST_PHOENIX, or have `phoenix` beside the Python that runs the tests.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lctl.analysis.stats import stats
from lctl.codec import Log, open_log
from lctl.importing import load
from lctl.spans import spans_of

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs lctl[otel]")

SPANS = """{ projects { edges { node { name traceCount tokenCountTotal spans(first: 100) { edges { node {
  name spanKind statusCode attributes parentId } } } } } } }"""

CHECK = """
import json, sys
from phoenix.trace.gen_ai.__generated__ import models
for name, text in json.load(sys.stdin):
    getattr(models, name).model_validate(json.loads(text))
"""


def command() -> str | None:
    beside = Path(sys.executable).parent / "phoenix"
    return os.environ.get("LCTL_TEST_PHOENIX") or (
        str(beside) if beside.exists() else shutil.which("phoenix")
    )


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address, once it answers."""
    found = command()
    if found is None:
        pytest.skip("needs Arize Phoenix: pip install arize-phoenix, and LCTL_TEST_PHOENIX=<its command>")
    ports = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    folder = tmp_path_factory.mktemp("phoenix")
    env = {
        **os.environ,
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(ports[0]),
        "PHOENIX_GRPC_PORT": str(ports[1]),
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    with (folder / "output").open("wb") as output:
        server = subprocess.Popen([found, "serve"], env=env, stdout=output, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{ports[0]}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(url, timeout=5).close()
                break
            except OSError:
                assert server.poll() is None, (folder / "output").read_text()[-2000:]
                time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Log:
    pytest.importorskip("openai")
    pytest.importorskip("anthropic")
    from lctl.demo import run_demo

    return open_log(run_demo(7, tmp_path_factory.mktemp("demo") / "demo.lctl.json").path)


def project(url: str, spans: int, tokens: int) -> dict[str, Any]:
    """The project with that many spans and tokens, or as it stands after half a minute: spans are stored a
    moment after they were taken, and their tokens are added up a few at a time, later still."""
    request = urllib.request.Request(
        f"{url}/graphql", json.dumps({"query": SPANS}).encode(), {"Content-Type": "application/json"}
    )
    found: dict[str, Any] = {}
    for _ in range(300):
        with urllib.request.urlopen(request, timeout=30) as answer:
            nodes = [edge["node"] for edge in json.load(answer)["data"]["projects"]["edges"]]
        found = next((node for node in nodes if len(node["spans"]["edges"]) >= spans), {})
        if found.get("tokenCountTotal", 0) >= tokens:
            break
        time.sleep(0.1)
    return found


def test_phoenix_shows_models_tokens_and_tools(phoenix: str, demo: Log, tmp_path: Path) -> None:
    """By `lctl export --otlp`: model calls with their model and tokens, tools with arguments, agents."""
    path = tmp_path / "demo.lctl.json"
    shutil.copy(str(demo.path), path)
    subprocess.run(
        [sys.executable, "-m", "lctl", "export", str(path), "--otlp", phoenix], check=True, timeout=60
    )
    totals = stats(demo)
    tokens = totals.tokens.input + totals.tokens.output
    found = project(phoenix, len(spans_of(demo)), tokens)
    assert (found["traceCount"], found["tokenCountTotal"]) == (1, tokens)
    nodes = [(edge["node"], json.loads(edge["node"]["attributes"])) for edge in found["spans"]["edges"]]
    kinds = [node["spanKind"] for node, _ in nodes]
    assert (kinds.count("llm"), kinds.count("tool")) == (totals.llm_calls, totals.tool_calls)
    assert kinds.count("agent") == 4
    calls = [said["llm"] for node, said in nodes if node["spanKind"] == "llm"]
    assert {call["model_name"] for call in calls} == {"gpt-4.1-mini", "claude-sonnet-4-6", "gpt-4.1"}
    assert {call["provider"] for call in calls} == {"openai", "anthropic"}
    assert sum(call["token_count"]["prompt"] for call in calls) == totals.tokens.input
    asked = [
        one["tool_call"]["function"]["name"]
        for call in calls
        for message in call["output_messages"]
        for one in message["message"].get("tool_calls", ())
    ]
    assert sorted(asked) == ["apply_fix", "grep", "grep", "grep"]
    tools = [said["tool"] for node, said in nodes if node["spanKind"] == "tool"]
    assert {tool["name"] for tool in tools} == {"grep", "apply_fix"} and all(
        tool["parameters"] for tool in tools
    )


def test_what_phoenix_exports_is_imported(phoenix: str, demo: Log, tmp_path: Path) -> None:
    """Its own API's spans, as its client downloads them: the same calls, tools and tokens."""
    totals = stats(demo)
    project(phoenix, len(spans_of(demo)), totals.tokens.input + totals.tokens.output)
    with urllib.request.urlopen(f"{phoenix}/v1/projects/default/spans?limit=100", timeout=30) as answer:
        (tmp_path / "phoenix.json").write_bytes(answer.read())
    found = load(str(tmp_path / "phoenix.json"))
    assert found.form == "phoenix"
    assert stats(found.log).tokens.total == stats(demo).tokens.total
    assert stats(found.log).tool_calls == stats(demo).tool_calls


def test_messages_are_as_the_conventions_own_schema_says(demo: Log) -> None:
    """Phoenix holds classes made from the conventions' JSON schemas; they take every message."""
    found = command()
    if found is None:
        pytest.skip("needs Arize Phoenix: pip install arize-phoenix, and LCTL_TEST_PHOENIX=<its command>")
    models = {
        "gen_ai.input.messages": "InputMessages",
        "gen_ai.output.messages": "OutputMessages",
        "gen_ai.system_instructions": "SystemInstructions",
        "gen_ai.tool.definitions": "ToolDefinitions",
    }
    told = [
        (model, span.attributes[name])
        for span in spans_of(demo) for name, model in models.items() if name in span.attributes
    ]  # fmt: skip
    assert {model for model, _ in told} == set(models.values())
    python = Path(found).parent / "python"
    done = subprocess.run(
        [python, "-c", CHECK], input=json.dumps(told), text=True, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
