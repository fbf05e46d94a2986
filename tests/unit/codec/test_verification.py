"""A log that was changed after it was closed says so, and where."""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import orjson
import pytest

from lctl.codec import open_log, verify, write_log
from tests.unit.codec.samples import SPEC_EVENTS, closed, document, event, lines, opened


def with_checkpoints(count: int, every: int) -> list[dict[str, Any]]:
    """Events with a checkpoint that carries the hash of all before it, now and then."""
    events: list[dict[str, Any]] = []
    for seq in range(1, count + 1):
        if seq % every:
            events.append(event(seq))
            continue
        digest = hashlib.sha256(b"".join(row + b"\n" for row in lines(events))).hexdigest()
        events.append({**event(seq), "type": "checkpoint", "data": {"events_hash": digest}})
    return events


EVENTS = with_checkpoints(30, 10)
WHOLE = closed(EVENTS, {"state": {}, "summary": {"events": 30}})


def test_an_untouched_log_is_vouched_for() -> None:
    """Hash, checkpoints, order and counts agree."""
    found = verify(open_log(WHOLE))
    assert found.ok
    assert (found.events, found.checkpoints, found.first_bad, found.problems) == (30, 3, None, [])
    assert found.hash == found.expected


def test_an_open_log_is_held_against_its_checkpoints() -> None:
    """Without a tail there is nothing else, and that is visible in `expected`."""
    found = verify(open_log(opened(EVENTS)))
    assert (found.ok, found.expected, found.checkpoints) == (True, None, 3)
    changed = opened(EVENTS).replace(b'"text":"x"', b'"text":"y"', 1)
    assert not verify(open_log(changed)).ok


@pytest.mark.parametrize(
    ("changed", "between"), [(3, (1, 9)), (15, (10, 19)), (20, (20, 29)), (29, (20, 29))]
)
def test_a_changed_event_is_found_between_two_checkpoints(changed: int, between: tuple[int, int]) -> None:
    """The last checkpoint that agrees and the first that does not enclose the change."""
    old = b'{"seq":%d,' % changed
    assert old in WHOLE
    found = verify(open_log(WHOLE.replace(old, old + b" ")))
    first, last = between
    assert (found.ok, found.first_bad) == (False, first)
    what = f"something from event {first} to {last} is not as recorded"
    assert [str(p) for p in found.problems] == [
        f"line {last + 2}, event {first}: {what}: checkpoint {last + 1} carries another hash"
    ]


def test_a_change_after_the_last_checkpoint_is_found_by_the_tail() -> None:
    """From the event after the last good checkpoint on; without checkpoints, anywhere."""
    events = with_checkpoints(25, 10)  # the last checkpoint does not vouch for itself
    found = verify(open_log(closed(events).replace(b'"F24","text":"x"', b'"F24","text":"y"')))
    assert found.first_bad == 20
    assert str(found.problems[0]) == (
        "event 20: something from event 20 to 25 is not as recorded: the hash it was closed with is another"
    )
    bare = verify(open_log(closed(SPEC_EVENTS).replace(b"grep", b"sed_")))
    assert bare.first_bad is None
    assert str(bare.problems[0]) == (
        "something from event 1 to 6 is not as recorded: the hash it was closed with is another"
    )


def test_an_event_taken_out_is_named() -> None:
    """The gap is where the numbers jump; hash and count say the same."""
    rows = [r for r in WHOLE.split(b"\n") if not r.startswith(b'{"seq":5,')]
    found = verify(open_log(b"\n".join(rows)))
    assert found.first_bad == 6
    assert str(found.problems[0]) == "line 6, event 6: expected event 5 here, got event 6"
    assert "hash: it was closed with 30 events, it has 29" in [str(p) for p in found.problems]


def test_the_first_events_taken_out_are_missed() -> None:
    """A chain begins with 1, or after the event it was forked at."""
    rows = WHOLE.split(b"\n")
    found = verify(open_log(b"\n".join([rows[0], *rows[3:]])))
    assert str(found.problems[0]) == "line 2, event 3: expected event 1 here, got event 3"
    fork = closed([event(42), event(43)], chain={"id": "c2", "parent": {"id": "c1", "seq": 41}})
    assert verify(open_log(fork)).ok


def test_events_swapped_and_repeated_are_named() -> None:
    """Order is part of what is sealed."""
    rows = WHOLE.split(b"\n")
    rows[4], rows[5] = rows[5], rows[4]
    found = verify(open_log(b"\n".join(rows)))
    assert found.first_bad == 5
    twice = WHOLE.split(b"\n")
    twice.insert(4, twice[3])
    assert verify(open_log(b"\n".join(twice))).first_bad == 3


def test_a_summary_that_counts_otherwise() -> None:
    """Its number of events is held against the log, at its top or under totals."""
    for summary, name in (({"events": 31}, "summary"), ({"totals": {"events": 31}}, "summary.totals")):
        found = verify(open_log(closed(EVENTS, {"summary": summary})))
        assert [str(p) for p in found.problems] == [f"{name}.events: it says 31, the log has 30"]


def test_a_hash_of_another_kind_is_said() -> None:
    """An algorithm that is not known cannot vouch for anything."""
    raw = opened(SPEC_EVENTS) + b'\n],"hash":{"algorithm":"md5","events":"x","count":6}}\n'
    found = verify(open_log(raw))
    assert [str(p) for p in found.problems] == ["hash: expected sha256, got 'md5'"]
    odd = opened(SPEC_EVENTS) + b'\n],"hash":5}\n'
    assert [str(p) for p in verify(open_log(odd)).problems] == ["hash: expected an object, got 5"]


def test_a_log_keeps_its_hash_through_other_forms() -> None:
    """Pretty JSON and YAML say the same events, so the hash of the journal still holds."""
    document_of = json.loads(WHOLE)
    pretty = json.dumps(document_of, indent=2).encode()
    assert verify(open_log(pretty)).ok
    assert not verify(open_log(pretty.replace(b'"F15"', b'"F16"'))).ok
    out = io.BytesIO()
    write_log(open_log(WHOLE), out, format="yaml")
    again = io.BytesIO()
    write_log(open_log(out.getvalue()), again)
    assert orjson.loads(again.getvalue())["hash"] == document_of["hash"]


def test_a_log_that_was_never_sealed_has_nothing_to_contradict() -> None:
    """The protocol's own example carries no hash."""
    found = verify(open_log(document(SPEC_EVENTS)))
    assert (found.ok, found.expected, found.events) == (True, None, 6)


def test_a_damaged_line_is_named() -> None:
    """Bytes that are no event any more are said where they stand."""
    found = verify(open_log(WHOLE.replace(b'{"seq":7,', b'{"sXq:7,,')))
    assert not found.ok
    assert str(found.problems[0]).startswith("line 8: expected event 7 here, got ")


def test_the_chain_of_a_child_process_begins_with_one() -> None:
    """A chain with a parent may have a numbering of its own: what a child process recorded."""
    child = closed([event(1), event(2)], chain={"id": "c1-77", "parent": {"id": "c1", "seq": 41}})
    log = open_log(child)
    assert (log.problems, log.origin) == ([], 1)
    assert verify(log).ok


@pytest.mark.parametrize(
    ("garbage", "shown"),
    [
        (b"this is { not json", "'this is { not json'"),
        ("zwölf Boxkämpfer jagen Viktor".encode(), "'zwölf Boxkämpfer jagen"),
        (b"\xff\x1b[31m", r"'\xff\x1b[31m'"),
    ],
)
def test_a_line_that_is_no_event_is_where_it_differs(garbage: bytes, shown: str) -> None:
    """Also where no checkpoint before it vouches for anything; the line is shown as text."""
    rows = closed([event(seq) for seq in range(1, 21)]).split(b"\n")
    rows[10] = garbage + b","
    found = verify(open_log(b"\n".join(rows)))
    assert found.first_bad == 10
    assert f"expected event 10 here, got {shown}" in str(found.problems[0])
