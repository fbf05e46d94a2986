"""Where frameworks hold a tool's arguments, a fork finds them to put others there."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from pydantic import BaseModel

from lctl.session.tooling.rebinding import rebound


class Sums(BaseModel):
    a: int
    b: int


OLD, NEW = {"a": 1, "b": 2}, {"a": 7, "b": 2}


@pytest.mark.parametrize(
    ("args", "kwargs", "expected"),
    [
        ((), {"a": 1, "b": 2, "ctx": "own"}, ((), {"a": 7, "b": 2, "ctx": "own"})),
        (("add", {"a": 1, "b": 2, "state": 3}), {}, (("add", {"a": 7, "b": 2, "state": 3}), {})),
        ((), {"tool_args": {"a": 1, "b": 2}}, ((), {"tool_args": {"a": 7, "b": 2}})),
        ((), {"a": "add", "b": "own", "tool_args": OLD}, ((), {"a": "add", "b": "own", "tool_args": NEW})),
        (({"name": "add", "input": {"a": 1, "b": 2}},), {}, (({"name": "add", "input": NEW},), {})),
        ((Sums(a=1, b=2),), {}, ((Sums(a=7, b=2),), {})),
    ],
)
def test_arguments_are_changed_where_they_are(
    args: tuple[Any, ...], kwargs: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    assert rebound(args, kwargs, OLD, NEW) == expected
    assert rebound(args, kwargs, OLD, OLD) == (args, kwargs)


def test_arguments_in_json() -> None:
    made = rebound((), {"arguments": '{"a": 1, "b": 2}', "tool": "add"}, OLD, NEW)
    assert made is not None
    assert orjson.loads(made[1]["arguments"]) == NEW
    assert made[1]["tool"] == "add"


@pytest.mark.parametrize("args", [(), (1, 2), ("{not json",), ({"a": 1},), ([1, 2],)])
def test_what_is_not_found_is_said(args: tuple[Any, ...]) -> None:
    assert rebound(args, {}, OLD, NEW) is None


def test_an_argument_that_is_taken_away() -> None:
    """Whether the function has a default for it, nobody knows."""
    assert rebound((), {"a": 1, "b": 2}, OLD, {"a": 1}) is None
