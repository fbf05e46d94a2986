"""Clocks that a library sets in C, as time-machine does.

It writes into the functions of `time` and `datetime` that it finds as it is imported, as the interpreter has
them, and takes what stands in their place for one of those: the process dies of it. So the clocks are put
back while it is imported, and while they are set.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.ambient import slots
from lctl.instrument.hooks import on_import

_SETTER = "_time_machine"  # the part in C; pytest loads the other as a plugin, past import hooks
_SET = ("patch", "patch_if_needed")  # by version; the second is for good
_UNSET = ("unpatch",)


class GivingWay:
    """Has the clocks replaced while nobody sets them.

    Args:
        replace: replaces them, through `slots`.
    """

    def __init__(self, replace: Callable[[], None]) -> None:
        self._replace = replace
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        self._take()
        slots.on_undo(self._give_back)
        if _SETTER not in sys.modules:  # else it has looked at the clocks, for itself
            slots.on_undo(on_import(_SETTER, lambda _: self._give_back(), before=True).remove)
        slots.on_undo(on_import(_SETTER, self._around).remove)

    def _take(self) -> None:
        if not self._undo:
            before = slots.count()
            self._replace()
            self._undo = slots.taken_out(before)

    def _give_back(self) -> None:
        while self._undo:
            self._undo.pop()()

    def _around(self, setter: ModuleType) -> None:
        for name in (*_SET, *_UNSET):
            original = getattr(setter, name, None)
            if original is not None:
                slots.replace(setter, name, self._apart(original, then_take=name in _UNSET))
        self._take()

    def _apart(self, original: Callable[[], Any], *, then_take: bool) -> Callable[[], Any]:
        def apart() -> Any:
            with guard("putting the clocks back"):
                self._give_back()
            made = original()
            if then_take:
                with guard("the clocks"):
                    self._take()
            return made

        return slots.like(apart, original)
