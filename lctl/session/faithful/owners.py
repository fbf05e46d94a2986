"""The object whose method a tool is, and what a call of it changes there.

It is no argument of the call. So nothing of it may keep a call from being served: it is looked at within
limits, what cannot be kept is left out, and a rerun leaves what it finds where it does not fit. Looked into
are objects of classes that are the program's own, all of their bases, too, and the builtin containers they
hold: never a framework's objects, clients, locks or modules. Of a tool that is the program's subclass of a
framework's class, what the program's part adds.

Changes are told by the way that leads to them, and say what is there afterwards: of two calls that
overlap, the later event holds what both did (see `lctl.session.toolevents.Change`).
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Collection, Iterable
from functools import partial
from operator import is_
from types import MethodType
from typing import Any

from lctl.session.faithful.arguments import Given
from lctl.session.faithful.coding import Decoder, Unfaithful, encode_parts
from lctl.session.faithful.depths import Depth, all_written
from lctl.session.faithful.objects import is_programs, is_programs_module, is_pydantic, is_record, state_of

#: Things in all that is looked into, and containers and objects among it; the outermost first.
_THINGS, _NODES = 10_000, 500
#: Things and characters of one change that is kept.
_KEPT, _TEXT = 10_000, 1 << 20
#: Ways that lead to one object and are told: what was one object may be two in a rerun.
_WAYS = 3

_ATOMS = frozenset({str, int, float, bool, bytes, complex, type(None)})
_DICTS = frozenset({dict, defaultdict, OrderedDict, Counter})
_ROWS = frozenset({list, tuple, deque})
_BUILTIN = _DICTS | _ROWS | {set, bytearray}
#: Modules of bases that bring nothing of their own into an object.
_NEUTRAL = frozenset({"builtins", "abc", "typing", "pydantic.main", "pydantic.v1.main", "agno.tools.toolkit"})
_MISSING = object()

_plain: dict[type, bool] = {}


class Owner:
    """The object of one call.

    Args:
        value: see `owner_of`.
    """

    __slots__ = ("_known", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._known: dict[int, tuple[Any, Any]] = {}  # holds them, so that ids stay theirs

    def look(self) -> None:
        """The call is about to begin."""
        try:
            self._look()
        except Exception:  # others change it meanwhile, or its own code was asked and failed
            self._known = {}

    def _look(self) -> None:
        known, left = self._known, _THINGS
        queue = [self.value]
        for node in queue:  # grows while it is gone through
            kind = type(node)
            if id(node) in known:
                continue
            if kind in _BUILTIN:
                if len(node) > left:
                    continue
            elif not is_plain(kind) and node is not self.value:
                continue
            parts = _parts(node, kind)
            left -= len(parts) + 1
            known[id(node)] = (node, parts)
            if left < 0 or len(known) >= _NODES:
                return
            if kind is not set and kind is not bytearray and len(queue) <= _NODES:
                items = parts if kind in _ROWS else parts.values()
                queue += [item for item in items if type(item) not in _ATOMS]

    def tape(self, given: Given) -> dict[str, Any] | None:
        """JSON of what the call changed; None of nothing, or nothing that can be kept."""
        if id(self.value) in given.index:
            return None  # it is an argument as well
        try:
            changes = [change for change in self._changed() if _is_small(change.content)]
            made = _written(changes, given)
            if made is None and len(changes) > 1:
                made = _written([change for change in changes if _written([change], given)], given)
        except Exception:
            return None
        return {"given": len(given.nodes), "changes": made} if made else None

    def _changed(self) -> list[Depth]:
        differing = [number for number, (node, before) in self._known.items() if not _is_same(node, before)]
        return self._ways(frozenset(differing)) if differing else []

    def _ways(self, differing: frozenset[int]) -> list[Depth]:
        found: list[Depth] = []
        visits: dict[int, int] = {}
        queue: list[tuple[tuple[Any, ...], Any]] = [((), self.value)]
        for way, node in queue:  # grows while it is gone through
            known = self._known.get(id(node))
            if known is None or visits.get(id(node), 0) >= _WAYS:
                continue
            visits[id(node)] = visits.get(id(node), 0) + 1
            if id(node) not in differing:
                items: Any = known[1]
            elif type(node) in _BUILTIN and len(node) > len(known[1]) + _KEPT:
                continue
            else:
                items = _told(found, way, node, known[1])
            if type(node) in _ROWS:
                items = dict(enumerate(items))
            if isinstance(items, dict):
                inner = (pair for pair in items.items() if type(pair[1]) not in _ATOMS)
                queue.extend(((*way, step), item) for step, item in inner)
        return found


def owner_of(function: Any) -> Owner | None:
    """The object that a function is a method of, if it is one that is looked into."""
    for _ in range(10):
        if isinstance(function, MethodType):
            return Owner(function.__self__) if is_looked_into(type(function.__self__)) else None
        if isinstance(function, partial):
            function = function.func
            continue
        held = getattr(function, "__dict__", None)
        inner = held.get("__wrapped__") if type(held) is dict else None
        if inner is None:
            return Owner(function) if is_plain(type(function)) else None
        function = inner
    return None


def change(made: Any, value: Any, given: Given) -> None:
    """Do to an owner what `Owner.tape` says, as far as it can be done here."""
    if type(made) is not dict or made.get("given", 0) != len(given.nodes):
        return  # it may speak of arguments
    decoder, changes = Decoder(given), []
    for each in made.get("changes", ()):
        try:
            changes.append(Depth.read(decoder, each))
        except Exception:
            continue
    for change in changes:
        try:
            change.apply([value])
        except Exception:  # what is there now is another thing
            continue


def is_looked_into(kind: type) -> bool:
    """Whether a call of a method can have changed what is looked into: of the program's subclass of a
    framework's class, the attributes that only the program's part knows."""
    return is_plain(kind) or bool(_added(kind))


def _added(kind: type) -> frozenset[str]:
    """Attributes that the program's classes name and those of the framework beneath them do not."""
    found = _additions.get(kind)
    if found is None:
        is_known = is_programs(kind) and not _has_code_of_its_own(kind)
        found = _additions[kind] = _names_added(kind) if is_known else frozenset()
    return found


def _names_added(kind: type) -> frozenset[str]:
    own: set[str] = set()
    others: set[str] = set()
    for base in kind.__mro__[:-1]:
        names = own if is_programs_module(base.__module__) else others
        names.update(vars(base).get("__annotations__", ()))
        for name, value in vars(base).items():
            code = getattr(value, "__code__", None)
            if names is others:
                names.add(name)
            if code is not None and (names is own or name == "__init__"):
                names.update(code.co_names)
    return frozenset(own - others)


_additions: dict[type, frozenset[str]] = {}


def is_plain(kind: type) -> bool:
    """Whether a class and all its bases are the program's: its objects are no framework's."""
    found = _plain.get(kind)
    if found is None:
        found = _plain[kind] = _decide(kind)
    return found


def _decide(kind: type) -> bool:
    if not is_programs(kind) or _has_code_of_its_own(kind):
        return False
    return all(base.__module__ in _NEUTRAL or is_programs_module(base.__module__) for base in kind.__mro__)


def _has_code_of_its_own(kind: type) -> bool:
    """For asking for attributes, which are taken from its `__dict__` here."""
    return any("__getattribute__" in vars(base) for base in kind.__mro__[:-1])


def _parts(node: Any, kind: type) -> Any:
    """What a node is made of now: a list, of what has keys or attributes a dict."""
    if kind in _DICTS:
        return dict(node)
    if kind is bytearray:
        return bytes(node)
    if kind in _BUILTIN:
        return list(node)
    state = state_of(node)
    return state if is_plain(kind) else {name: item for name, item in state.items() if name in _added(kind)}


def _is_same(node: Any, before: Any) -> bool:
    kind = type(node)
    if kind in _BUILTIN and len(node) != len(before):
        return False
    now = _parts(node, kind)
    if kind is bytearray:
        return bool(now == before)
    if type(now) is list:
        return all(map(is_, now, before))
    if len(now) != len(before) or not all(map(is_, now.values(), before.values())):
        return False
    return all(map(is_, now, before)) or list(now) == list(before)


def _told(found: list[Depth], way: tuple[Any, ...], node: Any, before: Any) -> Any:
    """Add what is another now in a node; what of it is the same, and at its place."""
    now = _parts(node, type(node))
    if type(node) in _ROWS:
        pairs = enumerate(zip(before, now, strict=False))
        kept = next((n for n, (item, other) in pairs if item is not other), min(len(before), len(now)))
        found.append(Depth(0, way, kept, now[kept:], []))
        return now[:kept]
    if type(node) is set:
        old, new = set(before), set(now)
        added = [item for item in now if item not in old]
        found.append(Depth(0, way, len(old & new), added, list(old - new)))
        return ()
    if type(node) is bytearray:
        found.append(Depth(0, way, 0, list(now), []))
        return ()
    gone = [key for key in before if key not in now]
    same = {key: item for key, item in now.items() if before.get(key, _MISSING) is item}
    changed = {key: item for key, item in now.items() if key not in same}
    if type(node) not in _DICTS:  # each by itself: one that cannot be kept is no hindrance
        found.extend(Depth(0, way, 0, {key: item}, []) for key, item in changed.items())
        if gone:
            found.append(Depth(0, way, 0, {}, gone))
        return same
    stay = [key for key in before if key in now]
    if list(now)[: len(stay)] != stay:  # put in another order
        found.append(Depth(0, way, 0, now, list(before)))
        return {}
    found.append(Depth(0, way, 0, changed, gone))
    return same


def _is_small(content: Any) -> bool:
    """Whether what is new in a change is no more than is kept."""
    text = 0
    seen: set[int] = set()
    queue = [content]
    for item in queue:  # grows while it is gone through
        kind = type(item)
        if kind is str or kind is bytes or kind is bytearray:
            text += len(item)
        elif kind in _ATOMS or id(item) in seen:
            pass
        else:
            seen.add(id(item))
            inner = _inner(item, kind)
            if len(queue) + len(inner) > _KEPT:
                return False
            queue.extend(inner)
            text += int(getattr(item, "nbytes", 0)) if kind.__module__ == "numpy" else 0
        if text > _TEXT:
            return False
    return True


def _inner(item: Any, kind: type) -> Collection[Any]:
    if isinstance(item, dict):
        return dict.values(item) if len(item) > _KEPT else [*dict.keys(item), *dict.values(item)]
    if isinstance(item, list | tuple | set | frozenset | deque):
        return item
    if is_record(kind) or is_pydantic(kind):
        return state_of(item).values()
    return ()


def _written(changes: Iterable[Depth], given: Given) -> list[dict[str, Any]] | None:
    """JSON for those of which something can be kept; None where it would come back as another."""
    try:
        made: list[dict[str, Any]] = encode_parts(
            changes, all_written, lambda decoder, made: [Depth.read(decoder, each) for each in made], given
        )
        return made
    except Unfaithful:
        return None
