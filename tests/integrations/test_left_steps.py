"""Steps that are left in the middle of a stream: the model calls in them end first."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import lctl
from tests.frameworks.outlines import outline, unnested
from tests.integrations.openai_clients import MESSAGES, client  # noqa: F401

LEFT = [
    "None agent: tell [aborted]",
    "  None between: pass on [aborted]",
    "    llm between [aborted]",
]


class Program:
    """An agent, and what is between it and the model: closed after the agent, as by a framework that leaves
    that to who collects it."""

    def __init__(self, asks: Any) -> None:
        self.client = asks
        self.between: Generator[str, None, None] | None = None

    def ask(self) -> Generator[str, None, None]:
        asked = {"model": "gpt-4.1", "messages": MESSAGES, "stream": True}
        with lctl.traced_step("between", "pass on"), self.client.chat.completions.create(**asked) as pieces:
            for piece in pieces:
                yield piece.choices[0].delta.content

    @lctl.traced("agent", "tell")
    def tell(self) -> Generator[str, None, None]:
        self.between = self.ask()
        yield from iter(self.between.__next__, None)


def test_a_step_that_is_left_ends_after_the_call_in_it(server: Any, make: Any, log: Any, client: Any) -> None:  # noqa: F811
    server.replies = [make.Reply(chunks=make.chat_chunks("one two three four"), pause=0.02)]
    program = Program(client)
    told = program.tell()
    next(told)
    told.close()
    assert not [event for event in log.events if event["type"] == "step_end"]
    assert program.between is not None
    program.between.close()
    assert unnested(log.events) == []
    assert outline(log.events, tokens=False) == LEFT


def test_it_ends_with_its_session_where_the_call_does(server: Any, make: Any, log: Any, client: Any) -> None:  # noqa: F811
    server.replies = [make.Reply(chunks=make.chat_chunks("one two three four"), pause=0.02)]
    program = Program(client)
    told = program.tell()
    next(told)
    told.close()
    log.session.close()
    assert unnested(log.events) == []
    assert outline(log.events, tokens=False) == LEFT


def test_a_step_that_is_left_without_a_call_ends_at_once(log: Any) -> None:
    @lctl.traced("agent", "count")
    def count() -> Generator[int, None, None]:
        yield from range(3)

    counted = count()
    next(counted)
    counted.close()
    assert outline(log.events) == ["None agent: count [aborted]"]
