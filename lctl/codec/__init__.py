"""Events to files and back, floor F0.

`open_log` reads every form of the format; `write_log` and `convert` write it; `verify` and `validate`
say what is wrong with one. Importing this package loads nothing: the recorder needs only
`lctl.codec.journal`, which is light, and `lctl.codec.hashing` at the end.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lctl.codec.conversion import convert, write_log
    from lctl.codec.log import Log, Problem, Recovery
    from lctl.codec.opening import open_log
    from lctl.codec.verification import Verification, validate, verify

_HOMES = {
    "Log": "log",
    "Problem": "log",
    "Recovery": "log",
    "Verification": "verification",
    "convert": "conversion",
    "open_log": "opening",
    "validate": "verification",
    "verify": "verification",
    "write_log": "conversion",
}

__all__ = [
    "Log",
    "Problem",
    "Recovery",
    "Verification",
    "convert",
    "open_log",
    "validate",
    "verify",
    "write_log",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'lctl.codec' has no attribute {name!r}")
    return getattr(import_module(f"lctl.codec.{home}"), name)
