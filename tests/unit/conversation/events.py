"""Short ways to write the events of conversations."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, TypeVar

from lctl.conversation.tree import Tree

Events = list[dict[str, Any]]
T = TypeVar("T")


def event(seq: int, type: str, agent: str = "a", **data: Any) -> dict[str, Any]:
    return {"seq": seq, "type": type, "timestamp": "2026-01-01T00:00:00Z", "agent": agent, "data": data}


class Log:
    """Events one after the other; `tree` folds what there is."""

    def __init__(self) -> None:
        self.events: Events = []

    def add(self, type: str, agent: str = "a", **data: Any) -> Log:
        self.events.append(event(len(self.events) + 1, type, agent, **data))
        return self

    def say(self, id: str | None, parent: str | None = "", role: str = "", **data: Any) -> Log:
        """A message. Without a parent the key is left out; the role is told by the id's first letter."""
        kinds = {"u": "user", "a": "assistant", "t": "tool", "s": "system"}
        said: dict[str, Any] = {"role": role or kinds.get((id or "u")[0], "user"), "content": id, **data}
        if id is not None:
            said["message_id"] = id
        if parent != "":
            said["parent_id"] = parent
        return self.add("message", **said)

    @property
    def tree(self) -> Tree:
        return Tree.of(self.events)


def chain(*ids: str) -> Log:
    """A conversation of these messages, one after the other."""
    log = Log()
    for before, id in zip((None, *ids), ids, strict=False):
        log.say(id, before)
    return log


def ids(nodes: Iterable[Any]) -> list[str]:
    return [node.id for node in nodes]


def lines_run(work: Callable[[], T]) -> tuple[T, int]:
    """What it gives, and how many lines of Python that took: a cost that no machine changes."""
    lines = 0

    def count(frame: FrameType, kind: str, argument: Any) -> Any:
        nonlocal lines
        lines += kind == "line"
        return count

    before = sys.gettrace()
    gc.disable()  # what it would collect now is none of the work's
    sys.settrace(count)
    try:
        result = work()
    finally:
        sys.settrace(before)
        gc.enable()
    return result, lines


def codes(tree: Tree) -> list[str]:
    return [found.code for found in tree.diagnostics]


def history(r: random.Random, most: int = 25, *, nested: float = 0) -> Events:
    """A log of everything at once: orphans, circles, aliases, serials, streams, edits, copies, repeats; and
    conversations inside tool calls, which `nested` of its messages begin."""
    log = Log()
    names = [f"m{n}" for n in range(r.randint(1, most))]
    parents: dict[str, str | None] = {}
    for n, name in enumerate(names):
        parents[name] = None if n == 0 or r.random() < 0.1 else names[r.randrange(max(0, n - 6), n)]
        if r.random() < 0.02:
            parents[name] = r.choice(names)
        if r.random() < 0.05:
            parents[name] = "ghost"
    arrival = names[:]
    if r.random() < 0.5:
        r.shuffle(arrival)
    for name in arrival:
        _arrive(log, r, name, parents[name], names, nested)
    return log.events


def _arrive(
    log: Log, r: random.Random, name: str, parent: str | None, names: list[str], nested: float
) -> None:
    role = r.choice(["user", "assistant", "tool", "assistant", "system"])
    data: dict[str, Any] = {"message_id": name, "parent_id": parent, "role": role, "content": name}
    if role == "tool":
        data["tool_call_id"] = r.choice(["c1", "c2", "c3"])
    if r.random() < 0.1:
        del data["parent_id"]
    if r.random() < 0.15:
        data["serial"] = r.choice([1, 2, 3, "a", "b"])
    if r.random() < 0.15:
        data["fork_of"] = r.choice(names)
    if r.random() < 0.1:
        data["conversation_id"] = "side"
    if nested and r.random() < nested:
        data |= {"nested_in": {"message_id": r.choice(names), "tool_call_id": "c1"}, "parent_id": None}
    if r.random() < 0.06:
        data["carry"] = [r.choice(names), r.choice(names)]
    if r.random() < 0.04:
        data["copy_of"] = r.choice(names)
        del data["content"]
    if r.random() < 0.1:
        _stream(log, r, data)
    else:
        log.add("message", **data)
    if r.random() < 0.1:
        alias = r.choice(["x1", "x2", "x3", r.choice(names)])
        log.add("message_alias", alias=alias, message_id=r.choice([*names, "x1", "x2", "nobody"]))
    if r.random() < 0.1:
        log.add("message", **{**data, "serial": r.choice([1, 5, None])})
    if r.random() < 0.05:
        log.add("message", **{**data, "content": "other"})


def _stream(log: Log, r: random.Random, data: dict[str, Any]) -> None:
    name = data["message_id"]
    if r.random() < 0.5:
        log.add("stream_chunk", message_id=name, index=0, content="a")
    started = ("message_id", "parent_id", "role", "serial", "fork_of")
    log.add("stream_start", **{key: data[key] for key in started if key in data})
    for index in r.sample(range(4), r.randint(0, 4)):
        log.add("stream_chunk", message_id=name, index=index, content=str(index))
    if r.random() < 0.7:
        log.add("stream_end", message_id=name, status=r.choice(["complete", "aborted"]), total_chunks=4)
    elif r.random() < 0.5:
        log.add("message", **data)
