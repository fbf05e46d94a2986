"""Sets of tasks and futures that are gone through in an order.

asyncio and anyio keep the tasks of a group in sets and cancel them in the order of their addresses, which is
another one in every run; `wait` and `all_tasks` give sets to the program. Where a recording is to be run
again, these sets are gone through as their members came or, given to the program, by lane.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from lctl.session.concurrency import turns

_NUMBER = re.compile(r"\d+")


class OrderedSet(set[Any]):
    """A set whose members come in the order they were added."""

    def __init__(self, members: Iterable[Any] = ()) -> None:
        self._order = dict.fromkeys(members)
        super().__init__(self._order)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._order)

    def add(self, member: Any) -> None:
        super().add(member)
        self._order[member] = None

    def discard(self, member: Any) -> None:
        super().discard(member)
        self._order.pop(member, None)

    def remove(self, member: Any) -> None:
        super().remove(member)
        self._order.pop(member, None)

    def pop(self) -> Any:
        for member in self._order:
            self.remove(member)
            return member
        return super().pop()  # it is empty: the error of a set

    def clear(self) -> None:
        super().clear()
        self._order.clear()


def _method(name: str, changes: bool) -> Callable[..., Any]:
    """A method of sets, which keeps to the order: that of this set, then of what came."""
    plain = getattr(set, name)

    def method(self: OrderedSet, *others: Any) -> Any:
        if name.startswith("__") and not _is_set(others[0]):
            return NotImplemented
        others = tuple(one if _is_set(one) else list(one) for one in others)
        made = plain(self, *others)
        came = (member for one in others for member in one)
        left = self if changes else made
        kept = dict.fromkeys(member for member in (*self._order, *came) if set.__contains__(left, member))
        if not changes:
            return OrderedSet(kept)
        self._order = kept
        return made

    return method


def _is_set(one: Any) -> bool:
    return isinstance(one, set | frozenset)


for _name in ("update", "difference_update", "intersection_update", "symmetric_difference_update"):
    setattr(OrderedSet, _name, _method(_name, changes=True))
for _name in ("__ior__", "__isub__", "__iand__", "__ixor__"):
    setattr(OrderedSet, _name, _method(_name, changes=True))
for _name in ("copy", "union", "difference", "intersection", "symmetric_difference"):
    setattr(OrderedSet, _name, _method(_name, changes=False))
for _name in ("__or__", "__sub__", "__and__", "__xor__"):
    setattr(OrderedSet, _name, _method(_name, changes=False))


def by_lane(members: Iterable[Any]) -> OrderedSet:
    """Tasks or pool futures in the order in which the program started them."""
    return OrderedSet(sorted(members, key=_place))


def _place(one: Any) -> tuple[int, ...]:
    lane = getattr(one, turns.LANE, None)
    return () if lane is None else _numbers(lane.path)


@lru_cache(4096)  # who waits in a loop asks again for most of them
def _numbers(path: str) -> tuple[int, ...]:
    return tuple(int(number) for number in _NUMBER.findall(path))


def _made_group(original: Callable[..., Any], group: Any, *args: Any, **options: Any) -> None:
    """A task group or cancel scope, as it is made."""
    original(group, *args, **options)
    if turns.active:
        for name in ("_tasks", "_child_scopes"):
            members = getattr(group, name, None)
            if type(members) is set:
                setattr(group, name, OrderedSet(members))


def _all_tasks(original: Callable[..., Any], *args: Any, **options: Any) -> Any:
    found = original(*args, **options)
    return by_lane(found) if turns.active else found


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("asyncio.taskgroups", "TaskGroup", "__init__", _made_group),
    ("anyio._backends._asyncio", "TaskGroup", "__init__", _made_group),
    ("anyio._backends._asyncio", "CancelScope", "__init__", _made_group),
    ("asyncio.tasks", "", "all_tasks", _all_tasks),
    ("asyncio", "", "all_tasks", _all_tasks),
)
