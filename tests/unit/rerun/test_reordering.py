"""A rerun whose concurrent tasks report of themselves in another order than the recording's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import orjson
import pytest

from lctl.codec import open_log
from lctl.rerun.exactness.echo import EchoStore
from lctl.rerun.exactness.filling import Filling
from lctl.rerun.tape.tape import Tape
from lctl.session import LCTLSession
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane

Event = tuple[str, str, dict[str, Any], int | None]
Draft = tuple[str, str, dict[str, Any]]


def start(agent: str, step: int | None = None, **data: Any) -> Event:
    return "step_start", agent, {"kind": "agent", **data}, step


def end(agent: str, step: int, **data: Any) -> Event:
    return "step_end", agent, {"outcome": "success", "duration_ms": 1.0, **data}, step


def tool(agent: str, step: int, name: str) -> Event:
    return "tool_call", agent, {"tool": name, "input": {}, "output": 1, "duration_ms": 1.0}, step


@pytest.fixture
def echo(tmp_path: Path) -> Callable[..., tuple[Any, bool]]:
    """(the first difference, whether the new log's events are the recorded ones) of a rerun, whose agents, or
    events by their seqs, are in these lanes."""

    def run(
        recorded: list[Event], again: list[Event], where: dict[str | int, str] | None = None
    ) -> tuple[Any, bool]:
        folder = Path(mkdtemp(dir=tmp_path))
        first, second = folder / "first.lctl.json", folder / "second.lctl.json"
        with LCTLSession("c", first) as session:
            for kind, agent, data, step in recorded:
                session.emit(kind, data, agent=agent, step=step)
        tape = Tape.load(str(first))
        store = EchoStore(second, dict(open_log(first).chain), tape)
        for seq, (kind, agent, data, step) in enumerate(again, 1):
            event = {"seq": seq, "type": kind, "timestamp": "2026-01-01T00:00:00.000000Z", "agent": agent}
            lanes_of = where or {}
            token = lanes.enter(Lane(lanes_of.get(seq, lanes_of.get(agent, "0"))))
            store.append(orjson.dumps(event | ({} if step is None else {"step": step}) | {"data": data}))
            lanes.leave(token)
        found = store.finish(reached=False)
        store.close()
        same = [e.to_dict() for e in open_log(second).events()] == [
            e.to_dict() for e in open_log(first).events()
        ]
        return found, same

    return run


RECORDED = [start("a"), start("b"), tool("a", 1, "f"), tool("b", 2, "g"), end("a", 1), end("b", 2)]


def test_ends_that_change_places_are_the_recorded_ones(echo: Any) -> None:
    """Of two tasks the other one's end comes first; what was written is the recording."""
    assert echo(RECORDED, [*RECORDED[:4], end("b", 2), end("a", 1)]) == (None, True)


def test_references_to_what_changed_places_are_the_recorded_ones(echo: Any) -> None:
    """Steps that begin in another order have other seqs in the run; their events name the recorded ones."""
    again = [start("b"), start("a"), tool("a", 2, "f"), tool("b", 1, "g"), end("a", 2), end("b", 1)]
    assert echo(RECORDED, again) == (None, True)


def test_messages_that_name_what_changed_places_name_the_recorded_ones(echo: Any) -> None:
    """Also the one a sub-agent's conversation hangs in, and the ends of what a message carries on."""

    def message(agent: str, seq: int, step: int, **place: Any) -> Event:
        said = {"message_id": f"m{seq}", "parent_id": None, "role": "user", "content": agent}
        return "message", agent, {**said, **place}, step

    def told(host: int, step: int) -> list[Event]:
        place = {"conversation_id": "t2", "nested_in": {"message_id": f"m{host}", "tool_call_id": "t2"}}
        carried = {"carry": [f"m{host}", f"m{host}"], "fork_of": f"m{host}", "parent_id": f"m{host}+1"}
        return [message("sub", 5, step, **place), message("a", 6, step, **carried), end("a", step)]

    recorded = [start("a"), start("b"), message("a", 3, 1), message("b", 4, 2), *told(3, 1), end("b", 2)]
    again = [start("b"), start("a"), message("b", 3, 1), message("a", 4, 2), *told(4, 2), end("b", 1)]
    assert echo(recorded, again) == (None, True)


def test_what_crossed_the_border_keeps_its_order(echo: Any) -> None:
    """Tool calls in another order are a difference, and the new events stand."""
    again = [RECORDED[0], RECORDED[1], RECORDED[3], RECORDED[2], *RECORDED[4:]]
    found, same = echo(RECORDED, again)
    assert found.seq == 3 and not same


def test_one_steps_own_events_keep_their_order(echo: Any) -> None:
    """What an agent says of itself in another order is a difference."""
    facts: list[Event] = [("fact_added", "a", {"id": name}, 1) for name in ("F1", "F2")]
    found, same = echo([start("a"), *facts, end("a", 1)], [start("a"), *facts[::-1], end("a", 1)])
    assert found.seq == 2 and not same


def test_steps_one_after_the_other_keep_their_order(echo: Any) -> None:
    """The first was over before the second began: that is no work of two tasks."""
    found, same = echo(
        [start("a"), end("a", 1), start("b"), end("b", 3)], [start("b"), end("b", 1), start("a"), end("a", 3)]
    )
    assert found.seq == 1 and not same


def test_steps_of_two_lanes_have_no_order_but_their_tools(echo: Any) -> None:
    """Jobs of a pool: one was over, by luck, before the other began; each lane keeps its own steps in order,
    and what they called stays in the recorded order."""

    def used(agent: str, step: int) -> Event:
        return "tool_call", agent, {"tool": "f", "input": agent, "output": 1, "duration_ms": 1.0}, step

    recorded = [start("a"), used("a", 1), end("a", 1), start("b"), used("b", 4), end("b", 4)]
    again = [start("b"), start("a"), used("a", 2), used("b", 1), end("b", 1), end("a", 2)]
    apart = {"a": "0.1", "b": "0.2"}
    assert echo(recorded, again, apart) == (None, True)
    for together in ({"a": "0.1", "b": "0.1"}, {}):
        found, same = echo(recorded, again, together)
        assert found.seq == 1 and not same
    swapped = [start("b"), used("b", 1), start("a"), used("a", 3), end("a", 3), end("b", 1)]
    found, same = echo(recorded, swapped, apart)
    assert found.seq == 1 and not same


def test_a_lane_keeps_the_order_of_its_steps_beside_others(echo: Any) -> None:
    """The second step of a lane comes before the end of its first, while another lane may be anywhere."""
    recorded = [start("a"), end("a", 1), start("b"), start("c"), end("c", 4), end("b", 3)]
    again = [start("b"), start("a"), start("c"), end("a", 2), end("c", 3), end("b", 1)]
    found, same = echo(recorded, again, {"a": "0.1", "b": "0.2", "c": "0.1"})
    assert found.seq == 1 and not same
    assert echo(recorded, again, {"a": "0.1", "b": "0.2", "c": "0.3"}) == (None, True)


def answer(agent: str, step: int, lane: str) -> Event:
    return "exchange", agent, {"status": 200, "lane": lane, "at": 1.0, "body": ["x"]}, step


def test_steps_that_begin_alike_are_told_apart_by_their_answers(echo: Any) -> None:
    """Branches of a graph, one of which comes first now: whose an answer is, its lane says."""
    fact: Event = ("fact_added", "g", {"id": "F1"}, 1)
    recorded = [start("g"), fact, start("n", 1), start("n", 1), start("in", 3), start("in", 4)]
    recorded += [answer("in", 5, "0.1"), answer("in", 6, "0.2"), end("in", 5), end("in", 6)]
    again = [start("g"), start("n", 1), start("in", 2), start("n", 1), start("in", 4), fact]
    again += [answer("in", 5, "0.1"), answer("in", 3, "0.2"), end("in", 3), end("in", 5)]
    assert echo([*recorded, end("n", 3), end("n", 4)], [*again, end("n", 2), end("n", 4)]) == (None, True)
    swapped = [*again[:6], answer("in", 5, "0.2"), answer("in", 3, "0.1"), *again[8:]]
    found, same = echo([*recorded, end("n", 3), end("n", 4)], [*swapped, end("n", 2), end("n", 4)])
    assert found.seq == 7 and not same


def test_steps_that_begin_alike_are_told_apart_by_how_they_end(echo: Any) -> None:
    """Branches in which nothing happens: what came of one may come first, and of another one later, before
    the window opens and in it."""
    recorded = [start("g"), start("n", 1), start("n", 1), end("n", 3, output="b"), end("n", 2, output="a")]
    again = [*recorded[:3], end("n", 2, output="b"), end("n", 3, output="a")]
    assert echo([*recorded, end("g", 1)], [*again, end("g", 1)]) == (None, True)
    third = [start("n", 1), end("n", 6, output="c")]
    again = [start("g"), start("n", 1), start("n", 1), start("n", 1)]
    again += [end("n", 2, output="c"), end("n", 4, output="b"), end("n", 3, output="a")]
    found = echo([*recorded, *third, end("g", 1)], [*again, end("g", 1)], {"g": "0", "n": "0.1"})
    assert found[0].seq == 4  # in one lane the first two were over by then
    other = [*again[:4], end("n", 2, output="d"), *again[5:]]
    assert echo([*recorded, *third, end("g", 1)], [*other, end("g", 1)])[0].seq == 4


def test_an_event_of_a_step_not_found_yet_is_not_that_of_another(echo: Any) -> None:
    """Seqs of the run are not those of the recording: step 4 is another one in each."""

    def thought(step: int) -> list[Event]:
        return [("fact_added", "q", {"id": "F"}, step), end("q", step)]

    recorded = [start("g"), start("a", 1), tool("a", 2, "f"), start("q", 1), *thought(4), end("a", 2)]
    recorded += [start("q", 1), *thought(8), end("g", 1)]
    again = [start("g"), start("a", 1), start("q", 1), start("q", 1), *thought(4), *thought(3)]
    again += [tool("a", 2, "f"), end("a", 2), end("g", 1)]
    assert echo(recorded, again, {"a": "0.1", "q": "0.2", 4: "0.3"}) == (None, True)


def test_many_events_of_another_task_may_come_first(echo: Any) -> None:
    """As long as each is found among those recorded, they are held back."""
    late: Event = ("fact_added", "a", {"id": "late"}, 1)
    many: list[Event] = [("fact_added", "b", {"id": f"F{n}"}, 2) for n in range(200)]
    begun = [start("a"), start("b")]
    assert echo([*begun, late, *many], [*begun, *many, late]) == (None, True)


def test_another_event_is_a_difference_where_it_stands(echo: Any) -> None:
    """However many follow it, the first that is not the recorded one is named, and all are kept."""
    recorded = [start("a"), *[("fact_added", "a", {"id": f"F{n}"}, 1) for n in range(100)], end("a", 1)]
    again = [*recorded[:5], ("fact_added", "a", {"id": "other"}, 1), *recorded[6:]]
    found, same = echo(recorded, again)
    assert found.seq == 6 and not same


def test_a_run_that_ends_with_events_held_back_keeps_them(echo: Any) -> None:
    """They are written before the log is closed."""
    found, same = echo(RECORDED, [*RECORDED[:4], end("b", 2)])
    assert found.seq == 5 and not same


def test_an_answer_between_reads_of_another_thread(echo: Any) -> None:
    """A clock that another thread read comes before the answer now; the answer's body refers to the message
    that comes after it, in both runs. Reads of one thread keep their order."""

    def read(value: int) -> Event:
        return "ambient", "main", {"source": "clock", "key": "time.time", "value": value}, None

    def answered(seq: int) -> list[Event]:
        exchange = {"status": 200, "lane": "0.1", "at": 1.0, "body": ["{", {"$content": f"m{seq + 1}"}, "}"]}
        said = {"message_id": f"m{seq + 1}", "parent_id": None, "role": "assistant", "content": "x"}
        return [("exchange", "a", exchange, 1), ("message", "a", said, 1), end("a", 1)]

    recorded = [start("a"), *answered(2), read(1), read(2)]
    assert echo(recorded, [start("a"), read(1), *answered(3), read(2)]) == (None, True)
    found, same = echo(recorded, [start("a"), read(2), *answered(3), read(1)])
    assert found is not None
    assert not same


def test_a_served_tools_events_within_what_is_written_at_once(tmp_path: Path) -> None:
    """A clock that another thread read comes early, so that what the tool's body recorded falls between two
    events of one write: it gets its number behind them, and the log is the recorded one."""
    read = {"source": "clock", "key": "time.time", "value": 2, "lane": "0.2/t1", "at": 2.0}
    inside: Draft = "ambient", "a", read
    called = {"tool": "g", "input": {}, "output": 1, "lane": "0.2", "at": 1.9, "duration_ms": 0.2}
    lookup: Draft = "tool_call", "a", {"tool": "f", "input": {}, "output": 1, "lane": "0.1", "at": 1.0}
    written_at_once: list[Draft] = [("fact_added", "a", {"id": "F1"}), ("fact_added", "a", {"id": "F2"})]
    clock: Draft = "ambient", "main", {"source": "clock", "key": "time.time", "value": 1}
    called_again: Draft = "tool_call", "a", {**called, "tape": {"inside": [[4, 4]]}}
    first, second = tmp_path / "first.lctl.json", tmp_path / "second.lctl.json"
    with LCTLSession("c", first) as session:
        for kind, agent, data in (lookup, *written_at_once, inside, called_again, clock):
            session.emit(kind, data, agent=agent)
    store = EchoStore(second, dict(open_log(first).chain), Tape.load(str(first)))
    store.recorder = Filling
    recorder = Filling(store)
    for kind, agent, data in (clock, lookup):
        recorder.record(kind, agent, data)
    recorder.record_many(lambda seq: [(*one, None) for one in written_at_once])
    recorder.record(*called_again)
    assert store.finish(reached=False) is None
    store.close()
    assert list(open_log(second).lines()) == list(open_log(first).lines())
