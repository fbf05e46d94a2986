"""Tools in a rerun: what they gave is given again, and their bodies do not run."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lctl.errors import RerunStopped
from lctl.session import LCTLSession, border, tool
from lctl.session.border import Answer, Live, WireRequest
from lctl.session.concurrency.lane import Lane
from lctl.session.tooling.served import Served
from lctl.session.tooling.toolcalls import ToolCall
from lctl.session.tooling.tools import call_tool, call_tool_async
from tests.unit.session.conftest import Open
from tests.unit.session.toolplayer import Declined, again, recorded, recording, serving


@dataclasses.dataclass
class Receipt:
    number: int
    at: datetime
    lines: tuple[str, ...] = ()


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
