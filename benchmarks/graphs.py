"""What a `MessageGraph` costs: edits of a long list in bytes and time, and the tree that follows them.

CPU time, best of several; the edit is of the first message of the list, so that all others are carried.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks import Row
from lctl.conversation.tree import Tree
from lctl.session import LCTLSession
from lctl.session.messagegraph.graph import MessageGraph

_LONG = 2000
_TEXT = "The quick brown fox jumps over the lazy dog, and then it reads the whole log again. " * 4


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory(dir=".", prefix=".bench-") as folder:
        return [*_edits(Path(folder)), *_tree(Path(folder)), *_appends(Path(folder))]


def _messages(count: int) -> list[dict[str, Any]]:
    return [{"role": ("user", "assistant")[n % 2], "content": f"{n} {_TEXT}"} for n in range(count)]


def _edited(graph: MessageGraph, count: int) -> Callable[[], None]:
    turn = 0

    def edit() -> None:
        nonlocal turn
        for _ in range(count):
            turn += 1
            graph[0]["content"] = f"edit {turn}"

    return edit


def _best(run: Callable[[], None], times: int = 7) -> float:
    """Seconds of CPU."""
    best = 1e9
    for _ in range(times):
        start = process_time()
        run()
        best = min(best, process_time() - start)
    return best


def _edits(folder: Path) -> Iterator[Row]:
    sizes: dict[int, float] = {}
    times: dict[int, float] = {}
    for count in (20, _LONG):
        with LCTLSession("edits", folder / f"edits-{count}.lctl.json") as session:
            graph = MessageGraph(session, messages=_messages(count))
            edit = _edited(graph, 50)
            edit()
            before = session.path.stat().st_size
            edit()
            sizes[count] = (session.path.stat().st_size - before) / 50
            times[count] = _best(edit) / 50 * 1e6
    ratio = sizes[_LONG] / sizes[20]
    yield Row(
        "G1",
        f"bytes in the log of one edit that carries {_LONG} messages, against one that carries 20",
        "<= 1.1x",
        f"{sizes[_LONG]:.0f} against {sizes[20]:.0f} B",
        ratio,
        ratio <= 1.1,
    )
    ratio = times[_LONG] / times[20]
    yield Row(
        "G2",
        f"CPU of the same edits, nobody reading the tree ({_LONG} against 20)",
        "<= 2x",
        f"{times[_LONG]:.0f} against {times[20]:.0f} us",
        ratio,
        ratio <= 2,
    )


def _tree(folder: Path) -> Iterator[Row]:
    with LCTLSession("tree", folder / "tree.lctl.json") as session:
        graph = MessageGraph(session, messages=_messages(_LONG))
        assert len(session.tree) == _LONG
        took = _best(_edited(graph, 10)) / 10 * 1000
        yield Row(
            "G3",
            f"one edit of a tail of {_LONG} with its fold into session.tree, CPU",
            "<= 3 ms",
            f"{took:.2f} ms",
            took / 3,
            took <= 3,
        )
    message = {"seq": 1, "type": "message", "agent": "a", "data": {"role": "user", "content": "x"}}
    chain = [{**message, "seq": n + 1} for n in range(_LONG)]
    carry = {"role": "user", "content": "e", "parent_id": None, "carry": ["#2", f"#{_LONG}"]}
    trees = [Tree.of(chain) for _ in range(5)]
    folded = _best(lambda: trees.pop().append({**message, "seq": _LONG + 1, "data": carry}), 5) * 1000
    yield Row(
        "G4",
        f"fold of one event that carries {_LONG} messages, CPU",
        "<= 3 ms",
        f"{folded:.2f} ms",
        folded / 3,
        folded <= 3,
    )


def _appends(folder: Path) -> Iterator[Row]:
    messages = _messages(_LONG)
    with LCTLSession("appends", folder / "appends.lctl.json") as session:

        def tell() -> None:
            for message in messages:
                session.message(**message)

        plain = _best(tell, 3)

        def append() -> None:
            graph = MessageGraph(session)
            for message in messages:
                graph.append(message)

        graphed = _best(append, 3)
        first = messages[: _LONG // 10]

        def few() -> None:
            graph = MessageGraph(session)
            for message in first:
                graph.append(message)

        tenth = _best(few, 3)
    ratio = graphed / plain
    yield Row(
        "G5",
        "append, recorded / session.message()",
        "<= 2.5x",
        f"{graphed / _LONG * 1e6:.1f} / {plain / _LONG * 1e6:.1f} us",
        ratio,
        ratio <= 2.5,
    )
    ratio = graphed / _LONG / (tenth / len(first))
    yield Row(
        "G6",
        f"an append among {_LONG} messages, against among a tenth",
        "<= 1.3x",
        f"{graphed / _LONG * 1e6:.1f} against {tenth / len(first) * 1e6:.1f} us",
        ratio,
        ratio <= 1.3,
    )
