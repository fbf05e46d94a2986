"""How events stand in the bytes of a stream: server-sent, a line each, or in AWS's frames."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from lctl.instrument.codecs import aws
from lctl.instrument.codecs.bodies import loads_or_none

if TYPE_CHECKING:
    from lctl.session.redaction.redact import Redactor

_EVENT = re.compile(rb"[\s\S]*?(?:\r\n\r\n|\n\n|\r\r|\Z)")
_DATA = re.compile(rb"(?:^|(?<=\A\xef\xbb\xbf))data: ?([^\r\n]*)", re.MULTILINE)


class Form(Protocol):
    """How events stand in the bytes of a stream."""

    def split(self, body: bytes) -> tuple[list[bytes], list[int]]:
        """The events, and where each ends."""
        ...

    def read(self, event: bytes) -> Any:
        """Its JSON, None where it has none."""
        ...

    def write(self, event: bytes, data: bytes) -> bytes:
        """The event with other JSON."""
        ...

    def clean(self, redactor: Redactor, event: bytes) -> bytes:
        """An event without JSON, without secrets."""
        ...


class _ServerSent:
    def split(self, body: bytes) -> tuple[list[bytes], list[int]]:
        if body.find(b"\n\n") == len(body) - 2 > 0 and b"\r" not in body:
            return [body], [len(body)]
        found = [match for match in _EVENT.finditer(body) if match[0]]
        return [match[0] for match in found], [match.end() for match in found]

    def read(self, event: bytes) -> Any:
        try:
            if event.startswith(b"data: ") and event.find(b"\n") == len(event) - 2 and b"\r" not in event:
                return orjson.loads(event[6:])
            return orjson.loads(b"\n".join(_DATA.findall(event)))
        except orjson.JSONDecodeError:
            return None

    def write(self, event: bytes, data: bytes) -> bytes:
        [first, *_] = _DATA.finditer(event)
        end = re.search(rb"[\r\n]*\Z", event)
        others = _DATA.sub(b"", event[: first.start()])
        return others + b"data: " + data + (end[0] if end else b"")

    def clean(self, redactor: Redactor, event: bytes) -> bytes:
        """`[DONE]`, a comment; or torn, when it may be a secret's beginning."""
        if not event.endswith((b"\n", b"\r", b"[DONE]")):
            return b""
        text = event.decode("utf-8", "replace")
        clean = redactor.text(text)
        return event if clean == text else clean.encode()


class _Lines(_ServerSent):
    """Each event is a line of JSON."""

    def split(self, body: bytes) -> tuple[list[bytes], list[int]]:
        events = body.splitlines(keepends=True)
        return events, list(accumulate(map(len, events)))

    def read(self, event: bytes) -> Any:
        return loads_or_none(event)

    def write(self, event: bytes, data: bytes) -> bytes:
        return data + event[len(event.rstrip(b"\r\n")) :]


_SERVER_SENT, _LINES = _ServerSent(), _Lines()


class _Frames:
    def split(self, body: bytes) -> tuple[list[bytes], list[int]]:
        frames = aws.split_frames(body)
        return frames, list(accumulate(map(len, frames)))

    def read(self, event: bytes) -> Any:
        payload = aws.payload_of(event)
        value = loads_or_none(payload)
        return value if value is not None else _bare(payload)

    def write(self, event: bytes, data: bytes) -> bytes:
        if _bare(payload := aws.payload_of(event)) is not None and loads_or_none(payload) is None:
            data = str(orjson.loads(data)["text"]).encode()
        return aws.with_payload(event, data)

    def clean(self, redactor: Redactor, event: bytes) -> bytes:
        """What is no JSON is a picture's or a voice's bytes."""
        return event


def _bare(payload: bytes) -> dict[str, Any] | None:
    """What an agent of Bedrock says, which is no JSON; None of a picture's or a voice's bytes."""
    try:
        return {"text": payload.decode()}
    except UnicodeDecodeError:
        return None


FRAMES = _Frames()


def form_of(body: bytes) -> Form:
    """That of a stream which is not of frames."""
    return _LINES if body.startswith(b"{") else _SERVER_SENT
