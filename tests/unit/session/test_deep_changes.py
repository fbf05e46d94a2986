"""What a call changes beside its arguments, however deep, is done again where it is served."""

from __future__ import annotations

import threading
from typing import Any

import orjson
import pytest

from lctl.session.faithful import Given
from lctl.session.tooling import toolresults
from lctl.session.tooling.toolcalls import ToolCall


def test_what_lies_beside_the_arguments_is_followed_no_further() -> None:
    """Others may change what it is made of, meanwhile: the numbers of the arguments' own objects stay."""
    notes: list[str] = []
    state: dict[str, Any] = {"deep": [1]}
    given = Given([notes], beside=[state, notes, "text"])
    assert given.nodes == [notes, state]
    state["deep"].append(2)
    assert given.changed() == []
    state["more"] = [3]
    notes.append("new")
    assert given.changed() == [0, 1]
    given.apply(1, {"only": 1})
    assert state == {"only": 1}


def test_a_recording_that_knew_of_nothing_beside_is_meant_too() -> None:
    """What a tool can change beside its arguments is numbered after them."""
    given = Given(({"a": [1]},), beside=([],))
    assert [count for count in range(5) if given.has(count)] == [2, 3]


class Shelf:
    def __init__(self) -> None:
        self.books = ["a"]
        self.lock: Any = None


def shop() -> dict[str, Any]:
    return {"shelf": Shelf(), "carts": [{"n": 1}, {"n": 1, "old": 1}], "pair": ([1], 2), "left": {1}}


def test_what_a_call_changes_deep_beside_its_arguments_is_done_again() -> None:
    """In place, by the way that leads there; what cannot be kept stays as it is found."""
    made = shop()
    given = Given([], beside=[made])
    made["carts"][1]["n"] = 2
    del made["carts"][1]["old"]
    made["carts"][0]["more"] = [{"deep": ()}]
    made["shelf"].books.append("b")
    made["shelf"].lock = threading.Lock()
    made["pair"][0].insert(0, 0)
    made["left"].add(2)
    tape = orjson.loads(orjson.dumps(toolresults.tape_of("t", given, {"output": None})))
    assert set(tape) == {"given", "within"}

    again = shop()
    carts, shelf = again["carts"][1], again["shelf"]
    outcome = toolresults.outcome({"tape": tape}, ToolCall("t", {}, None, Given([], beside=[again])))
    assert outcome is not None
    assert outcome.change is not None
    outcome.change()
    assert again["carts"] == made["carts"]
    assert again["carts"][1] is carts
    assert (again["pair"], again["left"]) == (made["pair"], made["left"])
    assert (shelf.books, shelf.lock) == (["a", "b"], None)


def test_a_deep_change_whose_way_is_gone_changes_nothing() -> None:
    made = shop()
    again: dict[str, Any] = {"carts": []}
    given = Given([], beside=[made])
    made["carts"][1]["n"] = 2
    tape = toolresults.tape_of("t", given, {"output": None})
    outcome = toolresults.outcome({"tape": tape}, ToolCall("t", {}, None, Given([], beside=[again])))
    assert outcome is not None
    assert outcome.change is not None
    outcome.change()
    assert again == {"carts": []}


def test_a_result_is_kept_although_a_deep_change_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lctl.session.faithful.coding.LIMIT", 1000)
    made = shop()
    given = Given([], beside=[made])
    made["carts"][0]["more"] = "long " * 1000
    tape = toolresults.tape_of("t", given, {"output": (1,)})
    assert tape == {"given": 1, "output": {"$": "tuple", "v": [1]}}
