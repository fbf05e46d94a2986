"""Requests from outside to servers of the program: each an `ambient` event, with all that came.

In a rerun nobody is outside: they are sent again, each in its turn (`lctl.rerun.serving.outside`).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from contextvars import Context
from typing import Any

from lctl.instrument.ambient import reads
from lctl.session import reported
from lctl.session.concurrency import arrivals, cutoffs, departures, lanes, talks, turns
from lctl.session.concurrency.frames import BINARY, CLOSE, Said
from lctl.session.concurrency.framing import Message
from lctl.session.concurrency.lane import Request
from lctl.session.sources import GONE, REQUEST, SIGNAL, WEBSOCKET


def install() -> None:
    arrivals.tell, arrivals.tell_said, talks.on_end = _tell, _tell_said, end_talks
    departures.tell, cutoffs.tell = _tell_gone, _tell_cut_off


def uninstall() -> None:
    arrivals.tell = arrivals.tell_said = talks.on_end = departures.tell = None
    cutoffs.tell = None


def note(key: str, value: Any, source: str = REQUEST, turn: int | None = None) -> None:
    """Record that one came, or (WEBSOCKET) what came over the connection that it opened, or (GONE) that its
    client went away."""
    Context().run(_note, source, key, value, turn)  # in nobody's step, whoever's loop heard of it


def end(key: str) -> None:
    """Record that a server ends that had been asked something, by the signal of that name."""
    if reads.active() and arrivals.any_told:
        Context().run(_note, SIGNAL, key, None)


def end_talks(key: str) -> bool:
    """Likewise, before it closes its WebSockets, whose clients answer that; whether one is open."""
    if not (reads.active() and arrivals.any_told and (talks.are_any() or talks.were_open)):
        return False
    talks.are_ending = True
    Context().run(_note, SIGNAL, key, {"websockets": True})
    if talks.on_ending is not None:
        talks.on_ending()
    return True


def _note(source: str, key: str, value: Any, turn: int | None = None) -> None:
    session = reads.session_here()
    if session is not None:
        lanes.enter(arrivals.OUTSIDE)
        arrivals.any_told = True
        made = {"source": source, "key": key, "value": value, "lane": arrivals.OUTSIDE.path}
        if turn is not None:
            made["turn"] = turn
        session.emit("ambient", {**made, "at": session.under_way.now()})


def _tell(client: Any, server: Any, came: Sequence[Message], cut: bool, what: int, number: int) -> None:
    if reads.active() and lanes.current().tool is None:
        first, *more = map(_of, came)
        value = {
            "client": list(client[:2]),
            "server": list(server[:2]),
            **first,
            "what": what,  # as of the text with its secrets, which is not kept
            "number": number,
        }
        if more:
            value["more"] = more  # sent at once with it
        if cut:
            value["cut"] = True  # the client went away before it had sent the last of them
        note(f"{first['method']} {first['target']}", value, turn=turns.arrived())


def _tell_said(target: str, over: str, said: Said) -> None:
    if reads.active() and lanes.current().tool is None:
        kind, data = said
        value: dict[str, Any] = {"over": over, "kind": talks.KINDS[kind]}
        if kind == CLOSE and data:
            value["code"], data = int.from_bytes(data[:2]), data[2:]
        if kind == BINARY:
            value["data"] = {"base64": b64encode(_without_secrets(data)).decode()}
        elif data:
            value["data"] = _text(data)
        turns.arrived()
        note(target, value, WEBSOCKET)


def _tell_gone(target: str, over: str, is_reset: bool) -> None:
    if reads.active():
        note(target, {"over": over, **({"reset": True} if is_reset else {})}, GONE)


def _tell_cut_off(request: Request, sent: int, error: str) -> None:
    session = reads.session_here() if reads.active() else None
    if session is not None:
        arrivals.any_told = True
        made = {
            "source": GONE,
            "key": request.asked,
            "value": {"over": request.path, "sent": sent, "error": error},
        }
        session.emit("ambient", reported.stamped(session, made))


def _without_secrets(data: bytes) -> bytes:
    """Of what nobody sees as text when it is written."""
    session = reads.session_here()
    redactor = None if session is None else session.redactor
    return data if redactor is None else redactor.message(data)


def _of(message: Message) -> dict[str, Any]:
    line, *rows = message.head.decode("latin-1").split("\r\n")
    method, target, version = line.split(" ")
    headers = [[name, text.strip()] for name, _, text in (row.partition(":") for row in rows)]
    body = _text(message.body)
    return {"version": version, "method": method, "target": target, "headers": headers, "body": body}


def _text(body: bytes) -> Any:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(body).decode()}
