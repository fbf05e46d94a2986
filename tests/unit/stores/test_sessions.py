"""Agent sessions in a store: the same as the live ones at every seq, taken up and forked from there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.errors import LogNotFound, ToolInDoubt
from lctl.session import ending
from lctl.session.concurrency import processes, threads
from lctl.session.runs import context
from lctl.stores.contract import ChainStore
from lctl.stores.opening import close_stores, open_store
from lctl.stores.sqlstore import SqlStore
from tests.unit.stores.conftest import KINDS

SEEDS = [
    {"role": "system", "content": "You answer mail."},
    {"role": "user", "content": "When?", "is_new": True, "details": {"mail": 17}},
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "lctl"))
    monkeypatch.delenv("LCTL_STORE", raising=False)
    place = context.raw()
    yield
    context.set_current(place)  # steps of processes that died are never left
    close_stores()


def begin(address: str, **given: Any) -> lctl.Session:
    return lctl.Session.start(
        log=address,
        session_id="mail-17",
        conversation_id="c1",
        trigger=("email", "17"),
        model={"id": "m", "context_window": 128_000},
        seed_messages=SEEDS,
        tools=["send_mail"],
        policy={"loop": False},
        state={"steps": 0},
        **given,
    )


def look(s: lctl.Session) -> dict[str, Any]:
    """All a session tells of itself."""
    return {
        "seeds": s.seed_messages,
        "messages": list(s.messages),
        "context": s.context,
        "state": s.state,
        "totals": s.totals,
        "status": s.status,
        "high_water": s.high_water,
        "pending": (s.pending.step, s.pending.calls),
    }


def converse(s: lctl.Session) -> Iterator[None]:
    """A session of three turns; pauses wherever somebody may look."""
    yield
    for n in range(3):
        with s.step("turn") as step:
            s.record({"role": "assistant", "content": f"answer {n}"}, sampled=True)
            yield
            s.record({"role": "user", "content": f"and {n}?"})
            s.state["steps"] += 1
            step.update(tokens={"input": 10 + n, "output": n, "cache_read": 1}, cost=0.5)
        yield
    s.end()
    yield


def die(s: lctl.Session) -> None:
    """The process is gone: nothing is closed, and what it had open stays so."""
    s.log.sync(20)
    s.log.store.forget()
    s.log.closed = True
    ending.drop(s.log)  # what of it is in force here went with the process, too
    processes.withdraw(s.log)
    threads.uninstall()


def test_hydrated_equals_live_at_every_seq(address: str) -> None:
    """Whatever keeps it, while it runs and afterwards."""
    session = begin(address)
    seen = {}
    for _ in converse(session):
        seen[session.log.last_seq] = look(session.at(None))
    session.close()
    for seq in range(session.start_seq, session.log.last_seq + 1):
        stored = lctl.Session.hydrate(address, "mail-17", at=seq)
        assert look(stored) == look(session.at(seq))
        assert look(stored) == seen.get(seq, look(stored))
    assert set(seen) <= set(range(session.log.last_seq + 1))


def test_rows_say_what_the_session_says(address: str) -> None:
    """After each append: status, totals, high-water mark."""
    session = begin(address)
    rows = []
    for _ in converse(session):
        session.log.sync(20)
        (row,) = open_store(address).sessions("mail-17")
        totals = session.totals
        assert (row.status, row.to_message_number) == (session.status, session.high_water)
        assert (row.total_turns, row.total_cost) == (totals.turns, totals.cost)
        assert (row.total_input_tokens, row.total_output_tokens) == (totals.input, totals.output)
        assert row.total_cached_tokens == totals.cached
        rows.append(row)
    session.close()
    assert rows[-1].completed_at is not None
    assert (row.conversation_id, row.model_id, row.chain_id) == ("c1", "m", session.log.chain_id)


@pytest.mark.parametrize("address", KINDS[2:], indirect=True)
def test_seeds_have_rows_of_their_own(address: str) -> None:
    """As the model read them, in order; large ones are not in the session's row."""
    begin(address).close()
    store = open_store(address)
    assert isinstance(store, SqlStore)
    with store.reading() as work:
        seeds = work.run("SELECT ordinal, role, content, is_new FROM @seed_messages ORDER BY 1").fetchall()
        row = work.run(
            "SELECT trigger_type, trigger_id, model_context_window, seed_message_count FROM @sessions"
        ).fetchone()
    assert [tuple(one) for one in seeds] == [(1, "system", "You answer mail.", 0), (2, "user", "When?", 1)]
    assert tuple(row) == ("email", "17", 128_000, 2)


def test_a_session_is_taken_up_where_it_stands(
    address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In another folder, as on another machine; by `resume`, or by starting it again."""
    first = begin(address)
    with first.step("turn"):
        first.record({"role": "assistant", "content": "Friday"})
    first.close()
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "elsewhere"))
    second = lctl.Session.resume(address, "mail-17")
    assert [one["content"] for one in second.messages] == ["Friday"]
    second.record({"role": "user", "content": "At ten?"})
    second.close()
    third = begin(address)
    assert third.high_water == 4
    third.end()
    third.close()
    assert lctl.Session.hydrate(address, "mail-17").status == "completed"
    assert len(list(open_store(address).entries())) == 1


def test_a_session_that_is_not_there(address: str) -> None:
    """Is not found, by its id."""
    open_store(address, create=True)
    with pytest.raises(LogNotFound, match="no session 'nobody'"):
        lctl.Session.hydrate(address, "nobody")
    with pytest.raises(LogNotFound, match="no session 'nobody'"):
        lctl.Session.resume(address, "nobody")


def test_a_fork_goes_into_the_same_store(address: str) -> None:
    """Beside what it came of, which stays; the longest log of a session is the one that is found."""
    session = begin(address)
    for _ in converse(session):
        pass
    session.close()
    fork = lctl.Session.hydrate(address, "mail-17").fork(at=3, session_id="fork")
    fork.record({"role": "user", "content": "Otherwise."})
    fork.close()
    stored = lctl.Session.hydrate(address, "fork")
    assert [one["content"] for one in stored.context] == [
        "You answer mail.",
        "When?",
        "answer 0",
        "Otherwise.",
    ]
    assert lctl.Session.hydrate(address, "mail-17").high_water == session.high_water
    store: ChainStore = open_store(address)
    assert [one.id for one in store.children(session.log.chain_id)] == [fork.log.chain_id]


def test_a_finished_tool_call_is_not_repeated(address: str) -> None:
    """In the turn that stands for one which was left, by whatever number of processes."""
    ran: list[str] = []

    def tool(name: str) -> str:
        ran.append(name)
        return f"{name} done"

    def turn(s: lctl.Session, *names: str) -> list[str]:
        return [s.call_tool(name, {"n": 1}, partial(tool, name)) for name in names]

    first = begin(address)
    first.step("turn").__enter__()
    assert turn(first, "a") == ["a done"]
    die(first)

    second = lctl.Session.resume(address, "mail-17")
    second.step("turn").__enter__()
    assert turn(second, "a", "b") == ["a done", "b done"]
    die(second)

    third = lctl.Session.resume(address, "mail-17")
    with third.step("turn"):
        assert turn(third, "a", "b", "c") == ["a done", "b done", "c done"]
    with third.step("turn"):
        turn(third, "a")  # another turn: called for again
    third.close()
    assert ran == ["a", "b", "c", "a"]


def test_a_call_is_known_by_its_id(address: str) -> None:
    """Whatever turn it was made in; one that failed is made again."""
    ran: list[str] = []

    def fails() -> int:
        ran.append("fails")
        raise ValueError("no")

    def books() -> int:
        ran.append("booked")
        return 7

    first = begin(address)
    with first.step("turn"):
        first.call_tool("send", {"to": "ann"}, lambda: ran.append("sent"), call_id="c1")
        with pytest.raises(ValueError, match="no"):
            first.call_tool("book", {}, fails, call_id="c2")
    first.close()
    second = lctl.Session.resume(address, "mail-17")
    with second.step("turn"):
        second.call_tool("send", {"to": "ann"}, lambda: ran.append("sent again"), call_id="c1")
        assert second.call_tool("book", {}, books, call_id="c2") == 7
    second.close()
    assert ran == ["sent", "fails", "booked"]


def test_a_call_that_may_have_been_made(address: str) -> None:
    """Is not made again where that must not be: whoever knows says what became of it."""
    first = begin(address)
    first.step("turn").__enter__()

    class Killed(BaseException):
        pass

    def dies() -> str:
        die(first)
        raise Killed

    def twice() -> str:
        pytest.fail("paid twice")

    with pytest.raises(Killed):
        first.call_tool("pay", {"amount": 5}, dies, call_id="c1", once=True)

    second = lctl.Session.resume(address, "mail-17")
    with second.step("turn"):
        with pytest.raises(ToolInDoubt, match="pay \\(c1\\) was begun at event"):
            second.call_tool("pay", {"amount": 5}, twice, call_id="c1", once=True)
        second.settle("pay", "paid", call_id="c1")
        assert second.call_tool("pay", {"amount": 5}, twice, call_id="c1", once=True) == "paid"
    second.close()


def test_a_fork_in_a_store_is_replayed(address: str) -> None:
    """Against what it was forked from, which is found in the same store."""
    ran: list[str] = []

    def agent(s: lctl.Session) -> None:
        with s.step("turn"):
            s.record({"role": "assistant", "content": "Friday"})
            s.call_tool("send", {"to": "ann"}, lambda: ran.append("sent"), call_id="c1")

    with begin(address) as session:
        agent(session)
    with lctl.Session.hydrate(address, "mail-17").fork(at=2, session_id="again") as fork:
        lctl.replay(fork, agent, tools="recorded")
    assert ran == ["sent"]
    assert [one["content"] for one in lctl.Session.hydrate(address, "again").messages] == ["Friday"]
