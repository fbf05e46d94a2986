"""What a call changes deep inside objects that are no arguments of it: lists in dicts, objects in objects.

Others may change such objects while the call runs, and a rerun may meet them in another shape. So they are
not numbered as arguments are: a change is told by the way that leads to it, and done there when its turn has
come. It says no more than what is another, so that what cannot be kept (a connection beside a counter) is no
hindrance; of that a rerun leaves what it finds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from lctl.session.faithful import flags
from lctl.session.faithful.coding import Decoder, Encoder
from lctl.session.faithful.objects import attributes_of, entries_of, is_programs, remove, set_state
from lctl.session.faithful.scopes import Scope
from lctl.session.faithful.tables import Unfaithful

#: Things in all objects that are looked into; the outermost first.
_LIMIT = 100_000
_ATOMS = frozenset({str, int, float, bool, bytes, complex, type(None)})
_MISSING = object()


class Depth(NamedTuple):
    """One object that a call changed.

    Attributes:
        root: number of the object beside the call that the way begins at.
        way: attributes, keys and indexes that lead from there to it.
        kept: of a list or deque, how many items at its beginning are as before; of a set, how many stay.
        content: keys and attributes with what they are now; the further items; all of a bytearray, and of
            a set of which none stay.
        gone: keys and attributes that are no more; of a set of which some stay, the items that do not.
    """

    root: int
    way: tuple[Any, ...]
    kept: int
    content: Any
    gone: list[Any]

    def written(self, encoder: Encoder) -> dict[str, Any] | None:
        """JSON that stands for it; None where nothing of it can be kept."""
        mark = encoder.mark()
        try:
            made: dict[str, Any] = {"root": self.root, "way": [encoder.value(step) for step in self.way]}
            if self.gone:
                made["gone"] = [encoder.value(key) for key in self.gone]
            if type(self.content) is not dict:
                made["items"] = [encoder.value(item) for item in self.content]
                if self.kept:
                    made["kept"] = self.kept
                return made
        except Unfaithful:
            encoder.back_to(mark)
            return None
        pairs = [pair for pair in (_pair(encoder, *item) for item in self.content.items()) if pair]
        return {**made, "pairs": pairs} if pairs or self.gone else None

    @classmethod
    def read(cls, decoder: Decoder, made: Any) -> Depth:
        if type(made) is not dict or type(made.get("root")) is not int:
            raise Unfaithful("a change of an object that is not there")
        way = tuple(decoder.value(step) for step in made.get("way", ()))
        gone = [decoder.value(key) for key in made.get("gone", ())]
        content: Any
        if "items" in made:
            content = [decoder.value(item) for item in made["items"]]
        else:
            content = {decoder.value(key): decoder.value(item) for key, item in made["pairs"]}
        return cls(made["root"], way, int(made.get("kept", 0)), content, gone)

    def apply(self, nodes: list[Any]) -> None:
        """Do it, if the way still leads to such an object."""
        node: Any = nodes[self.root] if 0 <= self.root < len(nodes) else _MISSING
        for step in self.way:
            node = part_at(node, step)
        if issubclass(type(node), list | deque):
            if type(self.content) is list:
                while len(node) > self.kept:
                    node.pop()
                node.extend(self.content)
        elif issubclass(type(node), set):
            if type(self.content) is list:
                node.difference_update(self.gone) if self.kept else node.clear()
                node.update(self.content)
        elif issubclass(type(node), bytearray):
            if type(self.content) is list:
                node[:] = bytes(self.content)
        elif type(self.content) is not dict or node is _MISSING:
            return
        elif issubclass(type(node), Scope):
            node.put(self.content)
        elif flags.is_event(type(node)):
            flags.change(node, self.content)
        elif issubclass(type(node), dict):
            for key in self.gone:
                node.pop(key, None)
            for key, item in self.content.items():  # a `Counter` would add what `update` is given
                node[key] = item
        elif is_programs(type(node)):
            set_state(node, self.content)
            for name in self.gone:
                remove(node, name)


class Depths:
    """What the objects beside a call are made of, before it.

    Args:
        nodes: the objects whose changes are told by number, those beside the call last.
        first: number of the first of these.
        index: numbers of all of them, by id.
    """

    __slots__ = ("_first", "_index", "_known", "_nodes")

    def __init__(self, nodes: list[Any], first: int, index: dict[int, int]) -> None:
        self._nodes, self._first, self._index = nodes, first, index
        self._known: dict[int, tuple[Any, dict[Any, Any]]] = {}  # holds them, so that ids stay theirs
        queue = nodes[first:]
        left = _LIMIT
        for at, node in enumerate(queue):  # grows while it is gone through
            is_root = at < len(nodes) - first
            if left < 0 or id(node) in self._known or (not is_root and id(node) in index):
                continue
            parts = _parts(node, is_root)
            if parts is None:
                continue
            left -= len(parts)
            self._known[id(node)] = (node, parts)
            if not issubclass(type(node), set | bytearray):
                queue.extend(item for item in parts.values() if type(item) not in _ATOMS)

    def changed(self) -> list[Depth]:
        """What is another now. Of an object that was put in another's place, the change is its place's."""
        found: list[Depth] = []
        met: set[int] = set()
        roots = enumerate(self._nodes[self._first :], self._first)
        queue: list[tuple[int, tuple[Any, ...], Any]] = [(number, (), node) for number, node in roots]
        for root, way, node in queue:  # grows while it is gone through
            known = self._known.get(id(node))
            if known is None or id(node) in met or (way and id(node) in self._index):
                continue
            met.add(id(node))
            before, now = known[1], _parts(node, not way) or {}
            same = {key: item for key, item in now.items() if before.get(key, _MISSING) is item}
            is_same = len(same) == len(now) == len(before)
            if not is_same and way:
                found.append(_depth(root, way, node, before, now))
            if issubclass(type(node), set | bytearray) or (
                not is_same and not way and issubclass(type(node), list | dict | deque)
            ):
                continue  # its change says all that is in it
            if issubclass(type(node), list | deque):
                same = dict(list(now.items())[: _kept(before, now)])
            queue.extend((root, (*way, key), item) for key, item in same.items() if type(item) not in _ATOMS)
        return found


def all_written(encoder: Encoder, changes: Iterable[Depth]) -> list[dict[str, Any]]:
    """Those of which something can be kept."""
    return [made for made in (change.written(encoder) for change in changes) if made is not None]


def _parts(node: Any, is_root: bool) -> dict[Any, Any] | None:
    """What a node is made of, by attribute, key or index; None of one that is not looked into."""
    if issubclass(type(node), dict):
        return entries_of(node)
    if issubclass(type(node), list | tuple | deque):
        return dict(enumerate(list(node)))
    if issubclass(type(node), set):
        return {item: item for item in list(node)}
    if issubclass(type(node), bytearray):
        return {0: bytes(node)}
    if flags.is_event(type(node)):
        return flags.parts_of(node)
    return attributes_of(node) if is_root or is_programs(type(node)) else None


def _depth(root: int, way: tuple[Any, ...], node: Any, before: dict[Any, Any], now: dict[Any, Any]) -> Depth:
    if issubclass(type(node), list | deque):
        kept = _kept(before, now)
        return Depth(root, way, kept, list(now.values())[kept:], [])
    if issubclass(type(node), set):
        return Depth(root, way, 0, list(now), [])
    if issubclass(type(node), bytearray):
        return Depth(root, way, 0, list(node), [])
    changed = {key: item for key, item in now.items() if before.get(key, _MISSING) is not item}
    return Depth(root, way, 0, changed, [key for key in before if key not in now])


def _kept(before: dict[Any, Any], now: dict[Any, Any]) -> int:
    """How many items are the same at the beginning."""
    count = 0
    for item, other in zip(before.values(), now.values(), strict=False):
        if item is not other:
            break
        count += 1
    return count


def _pair(encoder: Encoder, key: Any, item: Any) -> list[Any] | None:
    mark = encoder.mark()
    try:
        return [encoder.value(key), encoder.value(item)]
    except Unfaithful:
        encoder.back_to(mark)
        return None


def part_at(node: Any, step: Any) -> Any:
    """The part of a node that is at a step of the way."""
    if issubclass(type(node), dict):
        return node.get(step, _MISSING)
    if issubclass(type(node), list | tuple | deque):
        return node[step] if type(step) is int and 0 <= step < len(node) else _MISSING
    if issubclass(type(node), Scope):
        return node.now().get(step, _MISSING)
    return attributes_of(node).get(step, _MISSING) if is_programs(type(node)) else _MISSING
