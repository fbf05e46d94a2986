"""What stands for another thing is not asked for it: a lazy object loads nothing, a mock notes nothing."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

import lctl


class Lazy:
    """As those of Django, werkzeug and lazy_object_proxy are: all goes to what it loads."""

    def __init__(self, loaded: list[str], fails: bool = False) -> None:
        object.__setattr__(self, "_given", (loaded, fails))

    def _load(self, why: str) -> dict[str, int]:
        loaded, fails = object.__getattribute__(self, "_given")
        loaded.append(why)
        if fails:
            raise RuntimeError("outside of a request")
        return {"id": 1}

    @property
    def __class__(self) -> Any:
        return type(object.__getattribute__(self, "_load")("__class__"))

    @__class__.setter
    def __class__(self, value: Any) -> None: ...

    def __getattribute__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_load")(name), name)

    def __repr__(self) -> str:
        return repr(object.__getattribute__(self, "_load")("repr"))

    def __str__(self) -> str:
        return repr(self)

    def __bool__(self) -> bool:
        return bool(object.__getattribute__(self, "_load")("bool"))

    def __len__(self) -> int:
        return len(object.__getattribute__(self, "_load")("len"))

    def __iter__(self) -> Iterator[Any]:
        return iter(object.__getattribute__(self, "_load")("iter"))


LOADED: list[str] = []
CURRENT: Any = Lazy(LOADED)


class Agent:
    def __init__(self, user: Any) -> None:
        self.user = user
        self.notes: list[Any] = [user]

    @lctl.tool
    def ping(self) -> str:
        return "pong"


@lctl.tool
def compare(value: Any = None, **more: Any) -> bool:
    return value is CURRENT


@lctl.traced("agent", "think")
def think(value: Any) -> Any:
    return value


def _events(path: Path, kind: str) -> list[Any]:
    return [event for event in json.loads(path.read_bytes())["events"] if event["type"] == kind]


@pytest.mark.parametrize("fails", [False, True], ids=["loads", "raises"])
def test_a_lazy_object_stays_unloaded(tmp_path: Path, fails: bool) -> None:
    loaded: list[str] = []
    LOADED.clear()
    lazy: Any = Lazy(loaded, fails)

    @lctl.tool
    def enclosing() -> int:
        return 1 if lazy is None else 2

    with lctl.LCTLSession("lazy", tmp_path / "run.lctl.json") as session:
        Agent(lazy).ping()
        compare(lazy)
        compare([lazy], inner={"deep": (lazy,)})
        enclosing()
        think(lazy)
        session.add_fact("F1", "seen", meta={"by": lazy})
    assert loaded == LOADED == []
    assert len(_events(tmp_path / "run.lctl.json", "tool_call")) == 4
    [first, *_] = [
        e["data"] for e in _events(tmp_path / "run.lctl.json", "tool_call") if "value" in e["data"]["input"]
    ]
    assert first["input"]["value"] == {
        "$type": f"{__name__}.Lazy",
        "repr": f"<{__name__}.Lazy object>",
    }


def test_mocks_take_note_of_the_program_alone(tmp_path: Path) -> None:
    mocks = [MagicMock(), MagicMock(spec=dict), MagicMock(spec=list), MagicMock(spec=Path)]
    with lctl.LCTLSession("mocks", tmp_path / "run.lctl.json"):
        for mock in mocks:
            compare(mock)
            Agent(mock).ping()
    assert [mock.mock_calls for mock in mocks] == [[]] * 4
    assert len(_events(tmp_path / "run.lctl.json", "tool_call")) == 8


class Column:
    """An attribute that a library reads from a database."""

    def __init__(self, reads: list[str]) -> None:
        self.reads = reads
        self.name = "name"

    def __get__(self, row: Any, owner: type) -> Any:
        if row is not None and self.name not in row.__dict__:
            self.reads.append(self.name)
            row.__dict__[self.name] = "from the database"
        return self if row is None else row.__dict__[self.name]

    def __set__(self, row: Any, value: Any) -> None:
        row.__dict__[self.name] = value


def test_an_expired_row_is_not_read_again(tmp_path: Path) -> None:
    reads: list[str] = []

    @dataclass
    class Row:
        id: int
        name: str

    Row.name = Column(reads)  # type: ignore[assignment]
    row = Row(1, "Ada")
    del row.__dict__["name"]
    with lctl.LCTLSession("rows", tmp_path / "run.lctl.json"):
        compare(row)
    assert reads == []
    [call] = _events(tmp_path / "run.lctl.json", "tool_call")
    assert call["data"]["input"]["value"] == {"id": 1, "name": None}


def test_a_dict_of_the_programs_own_says_what_it_holds(tmp_path: Path) -> None:
    class Guarded(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            raise RuntimeError("not so")

        def __iter__(self) -> Any:
            raise RuntimeError("not so")

    with lctl.LCTLSession("dicts", tmp_path / "run.lctl.json"):
        compare(Guarded(a=1))
    [call] = _events(tmp_path / "run.lctl.json", "tool_call")
    assert call["data"]["input"]["value"] == {"a": 1}


def test_a_result_that_cannot_say_its_class(tmp_path: Path) -> None:
    """What a dead weak reference, or a lazy value whose loading fails, gives when it is asked for that."""

    class Thing:
        pass

    class Unloaded:
        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError("not loaded")

    @lctl.tool
    def fetch(value: Any) -> Any:
        return value

    thing = Thing()
    dead = weakref.proxy(thing)
    del thing
    with lctl.LCTLSession("c", tmp_path / "a.lctl.json") as session:
        for value in (Unloaded(), dead):
            assert fetch(value) is value
        assert session.lost == 0
    assert [event.type for event in lctl.load(tmp_path / "a.lctl.json").events] == ["tool_call"] * 2
