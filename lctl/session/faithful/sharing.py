"""Objects around a tool's function that its result is, or holds: a list of the module that it returns.

The program may change such an object by either name, so a rerun gives the one that is there, not its copy.
It is told by two ways: where in the result it is, and how it is reached from what is around the call
(`owners`), once the call has done what it does. Where that leads to something else in a rerun, the result
keeps the copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from lctl.interrupts import RAISED, let_through
from lctl.session.faithful import owners
from lctl.session.faithful.arguments import Given
from lctl.session.faithful.coding import Decoder, Encoder, encode
from lctl.session.faithful.depths import part_at
from lctl.session.faithful.flags import is_event
from lctl.session.faithful.kinds import is_plain
from lctl.session.faithful.objects import attributes_of, is_programs, set_state
from lctl.session.faithful.owners import Owner, parts_of
from lctl.session.faithful.scopes import ATOMS, BUILTIN, DICTS, ROWS
from lctl.session.faithful.tables import Unfaithful

#: Things in a result, and around a call, that are looked at.
_THINGS = 10_000
#: Objects of one result that are told.
_SHARED = 100

Way = tuple[Any, ...]
_Walk = Iterator[tuple[Way, Any]]


def tape(value: Any, owner: Owner, given: Given) -> list[Any] | None:
    """JSON of which parts of a result are objects around the call; None of none. `given` are told already."""
    if type(value) in ATOMS:
        return None
    try:
        inner = {id(node) for _, node in _walk(value, given.index) if _can_change(type(node))}
        around = _around(owner, inner, given.index) if inner else {}
        return _written(value, around, given) if around else None
    except RAISED as error:  # others change it meanwhile, or it has a way that cannot be kept
        let_through(error)
        return None


def _written(value: Any, around: Mapping[int, tuple[int, Way]], given: Given) -> list[Any]:
    made: list[Any] = []
    told: set[Way] = set()
    encoder = Encoder()
    for way, node in _walk(value, given.index):
        if any(way[:n] in told for n in range(len(way))):
            continue  # it is a part of one that is told
        root, steps = around.get(id(node), (0, None))
        if steps is not None and len(made) < _SHARED:
            told.add(way)
            made.append([*([encoder.value(step) for step in each] for each in (way, steps)), root])
    return made


def _walk(value: Any, given: Mapping[int, int]) -> _Walk:
    """The objects that a result is made of, the outermost first, with the ways to them."""
    queue: list[tuple[Way, Any]] = [((), value)]
    seen: set[tuple[Way, int]] = set()
    for way, node in queue:  # grows while it is gone through
        if type(node) in ATOMS or id(node) in given or len(queue) > _THINGS or len(way) > 8:
            continue
        if (way, id(node)) in seen:
            continue
        seen.add((way, id(node)))
        yield way, node
        queue += [((*way, step), item) for step, item in _items(node) if type(item) not in ATOMS]


def _items(node: Any) -> Iterator[tuple[Any, Any]]:
    kind = type(node)
    if kind in ROWS:
        yield from enumerate(list(node))
    elif kind in DICTS:
        yield from list(node.items())
    elif is_programs(kind):
        yield from attributes_of(node).items()


def _can_change(kind: type) -> bool:
    return (kind in BUILTIN and kind is not tuple) or is_plain(kind)


def _around(owner: Owner, wanted: set[int], given: Mapping[int, int]) -> dict[int, tuple[int, Way]]:
    """Ways to those of the `wanted` objects that are around the call."""
    found: dict[int, tuple[int, Way]] = {}
    seen: set[int] = set()
    left = _THINGS
    queue: list[tuple[int, Way, Any]] = [(n, (), root) for n, root in enumerate(owner.roots)]
    for number, way, node in queue:  # grows while it is gone through
        kind = type(node)
        if node is None or id(node) in seen or id(node) in given:
            continue
        if way and not (kind in BUILTIN or is_plain(kind) or is_event(kind)):
            continue
        seen.add(id(node))
        if id(node) in wanted:
            found[id(node)] = number, way
        parts = parts_of(node, kind) if kind not in BUILTIN or len(node) <= left else ()
        left -= len(parts) + 1
        if left < 0 or len(found) == len(wanted):
            break
        if kind in ROWS:
            parts = dict(enumerate(parts))
        if isinstance(parts, dict):
            queue += [(number, (*way, step), item) for step, item in parts.items() if type(item) not in ATOMS]
    return found


def again(made: Any, owner: Owner) -> Callable[[Any], Any] | None:
    """What puts the objects around a call into its result, once they are as the call left them."""
    if type(made) is not list:
        return None
    decoder, ways = Decoder(), []
    for one in made:
        try:
            place, steps, root = one
            ways.append((tuple(map(decoder.value, place)), int(root), tuple(map(decoder.value, steps))))
        except Exception:  # no such entry as `tape` writes: that part stays the copy
            continue
    return partial(_put, ways, owner)


def _put(ways: Sequence[tuple[Way, int, Way]], owner: Owner, value: Any) -> Any:
    roots = owner.roots if owners.is_of_process else owner.roots[:1]
    for place, root, steps in ways:
        try:
            found: Any = roots[root]
            for step in steps:
                found = part_at(found, step)
            value = _replaced(value, place, found)
        except Exception:  # what is there now is another thing
            continue
    return value


def _replaced(value: Any, place: Way, found: Any) -> Any:
    """`value` with that object at a place in it, if it is as what is there now."""
    if not place:
        return found if _is_alike(value, found) else value
    step, inner = place[0], part_at(value, place[0])
    new = _replaced(inner, place[1:], found)
    if new is inner:
        return value
    if type(value) is tuple:
        return (*value[:step], new, *value[step + 1 :])
    if type(value) in BUILTIN:
        value[step] = new
    else:
        set_state(value, {step: new})
    return value


def _is_alike(value: Any, found: Any) -> bool:
    if type(value) is not type(found):
        return False
    if type(value) is set:
        return bool(value == found)
    try:
        return bool(encode(value) == encode(found))
    except Unfaithful:
        return False
