"""Generators that are made anew: `random.Random()` and its subclasses, by the program or a library.

One without a seed gets one of this run, a recorded one where it is the program's own. All are looked at
afterwards, for what tools draw from them (`lctl.session.tooling.generators`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.ambient import reads, slots
from lctl.instrument.ambient.callers import is_lctl, library, own
from lctl.instrument.ambient.chance import given, numbered
from lctl.instrument.hooks import Hook, on_import
from lctl.interrupts import step_out
from lctl.session.tooling import generators

_getframe = sys._getframe
_hooks: list[Hook] = []


def install() -> None:
    _hooks[:] = [on_import("random", _replace)]


def uninstall() -> None:
    for hook in _hooks:
        hook.remove()
    _hooks.clear()


def _replace(module: ModuleType) -> None:
    slots.replace(module.Random, "seed", _seeding(module.Random))


def seed_for(kind: str, reader: FrameType) -> int:
    """Of a new generator of that kind, which code of `reader` makes."""
    frame = own(reader)
    if frame is not None:
        return given(kind, frame)
    maker = library(reader)
    return numbered(f"{kind} {'' if maker is None else maker.f_globals.get('__name__')}")


def keep(generator: Any, reader: FrameType) -> None:
    """Look at what code of `reader` has made."""
    with guard("a generator of random numbers"):
        maker = library(reader)
        if maker is None or not is_lctl(maker.f_code.co_filename):
            generators.keep(generator, maker)


def _seeding(cls: Any) -> Callable[..., Any]:
    """`Random.seed`, which `Random()` calls."""
    original = vars(cls)["seed"]

    def seed(self: Any, a: Any = None, version: int = 2) -> None:
        is_active = reads.active()
        if a is None and is_active:
            a = seed_for("Random", _getframe(1))
        try:
            original(self, a, version)
            if is_active:
                keep(self, _getframe(1))
        except BaseException as error:
            step_out(error)
            raise

    return slots.like(seed, original)
