"""Whose doing something is: the frames that led to it, from the innermost out."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Literal

from lctl.rerun.places import is_users, shown
from lctl.session.concurrency import lanes
from lctl.session.ownpackages import installed_as
from lctl.session.runs import context

_LCTL = str(Path(__file__).resolve().parent.parent) + os.sep
#: Parts of lctl that run the program's code or stand between it and its libraries: not lctl's own doing.
THROUGH = (
    "instrument",
    "testing",
    "demo",
    "cli",
    "session/concurrency/",
    "session/runs/",
    "session/tooling/served.py",
    "session/tooling/tools.py",
    "session/tooling/toolruns.py",
    "rerun/block.py",
    "rerun/clocks/",
    "rerun/guarding/asides.py",
    "rerun/guarding/auditing.py",
    "rerun/guarding/libuv.py",
    "rerun/guarding/rpc.py",
    "rerun/guarding/stops.py",
    "rerun/order/cancelling.py",
    "rerun/order/conductor.py",
    "rerun/order/handing.py",
    "rerun/order/idleloop.py",
    "rerun/order/parties.py",
    "rerun/order/poolstops.py",
    "rerun/order/turns.py",
    "rerun/order/waiting.py",
)
#: A model server of the program wakes its own listening thread when it stops.
_WITHIN = ("testing/listener.py",)


class Caller:
    """The code that something happens by.

    Attributes:
        frame: the innermost frame of the user's own; where there is none, of a library.
        files: of the frames within it, innermost first.
        innermost: name of the function that did it.
    """

    def __init__(self, frame: FrameType, files: list[str], innermost: str) -> None:
        self.frame = frame
        self.files = files
        self.innermost = innermost

    def passes(self, package: str) -> bool:
        """Whether a module or package of the standard library lies between."""
        inside, module = f"{os.sep}{package}{os.sep}", f"{os.sep}{package}.py"
        return any(
            (inside in file or file.endswith(module)) and _origin(file) == "library" for file in self.files
        )

    @property
    def function(self) -> str | None:
        """As `--tool` takes it; None of code that has no name it could be called by."""
        name = f"{self.frame.f_globals.get('__name__')}:{self.frame.f_code.co_qualname}"
        return None if "<" in name else name

    @property
    def package(self) -> str | None:
        """The installed package that does it for the user's code; None where none lies between."""
        return next(filter(None, map(installed_as, self.files)), None)

    @property
    def place(self) -> str:
        """`agent.py:12 in save (called by tool pay, agent planner)`."""
        code = self.frame.f_code
        told = f"{shown(code.co_filename)}:{self.frame.f_lineno}"
        if code.co_name != "<module>":
            told += f" in {code.co_qualname.rpartition('<locals>.')[2]}"
        around = []
        if self.package is not None:
            around.append(f"through {self.package}")
        tool = lanes.current().tool
        if tool is not None:
            around.append(f"in tool {tool}")
        step = context.current()
        if step is not None and step.step is not None:
            around.append(f"in step {step.step} of {step.agent}")
        return f"{told} ({', '.join(around)})" if around else told


def caller(frame: FrameType | None) -> Caller | None:
    """Who does what is happening in `frame`; None where lctl itself does."""
    files: list[str] = []
    fallback: FrameType | None = None
    innermost = frame.f_code.co_name if frame is not None else ""
    at = frame
    while at is not None:
        file = at.f_code.co_filename
        origin = _origin(file)
        if origin == "ours":
            return None
        if origin == "user":
            return Caller(at, files, innermost)
        if origin == "library":
            files.append(file)
            if fallback is None or (installed_as(fallback.f_code.co_filename) is None and installed_as(file)):
                fallback = at
        at = at.f_back
    return Caller(fallback, files, innermost) if fallback is not None else None


@lru_cache(maxsize=4096)
def _origin(file: str) -> Literal["user", "library", "ours", "through"]:
    if file.startswith(_LCTL):
        inner = file[len(_LCTL) :].replace(os.sep, "/")
        return "through" if inner.startswith(THROUGH) and inner not in _WITHIN else "ours"
    return "user" if is_users(file) else "library"
