"""What a call changes of the object whose method the tool is, and of the variables around its function.

They are no arguments of the call. So nothing of them may keep a call from being served: they are looked at
within limits, what cannot be kept is left out, and a rerun leaves what it finds where it does not fit.
Looked into are objects of classes that are the program's own, all of their bases, too, and the builtin
containers they hold: never a framework's objects, clients, locks or modules. Of a tool that is the program's
subclass of a framework's class, what the program's part adds.

Changes are told by the way that leads to them, and say what is there afterwards: of two calls that
overlap, the later event holds what both did (see `lctl.session.tooling.toolevents.Change`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from functools import partial
from operator import is_
from types import FunctionType, MethodType
from typing import Any

from lctl.interrupts import RAISED, let_through
from lctl.session.faithful import flags
from lctl.session.faithful.arguments import Given
from lctl.session.faithful.coding import Decoder, encode_parts
from lctl.session.faithful.depths import Depth, all_written
from lctl.session.faithful.flags import is_event
from lctl.session.faithful.kinds import added, is_looked_into, is_plain
from lctl.session.faithful.objects import attributes_of, is_pydantic, is_record, state_of
from lctl.session.faithful.scopes import ATOMS, BUILTIN, DICTS, ROWS, Scope, scope_of
from lctl.session.faithful.tables import Unfaithful

#: Things in all that is looked into, and containers and objects among it; the outermost first.
_THINGS, _NODES = 10_000, 500
#: Things and characters of one change that is kept.
_KEPT, _TEXT = 10_000, 1 << 20
#: Ways that lead to one object and are told: what was one object may be two in a rerun.
_WAYS = 3

_MISSING = object()

#: Whether it is the whole of this process that runs again, and nothing has changed its variables before.
is_of_process = False

#: What could not be looked at, by the exception's type -> how many calls' surroundings.
unseen: dict[str, int] = {}


class Owner:
    """What one call may change beside its arguments.

    Attributes:
        roots: the object whose method it is, or None; the variables around the function, or None; those
            around functions that are given to it, and objects whose methods are.
        waits: a future is among what it looked at.
    """

    __slots__ = ("_known", "roots", "waits")

    def __init__(self, value: Any, scope: Scope | None = None, called: Iterable[Any] = ()) -> None:
        self.roots = (value, scope, *called)
        self.waits = False
        self._known: dict[int, tuple[Any, Any]] = {}  # holds them, so that ids stay theirs

    def look(self) -> None:
        """The call is about to begin."""
        try:
            self._look()
        except RAISED as error:  # others change it meanwhile, or its own code was asked and failed
            let_through(error)
            self._known = {}
            _count(error)

    def _look(self) -> None:
        known, left = self._known, _THINGS
        queue: list[Any] = [root for root in self.roots if root is not None]
        for node in queue:  # grows while it is gone through
            kind: type = type(node)
            if id(node) in known:
                continue
            if kind in BUILTIN:
                if len(node) > left:
                    continue
            elif not is_plain(kind) and not is_event(kind) and not any(node is root for root in self.roots):
                self.waits = self.waits or kind.__name__ == "Future"
                continue
            parts = parts_of(node, kind)
            left -= len(parts) + 1
            known[id(node)] = (node, parts)
            if left < 0 or len(known) >= _NODES:
                return
            if kind is not set and kind is not bytearray and len(queue) <= _NODES:
                items = parts if kind in ROWS else parts.values()
                queue += [item for item in items if type(item) not in ATOMS]

    def tape(self, given: Given) -> dict[str, Any] | None:
        """JSON of what the call changed; None of nothing, or nothing that can be kept."""
        try:
            changes = [change for change in self._changed(given.index) if _is_small(change.content)]
            made = _written(changes, given)
            if made is None and len(changes) > 1:
                made = _written([change for change in changes if _written([change], given)], given)
        except RAISED as error:
            let_through(error)
            _count(error)
            return None
        return {"given": len(given.nodes), "changes": made} if made else None

    def _changed(self, given: Mapping[int, int]) -> list[Depth]:
        differing = [number for number, (node, before) in self._known.items() if not _is_same(node, before)]
        return self._ways(frozenset(differing), given) if differing else []

    def _ways(self, differing: frozenset[int], given: Mapping[int, int]) -> list[Depth]:
        """Args: given: ids of the objects that the arguments are made of; what is told of those is enough."""
        found: list[Depth] = []
        visits: dict[int, int] = {}
        queue: list[tuple[int, tuple[Any, ...], Any]] = [(n, (), root) for n, root in enumerate(self.roots)]
        for number, way, node in queue:  # grows while it is gone through
            known = self._known.get(id(node))
            if known is None or id(node) in given or visits.get(id(node), 0) >= _WAYS:
                continue
            visits[id(node)] = visits.get(id(node), 0) + 1
            if id(node) not in differing:
                items: Any = known[1]
            elif type(node) in BUILTIN and len(node) > len(known[1]) + _KEPT:
                continue
            else:
                items = _told(found, (number, way), node, known[1])
            if type(node) in ROWS:
                items = dict(enumerate(items))
            if isinstance(items, dict):
                inner = (pair for pair in items.items() if type(pair[1]) not in ATOMS)
                queue.extend((number, (*way, step), item) for step, item in inner)
        return found


def _count(error: BaseException) -> None:
    kind = type(error).__name__
    unseen[kind] = unseen.get(kind, 0) + 1


def owner_of(function: Any, given: Iterable[Any] = ()) -> Owner | None:
    """What a call of it may change; None where nothing is looked into. It may call what is `given` to it."""
    value, inner = _unwrapped(function)
    if value is not None and not is_looked_into(type(value)):
        value = None
    scope = scope_of(inner)
    called = [around for around in map(_around, given) if around is not None]
    return Owner(value, scope, called) if called or (value, scope) != (None, None) else None


def _around(given: Any) -> Any:
    """What a function or method of the program changes where it is called; None of anything else."""
    if type(given) is MethodType:
        return given.__self__ if is_looked_into(type(given.__self__)) else None
    return scope_of(given) if type(given) is FunctionType else None


def _unwrapped(function: Any) -> tuple[Any, Any]:
    """The object that a function is a method of, or None, and the function itself."""
    for _ in range(10):
        if isinstance(function, MethodType):
            return function.__self__, function.__func__
        if isinstance(function, partial):
            function = function.func
            continue
        held = getattr(function, "__dict__", None)
        inner = held.get("__wrapped__") if type(held) is dict else None
        if inner is None:
            is_function = isinstance(function, FunctionType)
            called = function if is_function else getattr(type(function), "__call__", None)  # noqa: B004
            return None if is_function else function, called
        function = inner
    return None, None


def change(made: Any, owner: Owner, given: Given) -> None:
    """Do what `Owner.tape` says, as far as it can be done here."""
    if type(made) is not dict or made.get("given", 0) != len(given.nodes):
        return  # it may speak of arguments
    decoder, changes = Decoder(given), []
    for each in made.get("changes", ()):
        try:
            changes.append(Depth.read(decoder, each))
        except Exception:
            continue
    roots = owner.roots if is_of_process else owner.roots[:1]
    for change in changes:
        try:
            change.apply(list(roots))
        except Exception:  # what is there now is another thing
            continue


def parts_of(node: Any, kind: type) -> Any:
    """What a node is made of now: a list, of what has keys or attributes a dict."""
    if kind in DICTS:
        return dict(node)
    if kind is bytearray:
        return bytes(node)
    if kind in BUILTIN:
        return list(node)
    if kind is Scope:
        return node.now()
    if is_event(kind):
        return flags.parts_of(node)
    state = attributes_of(node)
    return state if is_plain(kind) else {name: item for name, item in state.items() if name in added(kind)}


def _is_same(node: Any, before: Any) -> bool:
    kind = type(node)
    if kind in BUILTIN and len(node) != len(before):
        return False
    now = parts_of(node, kind)
    if kind is bytearray:
        return bool(now == before)
    if type(now) is list:
        return all(map(is_, now, before))
    if len(now) != len(before) or not all(map(is_, now.values(), before.values())):
        return False
    return all(map(is_, now, before)) or list(now) == list(before)


def _told(found: list[Depth], place: tuple[int, tuple[Any, ...]], node: Any, before: Any) -> Any:
    """Add what is another now in a node; what of it is the same, and at its place."""
    now = parts_of(node, type(node))
    if type(node) in ROWS:
        pairs = enumerate(zip(before, now, strict=False))
        kept = next((n for n, (item, other) in pairs if item is not other), min(len(before), len(now)))
        found.append(Depth(*place, kept, now[kept:], []))
        return now[:kept]
    if type(node) is set:
        old, new = set(before), set(now)
        added = [item for item in now if item not in old]
        found.append(Depth(*place, len(old & new), added, list(old - new)))
        return ()
    if type(node) is bytearray:
        found.append(Depth(*place, 0, list(now), []))
        return ()
    gone = [key for key in before if key not in now]
    same = {key: item for key, item in now.items() if before.get(key, _MISSING) is item}
    changed = {key: item for key, item in now.items() if key not in same}
    if type(node) not in DICTS:  # each by itself: one that cannot be kept is no hindrance
        found.extend(Depth(*place, 0, {key: item}, []) for key, item in changed.items())
        if gone:
            found.append(Depth(*place, 0, {}, gone))
        return same
    stay = [key for key in before if key in now]
    if list(now)[: len(stay)] != stay:  # put in another order
        found.append(Depth(*place, 0, now, list(before)))
        return {}
    found.append(Depth(*place, 0, changed, gone))
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
        elif kind in ATOMS or id(item) in seen:
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


def _inner(item: Any, kind: type) -> Any:
    if issubclass(type(item), dict):
        return dict.values(item) if len(item) > _KEPT else [*dict.keys(item), *dict.values(item)]
    if issubclass(type(item), list | tuple | set | frozenset | deque):
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
