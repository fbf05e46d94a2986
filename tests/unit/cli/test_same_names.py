"""Runs of one name: each has its own children, and no other's."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from lctl.cli.target import opened
from lctl.session import LCTLSession
from lctl.testing import FixedClock
from tests.unit.cli.conftest import Cli

#: The second begins 40 seconds after the first.
_TIMES = {"one": "2026-01-15T10:00:00Z", "two": "2026-01-15T10:00:40Z"}


def record(word: str, inside: str) -> None:
    clock = FixedClock(_TIMES[word])
    with LCTLSession("nightly", clock=clock) as outer:
        outer.add_fact("F", f"main {word}", 0.5)
        with LCTLSession(inside, clock=clock) as inner:
            inner.add_fact("F", f"child of {word}", 0.5)
            inner.add_fact("G", "more", 0.5)


@pytest.fixture
def folder(place: Path) -> Path:
    """Two runs called `nightly`, each with one of a session inside it, which has two facts."""
    for word in _TIMES:
        record(word, "inner")
    return place / ".lctl"


@pytest.fixture(params=["told", "by time"])
def links(folder: Path, request: pytest.FixtureRequest) -> Path:
    """As they are, and as in logs whose links say no more than an id and a seq."""
    for path in folder.glob("*.lctl.json") if request.param == "by time" else ():
        text, count = re.subn(r',"run":"[0-9a-f]{12}"', "", path.read_text())
        assert count == ("inner" in path.name)
        path.write_text(text)
    return folder


def of(folder: Path, name: str, word: str) -> Path:
    time = re.sub("[-:Z]", "", _TIMES[word]).replace("T", "-")
    return folder / f"{time}-{name}.lctl.json"


def texts(target: str) -> list[str]:
    return [event.data["text"] for event in opened(target).events() if event.type == "fact_added"]


@pytest.mark.parametrize("word", ["one", "two"])
def test_a_run_with_all_that_it_started(links: Path, lctl: Cli, word: str) -> None:
    assert texts(f"{of(links, 'nightly', word)}+") == [f"main {word}", f"child of {word}", "more"]
    assert "started 1 other run;" in lctl("stats", of(links, "nightly", word)).err


def test_listings(links: Path, lctl: Cli) -> None:
    """The newest first, and below each its own."""
    rows = [line.split() for line in lctl("ls").out.splitlines()[1:]]
    assert [row[1:3] if row[1] == "└" else [row[1]] for row in rows] == [["nightly"], ["└", "inner"]] * 2
    told = [json.loads(line) for line in lctl("runs", "--json").out.splitlines()]
    order = [(Path(one["path"]).name, one["depth"]) for one in told]
    assert order == [
        (of(links, name, word).name, depth)
        for word in ("two", "one")
        for depth, name in enumerate(("nightly", "inner"))
    ]


def test_a_session_inside_another_is_no_process(folder: Path, lctl: Cli) -> None:
    said = [line for line in lctl("runs").out.splitlines() if "inner" in line]
    assert [line.split("nested session, ")[1] for line in said] == ["opened at 1"] * 2


def test_where_the_parent_is_gone_another_of_its_name_is_not_taken(folder: Path, lctl: Cli) -> None:
    of(folder, "nightly", "one").unlink()
    depths = [json.loads(line)["depth"] for line in lctl("runs", "--json").out.splitlines()]
    assert sorted(depths) == [0, 0, 1]


def test_a_copy_of_a_log_is_the_same_run(folder: Path) -> None:
    copy = folder / "copy.lctl.json"
    shutil.copy(of(folder, "nightly", "one"), copy)
    assert texts(f"{copy}+") == ["main one", "child of one", "more"]


def test_two_of_one_name_in_one_run(place: Path) -> None:
    """Both are part of it."""
    with LCTLSession("outer", "runs/outer.lctl.json") as outer:
        outer.add_fact("F", "main", 0.5)
        for n in range(2):
            with LCTLSession("inner", f"runs/inner{n}.lctl.json") as inner:
                inner.add_fact("F", f"child {n}", 0.5)
    assert texts("runs/outer.lctl.json+") == ["main", "child 0", "child 1"]


def test_in_a_store(place: Path, lctl: Cli) -> None:
    """There an id is one chain's: the second run is a branch beside the first, with the child it has."""
    store = "sqlite:///runs.db"
    for word in _TIMES:
        record(word, f"inner-{word}")
        assert lctl("push", f"{of(place / '.lctl', 'nightly', word)}+", "--store", store).code == 0
    listed = [json.loads(line)["id"] for line in lctl("ls", "--store", store, "--json").out.splitlines()]
    (branch,) = (id for id in listed if id.startswith("nightly~"))
    for id, word in (("nightly", "one"), (branch, "two")):
        assert texts(f"{store}#{id}+") == [f"main {word}", f"child of {word}", "more"]
