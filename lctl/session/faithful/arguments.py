"""The arguments of a call: which objects they are made of, and what the call did to them.

The objects are numbered in the order in which a walk from the arguments meets them. So what a call
returns or leaves behind can say "that list you were given", and a rerun finds the same one by walking
its own arguments.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from operator import is_
from typing import Any

from lctl.session.faithful.coding import Decoder, Encoder
from lctl.session.faithful.depths import Depth, Depths
from lctl.session.faithful.objects import (
    entries_of,
    is_programs,
    is_pydantic,
    is_record,
    set_state,
    slots_of,
    state_of,
)
from lctl.session.faithful.tables import Unfaithful

_ATOMS = frozenset({str, int, float, bool, bytes, complex, type(None)})
#: Objects of the arguments that are followed; the outermost first.
_LIMIT = 20_000

_followed: dict[type, bool] = {}


class Given:
    """The objects that some arguments are made of, as they are now.

    Args:
        beside: more objects that the call can change. What they are made of has no numbers, as others may
            change it meanwhile; see `deeper`.

    Attributes:
        nodes: those that can change, in the order of the walk.
        index: their numbers, by id.
        waits: a future is among what they are made of.
    """

    __slots__ = ("_depths", "_shapes", "_walked", "index", "nodes", "waits")

    def __init__(self, roots: Iterable[Any], beside: Iterable[Any] = ()) -> None:
        self.nodes: list[Any] = []
        self.index: dict[int, int] = {}
        self.waits = False
        self._shapes: list[Any] = []
        queue = [root for root in roots if type(root) not in _ATOMS]
        nodes, index, shapes = self.nodes, self.index, self._shapes
        for value in queue:  # grows while it is gone through
            kind = type(value)
            if kind is tuple:
                queue.extend(item for item in value if type(item) not in _ATOMS)
                continue
            if id(value) in index or len(nodes) >= _LIMIT:
                continue
            shape = _shape(value, kind)
            if shape is None:
                self.waits = self.waits or kind.__name__ == "Future"
                continue
            index[id(value)] = len(nodes)
            nodes.append(value)
            shapes.append(shape)
            if kind is not bytearray:
                queue.extend(item for item in shape[1] if type(item) not in _ATOMS)
        first = self._walked = len(nodes)
        for value in beside:
            shape = None if type(value) in _ATOMS or id(value) in index else _shape(value, type(value))
            if shape is not None:
                index[id(value)] = len(nodes)
                nodes.append(value)
                shapes.append(shape)
        self._depths = Depths(nodes, first, index) if len(nodes) > first else None

    def deeper(self) -> list[Depth]:
        """What is another now in what the objects beside the call are made of."""
        return [] if self._depths is None else self._depths.changed()

    def has(self, count: int) -> bool:
        """Whether a recording that numbered `count` objects means these. It may have known of none beside."""
        return count in (len(self.nodes), self._walked)

    def changed(self) -> list[int]:
        """Numbers of the objects that are not made of the same things as before."""
        return [
            n
            for n, (node, before) in enumerate(zip(self.nodes, self._shapes, strict=True))
            if not _same(before, _shape(node, type(node)))
        ]

    def content(self, n: int) -> Any:
        """What object `n` is made of now; of one with attributes, those that changed and those that went."""
        node = self.nodes[n]
        if issubclass(type(node), bytearray):
            return bytes(node)
        if issubclass(type(node), dict):
            return entries_of(node)
        if issubclass(type(node), list | deque | set):
            return list(node)
        names, items = self._shapes[n]
        before, now = dict(zip(names, items, strict=True)), state_of(node)
        changed = {key: item for key, item in now.items() if key not in before or before[key] is not item}
        return changed, [key for key in before if key not in now]

    def written(self, encoder: Encoder, n: int, content: Any) -> Any:
        """JSON that stands for `content`."""
        kind = type(self.nodes[n])
        if issubclass(kind, bytearray):
            return {"bytes": encoder.value(content)}
        if issubclass(kind, dict):
            return {"pairs": encoder.pairs(content)}
        if issubclass(kind, list | deque | set):
            return {"items": [encoder.value(item) for item in content]}
        changed, gone = content
        return {"set": encoder.fields(changed), "del": gone}

    def read(self, decoder: Decoder, n: int, made: Any) -> Any:
        """What `written` made, decoded: to be given to `apply`.

        Raises:
            Unfaithful: it is of no object as this one.
        """
        if type(n) is not int or not 0 <= n < len(self.nodes) or type(made) is not dict:
            raise Unfaithful("a change of an argument that is not there")
        kind = type(self.nodes[n])
        if "bytes" in made and issubclass(kind, bytearray):
            return decoder.value(made["bytes"])
        if "items" in made and issubclass(kind, list | deque | set):
            return [decoder.value(item) for item in made["items"]]
        if "pairs" in made and issubclass(kind, dict):
            return {decoder.value(key): decoder.value(item) for key, item in made["pairs"]}
        if "set" in made and _is_followed(kind):
            return decoder.fields(made["set"]), [str(name) for name in made.get("del", ())]
        raise Unfaithful(f"a change of a {kind.__name__} that was something else")

    def apply(self, n: int, content: Any) -> None:
        """Make object `n` be made of `content`, in place."""
        node = self.nodes[n]
        if issubclass(type(node), list | bytearray):
            node[:] = content
        elif issubclass(type(node), dict | set | deque):
            node.clear()
            node.extend(content) if issubclass(type(node), deque) else node.update(content)
        else:
            state, gone = content
            set_state(node, state)
            slots = slots_of(type(node))
            for name in gone:
                if name in slots:
                    slots[name].__delete__(node)
                else:
                    node.__dict__.pop(name, None)


def _shape(value: Any, kind: type) -> Any:
    """(names or keys, things) of an object that can change; None of one that is not followed."""
    if kind is list:
        return (), value[:]
    if kind is dict:
        return list(value), list(value.values())
    if kind is set:
        return (), list(value)
    if kind is deque:
        return (), list(value)
    if kind is bytearray:
        return (), [bytes(value)]
    if issubclass(type(value), dict):
        held = entries_of(value)
        return list(held), list(held.values())
    if _is_followed(kind):
        state = state_of(value)
        return list(state), list(state.values())
    return None


def _same(before: Any, now: Any) -> bool:
    names, items = before
    new_names, new_items = now
    if len(items) != len(new_items) or len(names) != len(new_names):
        return False
    if names != new_names and not all(map(is_, names, new_names)):
        return False
    return all(map(is_, items, new_items)) or (
        len(items) == 1 and type(items[0]) is bytes and items == new_items
    )


def _is_followed(kind: type) -> bool:
    """Whether the attributes of such objects are looked at: models, and what the program itself defines."""
    found = _followed.get(kind)
    if found is None:
        found = _followed[kind] = _decide(kind)
    return found


def _decide(kind: type) -> bool:
    if issubclass(kind, type | BaseException):
        return False
    return is_pydantic(kind) or is_record(kind) or is_programs(kind)
