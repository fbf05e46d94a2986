"""The mappings of a state while a block is being folded into it: a frozen base, and what is new on top."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from lctl.state.kept import Kept
from lctl.state.layers import extended, lazily, over, without
from lctl.state.model import Message, Usage
from lctl.state.rows import UsageRow
from lctl.state.sums import Rows
from lctl.state.versions import AsOf, Versions

K = TypeVar("K")
V = TypeVar("V")
#: Open seqs up to which a plain tuple is the fastest thing to have.
_FEW = 32


def keys_of(mapping: Mapping[K, V]) -> Container[K]:
    """Whatever tells fastest which keys a mapping has."""
    return mapping.cells if type(mapping) in _LIVE else mapping  # type: ignore[attr-defined]


def rows_of(mapping: Mapping[K, Any]) -> Callable[[K], tuple[Any, Sequence[Any]] | None] | None:
    """What gives the row of a key at once, where the mapping keeps rows; None where it keeps values."""
    return mapping.row if type(mapping) in _PACKED else None  # type: ignore[attr-defined]


_LIVE = frozenset({Versions, Kept})
_PACKED = frozenset({Versions, AsOf, Rows})


class Table(Generic[K, V]):
    """A mapping of frozen values, and what this builder put on top of it."""

    __slots__ = ("base", "fresh")

    def __init__(self, base: Mapping[K, V]) -> None:
        self.base = base
        self.fresh: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        value = self.fresh.get(key)
        return self.base.get(key) if value is None else value

    def frozen(self) -> Mapping[K, V]:
        return over(self.base, self.fresh) if self.fresh else self.base


class Messages:
    """The messages of the base, and what this builder put on top: `fresh` has those that are new.

    A builder that is `lean` writes for an index, which keeps a message as the seq of its event where that
    says it all, and `read` makes a message of one. What is new it puts into the index itself, if that is in
    memory: a view does not see what is younger. `changed` has those that it finishes.
    """

    __slots__ = ("base", "changed", "direct", "fresh", "known", "lean", "read")

    def __init__(self, base: Mapping[str, Message], read: Callable[[str, int], Message] | None) -> None:
        self.base = base
        self.known: Container[str] = keys_of(base)
        self.fresh: dict[str, Any] = {}
        self.changed: dict[str, Message] = {}
        self.lean = read is not None
        self.read = read
        self.direct = self.lean and type(self.known) is dict
        if self.direct:
            self.fresh, self.known = cast("dict[str, Any]", self.known), ()

    def get(self, id: str) -> Message | None:
        value: Message | int | None = self.changed.get(id)
        if value is None and not self.direct:
            value = self.fresh.get(id)
        if value is None:
            return self.base.get(id)
        return self.read(id, value) if isinstance(value, int) and self.read else cast(Message, value)

    def change(self, message: Message) -> None:
        """Put a message in the place of the one of its id."""
        (self.changed if self.lean else self.fresh)[message.id] = message

    def __contains__(self, id: str) -> bool:
        return id in self.fresh or id in self.known

    def frozen(self) -> Mapping[str, Message]:
        return over(self.base, self.fresh)


class Ledger:
    """Sums by name. `rows` are all this builder has read, `fresh` those it may have changed, `met` the names
    known to be there."""

    __slots__ = ("_thaw", "base", "fresh", "known", "met", "rows")

    def __init__(self, base: Mapping[str, Usage]) -> None:
        self.base = base
        self.known: Container[str] = keys_of(base)
        self.met: set[str] = {""}  # an event that names no agent is nobody's
        self.rows: dict[str, UsageRow] = {}
        self.fresh: dict[str, UsageRow] = {}
        self._thaw = rows_of(base)

    def row(self, name: str) -> UsageRow:
        """The row of `name`, to be changed. That of no name is thrown away."""
        row = self.rows.get(name)
        if row is None:
            row = self._read(name)
            if not name:
                return row
            self.rows[name] = row
            self.met.add(name)
        self.fresh[name] = row
        return row

    def _read(self, name: str) -> UsageRow:
        if self._thaw is None:
            return UsageRow.of(self.base.get(name))
        known = self._thaw(name)
        return UsageRow() if known is None else UsageRow(*known[0])

    def meet(self, name: str) -> None:
        """Have a row of `name`. Callers look into `met` first: most names are in it."""
        if name not in self.met:
            self.met.add(name)
            if name not in self.known:
                self.row(name)

    def frozen(self, *, lazy: bool) -> Mapping[str, Usage]:
        if lazy:
            return lazily(self.base, self.fresh, UsageRow.frozen)
        return over(self.base, {name: row.frozen() for name, row in self.fresh.items()})


class Opens:
    """Seqs of what is open, oldest first."""

    __slots__ = ("base", "closed", "opened")

    def __init__(self, base: Sequence[int]) -> None:
        self.base = base
        self.opened: dict[int, None] = {}
        self.closed: set[int] = set()

    def open(self, seq: int) -> None:
        self.opened[seq] = None

    def close(self, seq: int) -> None:
        if seq in self.opened:
            del self.opened[seq]
        else:
            self.closed.add(seq)

    def newest_first(self) -> Iterator[int]:
        yield from reversed(self.opened)
        for seq in reversed(self.base):
            if seq not in self.closed:
                yield seq

    def settled(self) -> Sequence[int]:
        """As `frozen`, and go on from there."""
        if self.opened or self.closed:
            self.base = self.frozen()
            self.opened.clear()
            self.closed.clear()
        return self.base

    def frozen(self) -> Sequence[int]:
        if len(self.base) <= _FEW:
            closed = self.closed
            if closed:
                return (*[seq for seq in self.base if seq not in closed], *self.opened)
            return (*self.base, *self.opened) if self.opened else self.base
        return extended(without(self.base, self.closed), self.opened)
