"""Generators of random numbers that last: a tool's body draws from them, and in a rerun it does not run.

What is drawn from them afterwards would be other numbers then. So a call says in which state it left those
that it drew from, and a rerun puts them there. They are known by a name that is the same in each run: shared
ones by the library's, others by the module and the lane that made them, and how many of these had been made.

Of a Mersenne Twister (`random.Random`, numpy's older one) a state is 624 words and a place among them. Words
change when all have been drawn: mostly the place says it all.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count, islice
from random import Random
from types import FrameType
from typing import Any, NamedTuple
from weakref import ref

from lctl.guard import guard
from lctl.session.concurrency import lanes

#: Generators that are looked at, the oldest of those that live; and of numpy's, which are kept alive by it.
_MOST, _MOST_OF_NUMPY = 16, 8
_WORDS = struct.Struct("<624I")
_LARGE = 1 << 63

Get = Callable[[], Any]
Set = Callable[[Any], None]

_kept: dict[str, Get] = {}
#: Of shared ones: sets a state as the program would.
_setters: dict[str, Set] = {}
_counters: dict[tuple[str, str], count[int]] = {}
#: Ids of those that live: one may be given a seed again and again.
_known: set[int] = set()
_of_numpy = 0


class _State(NamedTuple):
    """Attributes:
    words: of a Mersenne Twister: 624 numbers, and the place among them of the next to be drawn; else None.
    rest: what else it is made of.
    """

    words: tuple[int, ...] | None
    rest: Any


#: Of numpy's shared generator, when it was looked at last: its memory, and its state.
_seen: tuple[bytes, _State] | None = None
_MEMORY = 625 * 4


def renew() -> None:
    """Another recording begins, or none."""
    global _of_numpy, _seen
    _of_numpy, _seen = 0, None
    for known in (_kept, _setters, _counters, _known):
        known.clear()


def share(name: str, get: Get, put: Set) -> None:
    """Look at a generator that everybody draws from.

    Args:
        get: gives it; None where nobody does just now.
        put: sets its state.
    """
    _kept[name], _setters[name] = get, put


def keep(generator: Any, maker: FrameType | None) -> None:
    """Look at a generator that code of `maker` has made."""
    global _of_numpy
    of_python = isinstance(generator, Random)
    if id(generator) in _known or (of_python and type(generator).getstate is not Random.getstate):
        return  # or it has a state of its own kind
    module = "" if maker is None else str(maker.f_globals.get("__name__"))
    key = module, lanes.current().path
    counter = _counters.get(key) or _counters.setdefault(key, count(1))
    name = f"{module} {key[1]} {next(counter)}"
    if of_python:
        _kept[name] = ref(generator, partial(_forget, name, id(generator)))
    elif _of_numpy < _MOST_OF_NUMPY:
        _of_numpy += 1
        _kept[name] = lambda: generator
    else:
        return
    _known.add(id(generator))


def _forget(name: str, id: int, _: object) -> None:
    _kept.pop(name, None)
    _known.discard(id)


class Draws:
    """What generators are like as a call begins."""

    __slots__ = ("_before",)

    def __init__(self) -> None:
        self._before: dict[str, _State] = _states() if _kept else {}

    def tape(self) -> dict[str, Any] | None:
        """JSON of the states of those that are in others now; None where none is."""
        before, made = self._before, {}
        with guard("what a tool has drawn from"):
            made = {
                name: _written(before.get(name), state)
                for name, state in (_states() if _kept else {}).items()
                if state != before.get(name) and (name in before or name in _setters)
            }
        return made or None


def put(made: Any) -> None:
    """Put generators into the states that `Draws.tape` says, those that are here."""
    for name, state in made.items() if isinstance(made, Mapping) else ():
        if name in _kept:
            with guard("a generator of random numbers"):
                _put(_kept[name](), state, _setters.get(name))


def _states() -> dict[str, _State]:
    found: dict[str, _State] = {}
    with guard("what a tool draws from"):
        for name, known in islice(_kept.copy().items(), _MOST):
            generator = known()
            if generator is not None:
                found[name] = _state(generator)
    return found


def _state(generator: Any) -> _State:
    if isinstance(generator, Random):
        _, words, gauss = generator.getstate()
        return _State(words, gauss)
    own = getattr(generator, "bit_generator", None)
    return _of_shared(generator) if own is None else _of_numpys(own.state)


def _of_numpys(held: dict[str, Any]) -> _State:
    inner = held["state"]
    if "key" in inner:
        return _State((*inner["key"].tolist(), int(inner["pos"])), _plain({**held, "state": None}))
    return _State(None, _plain(held))


def _of_shared(generator: Any) -> _State:
    """Of numpy's older kind, which takes long to say it: where nothing was drawn its memory is as it was, if
    it does not keep a second normal number to give away."""
    global _seen
    memory = _memory(generator)
    if memory is None or _seen is None or _seen[0] != memory or _seen[1].rest["has_gauss"]:
        _seen = (memory or b"", _of_numpys(generator.get_state(legacy=False)))
    return _seen[1]


def _memory(generator: Any) -> bytes | None:
    own: Any = getattr(generator, "_bit_generator", None)
    if type(own).__name__ != "MT19937":
        return None
    from ctypes import string_at

    return string_at(own.ctypes.state_address, _MEMORY)


def _written(before: _State | None, state: _State) -> dict[str, Any]:
    made: dict[str, Any] = {} if state.rest is None else {"rest": state.rest}
    if state.words is not None:
        *words, place = state.words
        made["place"] = place
        if before is None or before.words is None or before.words[:-1] != tuple(words):
            made["words"] = _WORDS.pack(*words).hex()
    return made


def _put(generator: Any, made: Mapping[str, Any], put: Set | None) -> None:
    words = _WORDS.unpack(bytes.fromhex(made["words"])) if "words" in made else None
    if generator is None:
        if put is not None and words is not None:  # the shared one, whose seed the tool has set
            put((3, (*words, made["place"]), made.get("rest")))
        return
    if isinstance(generator, Random):
        held = words or generator.getstate()[1][:-1]
        (put or generator.setstate)((3, (*held, made["place"]), made.get("rest")))
        return
    own = getattr(generator, "bit_generator", None)
    now: dict[str, Any] = own.state if own is not None else generator.get_state(legacy=False)
    inner = now["state"]
    if "key" in inner:
        inner = {"key": inner["key"] if words is None else _like(inner["key"], words), "pos": made["place"]}
        now = {**now, "state": None}
    else:
        inner = _like(inner, made["rest"]["state"])
    state = {**_like(now, made["rest"]), "state": inner}
    if own is not None:
        own.state = state
    elif put is not None:
        put(state)


def _plain(value: Any) -> Any:
    """As JSON has it: whole numbers beyond 64 bits are texts."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, int) and value >= _LARGE else value


def _like(now: Any, made: Any) -> Any:
    """What `_plain` made, of the kinds that `now` is of."""
    if isinstance(now, dict) and isinstance(made, Mapping):
        return {name: _like(item, made[name]) for name, item in now.items()}
    kind = getattr(now, "dtype", None)
    if kind is not None:
        return sys.modules["numpy"].array([int(item) for item in made], dtype=kind)
    return int(made) if isinstance(now, int) else made
