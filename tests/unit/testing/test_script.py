"""Which answer a request gets, and what the server says about the requests it got."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from lctl.errors import UsageError
from lctl.testing import Fault, FixedClock, ModelServer, Reply, Request


def ask(client: openai.OpenAI, text: str = "hello", model: str = "gpt-4.1", **more: Any) -> str:
    """The answer's text."""
    messages: Any = [{"role": "user", "content": text}]
    return str(
        client.chat.completions.create(model=model, messages=messages, **more).choices[0].message.content
    )


def test_queued_answers_are_used_in_order_then_the_seed_answers(
    server: ModelServer, gpt: openai.OpenAI
) -> None:
    """reply and script share one queue; `times` repeats; pending counts what is left."""
    server.reply("a").script(["b", Reply("c")]).reply("d", times=2)
    assert server.pending == 5
    assert [ask(gpt) for _ in range(5)] == ["a", "b", "c", "d", "d"]
    assert server.pending == 0
    assert len(ask(gpt)) > 20


def test_rules_go_before_the_queue_and_the_first_match_wins(server: ModelServer, gpt: openai.OpenAI) -> None:
    """`when` looks at model, text (case ignored), operation or any function of the request."""
    server.reply("queued", times=None)
    server.when(model="gpt-4.1-mini", contains="SQL").reply("both")
    server.when(contains="sql").reply("text")
    server.when(where=lambda r: "x-team" in r.headers).reply("header")
    server.when(operation="embeddings").fault(500)
    assert ask(gpt, "some sql", model="gpt-4.1-mini") == "both"
    assert ask(gpt, "some sql") == "text"
    assert ask(gpt, extra_headers={"x-team": "1"}) == "header"
    assert ask(gpt) == "queued"


def test_a_rule_may_hold_a_sequence(server: ModelServer, gpt: openai.OpenAI) -> None:
    """Limited answers of a rule are used up in order; then the next rule or the queue answers."""
    server.when(contains="x").script(["1", "2"]).reply("for ever")
    assert [ask(gpt, "x") for _ in range(4)] == ["1", "2", "for ever", "for ever"]


def test_a_function_answers_or_passes(server: ModelServer, gpt: openai.OpenAI) -> None:
    """A function sees the request; None leaves it to what comes next."""

    def answer(request: Request) -> str | Reply | Fault | None:
        if "echo" in request.last_text:
            return request.last_text.upper()
        return Reply("three", model="other") if "three" in request.text else None

    server.reply(answer, times=None).reply("next")
    assert ask(gpt, "echo me") == "ECHO ME"
    assert ask(gpt, "three") == "three"
    assert ask(gpt, "else") == "next"


def test_a_failing_function_is_told_to_the_caller_once(server: ModelServer, gpt: openai.OpenAI) -> None:
    """The error names what was raised, and the SDK does not retry it."""

    def broken(request: Request) -> str:
        raise KeyError(request.model)

    server.reply(broken, times=None)
    with pytest.raises(openai.InternalServerError, match=r"KeyError: 'gpt-4\.1'"):
        ask(gpt)
    assert server.count == 1


def test_strict_refuses_what_nobody_wrote_an_answer_for() -> None:
    """A strict server makes a forgotten answer a failing test."""
    with ModelServer(strict=True) as server, openai.OpenAI(base_url=server.openai_url, api_key="t") as client:
        server.reply("once")
        assert ask(client) == "once"
        with pytest.raises(openai.BadRequestError, match="nothing answers /v1/chat/completions: 'hello'"):
            ask(client)


@pytest.mark.parametrize("answer", [None, 3, ["a"], {"text": "a"}])
def test_what_is_no_answer_is_refused_at_once(server: ModelServer, answer: Any) -> None:
    """The mistake shows where it was made, not in the program under test."""
    with pytest.raises(UsageError, match="an answer is a text"):
        server.reply(answer)
    with pytest.raises(UsageError, match="go with a text or a Reply"):
        server.reply(Fault(500), times=1, model="x")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tool_calls": ["grep"]}, r"'grep' is no call; they are like \[\("),
        ({"tool_calls": ("grep", {"p": 1})}, "'grep' is no call"),
        ({"tool_calls": "grep"}, "tool_calls='grep': a list of calls"),
        ({"tool_calls": [("grep", 3)]}, r"\('grep', 3\) is no name with its arguments"),
        ({"tool_calls": [("grep", {"p": object()})]}, "grep: JSON cannot hold its arguments"),
        ({"usage": {"input_tokens": 3}}, "by input, output, cache_read, cache_write, reasoning"),
        ({"usage": {"input": "3"}}, "input='3' is no number of tokens"),
        ({"json": object()}, "JSON cannot hold it"),
        ({"choices": [3]}, "texts and Replies, not int"),
        ({"fault": 429}, "fault=429: a Fault"),
        ({"times": 0}, "times=0: how often it is used, 1 or more"),
    ],
)
def test_what_no_model_could_say_is_refused_at_once(
    server: ModelServer, options: dict[str, Any], said: str
) -> None:
    """With the value, and what belongs there; nothing is queued."""
    times = {"times": options.pop("times")} if "times" in options else {}
    with pytest.raises(UsageError, match=said):
        server.reply("x", **times, **options)
    with pytest.raises(UsageError, match=said):
        server.when(model="m").reply("x", **times, **options)
    assert server.pending == 0


@pytest.mark.parametrize("status", ["429", 99, True, Fault(429)])
def test_a_status_that_no_response_has_is_refused(server: ModelServer, status: Any) -> None:
    """In a queue, in a rule, and in a reply's own fault."""
    with pytest.raises(UsageError, match="a number from 200 to 599"):
        server.fault(status)
    with pytest.raises(UsageError, match="a number from 200 to 599"):
        server.when(model="m").fault(status)
    with pytest.raises(UsageError, match="a number from 200 to 599"):
        server.reply("x", fault=Fault(status))


@pytest.mark.parametrize("answers", ["abc", Reply("a"), Fault(429), {"text": "a"}])
def test_one_answer_is_no_script(server: ModelServer, answers: Any) -> None:
    """A text would be a script of its letters."""
    with pytest.raises(UsageError, match=r"a script is a list of answers, not .*reply\(\)"):
        server.script(answers)
    with pytest.raises(UsageError, match="a script is a list of answers"):
        server.when(model="m").script(answers)


def test_functions_that_give_no_answer(server: ModelServer, gpt: openai.OpenAI) -> None:
    """An async one is refused at once; what another one gives is told to the caller."""

    async def later(request: Request) -> str:
        return request.model

    with pytest.raises(UsageError, match=r"later is async.*def later\(request\)"):
        server.reply(later)
    server.reply(lambda request: 42)
    with pytest.raises(openai.InternalServerError, match="the function gave 42, not a text, a Reply"):
        ask(gpt)
    server.reply(lambda request: Reply(tool_calls=["grep"]))  # type: ignore[list-item]
    with pytest.raises(openai.InternalServerError, match=r"grep\\*' is no call"):
        ask(gpt)


def test_requests_can_be_inspected_and_forgotten(gpt: openai.OpenAI, server: ModelServer) -> None:
    """Parsed body, headers by lower-case name, texts; reset forgets them and the script."""
    parts = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "data:,x"}}]
    messages: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": parts}]
    gpt.chat.completions.create(model="gpt-4.1", messages=messages, extra_headers={"X-Run": "7"})
    (request,) = server.requests
    assert (request.number, request.method, request.path) == (1, "POST", "/v1/chat/completions")
    assert (request.model, request.operation, request.provider) == ("gpt-4.1", "chat.completions", "openai")
    assert request.headers["x-run"] == "7" and request.headers["authorization"] == "Bearer test"
    assert (request.system, request.last_text, request.text) == (
        "Be brief.",
        "What is it?",
        "Be brief.\nWhat is it?",
    )
    assert request.messages == messages and request.tools == [] and not request.stream
    server.reply("left").reset()
    assert (server.count, server.requests, server.pending) == (0, [], 0)


def test_arrival_times_come_from_the_clock() -> None:
    """A fixed clock makes `at` comparable."""
    with ModelServer(clock=FixedClock(tick_ms=1000)) as server:
        with openai.OpenAI(base_url=server.openai_url, api_key="t") as client:
            ask(client), ask(client)
        assert [r.at for r in server.requests] == [
            "2026-01-01T00:00:00.000000Z",
            "2026-01-01T00:00:01.000000Z",
        ]


def test_environ_points_clients_made_without_arguments_here(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that builds its own clients needs no change."""
    for name, value in server.environ.items():
        monkeypatch.setenv(name, value)
    with openai.OpenAI() as client:
        assert ask(client)
    assert server.count == 1


def test_a_server_that_is_not_running_says_so() -> None:
    """No port, no URL."""
    with pytest.raises(UsageError, match="not running"):
        _ = ModelServer().openai_url
