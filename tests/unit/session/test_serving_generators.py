"""Generators and coroutines of tools in a rerun: item by item, as far as they were asked for."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import pytest

from lctl.errors import RerunStopped
from lctl.session import LCTLSession, tool
from tests.unit.session.conftest import Open
from tests.unit.session.toolplayer import Declined, again, recorded, recording, serving


def test_generators_are_served_item_by_item(open_session: Open) -> None:
    """Left early, failing midway, with a return value, sent to and thrown into."""
    ran: list[str] = []

    @tool
    def items(n: int) -> Generator[tuple[int, ...], Any, str]:
        ran.append("items")
        for k in range(n):
            try:
                yield (k,)
            except KeyError:
                yield (-1,)
        if n == 3:
            raise Declined(3, account="y")
        return "end"

    @tool
    async def stream(n: int) -> AsyncIterator[str]:
        ran.append("stream")
        for k in range(n):
            yield str(k)

    def whole() -> Iterator[Any]:
        end = yield from items(2)
        yield end

    async def main() -> list[Any]:
        told: list[Any] = [item async for item in stream(3)]
        left = stream(5)
        told.append(await anext(left))
        await left.aclose()  # type: ignore[attr-defined]
        return told

    def program() -> list[Any]:
        told: list[Any] = list(whole())
        with pytest.raises(Declined) as raised:
            for item in items(3):
                told.append(item)
        told.append(raised.value.account)
        left = items(5)
        told += [next(left), left.send("x")]
        left.close()
        other = items(4)
        told += [next(other), other.throw(KeyError("in")), next(other)]
        other.close()
        return told + asyncio.run(main())

    told = again(open_session, program)
    assert told[:3] == [(0,), (1,), "end"]
    assert told[6] == "y"
    assert ran == ["items"] * 4 + ["stream"] * 2


def test_a_plain_function_that_gives_a_generator_or_coroutine_is_followed_to_its_end(
    open_session: Open,
) -> None:
    """As decorators make them (pydantic's `validate_call`): the call is what comes of it."""
    ran: list[str] = []

    def items(n: int) -> Iterator[str]:
        for k in range(n):
            ran.append("item")
            yield f"piece {k}"

    async def stream(n: int) -> AsyncIterator[str]:
        for item in items(n):
            yield item

    async def one(n: int) -> tuple[int, ...]:
        ran.append("one")
        if n > 1:
            raise Declined(n, account="z")
        return (n,)

    def validated(function: Any) -> Any:
        def checked(n: int) -> Any:
            if n < 0:
                raise ValueError("below zero")
            return function(n)

        checked.__name__ = function.__name__
        return tool(checked)

    pieces, streamed, awaited = validated(items), validated(stream), validated(one)

    async def in_a_loop() -> list[Any]:
        with pytest.raises(Declined, match="declined: 2"):
            await awaited(2)
        return [await awaited(1), [item async for item in streamed(2)]]

    def program() -> list[Any]:
        with pytest.raises(ValueError, match="below zero"):
            pieces(-1)
        left = pieces(3)
        return [list(pieces(2)), next(left), left.close(), list(pieces(0)), asyncio.run(in_a_loop())]

    gave = again(open_session, program)
    assert gave == [["piece 0", "piece 1"], "piece 0", None, [], [(1,), ["piece 0", "piece 1"]]]
    assert len(ran) == 7  # of the recording alone


def test_a_generator_asked_for_more_than_was_recorded_stops(open_session: Open) -> None:
    @tool
    def items() -> Iterator[int]:
        yield from range(10)

    def take(count: int) -> list[int]:
        stream = items()
        taken = [next(stream) for _ in range(count)]
        stream.close()  # type: ignore[attr-defined]
        return taken

    with open_session("recording") as session, recording():
        assert take(2) == [0, 1]
    with open_session("less"), serving(recorded(session)):
        assert take(1) == [0]
    with open_session("more"), serving(recorded(session)), pytest.raises(RerunStopped, match="more items"):
        take(3)


def test_what_a_tool_gave_and_nobody_began_with(open_session: Open) -> None:
    """The function was called: dropped at once, or there when the session ends."""
    ran: list[int] = []

    async def later() -> int:
        return 1

    async def streamed() -> AsyncIterator[int]:
        yield 1

    @tool
    def lazily(n: int) -> Any:
        ran.append(n)
        return (k for k in range(n)) if n < 3 else streamed() if n < 4 else later()

    def program() -> list[Any]:
        lazily(1)
        kept = [list(lazily(2)), lazily(3), lazily(2)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a coroutine that was never awaited
            lazily(4)
        return kept

    def calls(session: LCTLSession) -> list[Any]:
        found = [event["data"] for event in recorded(session) if event["type"] == "tool_call"]
        return [[one["input"]["n"], one.get("output"), one.get("closed_early")] for one in found]

    with open_session("recording") as session, recording():
        kept = program()
    want = [[1, [], True], [2, [0, 1], None], [4, None, True], [3, [], True], [2, [], True]]
    assert calls(session) == want
    assert list(kept[2]) == [0, 1]  # it is still the program's
    with open_session("again") as again_session, serving(recorded(session)):
        kept = program()
    assert calls(again_session) == want
    assert ran == [1, 2, 3, 2, 4]
    with open_session("more"), serving(recorded(session)), pytest.raises(RerunStopped, match="more items"):
        list(lazily(1))
