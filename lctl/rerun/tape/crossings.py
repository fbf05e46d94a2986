"""Crossings of the border as events tell of them: entries of the tape, each made of an event and its data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.rerun.tape.entries import Entry, is_cancellation, is_stopped, lane_of
from lctl.session.concurrency import comings
from lctl.session.sources import GONE, HEARD, KEYS, REQUEST, SIGNAL, WEBSOCKET
from lctl.session.tooling import receiving, signalling

#: Source of what says that a timer of the program's own code went off.
TIMER = "timer"


def exchange(event: dict[str, Any], data: dict[str, Any], begins: int) -> Entry:
    """`begins`: where it stands in the order of starts, as a seq."""
    request = data.get("request")
    request = request if isinstance(request, dict) else {}
    error = data.get("error")
    chunks = data.get("chunks")
    entry = Entry("exchange", lane_of(data), event["seq"], begins)
    entry.step = event.get("step")
    entry.agent = str(event.get("agent") or "")
    entry.name = f"{data.get('method')} {data.get('url')}"
    entry.plain = data.get("kind") == "http"
    entry.hash = request.get("hash")
    entry.at = _number(data.get("at"))
    entry.duration = _number(data.get("duration_ms")) or 0.0
    entry.timestamp = str(event.get("timestamp") or "")
    entry.status = data.get("status")
    entry.turn = _count(data.get("turn"))
    entry.behind = _count(data.get("behind"))
    entry.counted = data.get("counted") is True
    if isinstance(error, dict):
        entry.cancelled = is_cancellation(str(error.get("type")))
    entry.whole = entry.status == 200 and data.get("complete") is True and error is None
    entry.left = data.get("left") is True
    if isinstance(chunks, list):
        entry.times = [float(chunk[0]) for chunk in chunks]
        entry.turns = _counts(data.get("turns"), len(chunks))
        entry.head, entry.head_turn = _number(data.get("head_ms")), _count(data.get("head_turn"))
        entry.behinds = _behinds(data.get("behinds"))
    elif entry.turn is not None and _count(data.get("head_turn")) is not None:
        entry.head, entry.head_turn = _number(data.get("head_ms")), _count(data.get("head_turn"))
        if data.get("complete") is True and error is None:
            _come_in_pieces(entry)
        elif not entry.cancelled:
            entry.times = []  # the program had the head; its body was left, or broke off
    return entry


def _come_in_pieces(entry: Entry) -> None:
    """Of a body that came behind the head, in a turn of its own: as a stream of one piece."""
    entry.times, entry.turns = [entry.duration], [entry.turn or 0]
    entry.behinds = {1: entry.behind} if entry.behind else {}
    entry.turn, entry.behind = 0, None  # its end is in that of the piece


def reported(event: dict[str, Any], data: dict[str, Any]) -> Entry:
    """Of an event that the program itself writes, at a moment of its own."""
    entry = Entry("event", lane_of(data), event["seq"], event["seq"])
    entry.step = event.get("step")
    entry.agent = str(event.get("agent") or "")
    entry.name = str(event["type"])
    entry.at = _number(data.get("at"))
    entry.timestamp = str(event.get("timestamp") or "")
    entry.used = True  # the program itself makes it: there is nothing to serve
    return entry


def waited(event: dict[str, Any], data: dict[str, Any]) -> Entry:
    """Of a sleep, a timer, a wake, a message of MCP, or what came from outside."""
    source = str(data["source"])
    # The lane of requests and keys sleeps until one comes.
    entry = Entry(
        "sleep" if source in (REQUEST, WEBSOCKET, GONE, SIGNAL, KEYS, HEARD) else source,
        lane_of(data),
        event["seq"],
        event["seq"],
    )
    entry.cancelled = data.get("cancelled") is True
    if entry.kind == TIMER:
        entry.number = _count(data.get("value")) or 0
    entry.received = [(one[0], one[1], one[2]) for one in pieces_of(data)]
    entry.used = entry.kind != "sleep"  # nobody asks for it, or as for what is read
    entry.turn = _count(data.get("turn"))
    entry.behind = _count(data.get("behind"))
    entry.counted = data.get("counted") is True
    entry.ahead = _count(data.get("ahead"))
    entry.step = event.get("step")
    entry.agent = str(event.get("agent") or "")
    entry.name = str(data.get("key"))
    if entry.name == "time.sleep":
        entry.slept = _number(data.get("value")) or 0.0, str(data.get("place"))
    entry.at = _number(data.get("at"))
    entry.duration = _number(data.get("duration_ms")) or 0.0
    entry.timestamp = str(event.get("timestamp") or "")
    return entry


def pieces_of(data: Mapping[str, Any]) -> list[list[Any]]:
    """What came of a command's streams, and when: [ms, turn, behind, stream, bytes]."""
    found = data.get("pieces")
    return found if isinstance(found, list) and all(len(one) == 5 for one in found) else []


def body_of(data: Mapping[str, Any]) -> list[tuple[int, int]]:
    """First and last seqs of what the body of a tool recorded, of its `tool_call`."""
    tape = data.get("tape")
    inside = tape.get("inside") if isinstance(tape, dict) else None
    return [(int(first), int(last)) for first, last in inside or ()]


def inside(data: Mapping[str, Any]) -> set[int]:
    """Seqs of the events of a tool's body; none of a tool that runs again."""
    tape = data.get("tape")
    if isinstance(tape, dict) and "executed" in tape:
        return set()
    return {seq for first, last in body_of(data) for seq in range(first, last + 1)}


def tool(event: dict[str, Any], data: dict[str, Any]) -> Entry:
    entry = Entry("tool", lane_of(data), event["seq"], event["seq"])
    entry.step = event.get("step")
    entry.agent = str(event.get("agent") or "")
    entry.name = str(data.get("tool"))
    entry.turn = _count(data.get("turn"))
    entry.behind = _count(data.get("behind"))
    entry.began = _count(data.get("began"))
    entry.counted = data.get("counted") is True
    tape = data.get("tape")
    if isinstance(tape, dict) and "executed" not in tape:
        items = comings.comings(tape)
        came = [*receiving.messages(tape), *(() if items else receiving.messages(tape, signalling.NAME))]
        entry.received = [(one.ms, one.turn, None) for one in came]
        entry.received = entry.received or [(one.ms, one.turn, one.behind) for one in items]
    entry.at = _number(data.get("at"))
    entry.duration = _number(data.get("duration_ms")) or 0.0
    entry.timestamp = str(event.get("timestamp") or "")
    entry.left = data.get("closed_early") is True and not data.get("output")
    error = data.get("error")
    if isinstance(error, dict):
        entry.cancelled = is_stopped(str(error.get("type")).rpartition(".")[2])
    return entry


def begun(event: dict[str, Any], data: dict[str, Any]) -> Entry:
    """Of a model call of which the log has the step_start only."""
    entry = Entry("exchange", lane_of(data), event["seq"], event["seq"])
    entry.step = event["seq"]
    entry.agent = str(event.get("agent") or "")
    entry.name = str(data.get("operation"))
    entry.cancelled = True
    return entry


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _behinds(value: Any) -> dict[int, int] | None:
    if not isinstance(value, list):
        return None
    return {one[0]: one[1] for one in value if _counts(one, 2) is not None}


def _counts(value: Any, length: int) -> list[int] | None:
    """As many as there are, or none at all."""
    whole = isinstance(value, list) and len(value) == length and all(isinstance(one, int) for one in value)
    return value if whole else None
