"""Chance: `random`, `secrets`, `numpy.random`.

The seeds of generators are recorded; draws are not. The program's draws by `random.random()` and its
like come from a generator of their lane, so neither other threads nor what libraries draw changes them.
Once somebody sets the seed or the state of the shared generator, that generator serves everybody, as
without lctl: the program has asked for its numbers.

New generators get recorded seeds, too (see `newgenerators`). What libraries draw comes of one seed a run, of
`random` in each lane for itself: a tool that is served, whose body draws nothing, and threads that come in
another order change no draw but their own. So do the generators that they make. What `secrets` and
`SystemRandom` give is recorded value by value.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import count
from os import urandom as _urandom
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from lctl.clock import time_ns
from lctl.instrument.ambient import outputs, reads, slots, stamps
from lctl.instrument.ambient.callers import own
from lctl.instrument.ambient.values import big, bytes_of, from_big, from_bytes
from lctl.instrument.hooks import Hook, on_import
from lctl.interrupts import step_out
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.tooling import generators

if TYPE_CHECKING:
    from random import Random

    from lctl.session import LCTLSession

_getframe = sys._getframe

_DRAWS = (
    "betavariate",
    "binomialvariate",
    "choice",
    "choices",
    "expovariate",
    "gammavariate",
    "gauss",
    "getrandbits",
    "getstate",
    "lognormvariate",
    "normalvariate",
    "paretovariate",
    "randbytes",
    "randint",
    "random",
    "randrange",
    "sample",
    "shuffle",
    "triangular",
    "uniform",
    "vonmisesvariate",
    "weibullvariate",
)

_seed: str | None = None
_forks = 0
_generators: dict[str, Random] = {}
_counters: dict[tuple[str, str], count[int]] = {}
#: Somebody has set the shared generator's seed or state.
_explicit = False
_hooks: list[Hook] = []
_reseeds: list[Callable[[], None]] = []
_watching = False


def install() -> None:
    global _seed, _explicit, _watching
    _seed, _explicit = None, False
    _generators.clear()
    _counters.clear()
    _reseeds.clear()
    generators.renew()
    _hooks[:] = [on_import("random", _replace_random)]
    if not _watching and hasattr(os, "register_at_fork"):
        _watching = True
        os.register_at_fork(before=_before_fork, after_in_child=_after_fork)


def uninstall() -> None:
    for hook in _hooks:
        hook.remove()
    _hooks.clear()
    generators.renew()


def seed() -> str:
    """Of this run: 32 hex digits."""
    global _seed
    if _seed is None:
        player = border.player()
        served = player.ambient("seed", "run", lanes.RUN, 1) if player is not None else None
        _seed = str(served[0]) if served is not None else _drawn()
    return _seed


def _drawn() -> str:
    """A new seed: the milliseconds since 1970 (see `timed`), and ten bytes of chance."""
    return f"{time_ns() // 1_000_000:012x}{_urandom(10).hex()}"


def note_seed(session: LCTLSession) -> None:
    """The first event of a log."""
    session.record_read(session.agent, {"source": "seed", "key": "run", "value": seed()}, None)


def derived(*parts: object) -> int:
    """A number of 128 bits that this run's seed and `parts` make."""
    from hashlib import blake2b

    text = "\n".join((seed(), *map(str, parts)))
    return int.from_bytes(blake2b(text.encode(), digest_size=16).digest(), "big")


def numbered(kind: str) -> int:
    """`derived`, another one each time, the same again in a rerun."""
    lane, number = _next(kind)
    return derived(kind, lane, number)


def timed(kind: str) -> int:
    """`numbered`, but that the upper 48 bits are a time, which ids of version 7 bear: the beginning of the
    run, in milliseconds since 1970, and one more for each of its lane."""
    lane, number = _next(kind)
    return (int(seed()[:12], 16) + number) % (1 << 48) << 80 | derived(kind, lane, number) >> 48


def _next(kind: str) -> tuple[str, int]:
    """The current lane, and how many of `kind` it has drawn, this one included."""
    lane = lanes.current().path
    counter = _counters.get((kind, lane))
    if counter is None:
        counter = _counters.setdefault((kind, lane), count(1))
    return lane, next(counter)


# -- random -------------------------------------------------------------------------------------


def _replace_random(module: ModuleType) -> None:
    for name in _DRAWS:
        slots.replace_builtin(module, name, _draw)
    slots.replace_builtin(module, "seed", _reseed)
    slots.replace_builtin(module, "setstate", _set_state)
    system = module.SystemRandom
    for name, encode, decode in (
        ("random", None, None),
        ("getrandbits", big, from_big),
        ("randbytes", bytes_of, from_bytes),
    ):
        if name in vars(system):
            slots.replace(system, name, _recorded(vars(system)[name], encode, decode))
    secrets: Any = sys.modules.get("secrets")
    if hasattr(secrets, "randbits"):  # bound as it was before; absent while `secrets` is importing `random`
        slots.replace(secrets, "randbits", secrets._sysrand.getrandbits)

    def reseed() -> None:
        if not _explicit:
            module._inst.seed(derived("shared"))

    reseed()
    _reseeds.append(reseed)
    generators.share("random", lambda: module._inst if _explicit else None, module.setstate)


def given(kind: str, frame: FrameType) -> int:
    """A seed for the program's code in `frame`, recorded: it shows where chance came in."""
    return reads.read("random", kind, frame, lambda: numbered(kind), _hex, _from_hex)


def _hex(value: int) -> str:
    return f"{value:032x}"


def _from_hex(value: Any) -> int:
    return int(value, 16)


def _generator(name: str, frame: FrameType) -> Random:
    lane = lanes.current().path
    found = _generators.get(lane)
    if found is None:
        from random import Random

        found = _generators.setdefault(lane, Random(given(f"random.{name}", frame)))
    return found


def _of_libraries() -> Random | None:
    """What libraries draw from in this lane. None where they are aside: several such lanes have one name, and
    would draw the same."""
    lane = lanes.current()
    if lane.path.endswith(".0"):
        return None
    found = lane.chance
    if found is None or found[0] is not _seed:  # of another run, or of the process this one was forked from
        from random import Random

        generator = Random(derived("libraries", lane.path))
        found = lane.chance = _seed, generator
    return found[1]


def _draw(original: Any) -> Callable[..., Any]:
    name = original.__name__

    def draw(_: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if _explicit or not reads.active():
                return original(*args, **kwargs)
            frame = own(_getframe(1))
            if frame is not None:
                return getattr(_generator(name, frame), name)(*args, **kwargs)
            generator = None if name == "getstate" else _of_libraries()
            return (original if generator is None else getattr(generator, name))(*args, **kwargs)
        except BaseException as error:
            step_out(error)
            raise

    return draw


def _reseed(original: Any) -> Callable[..., Any]:
    def seed(_: Any, a: Any = None, version: int = 2) -> None:
        global _explicit
        if a is None and reads.active() and (frame := own(_getframe(1))) is not None:
            from random import Random

            _explicit = False
            _generators[lanes.current().path] = Random(given("random.seed", frame))
            return
        if a is not None:
            _explicit = True
        try:
            original(a, version)
        except BaseException as error:
            step_out(error)
            raise

    return seed


def _set_state(original: Any) -> Callable[..., Any]:
    def setstate(_: Any, state: Any) -> None:
        global _explicit
        original(state)
        _explicit = True

    return setstate


def _recorded(
    original: Any, encode: Callable[[Any], Any] | None, decode: Callable[[Any], Any] | None
) -> Callable[..., Any]:
    key = f"SystemRandom.{original.__name__}"

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        frame = own(_getframe(1))
        try:
            if frame is None:
                return original(self, *args, **kwargs)
            return reads.read("random", key, frame, lambda: original(self, *args, **kwargs), encode, decode)
        except BaseException as error:
            step_out(error)
            raise

    return slots.like(method, original)


# -- fork() -------------------------------------------------------------------------------------


def _before_fork() -> None:
    global _forks
    _forks += 1


def _after_fork() -> None:
    """In the child: chance of its own, made of the parent's. Whatever seed the program has set, Python sets a
    new one there."""
    global _seed, _explicit
    if not reads.active():
        return
    _seed, _explicit = f"{derived('fork', _forks):032x}", False
    _generators.clear()
    _counters.clear()
    for reseed in _reseeds:
        reseed()
    reads.after_fork()
    stamps.after_fork()
    outputs.after_fork()
