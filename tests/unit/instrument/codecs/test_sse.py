"""Server-sent events in every form that servers send."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.instrument.codecs.sse import EventParser, read_events, read_stream


def parse(body: bytes) -> list[tuple[str, bytes]]:
    parser = EventParser()
    return parser.feed(body) + parser.finish()


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [("", b"a"), ("", b"b")]),
        (b"data:a\n\n", [("", b"a")]),
        (b"data:  a\n\n", [("", b" a")]),
        (b"event: x\ndata: a\n\n", [("x", b"a")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [("", b"a"), ("", b"b")]),
        (b"data: a\r\rdata: b\r\r", [("", b"a"), ("", b"b")]),
        (b"data: a\ndata: b\n\n", [("", b"a\nb")]),
        (b": comment\n\n: more\ndata: a\n\n", [("", b"a")]),
        (b"event: ping\n\nid: 3\nretry: 1\n\n", []),
        (b"data\n\n", [("", b"")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", b"a")]),
        (b"data: a\n\n\n\n\ndata: b\n\n", [("", b"a"), ("", b"b")]),
        (b"data: a\n\ndata: b", [("", b"a"), ("", b"b")]),
        (b"", []),
        (b"\n\n\n", []),
    ],
)
def test_events_of_a_body(body: bytes, events: list[tuple[str, bytes]]) -> None:
    """Line ends, comments, several data lines, no data, no last blank line."""
    assert parse(body) == events


@given(
    body=st.text(alphabet='dat:evn \r\né{}[]"', max_size=60).map(str.encode),
    cuts=st.lists(st.integers(0, 80), max_size=6),
)
def test_chunks_do_not_matter(body: bytes, cuts: list[int]) -> None:
    """Any cut, also inside a line end or a character, gives the same events."""
    parser = EventParser()
    edges = sorted({min(cut, len(body)) for cut in cuts})
    events = []
    for start, stop in zip([0, *edges], [*edges, len(body)], strict=True):
        events += parser.feed(body[start:stop])
    assert events + parser.finish() == parse(body) == read_events(body)


@given(
    lines=st.lists(
        st.sampled_from(["data: a", "data: b", "data:c", "event: x", ": c", "", "data: ", "data"]), max_size=8
    )
)
def test_the_short_way_for_plain_bodies_gives_the_same(lines: list[str]) -> None:
    """Bodies of data lines alone are split at once; everything near that form is still read right."""
    body = "".join(f"{line}\n\n" for line in lines).encode()
    assert read_events(body) == parse(body)
    assert read_events(body[:-1]) == parse(body[:-1])


def test_json_objects_without_pings() -> None:
    """What codecs read: objects only, pings of either form left out, the end noticed."""
    body = (
        b'event: ping\ndata: {"x": 1}\n\ndata: {"type": "ping"}\n\ndata: {"a": "\xc3\xa9"}\n\n'
        b'data: [1]\n\ndata: {"broken\n\ndata: {"b": "\xff"}\n\ndata:  [DONE] \n\n'
    )
    assert read_stream(body) == ([{"a": "é"}, {"b": "�"}], True)
