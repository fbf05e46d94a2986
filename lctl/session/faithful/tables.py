"""The tables that values, and what stands for them, are coded by; the modules of this package fill them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lctl.session.faithful.coding import Decoder, Encoder

Note = Callable[[Any], Any]
#: Gives what stands for the value, children encoded by the encoder.
Encode = Callable[["Encoder", Any], dict[str, Any]]
#: Makes the value again. `note(made)` is called before its children are decoded, where it can be.
Decode = Callable[["Decoder", dict[str, Any], Note], Any]


class Unfaithful(Exception):
    """A value cannot be given back as it was; the text says which and why."""


class Custom(NamedTuple):
    """How a registered class is written and read."""

    name: str
    cls: type
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


#: By exact type; filled by the modules of this package.
ENCODERS: dict[type, Encode] = {}
#: For types that are known by their shape: whether it takes the type, how, and whether its values are
#: leaves: equal ones need not be told apart.
SHAPES: list[tuple[Callable[[type], bool], Encode, bool]] = []
LEAVES: set[type] = set()
#: By the value of `$`.
DECODERS: dict[str, Decode] = {}
CUSTOM: dict[type, Custom] = {}
BY_NAME: dict[str, Custom] = {}
_shape_of: dict[type, Encode | None] = {}


def register(
    cls: type, encode: Callable[[Any], Any], decode: Callable[[Any], Any], *, name: str | None = None
) -> None:
    """Make instances of exactly `cls` faithful: tools that give them can be served in a rerun.

    Args:
        encode: gives a value that is faithful itself (JSON, or of any kind known here).
        decode: makes the instance again of that value. It is called with what a log holds.
        name: what logs call the class; its module and name when None.
    """
    from lctl.session.faithful.classes import name_of

    made = Custom(name or name_of(cls), cls, encode, decode)
    CUSTOM[cls] = made
    BY_NAME[made.name] = made
    _shape_of.clear()


def shape_of(kind: type) -> Encode | None:
    if kind not in _shape_of:
        found = None
        for takes, encode, leaf in SHAPES:
            if takes(kind):
                found = encode
                if leaf:
                    LEAVES.add(kind)
                break
        _shape_of[kind] = found
    return _shape_of[kind]


def fill() -> None:
    """Read the tables in, when something is coded for the first time."""
    if not DECODERS:
        from lctl.session.faithful import arrays, containers, exceptions, objects, sets, standard

        for module in (standard, containers, sets, objects, exceptions, arrays):
            module.fill()
