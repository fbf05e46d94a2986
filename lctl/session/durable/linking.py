"""Forks that hold only what came after the fork: read together with the logs they came of."""

from __future__ import annotations

from pathlib import Path

from lctl.chain import Chain
from lctl.codec import open_log
from lctl.codec.log import Log
from lctl.errors import LctlError, LogNotFound
from lctl.kinship import names, parent_of
from lctl.stores.source import StoredEvents, log_of


def whole(chain: Chain) -> Chain:
    """The chain with what its parents hold of its beginning; itself where it has all.

    Raises:
        LogNotFound: the log of a parent is not beside it.
    """
    log = chain.log
    parts = [log]
    while parts[0].first_seq > 1 and parts[0].origin > 1:
        parts.insert(0, _parent_of(parts[0], log))
    if len(parts) == 1:
        return chain
    events = []
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        events += [event.to_dict() for event in part.events(0, None if after is None else after.first_seq)]
    return Chain.from_dict({"lctl": "4.0", "chain": dict(log.chain), "events": events})


def parent_log(header: dict[str, object], beside: str | None) -> Path | None:
    """The file that holds the chain another came of: the one its header names, or another in its folder."""
    parent = header.get("parent")
    if not isinstance(parent, dict) or beside is None:
        return None
    folder = Path(beside).parent
    named = parent.get("log")
    first = [folder / named] if isinstance(named, str) else []
    for path in [*first, *sorted(folder.glob("*.lctl.json*"))]:
        try:
            if path.is_file() and names(parent_of(header), open_log(path).chain):
                return path
        except LctlError:
            continue
    return None


def _parent_of(part: Log, log: Log) -> Log:
    if isinstance(part.source, StoredEvents):
        store = part.source.store
        return log_of(store, store.entry(str(part.chain["parent"]["id"])))
    path = parent_log(part.chain, part.path or log.path)
    if path is None:
        parent = part.chain["parent"]
        raise LogNotFound(
            f"{log.name}: begins with event {part.first_seq}; what came before is in chain {parent['id']}, "
            "whose log is not in its folder: put it there"
        )
    return open_log(path)
