"""What was on the wire: requests as the log tells of them, answers put together from their pieces."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from lctl.analysis.log import number, text
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.conversation import Call
from lctl.debugger.shapes.events import Exchange
from lctl.errors import LctlError
from lctl.events import Event

_NEAR = 2000  # events around one that are looked at for what belongs to it
_MOST = 20  # attempts of a call that are told


def exchanges_of(run: Opened, found: Event, call: int | None, view: Call | None) -> list[Exchange]:
    """That of an event, or those of the call it is in."""
    if found.type == "exchange":
        return [_exchange(run, found)]
    if call is None:
        return []
    end = view.end_seq if view is not None and view.end_seq is not None else call + _NEAR
    return run.kept(("exchanges", call, end), lambda: _between(run, call, end), passing=True)


def _between(run: Opened, call: int, end: int) -> list[Exchange]:
    """The attempts of a call."""
    some = run.log.events(call, min(end + 1, call + _NEAR))
    return [_exchange(run, one) for one in some if one.type == "exchange" and one.step == call][:_MOST]


def _exchange(run: Opened, found: Event) -> Exchange:
    data = found.data
    asked = data.get("request")
    request = dict(asked) if isinstance(asked, dict) else {}
    if "body" in request:
        request["body"] = _Body(run, found).of(request["body"])
    status = data.get("status")
    chunks = _chunks(data)
    body = _Body(run, found)
    return Exchange(
        seq=found.seq,
        method=text(data.get("method")),
        url=text(data.get("url")),
        status=status if type(status) is int else None,
        duration_ms=number(data.get("duration_ms")),
        request=request,
        response={
            "headers": data.get("headers"),
            "body": body.of(data.get("body")),
            "chunks": chunks,
            "notes": [*body.notes, *_left_out(data)],
        },
        error=data.get("error"),
        streamed=chunks is not None,
    )


def _left_out(data: Mapping[str, Any]) -> Iterator[str]:
    """What of an answer the log does not have."""
    dropped = data.get("dropped")
    if type(dropped) is int and dropped > 0:
        yield f"{dropped:,} bytes of it were too many to be kept"
    if data.get("complete") is False:
        yield "it was not read to its end"


def _chunks(data: Mapping[str, Any]) -> list[Any] | None:
    """`[ms, text]` of each chunk, with what all of them begin and end with."""
    chunks, around = data.get("chunks"), data.get("around")
    if not isinstance(chunks, list):
        return None
    before, after = around if isinstance(around, list) and len(around) == 2 else ("", "")
    made = []
    for one in chunks:
        ms, said = one if isinstance(one, list) and len(one) == 2 else (None, one)
        if isinstance(said, list):
            said = f"{before}{''.join(map(str, said))}{after}"
        made.append([number(ms) or 0, said if isinstance(said, str) else _decoded(said)])
    return made


def _decoded(said: Any) -> str:
    """A chunk that the network cut within a character."""
    try:
        return base64.b64decode(said["base64"]).decode("utf-8", "backslashreplace")
    except (KeyError, TypeError, binascii.Error):
        return str(said)


def _rebuilt(
    exchange: dict[str, Any],
    messages: Mapping[str, Mapping[str, Any]],
    blobs: Mapping[str, Mapping[str, Any]] | None = None,
) -> str:
    from lctl.instrument.bodies import rebuild_body  # here: with it come all codecs, and few logs need it

    return rebuild_body(exchange, messages, blobs).decode("utf-8", "backslashreplace")


class _Body:
    """A body as one text. What the log does not have of it is marked there, and said in `notes`."""

    def __init__(self, run: Opened, found: Event) -> None:
        self._run = run
        self._found = found
        self.notes: list[str] = []

    def of(self, body: Any) -> Any:
        if isinstance(body, list):
            messages = self._messages({str(one.get("$content")) for one in body if isinstance(one, dict)})
            return "".join(self._piece(one, messages) for one in body)
        if isinstance(body, dict) and isinstance(body.get("blob"), str):
            return self._blob(body["blob"])
        return body

    def _piece(self, piece: Any, messages: Mapping[str, Mapping[str, Any]]) -> str:
        if isinstance(piece, str):
            return piece
        try:
            return _rebuilt({"body": [piece]}, messages)
        except (KeyError, IndexError, TypeError, ValueError):
            id = text(piece.get("$content")) if isinstance(piece, dict) else ""
            self.notes.append(f"the log does not have what message {id} said there")
            return f"⟨message {id}⟩"

    def _messages(self, ids: set[str]) -> dict[str, Mapping[str, Any]]:
        """Those that it refers to, which were recorded with it."""
        made: dict[str, Mapping[str, Any]] = {}
        start = max(self._found.step or 0, self._found.seq - _NEAR)
        for event in self._run.log.events(start, self._found.seq + _NEAR) if ids else ():
            id = text(event.data.get("message_id"))
            if event.type == "message" and id in ids:
                made.setdefault(id, event.data)
                if len(made) == len(ids):
                    break
        return made

    def _blob(self, hash: str) -> Any:
        seq = self._run.chain.tree.forest.blobs.get(hash)
        try:
            data = self._run.event(seq).data if seq is not None else {}
            return _rebuilt({"body": {"blob": hash}}, {}, {hash: data})
        except (LctlError, KeyError, ValueError):
            self.notes.append(f"its body is blob {hash}, which is not in the log")
            return None
