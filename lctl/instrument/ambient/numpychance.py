"""Chance of numpy: its shared generator, and those that `default_rng()` makes, are seeded as those of
`random` are (see `chance`)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lctl.instrument.ambient import newgenerators, reads, slots
from lctl.instrument.ambient.callers import own
from lctl.instrument.ambient.chance import derived, given
from lctl.instrument.hooks import Hook, on_import
from lctl.session.tooling import generators

_getframe = sys._getframe
_hooks: list[Hook] = []


def install() -> None:
    _hooks[:] = [on_import("numpy.random", _replace)]


def uninstall() -> None:
    for hook in _hooks:
        hook.remove()
    _hooks.clear()


def _replace(module: ModuleType) -> None:
    slots.replace_builtin(module, "default_rng", _default_rng)
    slots.replace_builtin(module, "seed", _seed)
    module.seed(_words(derived("numpy")))
    generators.share("numpy", lambda: module.mtrand._rand, module.set_state)


def _words(number: int) -> list[int]:
    return [(number >> shift) & 0xFFFFFFFF for shift in (0, 32, 64, 96)]


def _default_rng(original: Any) -> Callable[..., Any]:
    def default_rng(_: Any, seed: Any = None) -> Any:
        if seed is None and reads.active():
            seed = newgenerators.seed_for("numpy.random.default_rng", _getframe(1))
        made = original(seed)
        if made is not seed and reads.active():
            newgenerators.keep(made, _getframe(1))
        return made

    return default_rng


def _seed(original: Any) -> Callable[..., Any]:
    def seed(_: Any, seed: Any = None) -> None:
        if seed is None and reads.active() and (frame := own(_getframe(1))) is not None:
            seed = _words(given("numpy.random.seed", frame))
        original(seed)

    return seed
