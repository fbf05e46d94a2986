"""How a log is named: a path, `last`, a chain id or its start, standard input."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lctl.cli.target import completions, resolve
from lctl.errors import LogNotFound, UsageError
from tests.golden import logs


def record(
    folder: Path, name: str, chain: str, parent: str | None = None, modified: float | None = None
) -> Path:
    folder.mkdir(exist_ok=True)
    path = logs.written(folder / f"{name}.lctl.json", logs.unknown_only(), chain, closed=False)
    if parent:
        raw = path.read_bytes().replace(
            b'"chain":{"id"', b'"chain":{"parent":{"id":"' + parent.encode() + b'","seq":2},"id"'
        )
        path.write_bytes(raw)
    if modified is not None:
        os.utime(path, (modified, modified))
    return path


@pytest.fixture
def runs(place: Path) -> dict[str, Path]:
    folder = place / ".lctl"
    return {
        "old": record(folder, "20260101-100000-agent", "agent-20260101-100000-aaaaaa"),
        "new": record(folder, "20260101-110000-agent", "agent-20260101-110000-bbbbbb"),
        "child": record(
            folder, "20260101-110001-tool", "tool-20260101-110001-cccccc", "agent-20260101-110000-bbbbbb"
        ),
        "other": record(folder, "demo", "demo-1", modified=1_700_000_000),
    }


def test_last_is_the_newest_program(runs: dict[str, Path]) -> None:
    """`last` counts programs, newest first, and not the child processes they started."""
    assert resolve("last").samefile(runs["new"])
    assert resolve("last~0").samefile(runs["new"])
    assert resolve("last~1").samefile(runs["old"])
    assert resolve("last~").samefile(runs["old"])
    assert resolve("last~2").samefile(runs["other"])
    with pytest.raises(LogNotFound, match="there are only 3 runs"):
        resolve("last~3")


def test_ids_and_prefixes(runs: dict[str, Path]) -> None:
    """A chain id, its unique start, or the start of a file name."""
    assert resolve("agent-20260101-110000-bbbbbb").samefile(runs["new"])
    assert resolve("agent-20260101-10").samefile(runs["old"])
    assert resolve("tool").samefile(runs["child"])
    assert resolve("20260101-100000").samefile(runs["old"])
    with pytest.raises(UsageError, match=r"fits 2 runs: agent-20260101-11.*type more"):
        resolve("agent")
    with pytest.raises(LogNotFound, match="'nothing': no such file, and no run of that id"):
        resolve("nothing")


def test_a_program_before_its_children(runs: dict[str, Path], place: Path) -> None:
    """Forked children are named after their parent; the start of that name means the parent."""
    record(place / ".lctl", "demo-4711", "demo-1-4711", "demo-1")
    assert resolve("demo").samefile(runs["other"])
    assert resolve("demo-1-47").name == "demo-4711.lctl.json"


def test_paths_come_first(runs: dict[str, Path], place: Path) -> None:
    """A file of that name wins over a run of that id; a path that is none is said as such."""
    (place / "tool").write_text("x")
    assert resolve("tool") == Path("tool")
    with pytest.raises(LogNotFound, match=r"^x/y: no such file$"):
        resolve("x/y")
    with pytest.raises(LogNotFound, match=r"^chain\.yaml: no such file$"):
        resolve("chain.yaml")


def test_lctl_dir(runs: dict[str, Path], place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LCTL_DIR is looked in first, `.lctl` too."""
    elsewhere = record(place / "elsewhere", "20270101-000000-far", "far-1")
    monkeypatch.setenv("LCTL_DIR", str(place / "elsewhere"))
    assert resolve("last").samefile(elsewhere)
    assert resolve("last~1").samefile(runs["new"])
    assert resolve("demo-1").samefile(runs["other"])


@pytest.mark.parametrize("name", ["absolute", "link"])
def test_one_folder_by_two_names(
    runs: dict[str, Path], place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """LCTL_DIR may be `.lctl` itself under another name: each run is there once."""
    folder = place / ".lctl"
    if name == "link":
        (place / "logs").symlink_to(folder, target_is_directory=True)
        folder = place / "logs"
    monkeypatch.setenv("LCTL_DIR", str(folder))
    assert resolve("last~1").samefile(runs["old"])
    with pytest.raises(LogNotFound, match="there are only 3 runs"):
        resolve("last~3")


def test_no_runs(place: Path) -> None:
    """Without any run the message says how to make one."""
    with pytest.raises(LogNotFound, match=r"lctl run agent\.py"):
        resolve("last")


def test_shell_completion(runs: dict[str, Path]) -> None:
    """The shell is offered `last` and the chain ids, newest first."""
    assert completions("last") == ["last", "last~1"]
    assert completions("agent-") == ["agent-20260101-110000-bbbbbb", "agent-20260101-100000-aaaaaa"]


@pytest.mark.parametrize(
    ("names", "reruns", "said"),
    [
        (["a"], True, "there is only 1 run; 'lctl ls' lists it"),
        (["a", "b"], True, "there are only 2 runs; 'lctl ls' lists them"),
        (["a", "a.1", "a.2"], True, "there is only 1 run to count back, without 2 runs of child processes; "),
        (
            ["a", "a.1", "again"],
            False,
            "without 1 run of child processes and 1 rerun; ",
        ),
        (["x.1"], True, "there is only 1 run, of a child process; 'lctl ls' lists it"),
    ],
)
def test_what_ls_lists_besides_is_told(place: Path, names: list[str], reruns: bool, said: str) -> None:
    for n, name in enumerate(names):
        parent, _, number = name.partition(".")
        path = record(place / ".lctl", f"20260101-10000{n}-{name}", name, parent if number else None)
        if name == "again":
            path.write_bytes(path.read_bytes().replace(b'"id":"again"', b'"id":"again","rerun":{"of":"a"}'))
    with pytest.raises(LogNotFound, match=r"last~99: ") as raised:
        resolve("last~99", reruns=reruns)
    assert said in str(raised.value)
