"""Lines that are decoded together give what they give one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.codec.eventfile import event_of, events_of

PLAIN = b'{"seq":1,"type":"message","timestamp":"t","agent":"a","step":4,"data":{"n":[1,{"x":null}]}}'
ODD = [
    b"",
    b"not JSON",
    b'{"seq":2}',
    b'{"seq":2,"type":"m","more":1}',
    b'{"seq":2,"type":"m","extra":{"a":1}}',
    b'{"seq":2,"type":"m","(extra)":{}}',
    b'{"seq":2,"type":"m","\\u0028extra)":{"a":1}}',
    b'{"seq":"2","type":"m"}',
    b'{"seq":2,"type":"m","data":[]}',
    b'{"seq":2,"type":"m","data":{"n":NaN}}',
    b'{"seq":2,"type":"m","data":{"t":"\\ud800"}}',
    b'{"seq":2,"type":"m","data":{"t":"\xff"}}',
    b'{"seq":2,"type":"m"},',
    b' {"seq":2,"type":"m"}\r',
    b'{"seq":2,"type":"m"} {"seq":3,"type":"m"}',
    b'{"seq":2,',
    b'"type":"m"}',
    b'{"seq":2,"type":"m","data":{"d":' + b"[" * 2000 + b"]" * 2000 + b"}}",
]


def one_by_one(lines: list[bytes]) -> list[object]:
    return [event for line in lines if (event := event_of(line)) is not None]


@pytest.mark.parametrize("line", ODD)
def test_an_unusual_line_among_plain_ones(line: bytes) -> None:
    """Also one that is no event, and the halves of one."""
    lines = [PLAIN, line, PLAIN]
    assert events_of(b"\n".join(lines)) == one_by_one(lines)


@given(st.lists(st.sampled_from([PLAIN, *ODD]), min_size=1, max_size=6))
def test_any_lines(lines: list[bytes]) -> None:
    """In any order."""
    assert events_of(b"\n".join(lines)) == one_by_one(lines)
