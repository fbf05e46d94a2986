"""Whatever is done to the bytes of a log: it opens and keeps its promises, or one clear line says why."""

from __future__ import annotations

import io

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.codec import Log, open_log, validate, verify, write_log
from lctl.codec.conversion import Format
from lctl.errors import LctlError
from tests.seeds import tries
from tests.unit.codec.samples import CHAIN, SPEC_EVENTS, closed, document, event, jsonl, opened

LARGE = [event(n, "x" * 600) for n in range(1, 1200)]
BASES = {
    "closed journal": closed(SPEC_EVENTS),
    "open journal": opened(SPEC_EVENTS),
    "pretty JSON": document(SPEC_EVENTS, 2),
    "one-line JSON": document(SPEC_EVENTS),
    "JSON Lines": jsonl(SPEC_EVENTS),
    "JSON Lines, spaced": jsonl(SPEC_EVENTS, header=False, compact=False),
    "YAML": yaml.safe_dump({"lctl": "4.0", "chain": CHAIN, "events": SPEC_EVENTS}).encode(),
    "large closed journal": closed(LARGE),
    "large open journal": opened(LARGE),
}
PIECES = [b"{", b"}", b"[", b"]", b",", b'"', b"null", b"- ", b"&a ", b" "]
PIECES += [b"\n", b"\r", b"\0", b"\xff", b'{"seq":3,']
FORMATS: tuple[Format, ...] = ("json", "yaml", "jsonl")

#: (where, 0 to 1; how many bytes go; what is put there)
CHANGES = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from([0, 0, 1, 7, 60, 900]), st.sampled_from([b"", *PIECES])),
    min_size=1,
    max_size=6,
)


def changed(raw: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    for where, gone, new in changes:
        at = int(where * len(raw))
        raw = raw[:at] + new + raw[at + gone :]
    return raw


def keeps_its_promises(log: Log) -> None:
    """Ascending seqs, each once; what len, first, last and lines say is so; it can be checked."""
    seqs = [e.seq for e in log.events()]
    assert seqs == sorted(set(seqs))
    assert all("\n" not in str(problem) for problem in validate(log))
    verify(log)
    events = list(log.events())  # reading the problems may have found more damage
    assert len(log) == len(events) == sum(1 for _ in log.lines())
    if events:
        assert (log.first_seq, log.last_seq) == (events[0].seq, events[-1].seq)
        middle = events[len(events) // 2]
        assert log.event(middle.seq) == middle
        assert list(log.events(middle.seq, middle.seq + 2)) == [
            e for e in events if middle.seq <= e.seq < middle.seq + 2
        ]


@pytest.mark.parametrize("base", BASES)
@settings(max_examples=tries(40), deadline=None)
@given(changes=CHANGES)
def test_a_changed_log_opens_or_is_refused_in_one_line(
    base: str, changes: list[tuple[float, int, bytes]]
) -> None:
    """No other exception, no endless loop, no wrong number."""
    try:
        log = open_log(changed(BASES[base], changes))
    except LctlError as error:
        assert "\n" not in str(error)
        return
    keeps_its_promises(log)
    if "large" in base:
        return
    events = [e.to_dict() for e in log.events()]
    for format in FORMATS:
        out = io.BytesIO()
        write_log(log, out, format=format)
        assert [e.to_dict() for e in open_log(out.getvalue()).events()] == events
