"""litellm: every call once, over whichever client, and beneath CrewAI."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pytest
from inline_snapshot import snapshot

import lctl
from lctl.testing import Fault, ModelServer, Reply, Request
from lctl.testing.integration_suite import Recorded
from tests.frameworks.homes import AtHome, Threaded

pytestmark = pytest.mark.frameworks


class TestLiteLLM(Threaded):
    program = Path(__file__).parent / "programs" / "litellm_calls.py"
    integration = "litellm"
    requires = ("litellm",)
    environ: ClassVar = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HF_HUB_OFFLINE": "1"}
    _tries = count(1)

    def answer(self, request: Request) -> Any:
        said = request.last_text
        if "Refuse" in said or request.model == "gpt-broken":
            return Fault(400)
        if "Retry" in said and next(self._tries) % 2:
            return Fault(500)
        return "All is well."

    def test_each_model_call_is_recorded_once(self, recorded: Recorded) -> None:
        """An exchange for each request that the server got; the one that was tried again is one step."""
        wired = [e for e in recorded.events if e["type"] == "step_start" and "operation" in e["data"]]
        exchanges = [e for e in recorded.events if e["type"] == "exchange"]
        assert len(exchanges) == recorded.requests == len(wired) + 1

    def test_a_stream_that_is_not_closed_ends_where_it_was_read(self, recorded: Recorded) -> None:
        """And not when it is collected: no call begins while another is open."""
        from litellm import CustomStreamWrapper

        streamed = {
            e["seq"] for e in recorded.events if e["type"] == "step_start" and e["data"].get("stream") is True
        }
        left = [e["step"] for e in recorded.events if e["type"] == "exchange" and e["data"].get("left")]
        assert len(streamed) == 6
        assert len(left) == (0 if hasattr(CustomStreamWrapper, "close") else 4)  # of Anthropic's too
        assert streamed.issuperset(left)
        for step in streamed:
            after = [
                e for e in recorded.events if e["seq"] > step and e["type"] in ("step_start", "step_end")
            ]
            assert (after[0]["type"], after[0]["step"]) == ("step_end", step)
            assert after[0]["data"]["outcome"] == "success"

    def test_its_log(self, recorded: Recorded) -> None:
        """Who acted, for whom, through which tool; the tokens of each call are the wire's."""
        assert self.outline(recorded.events) == snapshot(
            [
                "llm main 10+20",
                "llm main 8+3",
                "llm main 8+3",
                "llm main 9+3",
                "llm main 9+3",
                "llm main 9+3",
                "llm main 9+3",
                "llm main 9+3",
                "llm main 9+3",
                "llm main 9+3",
                "llm main 9+3",
                "llm main 9+3",
                "llm main 9+3",
                "  error main: server_error: The server had an error while processing your request.",
                "llm main None+None",
                "llm main None+None",
                "llm main None+None",
                "llm main None+None",
                "llm main None+None [error]",
                "  error main: invalid_format: The request was not valid.",
                "llm main None+None [error]",
                "  error main: invalid_format: The request was not valid.",
            ]
        )


def test_drawn_ids_of_tool_calls_are_those_of_the_recording(tmp_path: Path) -> None:
    """The results are told in their order: with others the next request is another one."""
    if find_spec("litellm") is None:
        pytest.skip("litellm is not installed")

    def answer(request: Request) -> Reply:
        if "Which" in request.last_text:
            return Reply(tool_calls=[("look", {"city": city}) for city in "ABCDEF"])
        return Reply(text=f"Told: {request.last_text}")

    with ModelServer() as server:
        server.reply(answer, times=None)
        environ = {**os.environ, **TestLiteLLM.environ, **server.environ}
        environ |= {"OLLAMA_API_BASE": server.environ["OLLAMA_HOST"], "LCTL_DIR": str(tmp_path)}
        environ["WARM_PYTHON"] = ""  # with CrewAI loaded as well, others read settings than in a rerun
        program = Path(__file__).parent / "programs" / "litellm_drawn_ids.py"
        done = subprocess.run(
            [sys.executable, str(program)],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True True ()\n", done.stdout
    events = [event.to_dict() for event in lctl.Chain.load(tmp_path / "recorded.lctl.json").events]
    kept = [event["data"]["value"] for event in events if event["data"].get("source") == "id"]
    assert len(set(kept)) == 24


ROUTED = """
import os
import litellm
import lctl

options = {"api_base": os.environ["OPENAI_BASE_URL"], "api_key": "test"}
names = [{"model": f"openai/gpt-{number}", **options} for number in range(9)]
one = [{"model_name": "one", "litellm_params": name} for name in names]
router = litellm.Router(one, num_retries=1, disable_cooldowns=True)

def ask():
    return [router.completion("one", [{"role": "user", "content": "Who?"}]).model for _ in range(4)]

ask()  # what is imported then
with lctl.LCTLSession("recorded", "recorded.lctl.json"):
    first = ask()
with lctl.rerun("recorded.lctl.json", output="again.lctl.json") as again:
    second = ask()
print(second == first, again.certificate.ok, again.certificate.unused)
"""


def test_a_router_draws_the_deployment_of_the_recording(tmp_path: Path) -> None:
    """In a recording that holds no chance, too: the model is asked by its name. And when it asks again."""
    if find_spec("litellm") is None:
        pytest.skip("litellm is not installed")
    (tmp_path / "routed.py").write_text(ROUTED)
    with ModelServer() as server:
        server.reply("Here.", times=4)  # to what is asked first, and is no part of the recording
        server.reply(Fault(500))
        environ = {**os.environ, **TestLiteLLM.environ, **server.environ, "LCTL_DIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "routed.py"],
            cwd=tmp_path,
            env={**environ, "WARM_PYTHON": ""},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, "True True ()\n"), done.stderr
    events = [event.to_dict() for event in lctl.Chain.load(tmp_path / "recorded.lctl.json").events]
    assert {"litellm router", "litellm retry"} <= {event["data"].get("key") for event in events}


class TestBeneathCrewAI(AtHome):
    """CrewAI over litellm: a model that only litellm serves says in words which tool it wants."""

    program = Path(__file__).parent / "programs" / "crewai_litellm.py"
    integration = "crewai"
    requires = ("crewai", "litellm")
    environ: ClassVar = {
        "CREWAI_DISABLE_TELEMETRY": "true",
        "OTEL_SDK_DISABLED": "true",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }

    def answer(self, request: Request) -> Any:
        if "Observation:" in " ".join(turn.text for turn in request.turns[2:]):
            return "Thought: I now know the final answer\nFinal Answer: Rome."
        return 'Thought: I look.\nAction: weather\nAction Input: {"city": "Rome"}'

    def test_its_log(self, recorded: Recorded) -> None:
        """Each call once, in the step of the agent that made it."""
        assert self.outline(recorded.events) == snapshot(
            [
                "chain crew: kickoff",
                "  task Scout: Find.",
                "    agent Scout: execute",
                "      llm Scout 334+16",
                "      llm Scout 404+14",
                '      tool Scout: weather{"city": "Rome"} = "Sunny in Rome."',
                "chain crew: kickoff",
                "  task Scout: Find.",
                "    agent Scout: execute",
                "      llm Scout 334+16",
                "      llm Scout 404+14",
                '      tool Scout: weather{"city": "Rome"} = "Sunny in Rome."',
            ]
        )
