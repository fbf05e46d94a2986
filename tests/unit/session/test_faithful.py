"""Values to JSON and back as they were, and logs that would have other things made of them."""

from __future__ import annotations

import asyncio
import collections
import datetime
import decimal
import fractions
import ipaddress
import math
import pathlib
import sys
import types
import typing
import uuid
import zoneinfo
from typing import Annotated, Any

import orjson
import pytest

import lctl
from lctl.errors import RerunStopped
from lctl.session.faithful import Unfaithful, decode, encode
from tests.unit.session import faithfulkinds as kinds

HERE = "tests.unit.session.faithfulkinds"
UTC = datetime.UTC


def again(value: Any) -> Any:
    return decode(orjson.loads(orjson.dumps(encode(value))))


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, 2.5, None, True, "é"]},
        (1, ("a",), [()]),
        {1, "a"},
        frozenset({(1, 2)}),
        {1: "a", None: "b", (1, 2): "c", "$": "d"},
        {"$": "set", "v": [1]},
        b"text",
        b"\xff\x00",
        bytearray(b"x"),
        2**90,
        -(2**63),
        float("inf"),
        "\ud800 alone",
        3 - 4j,
        range(1, 10, 2),
        slice(None, 3),
        ...,
        datetime.datetime(2026, 1, 2, 3, 4, 5, 6),
        datetime.datetime(2026, 1, 2, tzinfo=UTC),
        datetime.datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")),
        datetime.time(1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=2), "two")),
        datetime.date(2026, 1, 2),
        datetime.timedelta(-1, 2, 3),
        decimal.Decimal("1.200"),
        fractions.Fraction(1, 3),
        uuid.UUID(int=7),
        pathlib.PurePosixPath("/a/b"),
        pathlib.Path("a"),
        ipaddress.ip_address("::1"),
        collections.OrderedDict([("b", 1), ("a", 2)]),
        collections.defaultdict(list, {1: [2]}),
        collections.Counter("aab"),
        collections.deque([1, (2,)], 5),
        types.SimpleNamespace(a=(1,)),
        kinds.Color.CYAN,
        kinds.Mode.READ | kinds.Mode.RUN,
        kinds.Point(1, kinds.Point(2, (3,))),
        kinds.Fixed("f", {1}),
        kinds.Row("k", [1]),
        kinds.Frozen(1, [2]),
        kinds.Model,
        ValueError,
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_come_back_with_their_types(value: Any) -> None:
    back = again(value)
    assert type(back) is type(value)
    assert back == value
    assert repr(back) == repr(value)


def test_a_class_is_found_again_by_its_name_or_is_none_to_keep() -> None:
    """Also beside instances of it, and in what it raises."""
    back = again([kinds.Color, kinds.Color.CYAN, LookupError(kinds.Row)])
    assert back[:2] == [kinds.Color, kinds.Color.CYAN]
    assert back[2].args == (kinds.Row,)
    with pytest.raises(Unfaithful, match="cannot be found by its name"):
        encode(type("Local", (), {}))


def test_not_a_number_and_the_sign_of_zero() -> None:
    assert math.isnan(again(float("nan")))
    assert math.copysign(1, again(-0.0)) == -1


def test_pydantic_models_keep_what_was_set_extra_and_private() -> None:
    model = kinds.Model(number=1, more=(1, 2))  # type: ignore[call-arg]
    model._note = "kept"
    model.point = kinds.Point(1, (2,))
    back = again(model)
    assert back == model
    assert back.model_fields_set == {"number", "more", "point"}
    assert (back._note, back.more) == ("kept", (1, 2))
    assert not hasattr(again(kinds.Model.model_construct()), "number")  # it was made without


def test_what_occurs_twice_is_one_object() -> None:
    """Also cycles, through lists, dicts and objects."""
    shared = [1]
    point = kinds.Point(1)
    point.y = {"self": point}
    cycle: list[Any] = [shared, shared, point]
    cycle.append(cycle)
    back = again(cycle)
    assert back[0] is back[1]
    assert back[3] is back
    assert back[2].y["self"] is back[2]


def test_shared_tuples_do_not_grow_without_bounds() -> None:
    value: Any = (1,)
    for _ in range(60):
        value = (value, value)
    back = again(value)
    assert back[0] is back[1]


def test_exceptions() -> None:
    """Arguments, attributes, notes, causes; what builtin ones hold; groups."""
    odd = kinds.Odd(code=3, where=("a", 1))
    odd.add_note("n")
    odd.__cause__ = OSError(2, "No such file", "f.txt")
    back = again(odd)
    assert type(back) is kinds.Odd
    assert (back.code, back.where, str(back), back.__notes__) == (3, ("a", 1), "odd 3", ["n"])
    assert type(back.__cause__) is FileNotFoundError
    assert (back.__cause__.errno, back.__cause__.filename) == (2, "f.txt")
    slotted = kinds.Slotted("x")
    slotted.extra = {1}
    assert again(slotted).extra == {1}
    undecodable = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad")
    assert str(again(undecodable)) == str(undecodable)
    assert again(StopIteration(4)).value == 4
    assert again(SystemExit(3)).code == 3
    assert again(ImportError("m", name="n")).name == "n"
    assert type(again(asyncio.CancelledError())) is asyncio.CancelledError
    group = again(ExceptionGroup("g", [ValueError(1), ExceptionGroup("h", [odd])]))
    assert [type(error) for error in group.exceptions] == [ValueError, ExceptionGroup]
    assert group.exceptions[1].exceptions[0].code == 3


def test_what_pydantic_says_of_invalid_values() -> None:
    """It is made by pydantic alone: of its own kinds of errors, of a validator's, of JSON, with notes."""
    pydantic = pytest.importorskip("pydantic")
    pydantic_core = pytest.importorskip("pydantic_core")

    def refuse(value: str) -> str:
        if value == "own":
            raise pydantic_core.PydanticCustomError("own_kind", "not {what}", {"what": "this"})
        raise ValueError("not so")

    refused = pydantic.TypeAdapter(typing.Annotated[str, pydantic.AfterValidator(refuse)])
    numbers = pydantic.TypeAdapter(dict[str, list[int]])
    for validate, given in (
        (numbers.validate_python, {"a": ["x"], "b": 3}),
        (numbers.validate_json, '{"a": 3}'),
        (numbers.validate_json, '{"a": '),
        (refused.validate_python, "own"),
        (refused.validate_python, "other"),
    ):
        with pytest.raises(pydantic.ValidationError) as caught:
            validate(given)
        caught.value.add_note("n")
        back = again(caught.value)
        assert type(back) is pydantic.ValidationError
        assert (str(back), back.title, back.__notes__) == (str(caught.value), caught.value.title, ["n"])
        assert [line["loc"] for line in back.errors()] == [line["loc"] for line in caught.value.errors()]


@pytest.mark.parametrize(
    "given", [{"n": "x", "many": [1, "y"]}, {"n": 7}, {"n": 8}, {"n": 1.5, "many": 3}, {}]
)
def test_errors_of_pydantic(given: dict[str, Any]) -> None:
    """What was wrong with which input, a validator's own errors too; also as the cause of another."""
    pydantic = pytest.importorskip("pydantic")
    pydantic_core = pytest.importorskip("pydantic_core")

    def checked(n: int) -> int:
        if n == 7:
            raise ValueError("not 7")
        if n == 8:
            raise pydantic_core.PydanticCustomError("mine", "got {n}, not {{this}}", {"n": 8})
        return n

    n_type = Annotated[int, pydantic.AfterValidator(checked)]
    model = pydantic.create_model("Numbers", n=(n_type, ...), many=(list[int], []))
    with pytest.raises(pydantic.ValidationError) as caught:
        model(**given)
    error = caught.value
    error.add_note("n")
    outer = ValueError("wrong")
    outer.__cause__ = error
    back = again(outer).__cause__
    assert type(back) is pydantic.ValidationError
    assert str(back) == str(error)
    assert repr(back.errors()) == repr(error.errors())
    assert (back.title, back.__notes__) == ("Numbers", ["n"])


def test_an_attribute_of_an_exception_that_cannot_be_kept() -> None:
    """The exception is given; looking at the attribute ends the rerun, saying why."""
    back = again(kinds.Odd(code=1, where=sys.stderr))
    assert (type(back), back.code) == (kinds.Odd, 1)
    with pytest.raises(RerunStopped, match=r"Odd\.where.*does not hold"):
        back.where.write("x")
    with pytest.raises(RerunStopped):
        bool(back.where)
    assert "not recorded" in repr(back.where)


def test_a_url_of_pydantics_comes_back() -> None:
    """Results of MCP have them."""
    pydantic = pytest.importorskip("pydantic")
    for value in (pydantic.AnyUrl("file://notes/ada"), pydantic.HttpUrl("http://example.org/a?b=c#d")):
        made = again({"uri": value})["uri"]
        assert type(made) is type(value)
        assert made == value
        assert str(made) == str(value)


@pytest.mark.parametrize(
    "value",
    [object(), kinds.Plain(), open, lambda: 0, sys, (n for n in "a"), [kinds.Plain()], iter([])],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_kept_is_said(value: Any) -> None:
    with pytest.raises(Unfaithful, match="which JSON cannot hold"):
        encode(value)


def test_classes_that_cannot_be_found_again() -> None:
    local = type("Local", (kinds.Point,), {})
    with pytest.raises(Unfaithful, match="cannot be found by its name"):
        encode(local(1))


def test_registered_classes() -> None:
    with pytest.raises(Unfaithful):
        encode(kinds.Money(5))
    lctl.faithful.register(kinds.Money, lambda m: (m.cents, "EUR"), lambda parts: kinds.Money(parts[0]))
    assert again([kinds.Money(5)])[0].cents == 5
    with pytest.raises(Unfaithful, match="not registered"):
        decode({"$": "custom", "class": "shop:Money", "v": 1})


def test_numpy() -> None:
    numpy = pytest.importorskip("numpy")
    for value in (numpy.arange(6.0).reshape(2, 3), numpy.array(["a", "bc"]), numpy.array(3)):
        back = again(value)
        assert back.dtype == value.dtype
        assert back.tobytes() == value.tobytes()
        assert back.shape == value.shape
        assert back.flags.writeable
    assert type(again(numpy.float32(1.5))) is numpy.float32
    with pytest.raises(Unfaithful):
        encode(numpy.array([object()]))


BAD: list[Any] = [
    {"$": "object", "class": f"{HERE}:Plain", "fields": {}},
    {"$": "object", "class": f"{HERE}:Armed", "fields": {}},
    {"$": "object", "class": "subprocess:Popen", "fields": {"args": "id"}},
    {"$": "object", "class": "os:system", "fields": {}},
    {"$": "object", "class": f"{HERE}:fire", "fields": {}},
    {"$": "object", "class": f"{HERE}:Armed.__init__", "fields": {}},
    {"$": "object", "class": "antigravity:x", "fields": {}},
    {"$": "object", "class": "builtins:type", "fields": {}},
    {"$": "object", "class": "", "fields": {}},
    {"$": "object", "class": 3, "fields": {}},
    {"$": "object", "class": f"{HERE}:Point", "fields": [1]},
    {"$": "object", "class": "..:x", "fields": {}},
    {"$": "model", "class": f"{HERE}:Point", "fields": {}},
    {"$": "model", "class": f"{HERE}:Armed", "fields": {}},
    {"$": "enum", "class": f"{HERE}:Armed", "name": "fired"},
    {"$": "enum", "class": f"{HERE}:Color", "name": "__class__"},
    {"$": "enum", "class": f"{HERE}:Color", "v": 1},
    {"$": "namedtuple", "class": f"{HERE}:Row", "v": [1]},
    {"$": "namedtuple", "class": f"{HERE}:Armed", "v": []},
    {"$": "exception", "class": f"{HERE}:Armed", "args": []},
    {"$": "exception", "class": "builtins:ValueError", "args": [], "builtin": {"__traceback__": 1}},
    {"$": "exception", "class": "builtins:OSError", "args": [], "builtin": {"with_traceback": 1}},
    {"$": "exception", "class": "builtins:ValueError", "args": [], "cause": 3},
    {"$": "exception", "class": "builtins:ExceptionGroup", "args": ["g", [1]]},
    {"$": "text", "class": "os:system", "v": "touch fired"},
    {"$": "text", "class": "pathlib:Path", "v": ["a"]},
    {"$": "defaultdict", "factory": "eval", "pairs": []},
    {"$": "def", "n": "x", "v": 1},
    {"$": "ref", "n": 5},
    {"$": "given", "n": 0},
    {"$": "set", "v": [[1]]},
    {"$": "int", "hex": "zz"},
    {"$": "bytes", "base64": "!"},
    {"$": "zone", "v": "../../etc/passwd"},
    {"$": ["list"]},
    {"$": "call", "class": f"{HERE}:fire"},
    {"$": "dict", "pairs": [[{"$": "dict", "pairs": []}, 1]]},
    {"$": "range", "v": ["a"]},
    {"$": "ndarray", "dtype": "O", "shape": [1], "base64": ""},
]


@pytest.mark.parametrize("made", BAD, ids=lambda made: str(made)[:60])
def test_a_log_from_elsewhere_makes_nothing_else(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it says, nothing but the named kinds is made, and nothing of theirs is called."""
    kinds.Armed.fired.clear()
    loaded = set(sys.modules)
    with pytest.raises(Unfaithful):
        decode(made)
    assert kinds.Armed.fired == []
    assert "antigravity" not in set(sys.modules) - loaded


def test_objects_are_made_without_their_own_code() -> None:
    assert decode({"$": "object", "class": f"{HERE}:Point", "fields": {"x": 666}}).x == 666


def test_a_module_of_the_folder_is_not_imported_on_a_logs_word(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "planted.py").write_text("class E(Exception): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Unfaithful, match="not imported here"):
        decode({"$": "exception", "class": "planted:E", "args": []})
    assert "planted" not in sys.modules


def test_deep_nesting_is_no_crash() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(Unfaithful, match="deep"):
        encode(deep)
    made: Any = {"$": "tuple", "v": []}
    for _ in range(500):
        made = {"$": "tuple", "v": [made]}
    with pytest.raises(Unfaithful, match="deep"):
        decode(made)
