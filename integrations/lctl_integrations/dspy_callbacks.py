"""Calls that DSPy tells callbacks of: recorded beneath these, which hear of a served one as of any."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any

from lctl.guard import guard
from lctl.instrument.patches import Wrapper
from lctl.instrument.structure import Tool, around_tool
from lctl.session import border
from lctl.session.default import get_session
from lctl.session.runs import wrappedruns, wrapping

#: Called with (instance, args, kwargs) of a call.
Describe = Callable[[Any, tuple[Any, ...], dict[str, Any]], Tool]


def around_heard_tool(place: str, describe: Describe) -> Wrapper:
    """A wrapper under which each run of a method with callbacks is a tool call."""
    around = around_tool(place, describe)

    def wrapper(wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        function: Any = getattr(wrapped, "__func__", None)
        if getattr(function, "__globals__", None) is not vars(sys.modules["dspy.utils.callback"]):
            return around(wrapped, instance, args, kwargs)  # somebody else has wrapped it
        try:
            return _heard(function.__wrapped__, place, describe)(instance, *args, **kwargs)
        except BaseException as error:
            wrappedruns.step_aside(error)
            raise

    return wrapper


@cache
def _heard(method: Any, place: str, describe: Describe) -> Any:
    """A method that is recorded, and then what `with_callbacks` makes of it."""

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> wrappedruns.Run | None:
        return begun(place, lambda: describe(args[0], args[1:], kwargs))

    made = wrapping.wrap(method, begin)
    made.__signature__ = signature(method)  # by which the callbacks are told the arguments
    return sys.modules["dspy.utils.callback"].with_callbacks(made)


def begun(place: str, describe: Callable[[], Tool]) -> wrappedruns.Run | None:
    """A call of a tool begins, where something is recorded or served."""
    if get_session() is None and border.player() is None:
        return None
    with guard(place):
        guard.rehearse(place)
        return describe().begin()
    return None
