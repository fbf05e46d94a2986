"""Clients that ask again by themselves: what they do for one call of the program is one step, whatever it takes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from lctl.testing import Fault, Request
from lctl.testing.integration_suite import Recorded
from tests.frameworks.clients import PROGRAMS, Told, answer
from tests.frameworks.test_clients import WithoutHooks

pytestmark = pytest.mark.frameworks

_BUSY = Fault(429, retry_after=0.01)


class Retrying(WithoutHooks):
    """A server that is busy whenever it is asked something for the first time, and one that stays so."""

    asked: Counter[str]

    def __init_subclass__(cls) -> None:
        cls.asked = Counter()

    def answer(self, request: Request) -> Any:
        text = request.last_text
        self.asked[text] += 1
        if "Refuse" in text or ("Busy?" in text and self.asked[text] % 2):
            return _BUSY
        return answer(request)


def attempts(told: Told) -> list[tuple[str, list[int]]]:
    """How each model call ended, and the status of each attempt of it."""
    calls = [e for e in told.events if e["type"] == "step_start" and e["data"]["kind"] == "llm"]
    ends = {e["step"]: e["data"]["outcome"] for e in told.events if e["type"] == "step_end"}
    status: dict[int, list[int]] = {}
    for event in told.events:
        if event["type"] == "exchange" and "step" in event:
            status.setdefault(event["step"], []).append(event["data"]["status"])
    return [(ends[call["seq"]], status[call["seq"]]) for call in calls]


def failures(told: Told) -> list[tuple[str, int]]:
    return [(error["type"], error["context"]["attempt"]) for error in told.of("error")]


class TestGroq(Retrying):
    program = PROGRAMS / "groq_calls.py"
    integration = "groq"
    requires = ("groq",)

    def test_its_log(self, recorded: Recorded) -> None:
        told = Told(recorded.events)
        again = ("success", [429, 200])
        assert attempts(told) == [again, again, ("error", [429, 429]), again, again]
        assert failures(told) == [("rate_limited", n) for n in (1, 1, 1, 2, 1, 1)]


class TestCohere(Retrying):
    program = PROGRAMS / "cohere_calls.py"
    integration = "cohere"
    requires = ("cohere",)

    def test_its_log(self, recorded: Recorded) -> None:
        told = Told(recorded.events)
        again = ("success", [429, 200])
        assert attempts(told) == [again, ("success", [200]), ("error", [429, 429]), again]
        assert failures(told) == [("rate_limited", n) for n in (1, 1, 2, 1)]


class TestMistral(Retrying):
    program = PROGRAMS / "mistral_calls.py"
    integration = "mistralai.client"
    requires = ("mistralai",)

    def test_its_log(self, recorded: Recorded) -> None:
        told = Told(recorded.events)
        again = ("success", [429, 200])
        once = [("success", [200])] * 7
        assert attempts(told) == [again, again, ("error", [429]), again, *once]
        assert failures(told) == [("rate_limited", 1)] * 4
