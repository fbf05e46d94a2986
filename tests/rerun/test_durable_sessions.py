"""Programs with agent sessions run again: the ids that lctl makes up for them are the recorded ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.testing import ModelServer
from tests.rerun.harness import record, rerun

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("how", ["named", "unnamed", "tasks", "replies"])
def test_they_are_exact(how: str, tmp_path: Path) -> None:
    with ModelServer() as server:
        server.reply(lambda request: f"So you say: {request.last_text}", times=None)
        first = record("durable_sessions.py", tmp_path, {**server.environ, "HOW": how})
    assert first.code == 0, first.err
    assert "So you say" in first.out
    again = rerun(first.log, tmp_path)
    assert again.out == first.out, again.err
