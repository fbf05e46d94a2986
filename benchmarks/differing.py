"""X1: comparing two logs of 100,000 events (PERFORMANCE.md section 7).

The logs hold what a recorder writes: agents that call models and tools in steps, 300 bytes an event, each run
with its own times, ids and durations. Times are CPU time, and every target is a ratio: of what is compared
each has its turn in every round, so that a slow moment of the machine is one of both, and of each the best
round counts.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import orjson

from benchmarks import Row
from lctl.analysis.align import align
from lctl.analysis.matching import match
from lctl.analysis.reading import read
from lctl.analysis.trace import Trace
from lctl.codec import Log, open_log

EVENTS = 100_000
ROUNDS = 5
_WORDS = [f"word{n}" for n in range(500)]


def measure(events: int = EVENTS) -> list[Row]:
    """Keys against a streamed decode, and alignment against keys in every scenario."""
    base = _run(events, seed=1, salt=1)
    log, twin = _log(base), _log(_run(events, seed=1, salt=2))

    def keys() -> None:
        read(log)

    spent, decode = _best(keys, lambda: _decode(log))
    rows = [_row("X1 keys", "keys of one log / streamed orjson.loads of its lines", spent, decode, 2.5)]
    for name, other in [("same", twin), *((name, _log(events)) for name, events in _scenarios(base))]:
        what = "match two runs of the same work" if other is twin else f"match, {name}"
        left, right = read(log), read(other)
        spent, against = _best(lambda left=left, right=right: match(left, right), keys)  # type: ignore[misc]
        rows.append(_row(f"X1 {name}", f"{what} / keys of one", spent, against, 1.5))
    for name, mine, others in _sequences(read(log)):
        spent, against = _best(lambda mine=mine, others=others: align(mine, others), keys)  # type: ignore[misc]
        rows.append(
            _row(f"X1 flat {name}", f"align one flat lane, {name} / keys of one", spent, against, 1.5)
        )
    return rows


def _row(id: str, what: str, spent: float, against: float, bound: float) -> Row:
    ratio = spent / against
    return Row(id, what, f"<= {bound}x", f"{spent * 1000:.0f} ms = {ratio:.2f}x", ratio, ratio <= bound)


def _best(work: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Seconds of either, taken in turn."""
    best = [float("inf")] * 2
    for _ in range(ROUNDS):
        for n, one in enumerate((work, other)):
            start = process_time()
            one()
            best[n] = min(best[n], process_time() - start)
    return best[0], best[1]


def _decode(log: Log) -> None:
    for line in log.lines():
        orjson.loads(line)


def _log(events: list[dict[str, Any]]) -> Log:
    head = b'{"lctl":"4.0","chain":{"id":"bench"},"events":[\n'
    return open_log(head + b",\n".join(map(orjson.dumps, events)) + b"\n]}\n")


def _scenarios(base: list[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    half = len(base) // 2
    extra = {**base[half], "type": "fact_added", "data": {"id": "new", "text": "inserted"}}
    yield "insert", _renumbered([*base[:half], extra, *base[half:]])
    yield "1% edits", _edited(base, 0.01)
    yield "30% edits", _edited(base, 0.30)
    yield "total divergence", _run(len(base), seed=7, salt=7)
    yield "block move", _renumbered(_moved(base))


def _sequences(trace: Trace) -> Iterator[tuple[str, list[int], list[int]]]:
    """The same scenarios on one lane of keys, as a log without steps is; and keys that hardly vary."""
    chance = random.Random(3)
    keys = list(trace.keys)
    half = len(keys) // 2
    few = [chance.randrange(8) for _ in keys]
    yield "insert", keys, [*keys[:half], 1, *keys[half:]]
    yield "1% edits", keys, [n if chance.random() < 0.01 else key for n, key in enumerate(keys)]
    yield "30% edits", keys, [n if chance.random() < 0.3 else key for n, key in enumerate(keys)]
    yield "total divergence", keys, list(range(len(keys)))
    yield "low entropy", few, [chance.randrange(8) if chance.random() < 0.01 else key for key in few]
    fifth = len(keys) // 5
    yield "block move", keys, keys[:fifth] + keys[2 * fifth :] + keys[fifth : 2 * fifth]


def _run(count: int, seed: int, salt: int) -> list[dict[str, Any]]:
    """Agents one after the other; `seed` is what they do, `salt` what every run makes up."""
    script = _Script(random.Random(seed), random.Random(salt))
    while len(script.events) < count:
        script.agent()
    return script.events


class _Script:
    def __init__(self, does: random.Random, makes_up: random.Random) -> None:
        self.events: list[dict[str, Any]] = []
        self._does = does
        self._makes_up = makes_up
        self._now = 0.0

    def agent(self) -> None:
        agent = f"agent{self._does.randrange(5)}"
        step = self._add("step_start", agent, None, kind="agent", intent="work", input_summary=self._text(8))
        tip = None
        for _ in range(self._does.randrange(2, 6)):
            tip = self._turn(agent, step, tip)
        self._add("step_end", agent, step, outcome="success", duration_ms=self._made_up())

    def _turn(self, agent: str, step: int, tip: str | None) -> str:
        does = self._does
        prompt = self._message(agent, step, tip, "user")
        llm = self._add(
            "step_start", agent, step, kind="llm", intent="chat.completions", model="gpt-4o",
            provider="openai", operation="chat.completions", prompt=prompt, params={"temperature": 0.2},
        )  # fmt: skip
        self._add(
            "exchange", agent, llm, attempt=1, method="POST", url="https://api.openai.com/v1/chat/completions",
            http="httpx", request={"hash": f"sha256:{self._id()}", "size": 1200}, status=200,
            headers={"x-request-id": f"req_{self._id()}"}, complete=True, duration_ms=self._made_up(),
        )  # fmt: skip
        answer = self._message(agent, llm, prompt, "assistant", sampled=True, status="complete")
        self._add(
            "step_end", agent, llm, outcome="success", message=answer, model="gpt-4o-2024-08-06",
            response_id=f"chatcmpl-{self._id()}", finish_reason="stop",
            tokens={"input": does.randrange(100, 9000), "output": does.randrange(10, 500)},
            duration_ms=self._made_up(),
        )  # fmt: skip
        self._add(
            "tool_call", agent, step, tool=does.choice(["grep", "read", "bash"]),
            input={"pattern": self._text(3), "path": self._text(1)},
            output={"matches": does.randrange(99), "text": self._text(10)},
            duration_ms=self._made_up(), call_id=f"call_{self._id()}",
        )  # fmt: skip
        if does.random() < 0.5:
            id = f"F{len(self.events)}"
            confidence = round(does.random(), 2)
            self._add(
                "fact_added", agent, step, id=id, text=self._text(10), confidence=confidence, source="x"
            )
        return answer

    def _message(self, agent: str, step: int, parent: str | None, role: str, **more: Any) -> str:
        id = f"m{len(self.events) + 1}"
        self._add(
            "message", agent, step, message_id=id, parent_id=parent, role=role, content=self._text(13), **more
        )
        return id

    def _add(self, type: str, agent: str, step: int | None, /, **data: Any) -> int:
        seq = len(self.events) + 1
        self._now += self._makes_up.random() / 10
        second = self._now % 60
        minutes = int(self._now) // 60
        at = f"2026-01-01T{minutes // 60 % 24:02d}:{minutes % 60:02d}:{second:09.6f}Z"
        event: dict[str, Any] = {"seq": seq, "type": type, "timestamp": at, "agent": agent}
        if step is not None:
            event["step"] = step
        event["data"] = data
        self.events.append(event)
        return seq

    def _text(self, words: int) -> str:
        return " ".join(self._does.choices(_WORDS, k=words))

    def _id(self) -> str:
        return f"{self._makes_up.getrandbits(96):024x}"

    def _made_up(self) -> float:
        return round(self._makes_up.random() * 1000, 3)


def _edited(base: list[dict[str, Any]], share: float) -> list[dict[str, Any]]:
    chance = random.Random(5)
    events = []
    for event in base:
        if chance.random() < share:
            event = copy.deepcopy(event)
            for key in ("content", "input", "outcome", "input_summary", "text", "url", "model"):
                if key in event["data"]:
                    event["data"][key] = f"changed {chance.getrandbits(40)}"
                    break
        events.append(event)
    return events


def _moved(base: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A tenth of the agents' work, later than it was."""
    tops = [n for n, event in enumerate(base) if "step" not in event]
    low, high, to = (tops[len(tops) * share // 10] for share in (2, 3, 7))
    return base[:low] + base[high:to] + base[low:high] + base[to:]


def _renumbered(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    seqs = {id(event): n for n, event in enumerate(events, 1)}
    old = {event["seq"]: seqs[id(event)] for event in events if event["data"].get("id") != "new"}
    renumbered = []
    for event in events:
        data = dict(event["data"])
        for key in ("message_id", "parent_id", "prompt", "message"):
            if isinstance(data.get(key), str):
                data[key] = f"m{old[int(data[key][1:])]}"
        event = {**event, "seq": seqs[id(event)], "data": data}
        if "step" in event:
            event["step"] = old[event["step"]]
        renumbered.append(event)
    return renumbered


if __name__ == "__main__":
    for row in measure():
        print(f"{row.id:24} {row.target:8} {row.measured:20} {'pass' if row.passed else 'short'}")
