"""Sums by name, as a timeline remembers them: after every block all of them, as long as they are few.

There are a handful of agents, models and tools, and most of them change in most blocks. So a block keeps
their rows side by side, which a state then has at hand without looking for any. Where the names are many,
only what changed is kept of each, as of everything else (`versions.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lctl.state.model import Usage
from lctl.state.rows import UsageFields, UsageRow
from lctl.state.versions import Versions

#: Names of which all rows are kept with every block.
_FEW = 32

#: What a block keeps: the fields of all rows, or how many names there were.
KeptSums = dict[str, UsageFields] | int


class Sums:
    """The sums of one kind of name."""

    def __init__(self) -> None:
        self.versions: Versions[str, Usage] = Versions(_usage, UsageFields)
        self._newest: dict[str, UsageFields] = {}

    def base(self, last: Mapping[str, Usage]) -> Mapping[str, Usage]:
        """What a builder goes on from after the last block, whose sums are `last`."""
        return self.versions if self.versions.cells else last

    def take_up(self, kept: KeptSums) -> None:
        """Go on after a block that kept this."""
        if not isinstance(kept, int):
            self._newest = kept

    def put(self, stamp: bytes, fresh: dict[str, UsageRow]) -> KeptSums:
        """What the block that `stamp` stands for keeps, in which `fresh` may have changed. Of many names only
        these are put, and no longer fresh; of few all, which stay at hand."""
        versions = self.versions
        if not versions.cells:
            newest = self._newest
            for name, row in fresh.items():
                newest[name] = row.fields()
            if len(newest) <= _FEW:
                return newest
            versions.put(stamp, newest)
        elif fresh:
            versions.put(stamp, {name: row.fields() for name, row in fresh.items()})
        fresh.clear()
        return len(versions.cells)

    def at(self, kept: KeptSums, before: bytes, seq: int) -> Mapping[str, Usage]:
        """The sums after a block that kept this; `before` and `seq` as of `Versions.at`."""
        return self.versions.at(before, seq, kept) if isinstance(kept, int) else Rows(kept)


class Rows(Mapping[str, Usage]):
    """A frozen mapping over the fields of rows."""

    __slots__ = ("_fields",)

    def __init__(self, fields: dict[str, UsageFields]) -> None:
        self._fields = fields

    def row(self, name: str) -> tuple[UsageFields, Sequence[Any]] | None:
        """As `Versions.row`."""
        fields = self._fields.get(name)
        return None if fields is None else (fields, ())

    def __getitem__(self, name: str) -> Usage:
        return UsageRow(*self._fields[name]).frozen()

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return repr(dict(self))


def _usage(name: str, fields: UsageFields, _: Sequence[Any]) -> Usage:
    return UsageRow(*fields).frozen()
