"""A session in a temporary folder, and its events as plain values."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lctl.guard import guard
from lctl.session import LCTLSession, hooks
from lctl.testing import FixedClock, SequentialIds

Events = Callable[[LCTLSession], list[dict[str, Any]]]
Brief = Callable[[LCTLSession], list[str]]
Open = Callable[[str], LCTLSession]


def quiet_environment() -> dict[str, str]:
    """Of a program whose log is nobody's child, and where our failures are guarded."""
    return {k: v for k, v in os.environ.items() if k not in ("LCTL_STRICT", "LCTL_PARENT")}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test in a folder of its own, where our failures raise and entering a session patches nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LCTL_DIR", raising=False)
    monkeypatch.delenv("LCTL_PARENT", raising=False)
    monkeypatch.setattr(guard, "policy", "raise")
    monkeypatch.setattr(guard, "failures", {})
    monkeypatch.setattr(guard, "examples", {})
    monkeypatch.setattr(hooks, "on_enter", [])
    return tmp_path


@pytest.fixture
def session(folder: Path) -> Iterator[LCTLSession]:
    with LCTLSession("c", folder / "run.lctl.json", clock=FixedClock(), ids=SequentialIds()) as session:
        yield session


@pytest.fixture
def events() -> Events:
    return lambda session: [json.loads(line) for line in session.lines()]


@pytest.fixture
def brief(events: Events) -> Brief:
    """Each event as `seq type agent @step`."""

    def texts(session: LCTLSession) -> list[str]:
        return [
            f"{e['seq']} {e['type']} {e['agent']}" + (f" @{e['step']}" if "step" in e else "")
            for e in events(session)
        ]

    return texts


@pytest.fixture
def open_session(tmp_path: Path) -> Open:
    return lambda name: LCTLSession(name, tmp_path / f"{name}.lctl.json")
