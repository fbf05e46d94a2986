"""Programs recorded against a loopback server, and run again when it is gone."""

from __future__ import annotations

import gc
import socket
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.guard import guard
from lctl.instrument import ensure_installed
from lctl.testing import ModelServer
from tests.unit.rerun.commands import command, python, twice

__all__ = ["command", "python", "twice"]


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    """A failure of ours raises, so that no test passes over one."""
    before, guard.policy = guard.policy, "raise"
    yield
    guard.policy = before


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")


class Recorded:
    """A recording of `program(url)`.

    Attributes:
        value: what the program returned.
        connects: connections tried since the recording.
    """

    def __init__(self, path: Path, program: Callable[[str], Any], url: str, value: Any) -> None:
        self.path = path
        self.program = program
        self.url = url
        self.value = value
        self.connects = 0

    def again(self, program: Callable[[str], Any] | None = None, **options: Any) -> tuple[Any, Any]:
        """(what it returned, its certificate) of a rerun that must return."""
        with lctl.rerun(self.path, **options) as block:
            value = (program or self.program)(self.url)
        return value, block.certificate

    def stopped(self, program: Callable[[str], Any], **options: Any) -> tuple[str, Any]:
        """(why, certificate) of a rerun that must stop."""
        block = lctl.rerun(self.path, **options)
        with pytest.raises(lctl.errors.RerunStopped) as caught, block:
            program(self.url)
        return str(caught.value), block.certificate

    @property
    def lines(self) -> list[bytes]:
        return list(lctl.Chain.load(self.path).log.lines())


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Recorded]]:
    """`record(program)`: run it under recording, close the server, block sockets."""
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "runs"))
    ensure_installed()
    made: list[Recorded] = []

    def run(program: Callable[[str], Any], prepare: Any = None) -> Recorded:
        path = tmp_path / f"recorded-{len(made)}.lctl.json"
        with ModelServer(random_answers=True) as server:
            if prepare is not None:
                prepare(server)
            with lctl.LCTLSession("recorded", path):
                value = program(server.url)
            url = server.url
        recorded = Recorded(path, program, url, value)
        made.append(recorded)

        def refuse(self: socket.socket, address: Any) -> Any:
            recorded.connects += 1
            raise OSError("no network in a rerun")

        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr(socket.socket, "connect_ex", refuse)
        return recorded

    yield run
    lctl.uninstrument()
    made.clear()
    with (
        warnings.catch_warnings()
    ):  # programs leave clients open; collected later, another test would hear of it
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    gc.freeze()  # what is left are modules, mostly: the next test's collection need not look through them


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(seed=1) as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        yield server
