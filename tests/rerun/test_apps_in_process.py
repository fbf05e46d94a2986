"""Requests that an application in the same process answers are no crossing: what it does is the program's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lctl.testing import ModelServer
from tests.rerun.harness import LCTL, PROGRAMS, RERUNS, record, rerun, run

pytest.importorskip("starlette.testclient")
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("by", ["lctl run", "auto_instrument"])
def test_the_model_calls_of_an_application_are_recorded_and_served(by: str, tmp_path: Path) -> None:
    program, log = tmp_path / "agent.py", tmp_path / "logs" / "agent.lctl.json"
    text = (PROGRAMS / "answers_itself.py").read_text()
    with ModelServer(random_answers=True) as server:
        if by == "lctl run":
            program.write_text(text)
            first = run([*LCTL, "run", "-o", str(log), str(program)], tmp_path, server.environ, log)
        else:
            program.write_text(f"import lctl\nlctl.auto_instrument()\n{text}")
            environ = {**server.environ, "LCTL_DIR": str(log.parent)}
            first = run([sys.executable, str(program)], tmp_path, environ, log.parent)
            (log,) = log.parent.glob("*.lctl.json")
            first = first._replace(log=log)
        asked = len(server.requests)
    assert first.code == 0, first.err
    calls = [event for event in first.events if event["type"] == "step_start"]
    assert len(calls) == asked == 11
    assert not [event for event in first.events if "//app/" in str(event["data"].get("url"))]
    for _ in range(min(3, RERUNS)):
        again = rerun(log, tmp_path)
        assert (again.code, again.out) == (0, first.out), again.err
        assert again.events == first.events


def test_websockets_of_the_programs_own_server_are_its_own(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp", reason="needs: pip install 'lctl[test]'")
    with ModelServer(random_answers=True) as server:
        first = record("own_websocket.py", tmp_path, server.environ)
    assert first.code == 0, first.err
    assert len([event for event in first.events if event["type"] == "exchange"]) == 5
    again = rerun(first.log, tmp_path)
    assert (again.code, again.out, again.events) == (0, first.out, first.events), again.err


def test_servers_of_the_program_answer_in_a_rerun_too(tmp_path: Path) -> None:
    """What is asked of them is no crossing of the border: their model calls are."""
    pytest.importorskip("uvicorn", reason="needs: pip install uvicorn")
    with ModelServer(random_answers=True) as server:
        first = record("own_server.py", tmp_path, server.environ)
    assert first.code == 0, first.err
    asked = [event["data"]["url"] for event in first.events if event["type"] == "exchange"]
    assert len(asked) == 10
    assert all(url.endswith("/chat/completions") for url in asked)
    for _ in range(3):
        again = rerun(first.log, tmp_path)
        assert (again.code, again.out, again.events) == (0, first.out, first.events), again.err
    step = next(event["seq"] for event in first.events if "first again" in str(event["data"].get("content")))
    fork = tmp_path / "fork.lctl.json"
    command = [*LCTL, "fork", str(first.log), "--at", str(step), "--all-live", "--output", str(fork)]
    with ModelServer(random_answers=True) as server:
        forked = run(command, tmp_path, server.environ, fork)
        assert forked.code == 0, forked.err
        assert len(server.requests) == 9


@pytest.mark.parametrize("server", ["threads", "asyncio", "uvloop", "aiohttp"])
def test_requests_at_once_are_each_answered_by_their_own(server: str, tmp_path: Path) -> None:
    """Whichever connection they take, and in whichever order those are accepted."""
    pytest.importorskip(
        "aiohttp" if server == "aiohttp" else "uvicorn", reason="needs: pip install 'lctl[test]'"
    )
    if server == "uvloop":
        pytest.importorskip("uvloop", reason="needs: pip install uvloop")
    log = tmp_path / "own_server_at_once.lctl.json"
    command = [*LCTL, "run", "--output", str(log), str(PROGRAMS / "own_server_at_once.py"), server]
    with ModelServer(random_answers=True, latency=(0.0, 0.02)) as models:
        first = run(command, tmp_path, models.environ, log)
        asked = len(models.requests)
    assert first.code == 0, first.err
    assert asked == len([event for event in first.events if event["type"] == "exchange"]) == 34
    for _ in range(min(3, RERUNS)):
        again = rerun(log, tmp_path)
        assert (again.code, again.out, again.events) == (0, first.out, first.events), again.err


def test_what_a_library_draws_for_a_session_is_not_what_it_asks_for(tmp_path: Path) -> None:
    """As gradio's client does: the id of its session, in the address, is another one in each run."""
    installed = tmp_path / "lib" / "python3" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "sessions.py").write_text(
        "import urllib.request, uuid\n"
        "def ask(url, text):\n"
        "    return urllib.request.urlopen(f'{url}/{uuid.uuid4()}?in={uuid.uuid4().hex}/{text}').read()\n"
    )
    environ = {"INSTALLED": str(installed)}
    with ModelServer(random_answers=True) as server:
        first = record("own_server_sessions.py", tmp_path, server.environ | environ)
    assert first.code == 0, first.err
    assert [event["type"] for event in first.events].count("exchange") == 3
    again = rerun(first.log, tmp_path, environ=environ)
    assert (again.code, again.out, again.events) == (0, first.out, first.events), again.err
