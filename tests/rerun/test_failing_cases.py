"""What at least one other tool gets wrong (RERUN.md, last list): each is recorded once and run again."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from lctl.testing import ModelServer
from tests.rerun.harness import PROGRAMS, RERUNS, Result, Silence, World, record, rerun, run
from tests.warm.starting import python_path

pytestmark = pytest.mark.slow

#: Program, how often it is run again, what it needs.
ALONE = [
    "tool_loop_openai.py",
    "tool_loop_anthropic.py",
    "ambient_reads.py",
    "subprocess_agents.py",
    "forked_children.py",
    "errors_429_400.py",
    "embeddings_binary.py",
    "plain_http.py",
    "heads_of_answers.py",
    "hash_seed.py",
    "secrets_around.py",
    "temporary_files.py",
    "tools_and_errors.py",
    "two_recordings.py",
]
CONCURRENT = [
    "gather_identical.py",
    "gather_different.py",
    "streams_early_close.py",
    "streams_left_aiohttp.py",
    "threads_chained.py",
    "planner_workers.py",
    "completion_order.py",
    "retries_at_once.py",
    "anyio_groups.py",
    "nested_loops.py",
    "mixed_agents.py",
    "uvloop_gather.py",
    "eager_tasks.py",
    "pool_then_loop.py",
    "task_starts.py",
    "tools_at_once.py",
    "tool_methods.py",
    "tools_that_print.py",
    "cancelled_groups.py",
    "cancelled_tools.py",
    "closes_at_once.py",
]
_NEEDS = {
    "uvloop_gather.py": "uvloop",
    "streams_left_aiohttp.py": "aiohttp",
    "anyio_groups.py": "anyio",
    "cancelled_groups.py": "anyio",
}


def _skip_without(program: str) -> None:
    needed = _NEEDS.get(program)
    if needed is not None and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    if program == "eager_tasks.py" and sys.version_info < (3, 12):
        pytest.skip("eager tasks came with Python 3.12")


def _recorded(program: str, folder: Path) -> Result:
    with World() as world:
        environ = {
            **world.environ,
            "SERVICE_API_KEY": "sk-proj-" + "a1B2" * 12,
            "LEDGER": str(folder / "ledger"),
        }
        result = record(program, folder, environ, stdin="Ada\n")
        assert world.count > 0
    assert result.code == 0, result.err
    return result


def _same(first: Result, again: Result) -> None:
    assert again.code == 0, again.err
    assert again.out == first.out
    assert again.events == first.events


@pytest.mark.parametrize("program", ALONE)
def test_a_program_is_the_same_again(program: str, tmp_path: Path) -> None:
    _skip_without(program)
    first = _recorded(program, tmp_path)
    with Silence(first) as silence:
        for _ in range(min(3, RERUNS)):
            _same(first, rerun(first.log, tmp_path))
    assert silence.connections == 0


@pytest.mark.parametrize("program", CONCURRENT)
def test_a_concurrent_program_is_the_same_twenty_times(program: str, tmp_path: Path) -> None:
    _skip_without(program)
    first = _recorded(program, tmp_path)
    with Silence(first) as silence:
        for _ in range(RERUNS):
            _same(first, rerun(first.log, tmp_path))
    assert silence.connections == 0


def test_a_rerun_runs_again(tmp_path: Path) -> None:
    first = _recorded("gather_identical.py", tmp_path)
    second = rerun(first.log, tmp_path)
    kept = second.log.rename(tmp_path / "second.lctl.json")
    _same(first, rerun(kept, tmp_path))


@pytest.mark.parametrize("name", ["tools_in_one_turn.py", "jobs_with_steps.py"])
def test_tools_at_once_are_the_same_in_a_recording_by_auto_instrument(name: str, tmp_path: Path) -> None:
    """In one turn of a loop; in threads, whose steps are told in whatever order."""
    program = PROGRAMS / name
    first = run([sys.executable, str(program)], tmp_path, {}, tmp_path)
    assert first.code == 0, first.err
    (log,) = (tmp_path / "logs").glob("*.lctl.json")
    for _ in range(RERUNS):
        _same(first._replace(log=log), rerun(log, tmp_path))


def test_a_race_for_jobs_is_the_same(tmp_path: Path) -> None:
    """Which thread takes which job of a queue, and which finds it empty, is on the tape."""
    first = _recorded("shared_queue.py", tmp_path)
    for _ in range(RERUNS):
        _same(first, rerun(first.log, tmp_path))


def test_a_race_for_what_threads_read_of_each_other_is_the_same_or_reported(tmp_path: Path) -> None:
    """Nothing orders whether a thread reads a number before or after another changes it."""
    first = _recorded("threads_reading.py", tmp_path)
    with Silence(first) as silence:
        for _ in range(RERUNS):
            again = rerun(first.log, tmp_path)
            if again.out != first.out:
                assert again.code != 0
                assert "rerun not exact" in again.err
            else:
                _same(first, again)
    assert silence.connections == 0


def test_a_race_for_a_place_in_a_list_is_the_same_or_reported(tmp_path: Path) -> None:
    """Each stream is the same; what threads make of their pieces beside each other is said if it is not."""
    first = _recorded("streams_at_once.py", tmp_path)
    for _ in range(RERUNS):
        again = rerun(first.log, tmp_path)
        assert again.out.splitlines()[:4] == first.out.splitlines()[:4]
        assert again.events[:-2] == first.events[:-2]
        if again.out != first.out:
            assert again.code != 0
            assert "the output is not the recorded one" in again.err


def test_a_tool_that_writes_does_not_write_again(tmp_path: Path) -> None:
    first = _recorded("tools_and_errors.py", tmp_path)
    before = (tmp_path / "ledger").read_bytes()
    for _ in range(RERUNS):
        _same(first, rerun(first.log, tmp_path))
    assert (tmp_path / "ledger").read_bytes() == before


def test_an_undecorated_tool_is_refused_and_named(tmp_path: Path) -> None:
    first = _recorded("undecorated_tool.py", tmp_path)
    before = (tmp_path / "ledger").read_bytes()
    again = rerun(first.log, tmp_path)
    assert again.code != 0
    assert "undecorated_tool.py" in again.err
    assert "pay" in again.err
    assert (tmp_path / "ledger").read_bytes() == before


def test_a_named_tool_is_served_with_no_change_to_the_program(tmp_path: Path) -> None:
    with World() as world:
        environ = {**world.environ, "LEDGER": str(tmp_path / "ledger")}
        first = record("undecorated_tool.py", tmp_path, environ, "--tool", "__main__:pay")
    assert first.code == 0, first.err
    before = (tmp_path / "ledger").read_bytes()
    _same(first, rerun(first.log, tmp_path))
    assert (tmp_path / "ledger").read_bytes() == before


def test_what_a_killed_program_recorded_runs_again(tmp_path: Path) -> None:
    with World() as world:
        first = record("crash_midway.py", tmp_path, {**world.environ, "CRASH": "1"})
    assert first.code != 0
    again = rerun(first.log, tmp_path)
    assert again.out.startswith(first.out)
    assert again.events[: len(first.events)] == first.events
    # It kills itself again: the certificate is written before, for as far as the recording goes.
    assert (again.code, "killed itself, as it did when it was recorded" in again.err) == (0, True)


def test_secrets_are_nowhere_on_disk(tmp_path: Path) -> None:
    first = _recorded("secrets_around.py", tmp_path)
    _same(first, rerun(first.log, tmp_path))
    secret = b"sk-proj-" + b"a1B2" * 12
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or secret not in path.read_bytes(), path


def test_a_program_finds_its_modules_where_they_were(tmp_path: Path) -> None:
    """PYTHONPATH is of the recording; what it is now comes behind."""
    there = tmp_path / "there"
    there.mkdir()
    (there / "found_there.py").write_text("TEXT = 'there'\n")
    program = tmp_path / "agent.py"
    program.write_text(
        "import os\nfrom common_openai import ask\nfrom openai import OpenAI\nimport found_there\n"
        "print(ask(OpenAI(), found_there.TEXT))\n"
    )
    with ModelServer(random_answers=True) as models:
        paths = os.pathsep.join((python_path(PROGRAMS), str(there)))
        first = record(str(program), tmp_path, {**models.environ, "PYTHONPATH": paths})
    assert first.code == 0, first.err
    again = rerun(first.log, tmp_path)
    assert (again.code, again.out) == (0, first.out), again.err


def test_a_program_patched_by_gevent_is_recorded_and_gets_its_answers(tmp_path: Path) -> None:
    """Its classes stand in the place of those of `threading` and `queue`."""
    pytest.importorskip("gevent", reason="needs: pip install gevent")
    program = tmp_path / "agent.py"
    program.write_text(
        "from gevent import monkey; monkey.patch_all()\nimport threading, gevent\n"
        "from common_openai import ask\nfrom openai import OpenAI\nclient = OpenAI()\n"
        "print(ask(client, 'first'), threading.Event().wait(0.01))\n"
        "one = gevent.spawn(ask, client, 'second')\none.join()\nprint(one.value)\n"
    )
    with ModelServer(random_answers=True) as models:
        first = record(str(program), tmp_path, models.environ)
    assert first.code == 0, first.err
    assert "could not record" not in first.err
    assert [event["type"] for event in first.events].count("exchange") == 2
    again = rerun(first.log, tmp_path)
    assert (again.code, again.out) == (0, first.out), again.err
