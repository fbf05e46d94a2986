"""The logs of an export, opened: each a tree, and what the manifest says of it."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from lctl.chain import Chain
from lctl.codec import Log, open_log
from lctl.codec.hashing import RollingHash
from lctl.conversation.folding import fold_event
from lctl.conversation.forest import Forest
from lctl.conversation.reading import Reader
from lctl.conversation.tree import Tree
from lctl.errors import UsageError
from lctl.training.relatives import told_before


class HasTree(Protocol):
    """What has a tree of its own: a session that is being recorded."""

    @property
    def tree(self) -> Tree: ...


Source = str | os.PathLike[str] | Log | Chain | Tree | HasTree


class Opened(NamedTuple):
    """One log to export.

    Attributes:
        chain: its chain's id, "" where it has none.
        inherited: events up to this seq are another log's of the same export.
        elsewhere: messages, by number, that another log of the same export holds, too.
        said: what the manifest says of it.
    """

    tree: Tree
    chain: str
    name: str
    inherited: int
    elsewhere: frozenset[int]
    said: dict[str, Any]

    def is_own(self, number: int) -> bool:
        """Whether a message is this log's, and no other's of the export."""
        return number not in self.elsewhere and self.tree.forest.seqs[number] > self.inherited


def opened(log: Source | Iterable[Source], to_seq: int | None = None) -> list[Opened]:
    """The logs to export, each knowing which of its messages another of them holds, too."""
    single = isinstance(log, str | os.PathLike | Tree) or not isinstance(log, Iterable)
    sources: list[Any] = [log] if single else list(log)  # type: ignore[arg-type]
    logs = [_read(source) for source in sources]
    known = {one.id: one for one in logs if isinstance(one, Log) and one.id}
    trees = [one if isinstance(one, Tree) else _tree(one, known) for one in logs]
    pairs = [(n, one) for n, one in enumerate(logs) if isinstance(one, Log)]
    told = told_before([(one, trees[n]) for n, one in pairs])
    elsewhere = dict(zip((n for n, _ in pairs), told, strict=True))
    made = []
    for n, one in enumerate(logs):
        if isinstance(one, Tree):
            tree = one if to_seq is None else one.at(to_seq)
            said = {"name": one.forest.name, "events": tree.seq}
            made.append(Opened(tree, "", one.forest.name or "a tree", 0, frozenset(), said))
            continue
        parent = _parent(one, known)
        inherited = int(one.chain["parent"]["seq"]) if parent is not None else 0
        tree = trees[n] if to_seq is None else trees[n].at(to_seq)
        made.append(Opened(tree, one.id, one.name, inherited, elsewhere[n], _described(one, to_seq)))
    return made


def _read(source: Any) -> Log | Tree:
    if isinstance(source, Log | Tree):
        return source
    if isinstance(source, Chain):
        return source.log
    if isinstance(source, str | os.PathLike):
        return open_log(source)
    tree = getattr(source, "tree", None)
    if isinstance(tree, Tree):
        return tree
    raise UsageError(f"training data is made of logs, chains and trees, not of {type(source).__name__}")


def _parent(log: Log, known: Mapping[str, Log]) -> Log | None:
    """The log this one was forked from, if it is exported too and both hold the same event there."""
    parent = log.chain.get("parent")
    if not isinstance(parent, dict) or not isinstance(parent.get("seq"), int):
        return None
    other = known.get(str(parent.get("id")))
    if other is None or other is log:
        return None
    seq = parent["seq"]
    if log.first_seq > seq:
        return other
    return other if list(log.lines(seq, seq + 1)) == list(other.lines(seq, seq + 1)) else None


def _tree(log: Log, known: Mapping[str, Log]) -> Tree:
    """The log's tree; of a fork that refers to its prefix, with that prefix, as far as it is there."""
    pieces = [log]
    while pieces[0].first_seq > 1 and (parent := _parent(pieces[0], known)) is not None:
        if parent in pieces:
            break
        pieces.insert(0, parent)
    if len(pieces) == 1:
        return Chain.of(log).tree
    readers = [Reader(piece) for piece in pieces]
    starts = [0, *(piece.first_seq for piece in pieces[1:])]

    def data_at(seq: int) -> Mapping[str, Any]:
        return readers[bisect_right(starts, seq) - 1](seq)

    forest = Forest(data_at, log.name)
    for piece, start, stop in zip(pieces, starts, [*starts[1:], None], strict=True):
        for event in piece.events(start, stop):
            fold_event(forest, event.seq, event.type, event.agent, event.data, event.step)
    return Tree(forest)


def _described(log: Log, to_seq: int | None) -> dict[str, Any]:
    hash = RollingHash()
    for line in log.stored() if to_seq is None else log.lines(0, to_seq + 1):
        hash.update(line)
    return {
        "id": log.id,
        "name": Path(log.name).name,
        "events": hash.count,
        "hash": f"sha256:{hash.hexdigest()}",
    }
