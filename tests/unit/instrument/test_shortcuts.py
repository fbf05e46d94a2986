"""What is read a faster way is recorded to the byte as it is without: whole calls of a real SDK, twice."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lctl.instrument import conversation, digests, ensure_installed, uninstrument
from lctl.instrument.codecs import openai as dialect
from lctl.instrument.codecs.chunks import only_text
from lctl.instrument.codecs.sse import read_merged, read_stream
from lctl.session import LCTLSession
from lctl.session.redaction.redact import Redactor
from lctl.testing import FixedClock
from tests.seeds import tries

#: What two runs of the same calls differ in: what a stopwatch says.
TIMES = re.compile(rb'"(?:duration_ms|first_chunk_ms)":[\d.]+|\[[\d.]+,(?=["\[])')
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
SECRET = "sk-proj-" + "Abc123" * 6

texts = st.sampled_from(["", "word", 'é "quoted" \\ text\n', "long " * 400, f"my key is {SECRET}", "a" * 70])
parts = st.lists(st.builds(lambda text: {"type": "text", "text": text}, texts), min_size=1, max_size=2)
contents = st.one_of(texts, parts)


@st.composite
def turns(draw: st.DrawFn) -> list[dict[str, Any]]:
    """What a program does, turn by turn: what it appends, whether it edits, streams, and what it gets."""
    kinds = ("say", "say", "say", "tool", "edit", "drop", "again", "new")
    return [
        {
            "do": draw(st.sampled_from(kinds)),
            "content": draw(contents),
            "answer": draw(texts),
            "calls": draw(st.booleans()),
            "stream": draw(st.booleans()),
            "tools": draw(st.sampled_from([None, TOOLS])),
            "temperature": draw(st.sampled_from([None, 0.5])),
            "status": draw(st.sampled_from([200, 200, 200, 200, 500, 400])),
        }
        for _ in range(draw(st.integers(2, 7)))
    ]


class Program:
    """Makes the same calls whenever it is run."""

    def __init__(self, plan: list[dict[str, Any]]) -> None:
        self.plan = plan
        self.history: list[Any] = [{"role": "system", "content": "be short " * 150}]
        self.turn: dict[str, Any] = {}
        transport = httpx2.Client(transport=httpx2.MockTransport(self.answer))
        self.client = openai.OpenAI(
            api_key="sk-none", base_url="http://model/v1", http_client=transport, max_retries=0
        )

    def run(self) -> None:
        for n, turn in enumerate(self.plan):
            self.turn = turn
            self.prepare(turn, n)
            try:
                self.call(turn, n)
            except openai.APIStatusError:
                pass

    def prepare(self, turn: dict[str, Any], n: int) -> None:
        history = self.history
        if turn["do"] == "edit" and len(history) > 2:
            history[len(history) // 2] = {"role": "user", "content": f"edited {n}"}
        elif turn["do"] == "drop" and len(history) > 3:
            del history[1:3]
        elif turn["do"] == "new":
            del history[1:]
        asked = history[-1].get("tool_calls") if isinstance(history[-1], dict) else None
        for call in asked or ():
            history.append({"role": "tool", "tool_call_id": call["id"], "content": f"result {n}"})
        if turn["do"] != "again" or len(history) == 1:
            history.append({"role": "user", "content": turn["content"]})

    def call(self, turn: dict[str, Any], n: int) -> None:
        more = {name: turn[name] for name in ("tools", "temperature") if turn[name] is not None}
        create: Any = self.client.chat.completions.create
        made = create(model="m", messages=self.history, stream=turn["stream"], **more)
        if turn["stream"]:
            for _ in made:
                pass
        self.history.append(self.message(n) if n % 2 else {"role": "assistant", "content": turn["answer"]})

    def message(self, n: int) -> dict[str, Any]:
        made: dict[str, Any] = {"role": "assistant", "content": self.turn["answer"], "refusal": None}
        if self.turn["calls"]:
            call = {"id": f"c{n}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
            made["tool_calls"] = [call]
        return made

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        turn = self.turn
        if turn["status"] != 200:
            return httpx2.Response(turn["status"], json={"error": {"message": "no", "type": "bad"}})
        head = {"id": "r", "object": "chat.completion", "created": 1, "model": "m"}
        if turn["stream"]:
            return httpx2.Response(
                200,
                content=(event for event in streamed(head, turn["answer"])),
                headers={"content-type": "text/event-stream"},
            )
        n = self.plan.index(turn)
        choice: dict[str, Any] = {"index": 0, "message": self.message(n), "finish_reason": "stop"}
        whole: dict[str, Any] = {**head, "choices": [choice], "usage": {"prompt_tokens": 1}}
        return httpx2.Response(200, json=whole)


def streamed(head: dict[str, Any], text: str) -> list[bytes]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[n : n + 7]} for n in range(0, len(text), 7)]
    choices: list[Any] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    events = [{**head, "object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
    return [b"data: " + json.dumps(event).encode() + b"\n\n" for event in events] + [b"data: [DONE]\n\n"]


def log(plan: list[dict[str, Any]], path: Path) -> list[bytes]:
    path.unlink(missing_ok=True)
    redactor = Redactor(key=b"0" * 16)
    with LCTLSession("same", path, clock=FixedClock(), redact=redactor) as session:
        Program(plan).run()
        return [TIMES.sub(b"", line) for line in session.lines()]


@pytest.mark.slow
@given(plan=turns())
@settings(
    max_examples=tries(20),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_log_is_the_same_with_and_without_shortcuts(plan: list[dict[str, Any]], tmp_path: Path) -> None:
    ensure_installed()
    try:
        fast = log(plan, tmp_path / "log.lctl.json")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(conversation, "SMALL", 1 << 60)
            patch.setattr(digests, "_SMALL", 1 << 60)
            patch.setattr(dialect, "read_merged", _one_by_one)
            whole = log(plan, tmp_path / "log.lctl.json")
    finally:
        uninstrument()
    assert fast == whole
    assert SECRET.encode() not in b"".join(fast)


def _one_by_one(body: bytes, only_text: object) -> tuple[list[dict[str, Any]], bool, int]:
    events, done = read_stream(body)
    return events, done, len(events)


def call(**of_it: Any) -> Any:
    return lambda text: {"tool_calls": [{"function": {"arguments": text, "name": "f"}, **of_it}]}


#: What servers put around a text in the chunks of a stream.
SHAPES: dict[str, Any] = {
    "content": lambda text: {"content": text},
    "reasoning_content": lambda text: {"content": None, "reasoning_content": text},
    "role": lambda text: {"role": text},
    "reasoning twice": lambda text: {"content": "", "reasoning": text, "reasoning_details": [{"text": text}]},
    "details": lambda text: {"reasoning_details": [{"type": "reasoning.text", "text": text}]},
    "both": lambda text: {"reasoning": text, "content": text},
    "beside": lambda text: {"content": "same ", "extra": {"text": text}},
    "parts": lambda text: {"content": [{"type": "text", "text": text}]},
    "two parts": lambda text: {"content": [{"type": "text", "text": text}, {"type": "text", "text": "b"}]},
    "call": call(index=0, id="c"),
    "call without index": call(id="c"),
    "two calls": lambda text: {
        "tool_calls": call(index=0)(text)["tool_calls"] + call(index=1)("b")["tool_calls"]
    },
    "custom": call(index=0, custom={"input": "b"}),
    "function_call": lambda text: {"function_call": {"arguments": text}},
    "audio": lambda text: {"content": text, "audio": {"transcript": "b"}},
}
pieces = st.sampled_from(["a", "word ", 'q"', "\\", "\n", "é", "", "[DONE]", '"}'])


@given(runs=st.lists(st.tuples(pieces, st.sampled_from(sorted(SHAPES)), st.integers(1, 9)), max_size=9))
def test_merged_events_say_what_the_events_say(runs: list[tuple[str, str, int]]) -> None:
    choices = [
        {"index": 0, "delta": SHAPES[shape](text)} for text, shape, count in runs for _ in range(count)
    ]
    assert_merged([[choice] for choice in choices])


def test_of_several_choices_none_is_lost() -> None:
    choices = [{"index": n, "delta": {"content": "ha "}} for n in range(2)]
    assert_merged([choices] * 20)


def assert_merged(chunks: list[list[Any]]) -> None:
    events = [{"id": "r", "model": "m", "choices": choices} for choices in chunks]
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    whole = dialect.OpenAI().read_answer(
        "chat.completions", 200, {"content-type": "text/event-stream"}, [body]
    )
    events, done = read_stream(body)
    assert whole == dialect._read_events("chat.completions", 200, events, done)
    assert read_merged(body, only_text)[1:] == (done, len(events))


def test_repeated_reasoning_is_whole() -> None:
    """Where a delta says its text twice, as OpenRouter's reasoning, each of its repetitions counts."""
    said = ["A", *["ha "] * 12, "B"]
    chunks = [[{"index": 0, "delta": SHAPES["reasoning twice"](text)}] for text in said]
    assert_merged(chunks)


def test_usual_events_are_merged() -> None:
    """The shortcut is taken where it may be."""
    for shape in ("content", "parts", "call", "function_call"):
        choices = [{"index": 0, "delta": SHAPES[shape](f"w{n}")} for n in range(50)]
        body = b"".join(b"data: " + json.dumps({"choices": [one]}).encode() + b"\n\n" for one in choices)
        assert len(read_merged(body, only_text)[0]) < 5
