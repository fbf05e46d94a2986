"""Clients of Google, Bedrock, Ollama, Cohere, Groq and Mistral over loopback: what every integration promises,
and what their logs say."""

from __future__ import annotations

import gc
import importlib.util
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from inline_snapshot import snapshot

from lctl.guard import guard
from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession
from lctl.testing import Fault, ModelServer, Request
from lctl.testing.integration_suite import Recorded
from tests.frameworks.clients import PROGRAMS, Told, answer
from tests.frameworks.homes import Threaded
from tests.frameworks.outlines import outline

pytestmark = pytest.mark.frameworks

COUNTS = ("input", "output")


def loaded(program: Path) -> ModuleType:
    """The module that a program's file is; its `main` is not run."""
    spec = importlib.util.spec_from_file_location("of_clients", program)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["of_clients"] = module
    spec.loader.exec_module(module)
    return module


def tools(told: Told) -> list[tuple[Any, ...]]:
    return [(call["tool"], call["input"]["city"], "error" in call) for call in told.of("tool_call")]


class Clients(Threaded):
    """A model that is asked the same by each of them."""

    def answer(self, request: Request) -> Any:
        return answer(request)


class WithoutHooks(Clients):
    """What is recorded on the wire alone: what may fail is there."""

    def test_a_failing_hook_leaves_the_run_as_it_was(self, trial: dict[str, Any]) -> None:
        """There is none of its own."""
        assert trial["places"] == []

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # clients left open
    @pytest.mark.parametrize(
        ("place", "target"),
        [("a request", "codecs.find"), ("the start of a model call", "calls.Call.begin")],
    )
    def test_a_failure_on_the_wire_changes_nothing(
        self, server: ModelServer, trial: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        place: str, target: str,
    ) -> None:  # fmt: skip
        """Raised where a request is recognised, and where its recording begins."""

        def fail(*_: Any, **__: Any) -> Any:
            raise RuntimeError("ours")

        for name, value in {**self.environ, **server.environ}.items():
            monkeypatch.setenv(name, value)
        for name in [name for name in sys.modules if name.partition(".")[0] == "ollama"]:
            monkeypatch.delitem(sys.modules, name)  # as it is imported it reads where its server is
        monkeypatch.setattr(guard, "policy", "report")
        monkeypatch.setattr(guard, "failures", {})
        monkeypatch.setattr(f"lctl.instrument.{target}", fail)
        main: Callable[[], Any] = loaded(self.program).main
        try:
            with LCTLSession(path=tmp_path / "run.lctl.json"):
                ensure_installed()
                assert json.loads(json.dumps(main())) == trial["plain"]
            assert guard.failures[place] > 0
        finally:
            uninstrument()
            del main
            gc.collect()  # what the program left open, here and not in whichever test comes next


class TestGoogleInteractions(WithoutHooks):
    """google-genai's other client: conversations that Google keeps, and those that the program sends whole."""

    program = PROGRAMS / "google_interactions.py"
    integration = "google.genai"
    requires = ("google.genai",)

    def answer(self, request: Request) -> Any:
        return Fault(503, retry_after=0.01) if "Overload" in request.last_text else answer(request)

    def test_its_log(self, recorded: Recorded) -> None:
        played = Told(recorded.events)
        assert outline(recorded.events) == snapshot(
            [
                "llm main 10+7",
                "llm main 17+6",
                "llm main 26+6",
                "llm main 44+12",
                "llm main 48+34",
                "llm main 48+34",
                "llm main 52+34",
                "llm main 82+8",
                "llm main 86+11",
                "llm main None+None [error]",
                "  error main: overloaded: The engine is currently overloaded, please try again later.",
                "  error main: overloaded: The engine is currently overloaded, please try again later.",
                "  error main: overloaded: The engine is currently overloaded, please try again later.",
                "  error main: overloaded: The engine is currently overloaded, please try again later.",
                "  error main: overloaded: The engine is currently overloaded, please try again later.",
                'tool main: weather{"city": "Atlantis"} (id) (from messages) = "sunny in Atlantis"',
                'tool main: weather{"city": "Atlantis"} (id) (from messages) = "sunny in Atlantis"',
                'tool main: weather{"city": "Rome"} (id) (from messages) = "sunny in Rome"',
                'tool main: weather{"city": "Rome"} (id) (from messages) = "sunny in Rome"',
            ]
        )
        calls = played.steps()
        assert {(call["provider"], call["operation"]) for call in calls} == {("google", "interactions")}
        assert [call["outcome"] for call in calls].count("error") == 1
        assert tools(played) == [("weather", "Rome", False), ("weather", "Atlantis", False)] * 2


class TestGoogleGenAI(Clients):
    """Sync on httpx2, async on aiohttp; streams, functions the SDK calls, chats, embeddings, an error."""

    program = PROGRAMS / "google_agents.py"
    integration = "google.genai"
    requires = ("google.genai", "aiohttp")

    def test_its_log(self, recorded: Recorded) -> None:
        played = Told(recorded.events)
        # The two calls made at once begin and end in any order; what follows them is the same again.
        before, after = re.split(r"\n  user: async (?:left|right)\n", "\n".join(played.outline()), maxsplit=1)
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
                "  user: Weather in Rome?",
                "llm generate_content",
                "  httpx2 200",
                "  model: thought: They want weather. | [weather] | [weather]",
                "/ success STOP input 76 output 34 reasoning 5",
                "tool weather {'city': 'Rome'} = sunny in Rome",
                "tool weather {'city': 'Atlantis'} = failed",
                "  user: [weather] | [weather]",
                "llm generate_content",
                "  httpx2 200",
                "  model: Answer to Weather in Rome? (2)",
                "/ success STOP input 151 output 8",
                "  user: And the weather of Atlantis?",
                "llm generate_content streamed",
                "tool weather {'city': 'Rome'} = sunny in Rome",
                "tool weather {'city': 'Atlantis'} = failed",
                "  httpx2 200",
                "  model: thought: They want weather. | [weather] | [weather]",
                "/ success STOP input 174 output 34 reasoning 5",
                "  user: [weather] | [weather]",
                "llm generate_content streamed",
                "  httpx2 200",
                "  model: Answer to And the weather of Atlantis? (2)",
                "/ success STOP input 253 output 11",
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
        assert [call["stream"] for call in calls if call.get("stream")] == [True] * 5
        assert tools(played) == [("weather", "Rome", False), ("weather", "Atlantis", True)] * 4
        thought = [call["tokens"] for call in calls if "reasoning" in (call.get("tokens") or {})]
        assert len(thought) == 6 and all(one["output"] > one["reasoning"] > 0 for one in thought)
        assert [call["embedding"] for call in played.steps("embedding")] == [{"count": 2, "dimensions": 3072}]
        failed = [call for call in calls if call["outcome"] == "error"]
        assert len(failed) == 1
        asked = (recorded.path.parent / "asked.txt").read_text().split()
        assert asked == ["Rome", "Atlantis"] * 4  # as it was recorded: never in the rerun
        # The pieces of a streamed answer come back as contents of their own; they are the answer's message.
        by_id = {message["message_id"]: message for message in played.of("message")}
        (second,) = (m for m in by_id.values() if m["parts"][0].get("text") == "Second question")
        streamed = by_id[second["parent_id"]]
        assert streamed["sampled"] and streamed["parts"] == [{"text": "Answer to First question (0)"}]


class TestBedrock(WithoutHooks):
    """Converse with tools, streams in AWS's frames, one left early, InvokeModel, two attempts of one call."""

    program = PROGRAMS / "bedrock_calls.py"
    integration = "botocore"
    requires = ("boto3",)

    def test_its_log(self, recorded: Recorded) -> None:
        told = Told(recorded.events)
        calls = told.steps()
        assert [call["outcome"] for call in calls] == [*["success"] * 4, "aborted", *["success"] * 8, "error"]
        assert [call["finish_reason"] for call in calls[:4]] == [
            "tool_use",
            "end_turn",
            "end_turn",
            "tool_use",
        ]
        whole = [call for call in calls if call["outcome"] == "success"]
        assert all(call["tokens"]["input"] and call["tokens"]["output"] for call in whole)
        assert tools(told) == [("weather", "Rome", False), ("weather", "Atlantis", False)]
        assert [exchange["attempt"] for exchange in told.of("exchange")][-2:] == [1, 2]
        assert calls[0]["model"].startswith("us.anthropic.claude") and calls[0]["tool_definitions"]

    def test_invoked_models(self, recorded: Recorded) -> None:
        """Whole and streamed, by an inference profile, too: what they said, why they ended, what they used."""
        told = Told(recorded.events)
        calls = told.steps()[5:-1]
        assert [bool(call.get("stream")) for call in calls] == [False, True] * 4
        assert {call["model"].partition(".")[0] for call in calls[2:4]} == {
            "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123"
        }
        for whole, streamed in zip(calls[::2], calls[1::2], strict=True):
            assert whole["model"] == streamed["model"]
            assert whole["finish_reason"] == streamed["finish_reason"]
            # Chat completions say more of it in a whole answer.
            assert [whole["tokens"][k] for k in COUNTS] == [streamed["tokens"][k] for k in COUNTS]
        said = {one["message_id"]: one for one in told.of("message")}
        texts = [said[call["message"]]["content"] for call in calls]
        assert {one if isinstance(one, str) else one[0]["text"] for one in texts} == {
            "Answer to Say hello (0)"
        }


class TestOllamaCohereGroqMistral(WithoutHooks):
    """Each in its own wire format or OpenAI's, whole, streamed and async."""

    program = PROGRAMS / "other_clients.py"
    integration = "httpx"
    requires = ("ollama", "cohere", "groq", "mistralai")

    def test_its_log(self, recorded: Recorded) -> None:
        told = Told(recorded.events)
        operations = [call["operation"] for call in told.steps()]
        assert operations[:3] == ["ollama.chat"] * 3 and operations[3:6] == ["cohere.chat"] * 3
        assert operations[6:10] == ["chat.completions"] * 4
        assert all(call["outcome"] == "success" for call in told.steps())
        assert tools(told)[:2] == [("weather", "Rome", False), ("weather", "Atlantis", False)]
