"""The environment's variables, and whether one was written since somebody looked.

`os.environ` keeps them in a dict of its own, which it shares with `os.environb`. We put a dict in its place
that changes its `version` with each write: reading that costs no more than a length, and a value written in
place of another is noticed. Wrapping `os.putenv` would tell too early (the dict is written after it), and
wrapping `__setitem__` puts our frame into the program's tracebacks. It stays when no session is left: it is
a dict like the other, a forked child has it with all that is in it, and any number of readers may remember
a version.
"""

from __future__ import annotations

import os
from typing import Any


class Variables(dict[Any, Any]):
    """Attributes:
    version: another object after each write; never the same twice, whichever threads write.
    """

    __slots__ = ("version",)

    def __init__(self, known: dict[Any, Any]) -> None:
        super().__init__(known)
        self.version = object()

    def __setitem__(self, name: Any, value: Any) -> None:
        super().__setitem__(name, value)
        self.version = object()

    def __delitem__(self, name: Any) -> None:
        super().__delitem__(name)
        self.version = object()

    def update(self, *args: Any, **kwargs: Any) -> None:  # by `os.reload_environ`
        super().update(*args, **kwargs)
        self.version = object()


def watched() -> Variables:
    """The variables of this process, from now on."""
    environ: Any = os.environ
    before: Any = getattr(environ, "_data", None)
    if isinstance(before, Variables):
        return before
    if type(before) is not dict:  # no `os.environ` of Python's: a test's, say
        return Variables(dict(environ))
    made = Variables(before)
    known = dict(before)
    for view in (environ, getattr(os, "environb", None)):
        if getattr(view, "_data", None) is before:
            view._data = made  # type: ignore[union-attr]
    for name, value in list(before.items()):  # another thread may have written just now
        if known.get(name) is not value:
            made[name] = value
    return made
