"""Two processes that write one chain (row X7): the conflict is seen, and nothing of either is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.chain import Chain
from lctl.codec import open_log, validate, verify
from lctl.errors import LogLocked
from lctl.session import LCTLSession

#: Goes on with the log at argv[1] as often as argv[3] says, each time with a branch below m0.
_BRANCH = """
import sys, time
from lctl.errors import LogLocked
from lctl.session import LCTLSession
path, name, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
refused = done = 0
while done < times:
    try:
        with LCTLSession(path=path) as session:
            for n in range(3):
                parent = "m0" if n == 0 else f"{name}{done}.{n - 1}"
                data = {"message_id": f"{name}{done}.{n}", "parent_id": parent, "role": "user"}
                session.tree.writer.emit("message", data)
            done += 1
    except LogLocked as error:
        assert "has been writing it since" in str(error) or "is writing it" in str(error)
        refused += 1
        time.sleep(0.002)
print(refused)
"""


def _begun(path: Path) -> None:
    with LCTLSession("c", path) as session:
        session.tree.writer.emit(
            "message", {"message_id": "m0", "parent_id": None, "role": "user", "content": "x"}
        )


def _started(code: str, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, words)]
    environment = {**os.environ, "LCTL_QUIET": "1"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def test_x7_processes_that_write_in_turn_make_one_chain_with_all_their_branches(tmp_path: Path) -> None:
    """Several processes want the log at once: each is refused while another has it, and goes on where that
    one ended. No number twice, none missing, every branch there."""
    path = tmp_path / "c.lctl.json"
    _begun(path)
    writers = [_started(_BRANCH, path, name, 3) for name in "ab"]
    for writer in writers:
        _, err = writer.communicate(timeout=60)
        assert writer.returncode == 0, err
    log = open_log(path)
    assert validate(log) == [] and log.problems == [] and verify(log).ok
    tree = Chain.of(log).tree
    assert sorted(leaf.id for leaf in tree.leaves) == sorted(
        f"{name}{n}.2" for name in "ab" for n in range(3)
    )
    assert all(len(leaf.path) == 4 for leaf in tree.leaves)
    assert len(tree["m0"].children) == 6


def test_x7_the_second_writer_is_refused_and_its_branch_goes_elsewhere(tmp_path: Path) -> None:
    """The refusal names who has the log; what it records in a log of its own stands beside the first."""
    path = tmp_path / "c.lctl.json"
    _begun(path)
    with LCTLSession(path=path) as first:
        assert first.tree.writer.emit("message", {"message_id": "a", "parent_id": "m0", "role": "user"}) == 2
        code = """
import sys
from lctl.errors import LogLocked
from lctl.session import LCTLSession
try:
    LCTLSession(path=sys.argv[1])
except LogLocked as error:
    print(error)
with LCTLSession("own", sys.argv[2]) as session:
    session.tree.writer.emit("message", {"message_id": "b", "parent_id": None, "role": "user"})
"""
        out, err = _started(code, path, tmp_path / "own.lctl.json").communicate(timeout=60)
        assert f"process {os.getpid()} has been writing it since" in out, err
        assert first.tree.writer.emit("message", {"message_id": "a2", "parent_id": "a", "role": "user"}) == 3
    assert [leaf.id for leaf in Chain.load(path).tree.leaves] == ["a2"]
    assert [leaf.id for leaf in Chain.load(tmp_path / "own.lctl.json").tree.leaves] == ["b"]


def test_x7_a_writer_that_was_killed_leaves_its_branch_and_its_lock(tmp_path: Path) -> None:
    """The next one goes on after the last whole event; both branches are there."""
    path = tmp_path / "c.lctl.json"
    _begun(path)
    code = """
import os, sys
from lctl.session import LCTLSession
session = LCTLSession(path=sys.argv[1])
session.tree.writer.emit("message", {"message_id": "a", "parent_id": "m0", "role": "user"})
os._exit(9)
"""
    killed = _started(code, path)
    killed.communicate(timeout=60)
    assert killed.returncode == 9
    with LCTLSession(path=path) as second:
        assert second.tree["a"].parent is not None
        assert second.tree.writer.emit("message", {"message_id": "b", "parent_id": "m0", "role": "user"}) == 3
    tree = Chain.load(path).tree
    assert [node.id for node in tree["m0"].children] == ["a", "b"]
    assert verify(open_log(path)).ok


def test_x7_two_sessions_of_one_process(tmp_path: Path) -> None:
    """The lock is the file's, not the process's."""
    path = tmp_path / "c.lctl.json"
    with LCTLSession("c", path), pytest.raises(LogLocked):
        LCTLSession(path=path)


SAID = (
    b',\n{"seq":%d,"type":"message","timestamp":"%s","agent":"a","data":{"message_id":"%s","parent_id":"%s"}}'
)


def _written(path: Path, *events: tuple[int, bytes, bytes, bytes]) -> None:
    """(seq, time, message, parent) after what is there, as writers that no lock kept apart write."""
    _begun(path)
    head = path.read_bytes().split(b"\n],")[0]
    path.write_bytes(head + b"".join(SAID % one for one in events))


def test_x7_where_files_have_no_locks_both_branches_are_read(tmp_path: Path) -> None:
    """Two writers that no lock kept apart used the same numbers: reading says which lines, `verify` fails,
    nothing is taken out of the file, and the tree has what both wrote."""
    path = tmp_path / "c.lctl.json"
    _written(
        path,
        *((2, b"1", b"a", b"m0"), (2, b"2", b"b", b"m0")),
        *((3, b"3", b"a2", b"a"), (3, b"4", b"b2", b"b")),
    )
    log = open_log(path)
    assert [str(problem) for problem in log.problems] == [
        (
            "line 4, event 2: seq is there twice, by two writers; the one at line 3 stands, "
            "this one is read as event 4"
        ),
        (
            "line 6, event 3: seq is there twice, by two writers; the one at line 5 stands, "
            "this one is read as event 5"
        ),
    ]
    assert not verify(log).ok
    tree = Chain.of(log).tree
    assert [[node.id for node in leaf.path] for leaf in tree.leaves] == [["m0", "a", "a2"], ["m0", "b", "b2"]]
    assert sum(b'"b' in line for line in log.stored()) == 2


def test_x7_what_two_writers_say_of_their_own_messages_goes_with_them(tmp_path: Path) -> None:
    """Messages that are named by their events (`m2`, `m3`) have the same names in both branches; each answer
    stays below the question of its own writer. What one program wrote at once has one time."""
    path = tmp_path / "c.lctl.json"
    first = ((2, b"1", b"m2", b"m0"), (3, b"1", b"m3", b"m2"), (4, b"5", b"m4", b"m3"))
    second = ((2, b"2", b"m2", b"m0"), (3, b"2", b"m3", b"m2"))
    for order in ((*first[:2], *second, first[2]), (*second, *first), (*first, *second)):
        _written(path, *order)
        tree = Chain.load(path).tree
        assert sorted(len(leaf.path) for leaf in tree.leaves) == [3, 4]
        assert len(tree["m0"].children) == 2 and not tree.diagnostics
        path.unlink()


def test_x7_steps_of_two_writers(tmp_path: Path) -> None:
    """A step is named by the event that began it; that of the second writer is another."""
    path = tmp_path / "c.lctl.json"
    _begun(path)
    head = path.read_bytes().split(b"\n],")[0]
    begins = b',\n{"seq":2,"type":"step_start","agent":"%s","data":{"intent":"%s"}}'
    ends = b',\n{"seq":3,"type":"step_end","agent":"%s","step":2,"data":{"outcome":"%s"}}'
    path.write_bytes(
        head
        + b"".join((begins % (b"a", b"one"), ends % (b"a", b"success")))
        + b"".join((begins % (b"b", b"two"), ends % (b"b", b"error")))
    )
    steps = Chain.load(path).state.steps
    assert [(step.agent, step.intent, step.outcome) for step in steps.values()] == [
        ("a", "one", "success"),
        ("b", "two", "error"),
    ]
