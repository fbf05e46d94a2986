"""Tools that are methods: what a call changes of its object is done again when it is served."""

from __future__ import annotations

import sys
import threading
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, PrivateAttr

from lctl.codec import open_log
from lctl.session import LCTLSession, tool
from lctl.session.faithful.owners import owner_of
from lctl.session.runs import wrapping
from lctl.session.tooling.toolruns import begin_tool
from lctl.session.tooling.tools import call_tool
from tests.unit.session.toolplayer import recorded, recording, serving


@dataclass
class Item:
    name: str
    tags: list[str] = field(default_factory=list)


class Inner:
    __slots__ = ("count", "parent")

    def __init__(self, parent: Any) -> None:
        self.count = 0
        self.parent = parent


class Desk:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.connection: Any = None
        self.rows: list[Any] = ["first"]
        self.items: dict[str, Item] = {}
        self.seen: set[str] = set()
        self.last: deque[Any] = deque(maxlen=2)
        self.words: Counter[str] = Counter()
        self.order = {"a": 1, "b": 2}
        self.jobs = [{"job": 1}, {"job": 2}]
        self.users = {"ann": {"calls": 0}}
        self.buffer = bytearray(b"x")
        self.inner = Inner(self)
        self.old: Any = 1

    def add(self, row: Any) -> int:
        self.connection = object()
        self.rows.append(row)
        item = self.items[str(row)] = Item(str(row))
        for each in self.items.values():
            each.tags.append(item.name)
        self.seen.add(str(row))
        self.last.append(row)
        self.words[str(row)] += 1
        self.order["a"] = self.order.pop("a") + 1
        if self.jobs:
            self.jobs.pop(0)["done"] = True
        self.users["ann"]["calls"] += 1
        self.buffer += b"y"
        self.inner.count += 1
        if hasattr(self, "old"):
            del self.old
        return len(self.rows)

    def state(self) -> dict[str, Any]:
        held = {name: value for name, value in vars(self).items() if name not in ("lock", "connection")}
        return {**held, "order": list(self.order.items()), "inner": self.inner.count}


def by_framework(method: Any) -> Any:
    """As an integration has it called."""
    return wrapping.wrap(
        method, lambda args, kwargs: begin_tool("add", {"row": args[0]}, function=partial(method))
    )


@pytest.mark.parametrize("made", [tool, by_framework])
def test_what_a_method_changes_is_changed_again(tmp_path: Path, made: Any) -> None:
    """Attributes set and deleted, containers and objects changed in place; the object is no input."""

    def program() -> tuple[Desk, list[int]]:
        desk = Desk()
        add = made(desk.add)
        return desk, [add(row) for row in ("x", {"n": 1}, [2], "x")]

    with LCTLSession("recording", tmp_path / "recording.lctl.json") as session, recording():
        first, told = program()
    events = recorded(session)
    assert [event["data"]["input"] for event in events][:2] == [{"row": "x"}, {"row": {"n": 1}}]
    assert isinstance(first.connection, object)
    with LCTLSession("again", tmp_path / "again.lctl.json"), serving(events) as player:
        again, told_again = program()
    assert (player.executed, player.served) == ([], 4)
    assert told_again == told
    assert again.state() == first.state()
    assert again.connection is None  # no recording can keep it, and it keeps nothing else from being kept
    assert again.inner.parent is again


def test_an_argument_that_is_kept_is_the_same_object(tmp_path: Path) -> None:
    def program() -> bool:
        desk, row = Desk(), {"n": 1}
        tool(desk.add)(row)
        row["n"] = 2
        return desk.rows[-1] is row

    with LCTLSession("recording", tmp_path / "recording.lctl.json") as session, recording():
        assert program()
    with LCTLSession("again", tmp_path / "again.lctl.json"), serving(recorded(session)):
        assert program()


def test_an_object_that_is_another_now_never_keeps_a_call_from_being_served(tmp_path: Path) -> None:
    with LCTLSession("recording", tmp_path / "recording.lctl.json") as session, recording():
        tool(Desk().add)("x")
    events = recorded(session)
    assert "owner" in events[0]["data"]["tape"]
    for made in (
        {"given": 7, "changes": 3},
        {"changes": [None, {"root": 0, "way": [["no", {"$": "such"}]]}]},
        {"changes": [{"root": 0, "way": ["rows", 5, "x"], "pairs": [["a", 1]]}]},
        {"changes": [{"root": 0, "way": ["inner"], "pairs": [["no such slot", 1]]}]},
    ):
        events[0]["data"]["tape"]["owner"] = made
        with LCTLSession("again", tmp_path / "again.lctl.json"), serving(events) as player:
            desk = Desk()
            assert tool(desk.add)("x") == 2
        assert (player.served, desk.rows) == (1, ["first"])


def test_what_is_too_large_is_left_out(tmp_path: Path) -> None:
    """A call's cost has bounds, and its event, too."""
    desk = Desk()
    desk.rows = [{"n": n} for n in range(100_000)]
    owner = owner_of(desk.add)
    assert owner is not None
    owner.look()
    assert len(owner._known) < 50
    with LCTLSession("recording", tmp_path / "recording.lctl.json") as session, recording():
        tool(desk.add)("x")
        desk.rows = [{"n": n} for n in range(1000)]
        desk.users = {"ann": {"calls": 0}, "text": "x" * 2_000_000}  # type: ignore[dict-item]
        tool(desk.add)("y")
    for event in recorded(session):
        changes = event["data"]["tape"]["owner"]["changes"]
        ways = [change["way"] for change in changes]
        assert (["rows"] in ways) == (event["data"]["input"]["row"] == "y")
        assert len(str(changes)) < 5000


def test_of_classes_that_are_a_frameworks_nothing_is_looked_into() -> None:
    class Worker(threading.Thread):
        def work(self) -> None: ...

    class Sly:
        def __getattribute__(self, name: str) -> Any:
            return object.__getattribute__(self, name)

        def work(self) -> None: ...

    assert owner_of(Worker().work) is None
    assert owner_of(Sly().work) is None
    assert owner_of([].append) is None
    assert owner_of(len) is None
    assert owner_of(Desk().add) is not None


@pytest.fixture
def eager_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


class Shared:
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, word: str) -> None:
        self.notes.append(word)


@pytest.mark.usefixtures("eager_switches")
def test_of_calls_at_once_no_later_event_undoes_a_change(tmp_path: Path) -> None:
    """Changes are done in the order of the events: after the last, all are there."""
    shared = Shared()
    note = tool(shared.note)
    with LCTLSession("shared", tmp_path / "shared.lctl.json") as session:

        def work(name: str) -> None:
            with session:
                for n in range(100):
                    note(f"{name}{n}")

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    calls = [e.data for e in open_log(session.path).events() if e.type == "tool_call"]
    there: list[str] = []
    for call in calls:
        (change,) = call["tape"]["owner"]["changes"]
        there[change.get("kept", 0) :] = change["items"]
    assert len(calls) == 400
    assert there == shared.notes


def test_of_the_programs_subclass_of_a_frameworks_tool_what_it_adds_is_changed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    framework = ModuleType("a_framework")
    framework.__file__ = "/x/site-packages/a_framework.py"
    monkeypatch.setitem(sys.modules, "a_framework", framework)

    class Base:
        def __init__(self) -> None:
            self.uses: list[int] = []

        def run(self, word: str) -> Any:
            raise NotImplementedError

    Base.__module__ = "a_framework"

    class Basket(Base):
        def __init__(self) -> None:
            super().__init__()
            self.words: list[str] = []

        def run(self, word: str) -> int:
            self.uses.append(1)  # the framework's: it may count again by itself
            self.words.append(word)
            self.last = word
            return len(self.words)

    def program() -> Basket:
        basket = Basket()
        for word in ("a", "b"):
            call_tool("add", {"word": word}, partial(basket.run, word), function=basket.run)
        return basket

    with LCTLSession("recording", tmp_path / "recording.lctl.json") as session, recording():
        assert vars(program()) == {"uses": [1, 1], "words": ["a", "b"], "last": "b"}
    with LCTLSession("again", tmp_path / "again.lctl.json"), serving(recorded(session)) as player:
        assert vars(program()) == {"uses": [], "words": ["a", "b"], "last": "b"}
    assert player.served == 2


def test_private_attributes_of_a_model_are_changed_again(tmp_path: Path) -> None:
    """Pydantic keeps them apart from the fields; of them, too, what is gone is gone."""

    class Shelf(BaseModel):
        count: int = 0
        _rows: list[str] = PrivateAttr(default_factory=list)
        _last: str = PrivateAttr(default="")
        _first: str = PrivateAttr(default="none")

        def add(self, row: str) -> int:
            self.count += 1
            self._rows.append(row)
            self._last = row
            if self.count == 1:
                del self._first
            return len(self._rows)

    def program() -> tuple[int, dict[str, Any] | None]:
        shelf = Shelf()
        for row in ("a", "b"):
            call_tool("add", {"row": row}, partial(shelf.add, row), function=shelf.add)
        return shelf.count, shelf.__pydantic_private__

    with LCTLSession("recording", tmp_path / "recording.lctl.json") as session, recording():
        assert program() == (2, {"_rows": ["a", "b"], "_last": "b"})
    with LCTLSession("again", tmp_path / "again.lctl.json"), serving(recorded(session)) as player:
        assert program() == (2, {"_rows": ["a", "b"], "_last": "b"})
    assert player.served == 2


class _Odd(type):
    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("not now")

    def __hash__(cls) -> int:
        raise RuntimeError("not now")


class Odd(metaclass=_Odd): ...


def test_what_cannot_be_looked_at_is_counted(tmp_path: Path) -> None:
    """The call is as it is; the log says that something was not seen."""
    desk = Desk()
    desk.old = Odd()
    with LCTLSession(path=tmp_path / "odd.lctl.json"):
        assert tool(desk.add)("x") == 2
    log = open_log(tmp_path / "odd.lctl.json")
    assert log.tail is not None and log.tail["recording"]["surroundings_unseen"]["RuntimeError"] >= 1
