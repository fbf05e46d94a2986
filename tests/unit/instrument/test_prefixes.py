"""Reading only what is new in a request gives what reading all of it gives."""

from __future__ import annotations

import json
import random
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.instrument.codecs import ModelAnswer, ModelRequest, find
from lctl.instrument.conversation import Conversations
from lctl.record.recorder import Draft
from lctl.testing import FixedClock
from tests.seeds import tries
from tests.unit.instrument.chains import CHAT, MESSAGES, RESPONSES

PAD = 'é\n"pad" ' * 300  # every body is large enough for the fast way


class Writer:
    """Numbers drafts as a recorder does, keeping them as bytes."""

    def __init__(self, *, fast: bool) -> None:
        self.fast = fast
        self.conversations = Conversations(FixedClock())
        self.drafts: list[bytes] = []
        self.shortened = 0

    def call(self, url: str, body: bytes, answer: ModelAnswer) -> None:
        found = find("POST", url, {})
        assert found is not None
        codec, operation = found
        if self.fast:
            request = self.conversations.read_request(codec, operation, url, body)
            self.shortened += request.known is not None
        else:
            request = codec.read_request(operation, url, body)
        plan = self.conversations.plan_request(request, self.next, "main", None)
        step = self.step_of(request, plan.leaf)
        self.write([*plan.drafts, step])
        drafts, ids = self.conversations.plan_answer(answer, request, plan.leaf, self.next, "main", 1)
        self.write([*drafts, ("step_end", "main", {"messages": ids}, 1)])

    def step_of(self, request: ModelRequest, leaf: str | None) -> Draft:
        shown = {"model": request.model, "params": request.params, "stream": request.stream, "leaf": leaf}
        return ("step_start", "main", {**shown, **self.conversations.tools_fields(request)}, None)

    @property
    def next(self) -> int:
        return len(self.drafts) + 1

    def write(self, drafts: list[Draft]) -> None:
        self.drafts += [orjson.dumps(draft) for draft in drafts]


def compact(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


class Program:
    """A program with a few conversations that it continues, edits, shortens and repeats."""

    def __init__(self, seed: int, dialect: str) -> None:
        self.chance = random.Random(seed)
        self.dialect = dialect
        self.histories: list[list[Any]] = [[], []]
        self.calls = 0

    def message(self) -> Any:
        text = f"text {self.chance.randrange(6)}"
        roll = self.chance.random()
        if self.dialect == "responses":
            if roll < 0.3:
                return {"type": "function_call", "call_id": text, "name": "f", "arguments": "{}"}
            if roll < 0.6:
                return {"type": "function_call_output", "call_id": text, "output": PAD}
            if roll < 0.7:
                return {"type": "reasoning", "id": f"rs_{roll}", "summary": []}
        elif self.dialect == "messages" and roll < 0.4:
            return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": text, "content": PAD}]}
        elif roll < 0.3:
            return {"role": "tool", "tool_call_id": text, "content": PAD}
        return {"role": "user", "content": text + PAD * self.chance.randrange(2)}

    def reply(self) -> dict[str, Any]:
        text = f"reply {self.chance.randrange(3)}"
        if self.chance.random() < 0.4:
            call = {"id": f"text {self.chance.randrange(6)}", "type": "function"}
            return {"role": "assistant", "content": None, "tool_calls": [{**call, "function": {"name": "f"}}]}
        return {"role": "assistant", "content": text}

    def step(self) -> tuple[bytes, ModelAnswer]:
        """Change one conversation, make a request of it, take an answer."""
        history = self.chance.choice(self.histories)
        roll = self.chance.random()
        if roll < 0.12 and history:
            history[self.chance.randrange(len(history))] = self.message()
        elif roll < 0.2:
            del history[self.chance.randrange(len(history) + 1) :]
        elif roll < 0.25:
            history.insert(self.chance.randrange(len(history) + 1), self.message())
        elif roll < 0.3:
            self.histories.append(list(history))
        history += [self.message() for _ in range(self.chance.choice([0, 1, 1, 1, 2]))]
        history = history or [self.message()]
        body = self.body(list(history))
        reply = self.reply()
        if self.chance.random() < 0.8:
            history.append(reply if self.dialect != "responses" else {"role": "assistant", "content": "x"})
        self.calls += 1
        return body, ModelAnswer(response_id=f"r{self.calls}", messages=[reply])

    def body(self, history: list[Any]) -> bytes:
        key = "input" if self.dialect == "responses" else "messages"
        if self.dialect == "messages" and isinstance(history[-1].get("content"), str):
            marked = {"type": "text", "text": history[-1]["content"], "cache_control": {"type": "ephemeral"}}
            history[-1] = {**history[-1], "content": [marked]}
        body: dict[str, Any] = {"model": "m", key: [{"role": "user", "content": PAD}, *history]}
        if self.chance.random() < 0.3:
            body["temperature"] = self.chance.randrange(3)
        if self.chance.random() < 0.5:
            body["tools"] = [{"name": "t"}] * self.chance.randrange(1, 3)
        system = {"messages": "system", "responses": "instructions"}.get(self.dialect)
        if system and self.chance.random() < 0.7:
            body[system] = f"system {int(self.chance.random() < 0.2)}"
        if self.chance.random() < 0.1:
            body["metadata"] = {key: body[key][:2]}  # the array's text, where it is not the array
            body = {"metadata": body.pop("metadata"), **body}
        if self.chance.random() < 0.05:
            return json.dumps(body).encode()
        return compact(body)


URLS = {"chat": CHAT, "messages": MESSAGES, "responses": RESPONSES}


@pytest.mark.slow
@pytest.mark.parametrize("dialect", sorted(URLS))
@settings(max_examples=tries(40), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_reading_what_is_new_equals_reading_all(dialect: str, seed: int) -> None:
    """Random conversations with edits, branches, repeats and odd formats: the same events, byte for byte."""
    program = Program(seed, dialect)
    fast, whole = Writer(fast=True), Writer(fast=False)
    for _ in range(25):
        body, answer = program.step()
        fast.call(URLS[dialect], body, answer)
        whole.call(URLS[dialect], body, answer)
        assert fast.drafts == whole.drafts


@pytest.mark.parametrize("dialect", sorted(URLS))
def test_growing_conversations_are_read_the_short_way(dialect: str) -> None:
    """Most requests of such programs have a known beginning; else the test above would test nothing."""
    program, writer = Program(3, dialect), Writer(fast=True)
    for _ in range(100):
        writer.call(URLS[dialect], *program.step())
    assert writer.shortened > 25


def test_a_known_beginning_leaves_only_the_new_messages() -> None:
    """And everything else of the request as it is."""
    writer = Writer(fast=True)
    history: list[dict[str, Any]] = [{"role": "user", "content": PAD}]
    answer = ModelAnswer(messages=[{"role": "assistant", "content": "b"}])
    writer.call(CHAT, compact({"messages": history, "model": "m", "seed": 1}), answer)
    history += [{"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
    found = find("POST", CHAT, {})
    assert found is not None
    body = compact({"messages": history, "model": "other", "seed": 2, "stream": True})
    request = writer.conversations.read_request(*found, CHAT, body)
    assert request.messages == history[1:]
    assert (request.model, request.params, request.stream) == ("other", {"seed": 2}, True)


def test_conversations_of_a_failed_write_are_not_a_known_beginning() -> None:
    """What the log does not hold is sent whole to the next plan."""
    conversations = Conversations(FixedClock())
    found = find("POST", CHAT, {})
    assert found is not None
    body = compact({"messages": [{"role": "user", "content": PAD}], "model": "m"})
    request = conversations.read_request(*found, CHAT, body)
    assert len(conversations.plan_request(request, 1, "main", None).drafts) == 1
    conversations.rollback(1)
    again = conversations.read_request(*found, CHAT, body)
    assert again.known is None
    assert len(conversations.plan_request(again, 1, "main", None).drafts) == 1
