"""What a failure is called, agents that go in circles, and agents that are not what they say."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import subprocess
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from lctl import LCTLSession, load
from lctl.errors import ContractViolated, UsageError
from lctl.events import Event
from lctl.trust.cycles import cycles
from lctl.trust.policy import Policy
from lctl.trust.profiles import AGENT_TYPES, agent_types, overreaches, profile, records
from lctl.trust.taxonomy import Kind, add_rule, of_error, of_exception, of_status, remove_rule
from tests.unit.trust import trustlogs
from tests.unit.trust.trustlogs import Raw, added, events

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")


def sdk_error(library: Any, name: str, status: int, body: dict[str, Any]) -> BaseException:
    """As the SDK raises it: made of a response."""
    raw = httpx.Response(status, request=httpx.Request("POST", "https://api.example/v1"), json=body)
    made: BaseException = getattr(library, name)("said so", response=raw, body=body)
    return made


OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def stream_error(body: dict[str, Any]) -> BaseException:
    """As OpenAI's SDK raises it for an `error` event of a stream."""
    made: BaseException = openai.APIError(
        "said so", request=httpx.Request("POST", "https://api.example/v1"), body=body
    )
    return made


def decoded() -> BaseException:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("{")
    return caught.value


class GraphRecursionError(RecursionError):
    """As LangGraph has it."""


class ToolException(Exception):
    """As LangChain has it."""


class ValidationError(ValueError):
    """As pydantic and jsonschema have it."""


class MyToolTimeoutPolicy(Exception):
    """A program's own; only its name sounds like a timeout."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError("x"), "execution_error/timeout"),
        (TimeoutError(), "execution_error/timeout"),
        (asyncio.CancelledError(), "execution_error/cancelled"),
        (concurrent.futures.CancelledError(), "execution_error/cancelled"),
        (MemoryError(), "execution_error/resource_exhausted"),
        (RecursionError(), "execution_error/resource_exhausted"),
        (GraphRecursionError(), "orchestration_error/chain_depth_exceeded"),
        (ToolException(), "execution_error/tool_failure"),
        (ValidationError(), "output_error/validation_failed"),
        (decoded(), "output_error/validation_failed"),
        (ContractViolated("x", []), "output_error/validation_failed"),
        (FileNotFoundError("x"), "input_error/missing_context"),
        (ConnectionResetError(), "execution_error/connection_lost"),
        (ConnectionRefusedError(), "execution_error/connection_failed"),
        (httpx.ReadTimeout("x"), "execution_error/timeout"),
        (subprocess.TimeoutExpired("make", 5), "execution_error/timeout"),
        (sdk_error(openai, "RateLimitError", 429, {}), "execution_error/rate_limited"),
        (
            sdk_error(openai, "RateLimitError", 429, {"error": {"code": "insufficient_quota"}}),
            "execution_error/resource_exhausted",
        ),
        (
            sdk_error(openai, "BadRequestError", 400, {"error": {"code": "context_length_exceeded"}}),
            "execution_error/resource_exhausted",
        ),
        (
            sdk_error(openai, "BadRequestError", 400, {"code": "content_filter"}),
            "output_error/unsafe_content",
        ),
        (sdk_error(anthropic, "AuthenticationError", 401, {}), "input_error/authentication_failed"),
        (sdk_error(anthropic, "InternalServerError", 529, {}), "execution_error/overloaded"),
        (
            sdk_error(
                anthropic, "BadRequestError", 400, {"error": {"message": "... exceed context limit: ..."}}
            ),
            "execution_error/resource_exhausted",
        ),
        # In the middle of a stream, whose response was good.
        (stream_error({"type": "insufficient_quota"}), "execution_error/resource_exhausted"),
        (stream_error({"type": "server_error"}), "output_error/generation_failed"),
        (sdk_error(anthropic, "APIStatusError", 200, OVERLOADED), "execution_error/overloaded"),
        (ExceptionGroup("g", [TimeoutError(), httpx.ReadTimeout("x")]), "execution_error/timeout"),
        (ExceptionGroup("g", [ExceptionGroup("h", [MemoryError()])]), "execution_error/resource_exhausted"),
        (ExceptionGroup("g", [TimeoutError(), MemoryError()]), None),
        (urllib.error.URLError(ConnectionRefusedError()), "execution_error/connection_failed"),
        (asyncio.IncompleteReadError(b"", 3), "execution_error/connection_lost"),
        (MyToolTimeoutPolicy(), None),
        (ValueError("x"), None),
        (OSError("disk"), None),
    ],
)
def test_exceptions(error: BaseException, kind: str | None) -> None:
    """SDKs by status and words, frameworks and Python by name; what nothing tells of is not guessed."""
    found = of_error(error)
    assert (None if found is None else f"{found.category}/{found.type}") == kind


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (429, "Resource has been exhausted", "execution_error/rate_limited"),
        (400, "API key not valid", "input_error/authentication_failed"),
        (
            400,
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            "execution_error/resource_exhausted",
        ),
        (503, "The model is overloaded", "execution_error/overloaded"),
    ],
)
def test_exceptions_of_google_and_aws(status: int, message: str, kind: str) -> None:
    """Whose status is where others have something else."""
    errors = pytest.importorskip("google.genai.errors", reason="pip install google-genai")
    botocore = pytest.importorskip("botocore.exceptions", reason="pip install botocore")
    response = {"Error": {"Code": "x", "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    for error in (
        errors.APIError(status, {"error": {"code": status, "message": message, "status": "X"}}),
        botocore.ClientError(response, "Converse"),
    ):
        found = of_error(error)
        assert found is not None and f"{found.category}/{found.type}" == kind


@pytest.fixture
def rules() -> Iterator[list[Any]]:
    made: list[Any] = []
    yield made
    for rule in made:
        remove_rule(rule)


def test_rules_of_a_program(rules: list[Any], tmp_path: Path) -> None:
    """They come first, for exceptions of steps and failed attempts alike; the newest before the others."""
    quota = Kind("execution_error", "rate_limited", True, "wait_for_midnight")
    rules.append(add_rule(quota, exception=MyToolTimeoutPolicy))
    rules.append(add_rule(("input_error", "ambiguous_request", True, "ask"), words="which one"))
    rules.append(add_rule(("execution_error", "on_holiday", True, "come_back"), status=503))
    assert of_error(MyToolTimeoutPolicy()) == quota
    assert of_error(ValueError("Which one do you mean?")) is not None
    assert of_status(503, {"message": "x"}).type == "on_holiday"
    assert of_status(502, {"message": "WHICH ONE"}).type == "ambiguous_request"
    assert of_exception(httpx.ReadTimeout("which one")).type == "ambiguous_request"
    rules.append(add_rule(("input_error", "newest", False, "x"), exception="MyToolTimeoutPolicy"))
    with trustlogs.session(tmp_path) as session:
        with pytest.raises(MyToolTimeoutPolicy), session.step("a"):
            raise MyToolTimeoutPolicy
        [error] = [e["data"] for e in session.to_dict()["events"] if e["type"] == "error"]
        assert (error["category"], error["type"]) == ("input_error", "newest")
    with pytest.raises(UsageError, match="needs an exception"):
        add_rule(quota)
    with pytest.raises(UsageError, match="no regular expression"):
        add_rule(quota, words="(")
    for wrong in ({"exception": (ValueError, KeyError)}, {"status": "429"}):
        with pytest.raises(UsageError, match="it is"):
            add_rule(quota, **wrong)


class Hostile(Exception):
    """Whose every attribute, and whose text, raises."""

    @property
    def status_code(self) -> int:
        raise RuntimeError("no status")

    response = body = status = status_code

    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_an_exception_that_raises_when_looked_at(rules: list[Any], tmp_path: Path) -> None:
    """It leaves its step as itself, and is recorded."""
    rules.append(add_rule(("input_error", "x", False, "x"), words="x"))
    with trustlogs.session(tmp_path) as session:
        with pytest.raises(Hostile), session.step("a"):
            raise Hostile
        [error] = [e["data"] for e in session.to_dict()["events"] if e["type"] == "error"]
    assert error["type"] == "Hostile"


def test_unknown_exceptions_keep_their_name(tmp_path: Path) -> None:
    """Better their own name than a wrong one."""
    with trustlogs.session(tmp_path) as session:
        with pytest.raises(MyToolTimeoutPolicy), session.step("a"):
            raise MyToolTimeoutPolicy("x")
        [error] = [e["data"] for e in session.to_dict()["events"] if e["type"] == "error"]
    assert (error["category"], error["type"], error["recoverable"]) == (
        "execution_error", "MyToolTimeoutPolicy", False,
    )  # fmt: skip
    assert "suggested_action" not in error


# -- cycles ----------------------------------------------------------------------------------------


def call(tool: str, input: Any = None, output: Any = None, agent: str = "a") -> Raw:
    return "tool_call", agent, {"tool": tool, "input": input, "output": output}


def step(agent: str, intent: str = "", **data: Any) -> Raw:
    return "step_start", agent, {"intent": intent, **data}


def whole(agent: str, intent: str = "", **data: Any) -> list[Raw]:
    return [step(agent, intent, **data), ("step_end", agent, {"outcome": "success"})]


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ([call("t", {"a": 1, "b": 2}), call("t", {"b": 2, "a": 1})] * 2, ["t"]),
        ([call("t", 1)] * 2, []),
        ([call("t", n) for n in range(9)], []),
        ([call("poll", 1, output=n) for n in range(9)], []),  # what it gives changes: waiting is no cycle
        ([call("t", 1), call("t", 1, agent="b")] * 2, []),
        ([call("t"), call("u"), call("v")] * 3, ["t → u → v"]),
        ([call("t", 1), call("x", 0), call("t", 1), call("x", 1), call("t", 1), call("x", 2)], []),
        ([call("t")] * 3 + [call("u")] + [call("t")] * 3, ["t", "t"]),
        ([*whole("plan", "p", input=1), *whole("do", "d", input=1)] * 3, ["plan (p) → do (d)"]),
        # that say nothing of their input may well be at work
        ([*whole("plan", "p"), *whole("do", "d")] * 3, []),
        ([*whole("plan", "p"), *whole("do", "d")] * 6, ["plan (p) → do (d)"]),
        ([*whole("a", "chat", kind="llm", input=1)] * 9, []),
    ],
)
def test_cycles(raw: list[Raw], found: list[str]) -> None:
    """The same tool, input and result, or the same steps on the same input, three times in a row."""
    assert [" → ".join(one.names) for one in cycles(events(*raw))] == found


def test_calls_side_by_side_are_no_cycle() -> None:
    """Three agents of one name at work at once do the same once each; one after the other it is a cycle."""
    data = {"tool": "transfer", "input": {}, "output": "ok", "duration_ms": 800}

    def calls(apart: float) -> list[Event]:
        times = {n: f"2026-01-01T00:00:{10 + n * apart:09.6f}Z" for n in (1, 2, 3)}
        return [
            Event(seq=n, type="tool_call", timestamp=at, agent="billing", data=data)
            for n, at in times.items()
        ]

    assert cycles(calls(0.01)) == []
    assert [one.seqs for one in cycles(calls(0.9))] == [(1, 2, 3)]


def test_steps_side_by_side_are_no_cycle(tmp_path: Path) -> None:
    """The best of four answers to one question; one after the other, or within one another, they are one."""

    async def answer(session: LCTLSession, wait: float) -> None:
        with session.step("solver", "answer", input="2 + 2"):
            await asyncio.sleep(wait)

    async def at_once(session: LCTLSession) -> None:
        with session.step("chooser", "best of four"):
            await asyncio.gather(*(answer(session, 0.01) for _ in range(4)))

    async def in_turn(session: LCTLSession) -> None:
        for _ in range(4):
            await answer(session, 0)

    def within(session: LCTLSession, depth: int) -> None:
        with session.step("solver", "answer", input="2 + 2"), session.step("tool", kind="tool"):
            if depth:
                within(session, depth - 1)

    def found(work: Callable[[LCTLSession], object], name: str) -> list[list[int]]:
        with LCTLSession(name, tmp_path / f"{name}.lctl.json") as session:
            session.detect_cycles()
            work(session)
        log = load(session.path)
        told = [one.data["context"]["seqs"] for one in log.events if one.type == "error"]
        assert [list(one.seqs) for one in cycles(log.events)] == told
        return told

    assert found(lambda session: asyncio.run(at_once(session)), "at-once") == []
    assert found(lambda session: asyncio.run(in_turn(session)), "in-turn") == [[1, 3, 5]]
    assert found(lambda session: within(session, 3), "within") == [[1, 3, 5]]


def test_many_rounds_are_counted(tmp_path: Path) -> None:
    """However many are asked for, of rounds of several calls."""
    round = [call(tool, 1) for tool in "abcde"]
    assert [one.rounds for one in cycles(events(*round * 20), rounds=20)] == [20]
    assert cycles(events(*round * 19), rounds=20) == []


# -- agent types -----------------------------------------------------------------------------------


def test_profiles_of_ones_own() -> None:
    """A block of types is added to the five; a type nobody knows needs its capabilities."""
    known = agent_types(
        {"agent_types": {"tester": {"capabilities": ["code_execution"], "typical_tools": ["pytest"]}}}
    )
    assert set(known) == {*AGENT_TYPES, "tester"}
    assert profile("tester", types=known)["typical_tools"] == ["pytest"]
    assert profile("poet", capabilities=["verse"]) == {"type": "poet", "capabilities": ["verse"]}
    with pytest.raises(UsageError, match="no agent type 'poet'"):
        profile("poet")
    with pytest.raises(UsageError, match="capabilities of an agent profile are a list of names, not 'verse'"):
        profile("poet", capabilities="verse")
    with pytest.raises(UsageError, match="reliability_score is a number from 0 to 1, not 92"):
        profile("reviewer", reliability_score=92)
    with pytest.raises(UsageError, match=r"agent_types\.x"):
        agent_types({"agent_types": {"x": {"tools": []}}})


def test_tools_beyond_a_profile() -> None:
    """Typical tools, and those whose use is a capability the agent has, are fine; others are named."""
    reviewer = step("r", agent_profile=profile("reviewer"))
    executor = step("e", agent_profile=profile("executor"))
    analyzer = step("n", agent_profile={"type": "analyzer"})
    raw = [
        reviewer, executor, analyzer,
        call("bash", agent="r"), call("bash", agent="r"), call("bash", agent="e"), call("weather", agent="e"),
        call("grep", agent="n"), call("lint_all", agent="n"), call("web_search", agent="n"),
        call("bash", agent="?"),
    ]  # fmt: skip
    found = overreaches(events(*raw))
    assert [(one.agent, one.tool, one.capability, one.seqs) for one in found] == [
        ("r", "bash", "code_execution", (4, 5)),
        ("n", "web_search", "search", (10,)),
    ]


def test_reliability_from_history() -> None:
    """Facts confirmed or refuted by others, and outermost steps that succeeded; over all logs."""
    good = events(
        step("a"),
        added("F1", 0.6, "a"),
        ("step_end", "a", {"outcome": "success"}),
        ("fact_modified", "b", {"id": "F1", "confidence": 0.9}),
    )
    bad = events(
        added("F1", 0.9, "a"),
        ("fact_modified", "b", {"id": "F1", "confidence": 0.95}),
        ("fact_modified", "b", {"id": "F1", "confidence": 0.1, "reason": "refuted"}),  # the last word counts
        ("step_end", "a", {"outcome": "error"}),
    )
    one, both = records([(Policy(), good, 0)])["a"], records([(Policy(), good, 0), (Policy(), bad, 0)])["a"]
    assert (both.succeeded, both.failed, both.verified, both.refuted) == (1, 1, 1, 1)
    assert both.reliability == 0.5
    assert one.reliability == 0.8
    assert records([]) == {}
    given_up = events(
        *(("step_end", "a", {"outcome": how}) for how in ("cancelled", "aborted", "paused", "success"))
    )
    (record,) = records([(Policy(), given_up, 0)]).values()
    assert (record.succeeded, record.failed) == (1, 0)
