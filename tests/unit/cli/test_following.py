"""`tail -f`: what happens to a file while it is followed."""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest

from lctl.cli.following import Follower, Note
from tests.golden.logs import Script

HEAD = b'{"lctl":"4.0","chain":{"id":"c"},"events":['


def lines(count: int) -> list[bytes]:
    script = Script()
    for n in range(count):
        script.add(n, "a", "fact_added", id=f"F{n}")
    return [orjson.dumps(event) for event in script.events]


def got(follower: Follower) -> list[int | str]:
    return [item.what if isinstance(item, Note) else item.seq for item in follower.poll()]


def append(path: Path, raw: bytes) -> None:
    with path.open("ab") as file:
        file.write(raw)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run.lctl.json"
    path.write_bytes(HEAD)
    return path


def test_lines_arrive_in_parts(path: Path) -> None:
    """A line is given when it is whole, once, though it has no line end yet."""
    one, two, three = lines(3)
    follower = Follower(path)
    assert got(follower) == []
    append(path, b"\n" + one[:20])
    assert got(follower) == []
    append(path, one[20:])
    assert got(follower) == [1]
    assert got(follower) == []
    append(path, b",\n" + two + b",\n" + three[:5])
    assert got(follower) == [2]
    append(path, three[5:])
    assert got(follower) == [3]


def test_closing(path: Path) -> None:
    """The closing line ends the run, with the events before it given first."""
    one, two = lines(2)
    append(path, b"\n" + one)
    follower = Follower(path)
    append(path, b",\n" + two + b'\n],"state":{},"summary":{}}\n')
    assert got(follower) == [1, 2, "closed"]


def test_reopened_after_closing(path: Path) -> None:
    """A program that goes on with a closed log cuts its tail off: only what is new is given."""
    one, two = lines(2)
    append(path, b"\n" + one)
    end = path.stat().st_size
    append(path, b'\n],"state":{}}\n')
    follower = Follower(path)
    assert got(follower) == [1, "closed"]
    os.truncate(path, end)
    append(path, b",\n" + two[:3])
    assert got(follower) == ["reopened"]
    append(path, two[3:])
    assert got(follower) == [2]


def test_replaced_file(path: Path, tmp_path: Path) -> None:
    """Another file in its place is read from its start."""
    append(path, b"\n" + lines(1)[0])
    follower = Follower(path)
    assert got(follower) == [1]
    other = tmp_path / "other"
    other.write_bytes(HEAD + b"\n" + b",\n".join(lines(2)))
    other.replace(path)
    assert got(follower) == ["replaced", 1, 2]


def test_rewritten_shorter(path: Path) -> None:
    """A file written anew in place is read from its start."""
    append(path, b"\n" + b",\n".join(lines(3)))
    follower = Follower(path)
    assert got(follower) == [1, 2, 3]
    path.write_bytes(HEAD + b"\n" + lines(1)[0])
    assert got(follower) == ["replaced", 1]


def test_removed_file(path: Path) -> None:
    """A file that is gone ends the following, after what was still in it."""
    append(path, b"\n" + lines(1)[0])
    follower = Follower(path)
    path.unlink()
    assert [i.what if isinstance(i, Note) else i.seq for i in follower.follow(sleep=lambda _: None)] == [
        1,
        "gone",
    ]


def test_abandoned_by_its_program(path: Path) -> None:
    """A log that no living process writes is not waited for for ever."""
    append(path, b"\n" + lines(1)[0])
    items = Follower(path).follow(sleep=lambda _: None)
    assert [i.what if isinstance(i, Note) else i.seq for i in items] == [1, "abandoned"]


def test_goes_on_where_it_was_told(path: Path) -> None:
    """Events already printed are not given again."""
    append(path, b"\n" + b",\n".join(lines(3)))
    assert got(Follower(path, seen=2)) == [3]
