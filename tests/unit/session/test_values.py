"""Values JSON cannot hold, and values too large."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import sys
import uuid
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.session import LCTLSession, jsonable
from lctl.testing import FixedClock
from tests.unit.session.conftest import Events


@dataclasses.dataclass
class Point:
    x: float
    y: Any


class Colour(enum.Enum):
    RED = 1
    ODD = object()


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Hostile:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


Pair = namedtuple("Pair", "left right")


def cyclic() -> list[Any]:
    made: list[Any] = [1]
    made.append(made)
    return made


def deep(levels: int) -> Any:
    made: Any = "bottom"
    for _ in range(levels):
        made = [made]
    return made


NAN = float("nan")
CASES: list[tuple[Any, Any]] = [
    (Point(1.5, {2}), {"x": 1.5, "y": [2]}),
    (Point(NAN, float("-inf")), {"x": {"$float": "nan"}, "y": {"$float": "-inf"}}),
    ([1.0, NAN, None], [1.0, {"$float": "nan"}, None]),
    ((1, (2,)), [1, [2]]),
    ({3, 1, 2}, [1, 2, 3]),
    (frozenset("ba"), ["a", "b"]),
    (b"\x00\xff", {"$bytes": "AP8="}),
    (bytearray(b"ab"), {"$bytes": ["ab"]}),
    (b"\xff\x00a longer text\x00", {"$bytes": [{"base64": "/wA="}, "a longer text", {"base64": "AA=="}]}),
    (Colour.RED, 1),
    (Colour.ODD, {"$type": "object", "repr": "<object object>"}),
    (Pair(1, Point(2, 3)), {"left": 1, "right": {"x": 2, "y": 3}}),
    (OrderedDict(a=1), {"a": 1}),
    (defaultdict(list, a=[1]), {"a": [1]}),
    (deque([1, 2]), [1, 2]),
    (decimal.Decimal("1.10"), "1.10"),
    (pathlib.PurePosixPath("/a/b"), "/a/b"),
    (datetime.timedelta(seconds=1.5), 1.5),
    (datetime.date(2024, 1, 2), "2024-01-02"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (
        {1: "a", "1": "b", None: 2, False: 3, (1, 2): 4},
        {"1": "a", "1 (str)": "b", "null": 2, "false": 3, "(1, 2)": 4},
    ),
    (2**70, {"$int": str(2**70)}),
    (-(2**63), -(2**63)),
    (2**64 - 1, 2**64 - 1),
    ("\ud800x", "\\ud800x"),
    ({"\ud800": 1}, {"\\ud800": 1}),
    (ValueError("bad"), {"type": "ValueError", "message": "bad"}),
    (len, "<function builtins.len>"),
    (Point, f"<class {__name__}.Point>"),
    (1j, {"$type": "complex", "repr": "1j"}),
    (cyclic(), [1, {"$cycle": "list"}]),
    (Broken(), {"$type": f"{__name__}.Broken", "repr": "<repr raised RuntimeError>"}),
]


@pytest.mark.parametrize(
    ("value", "expected"), CASES, ids=[f"{n}-{type(c[0]).__name__}" for n, c in enumerate(CASES)]
)
def test_values_json_has_no_form_for(session: LCTLSession, events: Events, value: Any, expected: Any) -> None:
    """Recorded as well as can be; beside ordinary values, which stay as they are."""
    assert (
        session.emit("t", {"before": None, "value": value, "nested": [{"value": value}], "after": 1.5}) == 1
    )
    assert events(session)[0]["data"] == {
        "before": None,
        "value": expected,
        "nested": [{"value": expected}],
        "after": 1.5,
    }


def test_values_that_resist(session: LCTLSession, events: Events) -> None:
    """Objects whose every attribute raises, mocks, deep nesting, errors without text: no failure."""

    class Silent(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    for value in (Hostile(), MagicMock(), deep(100), deep(5000), Silent(), {"a": deep(300)}, [Hostile()] * 3):
        assert session.emit("t", {"value": value})
    assert events(session)[4]["data"]["value"]["message"].startswith("<no text")


def test_iterators_are_not_consumed(session: LCTLSession, events: Events) -> None:
    """They are named; the program gets every item."""

    def items() -> Iterator[int]:
        yield from range(3)

    file = Path(__file__).open()  # noqa: SIM115
    iterators: list[Any] = [items(), iter([1, 2]), map(str, [1, 2]), file]
    session.emit("t", {"value": iterators})
    assert list(iterators[0]) == [0, 1, 2] and list(iterators[2]) == ["1", "2"]
    file.close()
    described = events(session)[0]["data"]["value"]
    assert described[0] == {"$type": "generator", "repr": f"<generator object {items.__qualname__}>"}


def test_libraries_values(session: LCTLSession, events: Events) -> None:
    """pydantic models, numpy scalars and arrays, msgspec structs."""
    numpy = pytest.importorskip("numpy")
    pydantic = pytest.importorskip("pydantic")
    import msgspec

    class Model(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        name: str
        inner: dict[str, Any]

    class Word(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        word: str

        @pydantic.model_serializer  # type: ignore[untyped-decorator, unused-ignore]
        def written(self) -> str:
            return self.word

    class Struct(msgspec.Struct):
        a: int
        b: list[int]

    session.emit("t", {"value": Model(name="n", inner={"x": {1}})})
    session.emit("t", {"value": Struct(1, [2])})
    session.emit(
        "t", {"value": [numpy.float64(1.5), numpy.int32(2), numpy.bool_(True), numpy.array([[1, 2]])]}
    )
    session.emit("t", {"value": numpy.zeros((300, 300))})
    session.emit("t", {"value": numpy.array([1.0, NAN])})
    session.emit("t", {"value": [pydantic.RootModel[list[int]]([1]), Word(word="w")]})
    values = [e["data"]["value"] for e in events(session)]
    assert values[5] == [[1], "w"]
    assert values[:3] == [{"name": "n", "inner": {"x": [1]}}, {"a": 1, "b": [2]}, [1.5, 2, True, [[1, 2]]]]
    assert values[3] == {"$array": {"dtype": "float64", "shape": [300, 300]}}
    assert values[4] == [1.0, {"$float": "nan"}]


@pytest.mark.parametrize("error", [ValueError, TypeError])
def test_a_model_whose_own_code_fails(session: LCTLSession, events: Events, error: type[Exception]) -> None:
    """Its fields are there, but for those that it keeps out of what is made of it."""
    pydantic = pytest.importorskip("pydantic")

    class Inner(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        a: int = 1

    class Model(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        x: str = "x"
        inner: list[Inner] = pydantic.Field(default_factory=lambda: [Inner()])
        hidden: str = pydantic.Field("out", exclude=True)

        @pydantic.computed_field  # type: ignore[prop-decorator, untyped-decorator, unused-ignore]
        @property
        def bad(self) -> int:
            raise error("no")

    session.emit("t", {"value": Model()})
    (event,) = events(session)
    assert event["data"]["value"] == {"x": "x", "inner": [{"a": 1}]}


def test_what_was_recorded_does_not_change_with_the_program(session: LCTLSession, events: Events) -> None:
    """Values are taken as they are at the call."""
    messages = [{"role": "user"}]
    session.emit("t", {"messages": messages})
    messages.append({"role": "assistant"})
    assert events(session)[0]["data"] == {"messages": [{"role": "user"}]}


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary(max_size=4)
    | st.complex_numbers(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers() | st.none() | st.floats(), inner)
        | st.frozensets(st.integers() | st.text())
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


@given(_JSON)
def test_anything_becomes_json(value: Any) -> None:
    """`plain` gives what the standard library's strict encoder takes, and ordinary values unchanged."""
    made = jsonable.plain(value)
    text = json.dumps(made, allow_nan=False)
    assert json.loads(text) == made
    assert text.encode()


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**64 - 1)
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
        ),
    )
)
def test_json_values_stay_as_they_are(value: Any) -> None:
    """Nothing is changed that JSON can hold."""
    assert jsonable.plain(value) == value


def test_long_strings_keep_head_and_tail(folder: Path) -> None:
    """And say how much was cut; other values of the event stay whole. What the tape needs stays longer."""
    with LCTLSession("c", "x.lctl.json", max_string=100, clock=FixedClock()) as session:
        session.emit("t", {"text": "a" * 200 + "b" * 50, "items": ["c" * 100, {"d": "e" * 101}]})
        session.emit("exchange", {"body": "x" * 500})
    first, second = (e["data"] for e in session.to_dict()["events"])
    assert first["text"] == "a" * 75 + "\n[lctl: 150 of 250 characters cut here]\n" + "b" * 25
    assert first["items"][0] == "c" * 100
    assert first["items"][1]["d"] == "e" * 75 + "\n[lctl: 1 of 101 characters cut here]\n" + "e" * 25
    assert second["body"] == "x" * 500


def test_the_default_limit_is_a_mebibyte(session: LCTLSession, events: Events) -> None:
    """A string of 3 MiB leaves one, which stays as it is where it is recorded again."""
    session.emit("t", {"text": "ü" * (3 << 20)})
    kept = events(session)[0]["data"]["text"]
    assert (1 << 20) - 100 < len(kept) <= 1 << 20
    session.emit("t", {"text": kept})
    assert events(session)[1]["data"]["text"] == kept


def test_huge_numbers(session: LCTLSession, events: Events) -> None:
    """Beyond what Python would print."""
    session.emit("t", {"n": 10**5000})
    limit = getattr(sys, "get_int_max_str_digits", lambda: 0)()
    text = events(session)[0]["data"]["n"]["$int"]
    assert text.startswith("0x") if 0 < limit < 5000 else text == str(10**5000)
