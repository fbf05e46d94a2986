"""Ports that the system draws: a rerun has the recorded ones, if nobody else does."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.rerun.harness import LCTL, PROGRAMS, World, record, rerun, run

pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")
pytestmark = pytest.mark.slow


def test_a_server_of_another_process_is_asked_where_it_was(tmp_path: Path) -> None:
    """Its answers are on the tape by where they were asked for."""
    first = record("port_drawn.py", tmp_path, {})
    assert first.code == 0, first.err
    for _ in range(3):
        again = rerun(first.log, tmp_path)
        assert (again.code, again.out) == (0, first.out), again.err
        assert again.events == first.events


@pytest.mark.parametrize("taken", [False, True])
def test_an_own_server_is_at_another_port_if_its_own_is_taken(taken: bool, tmp_path: Path) -> None:
    log = tmp_path / "port_drawn.lctl.json"
    with World() as world:
        first = run(
            [*LCTL, "run", "-o", str(log), str(PROGRAMS / "port_drawn.py"), "here"],
            tmp_path,
            world.environ,
            log,
        )
    assert first.code == 0, first.err
    [port] = [event["data"]["value"] for event in first.events if event["data"].get("source") == "port"]
    with socket.create_server(("127.0.0.1", port if taken else 0)):
        again = rerun(first.log, tmp_path)
    assert (again.code, again.out) == (0, first.out), again.err
    assert again.events == first.events


def test_a_port_that_is_named_is_as_free_as_it_was(tmp_path: Path) -> None:
    """What is left of the recording's connections takes it for a minute."""
    with socket.socket() as looking:
        looking.bind(("127.0.0.1", 0))
        port = looking.getsockname()[1]
    log = tmp_path / "named.lctl.json"
    command = [*LCTL, "run", "-o", str(log), str(PROGRAMS / "names_a_port.py"), str(port)]
    with World() as world:
        first = run(command, tmp_path, world.environ, log)
    assert first.code == 0, first.err
    assert first.out.startswith("free True\ntaken False\n")
    again = rerun(log, tmp_path)
    assert again.code == 0, again.err
    assert again.out == first.out
