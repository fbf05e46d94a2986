"""A time limit of the program that ends in the middle of a recorded model call."""

from __future__ import annotations

import json
import random
import signal
import sys
import time
from collections.abc import Iterator
from contextvars import copy_context
from pathlib import Path
from types import FrameType
from typing import Any

import httpx
import pytest

import lctl
from lctl.clock import system_clock
from lctl.codec import open_log
from lctl.guard import guard

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")

_CHUNK = {"id": "x", "object": "chat.completion.chunk", "model": "m"}
_EVENTS = [{**_CHUNK, "choices": [{"index": 0, "delta": {"content": f"a{n} "}}]} for n in range(10)]
_STREAM = b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in _EVENTS) + b"data: [DONE]\n\n"
_WHOLE: dict[str, Any] = {
    "id": "x",
    "object": "chat.completion",
    "model": "m",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Since noon."}}
    ],
}
_HEADERS = {"content-type": "text/event-stream"}


_ASKED = {"model": "m", "stream": True}
_KNOWN = ("lctl.", "httpx.")


def _name(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _question(words: str) -> dict[str, str]:
    return {"role": "user", "content": words}


class Interrupts:
    """Raises `kind` at a moment by chance. `inside`: the line of what reads calls that ran, if one did."""

    def __init__(self, kind: type[Exception]) -> None:
        self.kind = kind
        self.inside = ""
        self.unraised: list[Any] = []  # in a destructor, out of which Python lets nothing

    def __call__(self, number: int, frame: FrameType | None) -> None:
        while frame is not None and not _name(frame).startswith(_KNOWN):
            frame = frame.f_back
        ours = frame is not None and _name(frame).startswith("lctl.instrument.")
        self.inside = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None and ours else ""
        raise self.kind


@pytest.fixture(params=[TimeoutError, ValueError])
def interrupts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Interrupts]:
    made = Interrupts(request.param)
    monkeypatch.setattr(guard, "policy", "report")  # as for users
    monkeypatch.setattr(sys, "unraisablehook", made.unraised.append)
    before = signal.signal(signal.SIGALRM, made)
    yield made
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    made.unraised.clear()


def test_it_is_never_taken_for_an_answer_to_something_else(tmp_path: Path, interrupts: Interrupts) -> None:
    """What reads bodies, and what writes files, catches errors of such kinds."""
    transport = httpx.MockTransport(lambda request: httpx.Response(200, headers=_HEADERS, content=_STREAM))
    client = httpx.Client(transport=transport, base_url="https://api.openai.com")
    chance, failures = random.Random(5), dict(guard.failures)

    def ask() -> None:
        with lctl.LCTLSession("limits", tmp_path / "run.lctl.json"):
            for _ in range(300):
                _ask_until_interrupted(client, interrupts, chance.uniform(0.0002, 0.004))

    copy_context().run(ask)
    assert guard.failures == failures
    exchanges = [e.data for e in open_log(tmp_path / "run.lctl.json").events() if e.type == "exchange"]
    assert {said["attempt"] for said in exchanges} == {1}  # none was taken for another go of an earlier call


def _ask_until_interrupted(client: httpx.Client, interrupts: Interrupts, after: float) -> None:
    unraised, interrupts.inside = len(interrupts.unraised), ""
    try:
        _ask(client, interrupts, after)
    except interrupts.kind:
        return
    # (The client itself may take it for an answer.)
    assert len(interrupts.unraised) > unraised or not interrupts.inside, f"swallowed in {interrupts.inside}"


def _ask(client: httpx.Client, interrupts: Interrupts, after: float) -> None:
    """A function of its own: Python 3.13 may hear a signal at the head of a loop as if outside its `try`."""
    asked = {**_ASKED, "messages": [_question(f"what is it after {after} s?")]}
    until, unraised = time.monotonic() + 0.2, len(interrupts.unraised)
    signal.setitimer(signal.ITIMER_REAL, after)
    while time.monotonic() < until and len(interrupts.unraised) == unraised:
        client.post("/v1/chat/completions", json=asked)


class _Signalling:
    """A clock during whose next reading a signal comes, once it is `armed`."""

    armed = False

    def now(self) -> str:
        if self.armed:
            self.armed = False
            signal.raise_signal(signal.SIGALRM)
        return system_clock.now()

    def monotonic_ns(self) -> int:
        return system_clock.monotonic_ns()


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_an_answer_that_came_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]
) -> None:
    """A signal that comes as the answer is written is the program's, which goes on without it; the log has it
    once, and the conversation goes on behind it."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise kind

    monkeypatch.setattr(guard, "policy", "report")
    clock, path = _Signalling(), tmp_path / "run.lctl.json"
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        clock.armed = len(asked) == 0
        asked.append(request)
        return httpx.Response(200, json=_WHOLE)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        client = httpx.Client(transport=httpx.MockTransport(answer), base_url="https://api.openai.com")
        with client, lctl.LCTLSession("limits", path, clock=clock):
            with pytest.raises(kind):
                _post(client, [_question("a")])
            _post(client, [_question("a"), _WHOLE["choices"][0]["message"], _question("b")])
    finally:
        signal.signal(signal.SIGALRM, before)
    types = [event.type for event in open_log(path).events()]
    assert types.count("exchange") == types.count("step_end") == types.count("step_start") == 2
    assert types.count("message") == 4


def _post(client: httpx.Client, messages: list[dict[str, str]]) -> None:
    client.post("/v1/chat/completions", json={"model": "m", "messages": messages}).raise_for_status()
