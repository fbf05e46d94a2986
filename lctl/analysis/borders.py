"""What entered a program from outside, one by one, and where two runs of it were answered differently.

A crossing is known by its lane, its kind and its number there. Of two runs that asked the same and got
different answers, the answer is a cause; where they asked differently, that follows from a cause before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import orjson

from lctl.analysis.essence import CallNames, address, apart, reduce
from lctl.analysis.log import Log
from lctl.codec.lines import encode_value
from lctl.events import Event
from lctl.payloads.tape import reads_of
from lctl.state.model import MODEL_KINDS
from lctl.values import items, text


class Crossing(msgspec.Struct, frozen=True):
    """One thing that entered.

    Attributes:
        kind: model, http, tool, or the source of an ambient read.
        name: the model's, the tool's, the function's or variable's; `GET url`.
        asked: what it was asked, hashable.
        answer: what came, hashable.
        place: of the program's code, `agent.py:12`; None where the log does not say.
    """

    kind: str
    lane: str
    number: int
    seq: int
    agent: str
    name: str
    asked: bytes
    answer: bytes
    place: str | None


class Finding(msgspec.Struct, frozen=True):
    """Crossings of one kind and place that came out differently.

    Attributes:
        times: how many of them.
        seq: of the first, in the first run.
        cause: they were asked the same and answered differently; else they were asked differently although
            all answers before were the same: what differs is not recorded.
    """

    kind: str
    name: str
    place: str | None
    agent: str
    times: int
    seq: int
    cause: bool


class Comparison(msgspec.Struct, frozen=True):
    """Of several runs of one program.

    Attributes:
        crossings: how many the first run has.
        findings: causes in the order of the first run.
        follow: crossings that were asked differently, or that only some runs have, after a cause.
        runs: how many were compared.
    """

    crossings: int
    findings: tuple[Finding, ...]
    follow: int
    runs: int


def crossings(log: Log) -> list[Crossing]:
    """Everything that entered, in the order of the log."""
    reader = _Reader()
    for event in log.events():
        reader.take(event)
    return reader.found


class _Reader:
    def __init__(self) -> None:
        self.found: list[Crossing] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._calls: CallNames = {}
        self._open: dict[int, _Call] = {}

    def take(self, event: Event) -> None:
        data = event.data
        call = self._open.get(event.step) if event.step is not None else None
        if event.type == "step_start" and text(data.get("kind")) in MODEL_KINDS:
            self._open[event.seq] = _Call(str(data.get("model")))
        elif event.type == "message" and call is not None and data.get("sampled") is True:
            said = apart(data)
            reduce("message", said, self._calls)
            call.answers.append(said)
        elif event.type == "exchange":
            if data.get("kind") == "http":
                self._http(event)
            elif call is not None:
                call.attempt(data)
        elif event.type == "step_end" and call is not None:
            del self._open[event.step or 0]
            self._add("model", event, call.model, (call.asked, call.answers), call.lane, call.place)
        elif event.type == "tool_call" and data.get("derived") is not True:
            tool = str(data.get("tool"))
            asked, answer = [tool, data.get("input")], [data.get("output"), data.get("error")]
            self._add("tool", event, tool, (asked, answer), lane_of(data), data.get("place"))
        elif event.type == "ambient":
            for source, key, value, place in reads_of(data):
                if source != "seed":  # of what libraries draw
                    self._add(source, event, key, (key, value), lane_of(data), place)

    def _http(self, event: Event) -> None:
        data = event.data
        name = f"{data.get('method')} {address(str(data.get('url')))}"
        request = data.get("request")
        body = request.get("body") if isinstance(request, dict) else None
        chunks = [chunk[-1] for chunk in items(data.get("chunks")) if items(chunk)]
        answer = [data.get("status"), data.get("body"), chunks, bool(data.get("error"))]
        self._add("http", event, name, ([name, body], answer), lane_of(data), data.get("place"))

    def _add(self, kind: str, event: Event, name: str, said: tuple[Any, Any], lane: str, place: Any) -> None:
        number = self._numbers[lane, kind] = self._numbers.get((lane, kind), 0) + 1
        where = place if isinstance(place, str) else None
        asked, answer = map(_bytes, said)
        self.found.append(Crossing(kind, lane, number, event.seq, event.agent, name, asked, answer, where))


class _Call:
    """A model call, attempt by attempt."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.answers: list[Any] = []
        self.lane = "0"
        self.asked: str | None = None
        self.place: Any = None

    def attempt(self, data: dict[str, Any]) -> None:
        self.lane = lane_of(data)
        self.place = data.get("place") or self.place
        request, error = data.get("request"), data.get("error")
        if self.asked is None and isinstance(request, dict):
            self.asked = request.get("hash")
        if error or (data.get("status") or 200) >= 400:
            self.answers.append([data.get("status"), error.get("type") if isinstance(error, dict) else None])


def lane_of(data: dict[str, Any]) -> str:
    lane = data.get("lane")
    return lane if isinstance(lane, str) else "0"


def compare(runs: Sequence[Log]) -> Comparison:
    """Where the runs were answered differently."""
    rows = [{(one.lane, one.kind, one.number): one for one in crossings(run)} for run in runs]
    first = rows[0]
    groups: dict[tuple[str, str, str | None, bool], list[Crossing]] = {}
    follow, answered_alike = 0, True
    for identity, one in first.items():
        others = [row.get(identity) for row in rows[1:]]
        if all(other is not None and other.asked == one.asked for other in others):
            if any(other is not None and other.answer != one.answer for other in others):
                groups.setdefault((one.kind, one.name, one.place, True), []).append(one)
                answered_alike = False
        elif answered_alike and one.asked != b"null":
            groups.setdefault((one.kind, one.name, one.place, False), []).append(one)
            answered_alike = False
        else:
            follow += 1
    follow += len({identity for row in rows[1:] for identity in row} - first.keys())
    findings = tuple(
        Finding(kind, name, place, group[0].agent, len(group), group[0].seq, cause)
        for (kind, name, place, cause), group in groups.items()
    )
    return Comparison(len(first), findings, follow, len(runs))


def asks_otherwise(alike: Sequence[Log], other: Log) -> bool | None:
    """Whether `other` asks for something else where all of `alike` ask for the same; None where nothing was
    asked that could tell."""
    rows = [
        {(one.lane, one.kind, one.number): one.asked for one in crossings(run)} for run in (*alike, other)
    ]
    told = False
    for identity, asked in rows[0].items():
        if all(row.get(identity) == asked for row in rows[:-1]):
            told = told or identity[1] in ("model", "http", "tool")
            if rows[-1].get(identity) != asked:
                return True
    return False if told else None


def _bytes(value: Any) -> bytes:
    return encode_value(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
