"""What stands for functions of Python's library in a rerun, beneath what recording puts on top of it.

A forked child has a virtual time of its own. What its recorder put on these functions stands on what stood
for them in its parent, so that it is not they that are replaced again, but what is beneath.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]

_standing: dict[tuple[Any, str], StandIn] = {}


class StandIn:
    """In place of one function of a module or a class.

    Attributes:
        now: what is called; the original while nobody replaces it.
        given: what the module or class has in its place.
    """

    def __init__(self, owner: Any, name: str) -> None:
        self._owner = owner
        self._name = name
        self.original: Function = owner.__dict__[name]
        self.now = self.original
        self.given: Function = _as_method(self) if isinstance(owner, type) else self._call

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        return self.now(*args, **kwargs)

    def stands(self) -> bool:
        """Also beneath others, which need not say what they are on top of."""
        there = self._owner.__dict__.get(self._name)
        while there is not self.given and there is not self.original and hasattr(there, "__wrapped__"):
            there = there.__wrapped__
        return there is not self.original

    def leave(self) -> None:
        """The original again; if others are on top, they go on calling it by way of this."""
        self.now = self.original
        if self._owner.__dict__.get(self._name) is self.given:
            setattr(self._owner, self._name, self.original)
            # The next one looks anew: what was beneath this may be gone by then, and others there.
            _standing.pop((self._owner, self._name), None)


def _as_method(standin: StandIn) -> Function:
    def call(*args: Any, **kwargs: Any) -> Any:
        return standin.now(*args, **kwargs)

    return call


def put(owner: Any, name: str, make: Callable[[Function], Function]) -> Callable[[], None]:
    """Have `make(original)` called in place of a function of `owner`. What is returned takes it away."""
    standin = _standing.get((owner, name))
    if standin is None or not standin.stands():
        standin = _standing[owner, name] = StandIn(owner, name)
        setattr(owner, name, standin.given)
    standin.now = make(standin.original)
    return standin.leave
