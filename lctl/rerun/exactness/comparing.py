"""What event lines of a rerun say otherwise than the recorded ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import orjson

from lctl.codec import Log
from lctl.rerun.exactness.certificate import Difference, differing
from lctl.rerun.exactness.labels import Labels, unlabelled
from lctl.rerun.serving.requests import settled
from lctl.rerun.settings import DUMMY_KEY, SCRATCH
from lctl.rerun.tape.entries import is_cancellation

if TYPE_CHECKING:
    from lctl.rerun.tape.drawnids import DrawnIds

#: How long things took is not what happened, nor are the names that a library draws for its own states.
_VOLATILE = (
    "duration_ms",
    "first_chunk_ms",
    "at",
    "turn",
    "turns",
    "head_ms",
    "head_turn",
    "ahead",
    "behind",
    "behinds",
    "counted",
    "with_head",
    "began",
    "checkpoint_id",
    "parent_checkpoint_id",
)
#: Request headers that are new in each run.
_NEW_HEADERS = ("idempotency-key", "x-request-id", "x-ms-client-request-id")
#: LangGraph's id of an interrupt, made of those of its states.
_INTERRUPT = re.compile(r"[0-9a-f]{32}")
#: Without any of these a line is `settled`.
_UNSETTLED = (b"[redacted:", b" at 0x", DUMMY_KEY.encode(), SCRATCH.encode())
_FIELDS = 8
_TIMESTAMP = b'"timestamp":"'
_DURATION = b'"duration_ms":'
_TIMES = re.compile(
    rb'"(?:duration_ms|first_chunk_ms|head_ms|at|turn|head_turn|ahead|behind|counted|with_head|began)":[^,}]*,?'
)
_TIME = len("2024-01-15T10:30:00.123456Z")


def differences(recorded: Log, again: Log, labels: Labels | None = None) -> Iterator[Difference]:
    """Every event of `again` that does not say what the recorded one of its seq says.

    Args:
        labels: learns which places in the program's code have moved.
    """
    for old, new in zip_longest(recorded.lines(), again.lines()):
        if old is None:
            event = orjson.loads(new)
            yield Difference(event["seq"], None, described(event))
        elif new is None:
            event = orjson.loads(old)
            yield Difference(event["seq"], described(event), None)
        elif old != new:
            found = difference(old, new)
            if found is not None:
                yield found
            elif labels is not None:
                labels.of_now(old, new)


def difference(
    recorded: bytes, now: bytes, equivalent: Collection[int] = (), ids: DrawnIds | None = None
) -> Difference | None:
    """In what two event lines differ, what is new in each run left out; None where they say the same.

    Args:
        equivalent: seqs of exchanges whose requests said the same in other bytes.
        ids: what `now` says of ids that it drew may be another id.
    """
    at = recorded.find(_TIMESTAMP) + len(_TIMESTAMP)
    if recorded[:at] == now[:at] and recorded[at + _TIME :] == now[at + _TIME :]:
        return None  # nearly every event but those that say how long something took
    if _alike(recorded, now, at):
        return None
    old, new = essence(recorded), essence(now)
    if old == new:
        return None
    if old["seq"] in equivalent:
        for event in (old, new):
            for name in ("request", "url"):
                event["data"].pop(name, None)
        if old == new:
            return None
    if not _matched(new):  # how a fork's call was answered is nothing that its rerun repeats
        _matched(old, forget=True)
    if old == new or (ids is not None and ids.learn(_sorted(old), _sorted(new))):
        return None
    fields = tuple(differing(old, new))[:_FIELDS]
    return Difference(new["seq"], described(old), described(new), fields)


def _sorted(event: dict[str, Any]) -> str:
    return orjson.dumps(event, option=orjson.OPT_SORT_KEYS).decode()


def _alike(recorded: bytes, now: bytes, at: int) -> bool:
    """Whether two lines are the same but for the times at the end. False: look closer."""
    a, b = recorded.rfind(_DURATION), now.rfind(_DURATION)
    if a < 0 or recorded[:at] != now[:at] or recorded[at + _TIME : a] != now[at + _TIME : b]:
        return False
    old, new = recorded[a:], now[b:]
    if b"{" in old or b"[" in old:  # a key in there may be the user's
        return False
    return _TIMES.sub(b"", old) == _TIMES.sub(b"", new)


def essence(line: bytes) -> dict[str, Any]:
    """The event without what differs between two runs of the same program."""
    if any(said in line for said in _UNSETTLED):
        line = settled(line.decode()).encode()
    event: dict[str, Any] = orjson.loads(line)
    event.pop("timestamp", None)
    data = event.get("data")
    if isinstance(data, dict):
        for name in _VOLATILE:
            data.pop(name, None)
        if event["type"] == "exchange":
            _timeless(data)
        elif event["type"] == "ambient":
            unlabelled(data)
        elif event["type"] == "output" and "hash" in data:
            data.pop("size", None)  # the hash is of what counts: not of addresses, and places in tracebacks
            data.pop("text", None)
        elif event["type"] == "error" and isinstance(data.get("context"), dict):
            data["context"].pop("traceback", None)  # lines move as a program is worked on
        elif isinstance(data.get("params"), dict):
            data["params"].pop("prompt_cache_key", None)  # drawn anew by the Agents SDK
        resume = data.get("resume")
        if isinstance(resume, dict) and all(_INTERRUPT.fullmatch(id) for id in resume):
            data["resume"] = list(resume.values())
    return event


def _matched(event: dict[str, Any], *, forget: bool = False) -> bool:
    """Whether the event says how a call was answered."""
    data = event.get("data")
    if not isinstance(data, dict) or "match" not in data:
        return False
    if forget:
        del data["match"]
    return True


def described(event: dict[str, Any]) -> str:
    """`tool_call of main`."""
    return f"{event.get('type')} of {event.get('agent')}"


def _timeless(data: dict[str, Any]) -> None:
    if data.get("closed_early"):
        # Of two generators that a loop closes at its end, their addresses say which is first.
        data.pop("left", None)
    chunks = data.get("chunks")
    if isinstance(chunks, list):
        data["chunks"] = [chunk[1] for chunk in chunks]
    request = data.get("request")
    error = data.get("error")
    if isinstance(error, dict) and is_cancellation(str(error.get("type"))):
        error.pop("message", None)  # says which object it came from, by its address
    headers = request.get("headers") if isinstance(request, dict) else None
    if isinstance(headers, dict):
        for name in _NEW_HEADERS:
            headers.pop(name, None)
