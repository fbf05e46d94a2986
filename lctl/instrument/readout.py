"""Streams of which their reader has taken all that it wants, and which it does not close.

An SDK closes a response at the stream's last event. What stops there without a word leaves it to the garbage
collector; whoever knows that it has stopped tells it here.
"""

from __future__ import annotations

from lctl.instrument import encodings
from lctl.instrument.attempts import Attempt
from lctl.instrument.recordings import recording_of
from lctl.session.concurrency import lanes
from lctl.session.default import get_session

#: In the last event that says something, in dialects whose readers need not read on to the end of the body.
_LAST = (b"[DONE]", b'"message_delta"', b'"message_stop"', b'"response.completed"', b'"response.incomplete"')


def stream_was_read(response_id: str | None = None) -> None:
    """The reader of a stream that was asked for in this lane has stopped: it is recorded.

    Args:
        response_id: what the reader calls the answer; where it made that up itself or does not say it, a
            stream that has come to its last event is meant.
    """
    session = get_session()
    if session is None:
        return
    lane = lanes.current().path
    attempts = list(recording_of(session).open.values())
    streams = [attempt for attempt in attempts if attempt.is_stream and attempt.lane == lane]
    id = b"" if response_id is None else response_id.encode()
    found = next((one for one in streams if id and id in _said(one, slice(2))), None)
    if found is None:
        found = next((one for one in streams if _is_at_end(one)), None)
    if found is not None:
        found.read_out()


def _is_at_end(attempt: Attempt) -> bool:
    end = _said(attempt, slice(-2, None))
    return any(last in end for last in _LAST)


def _said(attempt: Attempt, part: slice) -> bytes:
    chunks = [chunk for _, chunk in attempt.chunks]
    encoding = attempt.headers.get("content-encoding")
    if encoding:
        chunks = encodings.decode_chunks(chunks, encoding) or []
    return b"".join(chunks[part])


__all__ = ["stream_was_read"]
