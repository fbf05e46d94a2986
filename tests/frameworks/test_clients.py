"""Clients of Google, Bedrock, Ollama, Cohere, Groq and Mistral over loopback: recorded and run again."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.guard import guard
from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession
from lctl.testing import ModelServer
from tests.frameworks.clients import Played, answer, play

pytestmark = pytest.mark.frameworks


def needs(*modules: str, install: str) -> None:
    for name in modules:
        pytest.importorskip(name, reason=f"needs: pip install {install}")


def tools(played: Played) -> list[tuple[Any, ...]]:
    return [(call["tool"], call["input"]["city"], "error" in call) for call in played.of("tool_call")]


def test_google_genai(tmp_path: Path) -> None:
    """Sync on httpx2, async on aiohttp; streams, functions the SDK calls, chats, embeddings, an error."""
    needs("google.genai", "aiohttp", install="google-genai aiohttp")
    played = play("google_agents.py", tmp_path)
    played.check()
    # The two calls made at once end in any order; what follows them is the same again.
    before, _, after = "\n".join(played.outline()).partition("\n  user: async left\n")
    assert before.split("\n") == snapshot(
        [
            "  user: Say hello",
            "llm generate_content",
            "  httpx2 200",
            "  model: Answer to Say hello (0)",
            "/ success STOP input 10 output 6",
            "  system: Be brief.",
            "  user: Weather in Rome and Atlantis?",
            "llm generate_content",
            "  httpx2 200",
            "  model: thought: They want weather. | [weather] | [weather]",
            "/ success STOP input 80 output 34 reasoning 5",
            "tool weather {'city': 'Rome'} = sunny in Rome",
            "tool weather {'city': 'Atlantis'} = failed",
            "  user: [weather] | [weather]",
            "llm generate_content",
            "  httpx2 200",
            "  model: Answer to Weather in Rome and Atlantis? (2)",
            "/ success STOP input 155 output 11",
            "  user: Tell me a story",
            "llm generate_content streamed",
            "  httpx2 200",
            "  model: thought: A story then. | Once upon a time there was one.",
            "/ success STOP input 11 output 12 reasoning 4",
            "  user: First question",
            "llm generate_content streamed",
            "  httpx2 200",
            "  model: Answer to First question (0)",
            "/ success STOP input 11 output 7",
            "  user: Second question",
            "llm generate_content",
            "  httpx2 200",
            "  model: Answer to Second question (0)",
            "/ success STOP input 48 output 8",
            "embedding embed_content",
            "  httpx2 200",
            "/ success",
            "  user: How many?",
            "llm generate_content.count_tokens",
            "  httpx2 200",
            "/ success",
            "  user: Overload",
            "llm generate_content",
            "  httpx2 503",
            "  error overloaded",
            "/ error",
        ]
    )
    assert after.partition("\n  user: Async weather in Rome?\n")[2].split("\n") == snapshot(
        [
            "llm generate_content",
            "  aiohttp 200",
            "  model: thought: They want weather. | [weather] | [weather]",
            "/ success STOP input 78 output 34 reasoning 5",
            "tool weather {'city': 'Rome'} = sunny in Rome",
            "tool weather {'city': 'Atlantis'} = failed",
            "  user: [weather] | [weather]",
            "llm generate_content",
            "  aiohttp 200",
            "  model: Answer to Async weather in Rome? (2)",
            "/ success STOP input 153 output 9",
            "  user: Async story",
            "llm generate_content streamed",
            "  aiohttp 200",
            "  model: thought: A story then. | Once upon a time there was one.",
            "/ success STOP input 10 output 12 reasoning 4",
        ]
    )
    calls = played.steps()
    assert {call["provider"] for call in calls} == {"google"}
    assert {exchange["http"] for exchange in played.of("exchange")} == {"httpx2", "aiohttp"}
    assert [call["stream"] for call in calls if call.get("stream")] == [True] * 3
    assert tools(played) == [("weather", "Rome", False), ("weather", "Atlantis", True)] * 2
    thought = [call["tokens"] for call in calls if "reasoning" in (call.get("tokens") or {})]
    assert len(thought) == 4 and all(one["output"] > one["reasoning"] > 0 for one in thought)
    assert [call["embedding"] for call in played.steps("embedding")] == [{"count": 2, "dimensions": 3072}]
    failed = [call for call in calls if call["outcome"] == "error"]
    assert len(failed) == 1
    asked = (tmp_path / "asked.txt").read_text().split()
    assert asked == ["Rome", "Atlantis"] * 4  # twice as it is, twice recorded: never in the rerun
    # The pieces of a streamed answer come back as contents of their own; they are the answer's message.
    by_id = {message["message_id"]: message for message in played.of("message")}
    (second,) = (m for m in by_id.values() if m["parts"][0].get("text") == "Second question")
    streamed = by_id[second["parent_id"]]
    assert streamed["sampled"] and streamed["parts"] == [{"text": "Answer to First question (0)"}]


def test_bedrock(tmp_path: Path) -> None:
    """Converse with tools, streams in AWS's frames, one left early, and three attempts of one call."""
    needs("boto3", install="boto3")
    played = play("bedrock_calls.py", tmp_path)
    played.check()
    calls = played.steps()
    assert [call["outcome"] for call in calls] == ["success"] * 4 + ["aborted", "error"]
    assert [call["finish_reason"] for call in calls[:4]] == ["tool_use", "end_turn", "end_turn", "tool_use"]
    assert all(call["tokens"]["input"] and call["tokens"]["output"] for call in calls[:4])
    assert tools(played) == [("weather", "Rome", False), ("weather", "Atlantis", False)]
    assert [exchange["attempt"] for exchange in played.of("exchange")][-3:] == [1, 2, 3]
    assert calls[0]["model"].startswith("us.anthropic.claude") and calls[0]["tool_definitions"]


def test_ollama_cohere_groq_mistral(tmp_path: Path) -> None:
    """Each in its own wire format or OpenAI's, whole, streamed and async."""
    needs("ollama", "cohere", "groq", "mistralai", install="ollama cohere groq mistralai")
    played = play("other_clients.py", tmp_path)
    played.check()
    operations = [call["operation"] for call in played.steps()]
    assert operations[:3] == ["ollama.chat"] * 3 and operations[3:6] == ["cohere.chat"] * 3
    assert operations[6:10] == ["chat.completions"] * 4
    assert all(call["outcome"] == "success" for call in played.steps())
    assert tools(played)[:2] == [("weather", "Rome", False), ("weather", "Atlantis", False)]


@pytest.mark.parametrize(
    "place", ["a function that google-genai calls", "a request", "the start of a model call"]
)
def test_a_failure_of_ours_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Raised in the hook of tools, in recognising a request, in recording it."""
    needs("google.genai", install="google-genai")
    genai: Any = import_module("google.genai")

    def weather(city: str) -> str:
        """The weather."""
        return f"sunny in {city}"

    def asked() -> str:
        with ModelServer(seed=3) as server:
            server.reply(answer, times=None)
            options = genai.types.HttpOptions(base_url=server.url)
            client = genai.Client(api_key="test", http_options=options)
            config = genai.types.GenerateContentConfig(tools=[weather])
            made = client.models.generate_content(model="gemini", contents="Weather?", config=config)
            return str(made.text)

    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("ours")

    uninstrument()
    wanted = asked()
    monkeypatch.setattr(guard, "policy", "report")
    monkeypatch.setattr(guard, "failures", {})
    if place == "a request":
        monkeypatch.setattr("lctl.instrument.codecs.find", fail)
    elif place == "the start of a model call":
        monkeypatch.setattr("lctl.instrument.calls.Call.begin", fail)
    else:
        monkeypatch.setattr(guard, "trial", lambda here: fail() if here == place else None)
    try:
        with LCTLSession(path=tmp_path / "run.lctl.json"):
            ensure_installed()
            assert asked() == wanted == "Answer to Weather? (2)"
        assert guard.failures[place] > 0
    finally:
        uninstrument()
