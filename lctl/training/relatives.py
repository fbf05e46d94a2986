"""Logs that tell of the same calls: a run and its forks and reruns, two copies of one log, sessions of
another program of which one goes on from the other (Claude Code copies what was before into a fork)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TypeAlias

from lctl.codec import Log
from lctl.codec.lines import encode
from lctl.conversation.tree import Tree
from lctl.events import Event
from lctl.training.contents import identity

#: What tells that messages of two relatives are one: the event, to the letter; or what the provider called
#: the answer, which of its choices it is, and what it says.
_Key: TypeAlias = tuple[str, bytes] | tuple[str, int, bytes]


def told_before(logs: Sequence[tuple[Log, Tree]]) -> list[frozenset[int]]:
    """Of each log the messages, by number, that a relative before it holds, too: first the run itself, then
    what came of it, of copies the longest."""
    found = [frozenset[int]()] * len(logs)
    families: dict[str, list[int]] = {}
    by_id = {log.id: log for log, _ in logs if log.id}
    for at, (log, _) in enumerate(logs):
        families.setdefault(_family(log, by_id), []).append(at)
    for family, members in families.items():
        if not family or len(members) < 2:
            continue
        known: set[_Key] = set()
        ranks = {at: (len(_origins(logs[at][0], by_id)), -logs[at][0].last_seq, at) for at in members}
        for at in sorted(members, key=ranks.__getitem__):
            log, tree = logs[at]
            keys = list(_keys(log, tree, _origins(log, by_id)[-1]))
            found[at] = frozenset(number for number, key in keys if key in known)
            known.update(key for _, key in keys)
    return found


def _family(log: Log, by_id: dict[str, Log]) -> str:
    """Where the log comes from in the end: a run, or the program whose sessions were imported."""
    first = _origins(log, by_id)[-1]
    imported = by_id[first].chain.get("imported") if first in by_id else None
    form = imported.get("from") if isinstance(imported, dict) else None
    return f"imported from {form}" if isinstance(form, str) else first


def _origins(log: Log, by_id: dict[str, Log]) -> list[str]:
    """The chain's id, and of those it came of, one after the other, as far as they are given."""
    ids = [log.id]
    one: Log | None = log
    while one is not None:
        above = _origin(one)
        if above is None or above in ids:
            break
        ids.append(above)
        one = by_id.get(above)
    return ids


def _origin(log: Log) -> str | None:
    for relation, key in (("rerun", "of"), ("parent", "id")):
        said = log.chain.get(relation)
        if isinstance(said, dict) and isinstance(said.get(key), str):
            return str(said[key])
    return None


def _keys(log: Log, tree: Tree, first: str) -> Iterator[tuple[int, _Key]]:
    """(message, what it is known by). `first`: the run that the log came of; equal events of another are
    chance."""
    forest = tree.forest
    for event in log.events():
        if event.type in ("message", "stream_start"):
            number = forest.find(str(event.data.get("message_id") or f"#{event.seq}"))
            if number >= 0 and forest.seqs[number] == event.seq:
                yield number, (first, blake2b(encode(event), digest_size=16).digest())
        elif event.type == "step_end" and isinstance(event.data.get("response_id"), str):
            for choice, id in enumerate(_answers(event)):
                number = forest.find(id)
                if number >= 0:
                    said = identity(tree.node(number).data)
                    yield number, (event.data["response_id"], choice, said)


def _answers(event: Event) -> list[str]:
    several = event.data.get("messages")
    return [str(id) for id in (several if isinstance(several, list) else [event.data.get("message")])]
