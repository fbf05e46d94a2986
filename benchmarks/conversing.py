"""C1 to C11: conversations at a million messages (the design's section on scale).

    python -m benchmarks.conversing 1000000

What holds a whole tree comes from a process of its own; CPU time, best of a few rounds. Targets are those
of a plain Python tree on a slower machine than most.
"""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import orjson

from benchmarks import Row
from lctl.conversation.folding import fold_event
from lctl.conversation.forest import Forest
from lctl.conversation.tree import Tree

_ROUNDS = 5
_BATCH = 20_000
Event = dict[str, Any]


def measure(messages: int = 1_000_000) -> list[Row]:
    """All rows, for a tree of `messages` messages."""
    folded = [_alone("fold", messages) for _ in range(2)]
    fold = {key: max(one[key] for one in folded) for key in ("first", "last")}
    fold["mb"] = min(one["mb"] for one in folded)
    fold["gc"] = min(one["gc"] for one in folded)
    # In turns: a slow moment of the machine would make a ratio of two runs that each happened once.
    looks = [(_alone("views", messages), _alone("views", messages // 100)) for _ in range(2)]
    views, few = (
        {key: min(one[key] for one in some) for key in some[0]} for some in zip(*looks, strict=True)
    )
    name = f"{messages:,} messages"
    speed, growth = fold["last"], fold["first"] / fold["last"]
    return [
        Row("C1", f"events a second, the last tenth of {name}", ">= 150 k/s", f"{speed / 1e3:.0f} k/s",
            speed / 150e3, speed >= 150e3),
        Row("C1", "the first tenth against the last", "<= 1.5x", f"{growth:.2f}x", growth, growth <= 1.5),
        _row("C2", f"memory of {name}, contents not counted", fold["mb"], 350, "MB"),
        _row("C3", f"gc.collect() with {name}", fold["gc"] * 1e3, 40, "ms"),
        _row("C4", "transcript, each message", _transcript() * 1e6, 0.4, "us", "{:.2f}"),
        _row("C5", "10,000 regenerates of regenerates", _best(_regenerates), 0.1, "s", "{:.3f}"),
        _row("C6", f"view switch of 10 messages, tree of {name}", views["switch"] * 1e6, 50, "us"),
        _row("C7", "an event off the path of 100 views, beside none", views["off"] * 1e6, 2, "us", "{:.2f}"),
        _row("C8", f"a page of 20 of {name}", views["page"] * 1e6, 100, "us"),
        _row("C8", "the same against a hundredth of them", views["page"] / few["page"], 1.5, "x", "{:.2f}"),
        _row("C9", f"1,000 reads of a path at random seqs of {name}", views["at"], 1, "s", "{:.2f}"),
        _row("C10", "1,000,000 chunks to one message, and its text", _best(_chunks), 3, "s", "{:.2f}"),
        _row("C11", "100,000 messages, each before its parent", _best(_backwards), 1, "s", "{:.2f}"),
    ]  # fmt: skip


def _row(id: str, what: str, value: float, bound: float, unit: str, form: str = "{:.0f}") -> Row:
    measured = f"{form.format(value)} {unit}"
    return Row(id, what, f"<= {bound:g} {unit}", measured, value / bound, value <= bound)


def _best(work: Callable[[], float]) -> float:
    return min(work() for _ in range(_ROUNDS))


# -- events --------------------------------------------------------------------------------


def _events(count: int, seed: int = 1) -> Iterator[Event]:
    """Conversations of up to 1,000 messages one after the other; one message in ten is another version."""
    chance = random.Random(seed)
    parent: str | None = None
    above: list[str] = []
    for seq in range(1, count + 1):
        id = f"m{seq:08d}"
        if len(above) >= 1000:
            above, parent = [], None
        data: Event = {"message_id": id, "role": "user" if len(above) % 2 else "assistant", "content": "hi"}
        conversation = seq // 1112
        data["conversation_id"] = f"c{conversation}"
        if above and chance.random() < 0.1:
            data["fork_of"] = above.pop()
            parent = above[-1] if above else None
        data["parent_id"] = parent
        above.append(id)
        parent = id
        yield {"seq": seq, "type": "message", "timestamp": "", "agent": "a", "data": data}


def _fold(forest: Forest, events: list[Event]) -> float:
    start = process_time()
    for event in events:
        fold_event(forest, event["seq"], event["type"], event["agent"], event["data"])
    return process_time() - start


def _forest() -> Forest:
    return Forest(lambda seq: {"role": "user", "content": "hi"})


def _chain(count: int, **data: Any) -> list[Event]:
    events = []
    for n in range(count):
        more = {"message_id": f"m{n}", "parent_id": f"m{n - 1}" if n else None, "role": "user"}
        events.append({"seq": n + 1, "type": "message", "agent": "a", "data": more | data})
    return events


# -- what needs little ---------------------------------------------------------------------


def _transcript() -> float:
    tree = Tree.of(_chain(100_000, content="hi"))

    def spent() -> float:
        start = process_time()
        said = tree.transcript("m99999")
        seconds = process_time() - start
        assert len(said) == 100_000
        return seconds / 100_000

    return _best(spent)


def _regenerates() -> float:
    events = _chain(2, content="hi")
    for n in range(2, 10_002):
        data = {"message_id": f"m{n}", "parent_id": "m0", "fork_of": f"m{n - 1}", "role": "assistant"}
        events.append({"seq": n + 1, "type": "message", "agent": "a", "data": data})
    forest = _forest()
    spent = _fold(forest, events)
    assert len(forest.versions_at(1, forest.seq)) == 10_001
    return spent


def _chunks() -> float:
    forest = _forest()
    _fold(forest, [{"seq": 1, "type": "stream_start", "agent": "a", "data": {"message_id": "m"}}])
    spent = 0.0
    for first in range(0, 1_000_000, _BATCH):
        batch = [
            {"seq": n + 2, "type": "stream_chunk", "agent": "a",
             "data": {"message_id": "m", "index": n, "content": "word "}}
            for n in range(first, first + _BATCH)
        ]  # fmt: skip
        spent += _fold(forest, batch)
    start = process_time()
    assert len(forest.texts[0].text(forest.seq)) == 5_000_000
    return spent + process_time() - start


def _backwards() -> float:
    events = _chain(100_000)
    for seq, event in enumerate(reversed(events), 1):
        event["seq"] = seq
    forest = _forest()
    spent = _fold(forest, events[::-1])
    assert len(forest.up(forest.find("m99999"), forest.seq)) == 100_000
    return spent


# -- what each process measures ------------------------------------------------------------


def fold(messages: int) -> dict[str, float]:
    """Messages a second at the beginning and the end, what they hold, what the collector needs for them."""
    gc.collect()
    before = _resident_mb()
    plain = _collect()
    forest = _forest()
    events, times = _events(messages), []
    while batch := list(islice(events, _BATCH)):
        times.append(_fold(forest, batch) / len(batch))
        del batch
    gc.collect()
    tenth = max(1, len(times) // 10)
    return {
        "first": tenth / sum(times[:tenth]),
        "last": tenth / sum(times[-tenth:]),
        "mb": _resident_mb() - before,
        "gc": _best(_collect) - plain,
    }


def views(messages: int) -> dict[str, float]:
    """What views do on a tree of that many messages, in one long conversation and many beside it."""
    forest = _forest()
    tree = Tree(forest)
    side = 10
    for batch in _batches(messages // 2 - 2 * side):
        _fold(forest, batch)
    last = forest.seq
    for count in range(messages // 2):
        data = {"message_id": f"x{count}", "parent_id": f"x{count - 1}" if count else None, "role": "user"}
        fold_event(forest, last + count + 1, "message", "a", data)
    fork = f"x{messages // 2 - 1 - side}"
    tips = [f"x{messages // 2 - 1}", ""]
    for count in range(side):
        data = {"message_id": f"y{count}", "parent_id": f"y{count - 1}" if count else fork, "role": "user"}
        fold_event(forest, forest.seq + 1, "message", "a", data)
    tips[1] = f"y{side - 1}"
    return {
        "page": _best(lambda: _pages(tree)),
        "switch": _best(lambda: _switches(tree, tips)),
        "at": _best(lambda: _at(tree, last)),
        "off": _off_path(tree),
    }


def _batches(count: int) -> Iterator[list[Event]]:
    events = _events(count)
    while batch := list(islice(events, _BATCH)):
        yield batch


def _pages(tree: Tree) -> float:
    start = process_time()
    for _ in range(1000):
        with tree.view(limit=20) as view:
            assert len(view.nodes) == 20
    return (process_time() - start) / 1000


def _switches(tree: Tree, tips: list[str]) -> float:
    with tree.view(limit=50) as view:
        start = process_time()
        for n in range(1000):
            view.select(tips[n % 2])
        return (process_time() - start) / 1000


def _at(tree: Tree, last: int) -> float:
    """The path to the last message of some conversation, which is up to 1,000 long, as of some seq."""
    draw = random.Random(1)
    seqs = [draw.randrange(1, last) for _ in range(1000)]
    start = process_time()
    for seq in seqs:
        past = tree.at(seq)
        tip = past.tip(f"c{seq // 1112}")
        assert tip is None or tip.path
    return process_time() - start


def _off_path(tree: Tree) -> float:
    """CPU time of an event beside what 100 views show, less that of the same without views."""
    forest = tree.forest
    count = 20_000

    def spent() -> float:
        seq = forest.seq

        like = {"parent_id": forest.ids[0], "role": "user"}
        data = [{"message_id": f"o{seq + n}", **like} for n in range(1, count + 1)]
        start = process_time()
        for n, one in enumerate(data, seq + 1):
            fold_event(forest, n, "message", "a", one)
        return (process_time() - start) / count

    alone, watched = [], []
    for _ in range(_ROUNDS):
        alone.append(spent())
        shown = [tree.view(limit=50) for _ in range(100)]
        watched.append(spent())
        for view in shown:
            view.close()
    return max(0.0, min(watched) - min(alone))


def _collect() -> float:
    start = process_time()
    gc.collect()
    return process_time() - start


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def _alone(what: str, messages: int) -> dict[str, float]:
    code = f"import benchmarks.conversing as b, json; print(json.dumps(b.{what}({messages})))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    measured: dict[str, float] = orjson.loads(run.stdout)
    return measured


if __name__ == "__main__":
    for row in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000):
        print(
            f"{row.id:4} {row.what:62} {row.target:14} {row.measured:12} {'pass' if row.passed else 'short'}"
        )
