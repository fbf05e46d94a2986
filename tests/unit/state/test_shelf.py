"""What is old of an index goes to a file: the states stay what they were."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import orjson
import pytest

from benchmarks.trace import Trace, write_trace
from lctl.codec import open_log
from lctl.state.layers import latest_keys, plain
from lctl.state.shelf import Shelf, Shelves
from lctl.state.summary import state_to_dict
from lctl.state.timeline import Timeline


@pytest.mark.parametrize("seed", range(20))
def test_a_shelf_is_a_dict(seed: int) -> None:
    """Whatever is done to it, in whatever order; with so little room that nearly all of it is on disk."""
    draw = random.Random(seed)
    texts = draw.random() < 0.5
    shelf: Shelf[Any, Any] = Shelves(hot=4).shelf(orjson.dumps, orjson.loads)
    known: dict[Any, Any] = {}
    for n in range(300):
        what = draw.choice(["put", "setdefault", "get", "in", "at hand"])
        number = draw.randrange(60)
        key: Any = f"k{number}" if texts else number
        if what == "put":
            shelf[key] = known[key] = [n]
        elif what == "setdefault":
            for one in (shelf, known):
                one.setdefault(key, []).append(n)
        elif what == "at hand":
            shelf.at_hand([f"k{one}" if texts else one for one in range(number, number + 9)])
        elif what == "get":
            assert shelf.get(key) == known.get(key)
        else:
            assert (key in shelf) == (key in known)
    assert dict(shelf.items()) == known
    assert list(shelf) == list(known) and len(shelf) == len(known)
    assert shelf.between(1, 4) == list(known)[1:4]


def test_what_is_at_hand_is_read_in_one_question() -> None:
    shelf: Shelf[Any, Any] = Shelves(hot=4).shelf(orjson.dumps, orjson.loads)
    for n in range(600):
        shelf[f"k{n}"] = n
    shelf.packed()  # all of it is on disk
    asked: list[str] = []
    shelf._shelves.database.set_trace_callback(asked.append)
    shelf.at_hand([f"k{n}" for n in range(100, 620)])
    assert len(asked) == 3  # 256 at once
    assert [shelf.get(f"k{n}") for n in range(100, 620)] == [*range(100, 600), *[None] * 20]
    assert len(asked) == 3
    shelf.at_hand([f"k{n}" for n in range(600)])  # too many to keep with the others
    assert dict(shelf) == {f"k{n}": n for n in range(600)}


def test_what_cannot_be_put_away_stays() -> None:
    shelf: Shelf[Any, Any] = Shelves(hot=4).shelf(lambda value: value if value % 2 else None, int)
    for n in range(100):
        shelf[f"k{n}"] = n
    assert list(shelf.items()) == [(f"k{n}", n) for n in range(100)]


@pytest.mark.slow
def test_states_of_a_shelved_timeline_are_the_same(tmp_path: Path) -> None:
    """All that a state says, at events all over a log that does not fit."""
    path = tmp_path / "trace.lctl.json"
    write_trace(path, 12_000)
    shelved, held = (Timeline(open_log(path), every=256, shelved=one) for one in (True, False))
    shelved.read_to(shelved.source.last_seq)
    for seq in (1, 255, 256, 257, 3000, 5555, 8191, 11_999, 12_000):
        assert orjson.dumps(state_to_dict(shelved.at(seq))) == orjson.dumps(state_to_dict(held.at(seq)))
        assert plain(shelved.at(seq).facts) == plain(held.at(seq).facts)


def test_a_timeline_goes_on_with_a_longer_log(tmp_path: Path) -> None:
    """As a program writes on: states given stay, later ones are those of the whole log, whatever was
    read before and wherever the log ended."""
    lines = list(Trace().lines(700))
    head = b'{"lctl":"4.0","chain":{"id":"trace"},"events":[\n'
    path = tmp_path / "run.lctl.json"
    whole = Timeline(open_log(head + b",\n".join(lines) + b"\n]}"))
    for cuts in ((1, 64, 65, 700), (10, 11, 12, 300, 700), (640, 700)):
        path.write_bytes(head + b",\n".join(lines[: cuts[0]]))
        timeline = Timeline(open_log(path))
        given = []
        for cut in cuts:
            path.write_bytes(head + b",\n".join(lines[:cut]))
            timeline.grow(open_log(path))
            given.append((cut, timeline.at(cut)))
            for seq in {1, cut // 2, cut}:
                assert state_to_dict(timeline.at(seq)) == state_to_dict(whole.at(seq))
        for cut, state in given:
            assert state_to_dict(state) == state_to_dict(whole.at(cut))


@pytest.mark.slow
def test_a_timeline_is_taken_up_by_another(tmp_path: Path) -> None:
    """What one has read another over the same shelves knows, and reads on from there."""
    path = tmp_path / "trace.lctl.json"
    write_trace(path, 12_000)
    first = Timeline(open_log(path), every=256, shelved=str(tmp_path / "shelves"))
    first.read_to(9_000)
    packed = first.packed()
    assert packed is not None
    second = Timeline(open_log(path), every=256, shelved=str(tmp_path / "shelves"))
    second.take_up(packed)
    held = Timeline(open_log(path), every=256)
    assert second.known == first.known
    for seq in (1, 257, 3000, 9_000, 9_300, 12_000):
        assert orjson.dumps(state_to_dict(second.at(seq))) == orjson.dumps(state_to_dict(held.at(seq)))
        assert plain(second.at(seq).facts) == plain(held.at(seq).facts)
        before, after = second.around(seq)
        assert orjson.dumps(state_to_dict(before)) == orjson.dumps(state_to_dict(held.at(seq - 1)))
        assert orjson.dumps(state_to_dict(after)) == orjson.dumps(state_to_dict(held.at(seq)))


@pytest.mark.parametrize("names", [5, 60])
def test_sums_are_taken_up_however_many_names_there_are(tmp_path: Path, names: int) -> None:
    path = tmp_path / "log.lctl.json"
    lines = [
        b'{"seq":%d,"type":"step_start","timestamp":"","agent":"a%d","data":{}}' % (n, n * 7 % names)
        for n in range(1, 2000)
    ]
    path.write_bytes(b'{"lctl":"4.0","chain":{"id":"c"},"events":[\n' + b",\n".join(lines) + b"\n]}\n")
    first = Timeline(open_log(path), every=32, shelved=str(tmp_path / "shelves"))
    first.read_to(1000)
    packed = first.packed()
    assert packed is not None
    second = Timeline(open_log(path), every=32, shelved=str(tmp_path / "shelves"))
    second.take_up(packed)
    held = Timeline(open_log(path), every=32)
    for seq in (1, 40, 999, 1040, 1999):
        assert list(second.at(seq).agents.items()) == list(held.at(seq).agents.items())


@pytest.mark.parametrize("shelved", [True, False])
def test_what_changed_last_is_found_without_looking_at_all(tmp_path: Path, shelved: bool) -> None:
    """Every key that is among the n changed last; of an index, of what was folded on it, of a plain dict."""
    path = tmp_path / "trace.lctl.json"
    write_trace(path, 12_000)
    timeline = Timeline(open_log(path), every=64, shelved=shelved)
    for seq in (0, 63, 64, 500, 6001, 11_999):
        before, now = timeline.around(seq)
        for facts in (before.facts, now.facts, dict(now.facts)):
            modified = {id: one.modified for id, one in facts.items()}
            for n in (1, 40, 300, 5000):
                last = sorted(modified, key=lambda id: -modified[id])[:n]
                found = latest_keys(facts, n)
                assert set(last) <= set(found) and len(found) == len(set(found))
        assert len(latest_keys(now.facts, 40)) < 120


def test_facts_that_stand_for_long_are_not_searched_for(tmp_path: Path) -> None:
    """So many blocks are looked through; what is older is not among the newest."""

    def line(seq: int, type: str, **data: Any) -> dict[str, Any]:
        return {"seq": seq, "type": type, "timestamp": "", "agent": "a", "data": data}

    path = tmp_path / "quiet.lctl.json"
    events = [line(n, "fact_added", id=f"F{n}", text="t", confidence=0.5) for n in range(1, 11)]
    events += [line(n, "checkpoint") for n in range(11, 5000)]
    path.write_bytes(orjson.dumps({"lctl": "4.0", "chain": {"id": "quiet"}, "events": events}))
    timeline = Timeline(open_log(path), every=8)
    assert set(latest_keys(timeline.at(900).facts, 5)) >= {f"F{n}" for n in range(6, 11)}
    assert latest_keys(timeline.at(4999).facts, 5) == []
