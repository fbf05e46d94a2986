"""The logs of a rerun as its program knows them: by their paths, and with what it has recorded itself.

The program may read what it has recorded: an agent session its messages, a gate its facts. Of concurrent
tasks and threads the log holds that back for a while, or has it in the recorded order (see `window`); the
program sees it as it was recorded in this run.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lctl.rerun.exactness.echo import EchoStore
    from lctl.rerun.tape.tape import Tape

#: Readers of one log whose places are known.
_READERS = 32


class Places:
    """Which log of the rerun is behind a path that the program names."""

    def __init__(self) -> None:
        self._by_path: dict[str, EchoStore] = {}

    def add(self, path: str | Path | None, store: EchoStore) -> None:
        for one in (store.path, path):
            if one is not None:
                self._by_path[_name(one)] = store

    def find(self, path: str | Path | None) -> EchoStore | None:
        return None if path is None else self._by_path.get(_name(path))

    def replace(self, before: EchoStore, store: EchoStore) -> None:
        for name, one in self._by_path.items():
            if one is before:
                self._by_path[name] = store

    def of(self, path: str | Path) -> str | Path:
        """Where it is really."""
        found = self.find(path)
        return path if found is None else found.path


def _name(path: str | Path) -> str:
    return os.path.realpath(path)


def known_as(chain: dict[str, Any], tape: Tape | None) -> str:
    """The chain's id as the program is to see it: that of the first recording of all that this runs again."""
    if tape is None:
        return str(chain.get("id", ""))
    return str(tape.log.chain.get("known_as") or tape.log.id)


def fitting(tapes: Sequence[Tape], served: Collection[Tape | None], opened: Mapping[str, str]) -> Tape | None:
    """The tape of a session that the program opens now: of those that are left (not `served`) the first that
    the same thread or task had opened, else the first.

    Args:
        opened: as of `lctl.session.opening.opened_in`.
    """
    left = [tape for tape in tapes if tape not in served]
    for key in ("lane", "name"):
        for tape in left:
            before = tape.log.chain.get("opened")
            if isinstance(before, dict) and key in before and before[key] == opened.get(key):
                return tape
    plain = next((tape for tape in left if not tape.log.chain.get("opened")), None)
    return plain or next(iter(left), None)


class OwnLines:
    """What the program has recorded in one log, as it was in this run. Called with the log's lock, or alone.

    A place is how many events a reader has had.
    """

    def __init__(self, store: EchoStore) -> None:
        self._store = store
        self._kept: dict[int, bytes] = {}  # of those that are stored in another order: by seq
        self._read: dict[int, tuple[int, int]] = {}  # by place: how many were stored, and where they end

    def keep(self, lines: list[bytes]) -> None:
        """These are about to be stored as others, in the recorded order."""
        for line in lines:
            self._kept[_seq(line)] = line

    def since(self, position: int) -> tuple[list[bytes], int]:
        with self._store.lock:
            stored, end = self._read.get(position, (0, 0))
            lines, end = self._store.since(end)
            self._read.pop(position, None)
            found = [self._own(line) for line in lines if _seq(line) > position]
            stored += len(lines)
            found += [line for line in self._store.held if _seq(line) > position]
            position = _seq(found[-1]) if found else position
            self._read[position] = stored, end
            if len(self._read) > _READERS:
                del self._read[next(iter(self._read))]
            return found, position

    def read(self, start: int = 1, stop: int | None = None) -> Iterator[bytes]:
        with self._store.lock:
            held = self._store.held
            last = self._store.last_seq
        for line in self._store.read(start, min(stop or last + 1, last + 1)):
            yield self._own(line)
        for line in held:
            if _seq(line) > last and start <= _seq(line) and (stop is None or _seq(line) < stop):
                yield line

    def _own(self, line: bytes) -> bytes:
        return self._kept.get(_seq(line), line)


def _seq(line: bytes) -> int:
    return int(line[7:27].partition(b",")[0])
