"""Two recorded runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.codec import Log
from tests.unit.otel.logs import record


@pytest.fixture
def logs(tmp_path: Path) -> list[Log]:
    (tmp_path / "runs").mkdir()
    return [record(tmp_path / "runs" / f"{name}.lctl.json", chain_id=name) for name in ("run-1", "run-2")]
