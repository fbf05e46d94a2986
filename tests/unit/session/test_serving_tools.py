"""Tools in a rerun: what they gave is given again, and their bodies do not run."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lctl.errors import RerunStopped
from lctl.session import LCTLSession, border, tool
from lctl.session.border import Answer, Live, WireRequest
from lctl.session.lanes import Lane
from lctl.session.served import Served
from lctl.session.toolcalls import ToolCall
from lctl.session.tools import call_tool, call_tool_async
from tests.unit.session.toolplayer import recorded, recording, serving

Open = Callable[[str], LCTLSession]


@pytest.fixture
def open_session(tmp_path: Path) -> Open:
    return lambda name: LCTLSession(name, tmp_path / f"{name}.lctl.json")


class Declined(Exception):
    """Its arguments are none of what it keeps."""

    def __init__(self, code: int, *, account: str) -> None:
        super().__init__(f"declined: {code}")
        self.code = code
        self.account = account


@dataclasses.dataclass
class Receipt:
    number: int
    at: datetime
    lines: tuple[str, ...] = ()


def essence(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events without what is new in each run."""
    return [
        {
            **event,
            "timestamp": "",
            "data": {
                k: v for k, v in event["data"].items() if k not in ("duration_ms", "at", "turn", "began")
            },
        }
        for event in events
    ]


def again(open_session: Open, program: Callable[[], Any], times: int = 3) -> Any:
    """Record the program, serve it `times` times; what it gave, which must be the same each time."""
    with open_session("recording") as session, recording():
        first = program()
    events = recorded(session)
    for n in range(times):
        with open_session(f"again{n}") as session, serving(events) as player:
            assert program() == first
        assert player.executed == []
        assert essence(recorded(session)) == essence(events)
    return first


def test_a_payment_is_made_once(open_session: Open, tmp_path: Path) -> None:
    """A tool that appends to a file: after 20 reruns the file is as after the recording."""
    ledger = tmp_path / "ledger.txt"

    @tool
    def pay(amount: int) -> Receipt:
        with ledger.open("a") as file:
            file.write(f"{amount}\n")
        return Receipt(len(ledger.read_text().splitlines()), datetime.now(UTC), ("a", "b"))

    def program() -> list[Receipt]:
        return [pay(3), pay(3), pay(4)]

    receipts = again(open_session, program, 20)
    assert ledger.read_text() == "3\n3\n4\n"
    assert [receipt.number for receipt in receipts] == [1, 2, 3]
    assert receipts[0].lines == ("a", "b")


def test_exceptions_are_raised_as_what_they_were(open_session: Open) -> None:
    """A class whose `__init__` takes other arguments than it keeps, with attributes, notes and cause."""
    ran: list[int] = []

    @tool
    def charge(n: int) -> None:
        ran.append(n)
        if n == 1:
            raise FileNotFoundError(2, "No such file", "accounts.db")
        if n == 2:
            raise ExceptionGroup("both", [ValueError("a"), KeyError("b")])
        error = Declined(51, account="x-1")
        error.add_note("try later")
        raise error from ConnectionError("bank")

    assert again(open_session, lambda: program_of(charge))[0] == 51
    assert len(ran) == 3


def program_of(charge: Callable[[int], None]) -> list[Any]:
    told: list[Any] = []
    for n in range(3):
        try:
            charge(n)
        except Declined as error:
            assert type(error) is Declined
            told += [error.code, error.account, str(error), error.__notes__, repr(error.__cause__)]
        except FileNotFoundError as error:
            told += [error.errno, error.filename, str(error)]
        except ExceptionGroup as group:
            told += [group.message, [repr(inner) for inner in group.exceptions]]
    return told


def test_async_tools_threads_and_bare_calls(open_session: Open) -> None:
    """Coroutines, `call_tool` and `call_tool_async`; exceptions of an async tool."""
    ran: list[str] = []

    @tool
    async def fetch(url: str) -> bytes:
        ran.append(url)
        await asyncio.sleep(0)
        if url == "bad":
            raise TimeoutError("slow")
        return b"\xff" + url.encode()

    def sync() -> int:
        ran.append("sync")
        return 3

    async def bare() -> set[str]:
        ran.append("bare")
        return {"x"}

    async def main() -> list[Any]:
        told: list[Any] = [await fetch("a"), await call_tool_async("bare", {"n": 1}, bare)]
        with pytest.raises(TimeoutError, match="slow"):
            await fetch("bad")
        told.append(call_tool("sync", {}, sync))
        return told

    assert again(open_session, lambda: asyncio.run(main())) == [b"\xffa", {"x"}, 3]
    assert ran == ["a", "bare", "bad", "sync"]


def test_changed_arguments_are_changed_again(open_session: Open) -> None:
    """Lists, dicts, sets and objects in place, also what is in them, and what is returned of them."""
    ran: list[int] = []

    @tool
    def work(items: list[Any], state: dict[str, Any], seen: set[int], receipt: Receipt) -> Any:
        ran.append(1)
        items[:] = [*items[1:], {"new": (1, 2)}]
        state["inner"]["count"] += 1
        del state["old"]
        seen.add(5)
        receipt.number = 9
        return state["inner"]

    class Account:
        def __init__(self) -> None:
            self.balance = 10
            self.log: list[str] = []
            self.lock = threading.Lock()

        @tool
        def withdraw(self, amount: int) -> int:
            ran.append(2)
            self.balance -= amount
            self.log.append(f"-{amount}")
            return self.balance

    def program() -> Any:
        first: dict[str, int] = {"a": 1}
        second: dict[str, int] = {"b": 2}
        items: list[Any] = [first, second]
        inner = {"count": 1}
        state = {"inner": inner, "old": 1}
        seen, receipt = {1}, Receipt(1, datetime(2026, 1, 1))
        given = work(items, state, seen, receipt)
        assert given is inner
        assert items[0] is second
        account = Account()
        log = account.log
        left = account.withdraw(4)
        return [items, state, seen, receipt, inner, left, account.balance, log]

    told = again(open_session, program)
    assert told[0] == [{"b": 2}, {"new": (1, 2)}]
    assert told[4:] == [{"count": 2}, 6, 6, ["-4"]]
    assert ran == [1, 2]


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


def test_what_a_tool_does_inside_is_skipped_with_it(open_session: Open) -> None:
    """Tools, steps and facts of its body; calls made after it keep their number; its events are there."""
    ran: list[str] = []

    @tool
    def inner(x: int) -> int:
        ran.append("inner")
        return x + 1

    @tool
    def outer(x: int) -> int:
        ran.append("outer")
        session = sessions[0]
        with session.step("helper", "help"):
            session.add_fact("f", "true")
            return inner(inner(x))

    sessions: list[LCTLSession] = []

    def program() -> list[int]:
        from lctl.session import get_session

        session = get_session()
        assert session is not None
        sessions[:] = [session]
        with session.step("main", "run"):
            return [outer(1), inner(5), outer(2)]

    assert again(open_session, program) == [3, 6, 4]
    assert ran == ["outer", "inner", "inner", "inner", "outer", "inner", "inner"]


def test_concurrent_tools(open_session: Open) -> None:
    """In a gather and in threads each call gets its own result."""
    ran: list[int] = []

    @tool
    async def slow(n: int) -> tuple[int, int]:
        await asyncio.sleep(0.001 * (5 - n))
        ran.append(n)
        return n, len(ran)

    async def main() -> Any:
        return await asyncio.gather(*(slow(n) for n in range(5)))

    with open_session("recording") as session, recording():
        first = asyncio.run(main())
    for n in range(5):
        with open_session(f"again{n}"), serving(recorded(session)) as player:
            assert asyncio.run(main()) == first
        assert player.served == 5
    assert sorted(ran) == [0, 1, 2, 3, 4]


def test_what_cannot_be_kept_is_run_again_and_said(open_session: Open) -> None:
    """An open file, a class within a function, a stream without end: the event says why."""
    ran: list[str] = []

    @tool
    def opened() -> Any:
        ran.append("opened")
        return object()

    @tool
    def endless() -> Iterator[int]:
        ran.append("endless")
        yield from range(1001)

    def program() -> None:
        opened()
        list(endless())

    with open_session("recording") as session, recording():
        program()
    events = recorded(session)
    assert [event["data"]["tape"]["executed"] for event in events] == [
        "an object, which JSON cannot hold",
        "a stream of more than 1000 items",
    ]
    assert len(events[1]["data"]["output"]) == 1000
    with open_session("again"), serving(events) as player:
        program()
    assert player.executed == ["opened", "endless"]
    assert ran == ["opened", "endless"] * 2


def test_plain_results_need_no_tape(open_session: Open) -> None:
    @tool
    def give(value: Any) -> Any:
        return {"a": [1, 2.5, None, True, "é"], "b": {}}

    @tool
    def fail() -> None:
        raise ValueError("plain")

    with open_session("recording") as session, recording():
        give(1)
        with pytest.raises(ValueError, match="plain"):
            fail()
    assert all("tape" not in event["data"] for event in recorded(session))


def test_a_player_that_fails_never_lets_the_tool_run(open_session: Open) -> None:
    """A fault of ours in a rerun is no reason to pay."""

    class Broken(border.Player):
        def exchange(self, request: WireRequest) -> Answer | Live:
            raise NotImplementedError

        def ambient(self, source: str, key: str, lane: Lane, number: int) -> tuple[Any] | None:
            return None

        def tool(self, call: ToolCall, lane: Lane, number: int) -> Served | None:
            raise LookupError("no such entry")

    ran: list[int] = []

    @tool
    def pay() -> None:
        ran.append(1)

    broken: Any = Broken()
    border.set_player(broken)
    try:
        with pytest.raises(RerunStopped, match="pay cannot be given: LookupError: no such entry"):
            pay()
    finally:
        border.set_player(None)
    assert ran == []
