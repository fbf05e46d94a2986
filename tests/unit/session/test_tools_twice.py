"""`@lctl.tool` on what calls itself, or another of its name: each call that the program makes is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lctl
from lctl.codec import open_log
from lctl.session.tooling.tools import call_tool


def _inputs(path: Path) -> list[Any]:
    return [event.data["input"] for event in open_log(path).events() if event.type == "tool_call"]


def test_a_tool_that_tries_again(tmp_path: Path) -> None:
    tries = []

    @lctl.tool
    def fetch(url: str) -> str:
        tries.append(url)
        return "found" if len(tries) == 3 else fetch(url)

    with lctl.LCTLSession(path=tmp_path / "run.lctl.json"):
        assert fetch("http://x") == "found"
    assert _inputs(tmp_path / "run.lctl.json") == [{"url": "http://x"}] * 3


def test_one_of_the_same_name_around_it(tmp_path: Path) -> None:
    class Index:
        @lctl.tool
        def search(self, query: str) -> str:
            return query

    class Cached(Index):
        @lctl.tool
        def search(self, query: str) -> str:
            return super().search(query)

    with lctl.LCTLSession(path=tmp_path / "run.lctl.json"):
        assert Cached().search("x") == "x"
    assert _inputs(tmp_path / "run.lctl.json") == [{"query": "x"}] * 2


def test_what_a_framework_calls_is_its_call(tmp_path: Path) -> None:
    @lctl.tool
    def search(query: str) -> str:
        return query

    with lctl.LCTLSession(path=tmp_path / "run.lctl.json"):
        assert call_tool("search", {"query": "x"}, lambda: search("x")) == "x"
        twice = lctl.tool(search)
        assert twice("y") == "y"
    assert twice is search
    assert _inputs(tmp_path / "run.lctl.json") == [{"query": "x"}, {"query": "y"}]


def test_an_argument_named_as_a_class_is_one(tmp_path: Path) -> None:
    @lctl.tool
    def predict(cls: str, text: str) -> str:
        return cls

    class Model:
        @classmethod
        @lctl.tool
        def train(cls, text: str) -> str:
            return text

        @lctl.tool
        @classmethod
        def test(cls, text: str) -> str:
            return text

    with lctl.LCTLSession(path=tmp_path / "run.lctl.json"):
        predict("spam", "buy")
        Model.train("x")
        Model.test("y")
    assert _inputs(tmp_path / "run.lctl.json") == [
        {"cls": "spam", "text": "buy"},
        {"text": "x"},
        {"text": "y"},
    ]
