"""A folder for journals, and a store beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lctl.guard import guard
from lctl.stores.opening import close_stores

PROGRAM = Path(__file__).with_name("writing.py")
AWAY = "postgresql://nobody@127.0.0.1:1/nowhere?connect_timeout=1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """LCTL_DIR; stores are closed afterwards, and what was reported is forgotten."""
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "lctl"))
    monkeypatch.setenv("LCTL_QUIET", "1")
    monkeypatch.delenv("LCTL_STORE", raising=False)
    monkeypatch.setattr(guard, "policy", "report")
    monkeypatch.setattr(guard, "failures", {})
    monkeypatch.setattr(guard, "examples", {})
    yield tmp_path / "lctl"
    close_stores()


@pytest.fixture
def place(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/runs.db"


def left(folder: Path) -> list[str]:
    """Names of what is in the outbox."""
    there = folder / "outbox"
    return sorted(path.name for path in there.iterdir()) if there.is_dir() else []
