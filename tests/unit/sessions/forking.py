"""A session of two tool calls, and forks of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lctl.session import Session

SEEDS = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather?"}]
CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": f"c{n}", "type": "function", "function": {"name": "look", "arguments": "{}"}} for n in (1, 2)
    ],
}
RESULTS = [{"role": "tool", "tool_call_id": f"c{n}", "content": "rain"} for n in (1, 2)]
ANSWER = {"role": "assistant", "content": "Rain."}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A session of 6 messages: 2 seeds, a call of two tools, their results, the answer."""
    place = tmp_path / "run.lctl.json"
    with Session.start(
        log=place,
        session_id="S",
        trigger=("email", "t"),
        model="m1",
        tools=["look"],
        seed_messages=SEEDS,
        state=[0],
    ) as s:
        with s.step() as step:
            s.record(CALLS, sampled=True)
            s.record(*RESULTS)
            s.state = [1]
            step.update(tokens={"input": 10, "output": 2}, cost=0.5)
        with s.step() as step:
            s.record(ANSWER, sampled=True)
            s.state = [2]
            step.update(tokens={"input": 20, "output": 1}, cost=0.25)
    return place


Forked = Callable[..., Session]


@pytest.fixture
def fork(path: Path) -> Any:
    """Forks the session; closes what it made."""
    made: list[Session] = []

    def forked(at: Any = None, **given: Any) -> Session:
        made.append(Session.hydrate(given.pop("source", path)).fork(at, **given))
        return made[-1]

    yield forked
    for session in made:
        session.log.close()
