"""The environment: `os.environ`, `os.getenv`.

A variable is recorded when the program's code first reads it, set or not; again only after somebody
has written it. In a rerun the recorded value is put into the environment, so that libraries find it too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from lctl.instrument.ambient import reads, slots
from lctl.instrument.ambient.callers import BETWEEN, is_lctl, kind_of, own
from lctl.interrupts import step_out
from lctl.session.concurrency import lanes

_getframe = sys._getframe
_OURS = "LCTL_"
#: Stands for a recorded secret that the environment of a rerun does not have.
DUMMY = "lctl-rerun-needs-no-key"

#: Names that libraries have asked for and that were set; for the log's header.
seen: set[str] = set()
_asked: dict[str, set[str]] = {}  # name -> lanes that have read it since it was written
_told: dict[str, list[str]] = {}  # by lanes: the names that it has found, of all, until one is written
_ALL = "*"


def install() -> None:
    cls = type(os.environ)
    seen.clear()
    _asked.clear()
    _told.clear()
    for name, make in (
        ("__getitem__", _getting),
        ("__iter__", _iterating),
        ("__setitem__", _writing),
        ("__delitem__", _writing),
    ):
        if name in vars(cls):
            slots.replace(cls, name, make(vars(cls)[name]))


def _is_first(name: str) -> bool:
    """Whether this lane has not read the variable since it was written; now it has."""
    asked = _asked.setdefault(name, set())
    lane = lanes.current().path
    if lane in asked:
        return False
    asked.add(lane)
    return True


def _getting(original: Any) -> Any:
    def __getitem__(self: Any, key: str) -> str:
        try:
            if self is not os.environ or not reads.active() or type(key) is not str or key.startswith(_OURS):
                return original(self, key)  # type: ignore[no-any-return]
            return got(self, key)
        except BaseException as error:
            step_out(error)
            raise

    def got(self: Any, key: str) -> str:
        frame = own(_getframe(2))
        if frame is None or not _is_first(key):
            value: str = original(self, key)
            if frame is None and key not in seen and _asks_for_one(_getframe(2)):
                seen.add(key)
            return value

        def real() -> str | None:
            try:
                return original(self, key)  # type: ignore[no-any-return]
            except KeyError:
                return None

        found = reads.read("environment", key, frame, real, None, lambda value: _restored(key, value, real()))
        return original(self, key) if found is None else found

    return slots.like(__getitem__, original)


def _asks_for_one(frame: FrameType | None) -> bool:
    """Whether a library asks for this variable, and does not go through all of them."""
    while frame is not None and kind_of(frame.f_code.co_filename) == BETWEEN:
        if frame.f_code.co_name not in ("get", "getenv", "__getitem__", "__contains__"):
            return False
        frame = frame.f_back
    return frame is not None and not is_lctl(frame.f_code.co_filename)


def _restored(key: str, value: Any, here: str | None) -> str | None:
    if isinstance(value, str) and "[redacted:" in value:
        value = here if here is not None else DUMMY
    if value != here:
        if value is None:
            os.unsetenv(key)
            os.environ._data.pop(os.environ.encodekey(key), None)  # type: ignore[attr-defined]
        else:
            os.putenv(key, value)
            os.environ._data[os.environ.encodekey(key)] = os.environ.encodevalue(value)  # type: ignore[attr-defined]
    return None if value is None else str(value)


def _iterating(original: Any) -> Any:
    def __iter__(self: Any) -> Iterator[str]:
        if self is not os.environ or not reads.active():
            return original(self)  # type: ignore[no-any-return]
        frame = own(_getframe(1))
        if frame is None:
            return original(self)  # type: ignore[no-any-return]
        lane = lanes.current().path
        if not _is_first(_ALL) and lane in _told:
            return again(self, _told[lane])

        def real() -> list[str]:
            return [name for name in original(self) if not name.startswith(_OURS)]

        names = _told[lane] = reads.read("environment", _ALL, frame, real)
        return again(self, names)

    def again(self: Any, names: list[str]) -> Iterator[str]:
        """What a rerun has put there since is not the program's to find."""
        ours = [name for name in list(original(self)) if name.startswith(_OURS)]
        return iter([*names, *ours])

    return slots.like(__iter__, original)


def _writing(original: Any) -> Any:
    def write(self: Any, key: str, *value: Any) -> None:
        try:
            original(self, key, *value)
        except BaseException as error:
            step_out(error)
            raise
        if self is os.environ:
            _asked.pop(key, None)
            _asked.pop(_ALL, None)
            _told.clear()

    return slots.like(write, original)
