"""Programs under nest_asyncio, whose loops run inside of themselves: time and order are kept as of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rerun.harness import Silence, World, record, rerun

pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")
pytest.importorskip("nest_asyncio", reason="needs: pip install 'lctl[test]'")
pytestmark = pytest.mark.slow


def test_it_runs_again_exactly(tmp_path: Path) -> None:
    with World() as world:
        first = record("loops_in_themselves.py", tmp_path, world.environ)
    assert first.code == 0, first.err
    assert "waited in vain" in first.out
    assert any("turn" in event["data"] for event in first.events), "the turns of such a loop are not counted"
    with Silence(first) as silence:
        for _ in range(3):
            again = rerun(first.log, tmp_path)
            assert (again.code, again.out) == (0, first.out), again.err
            assert again.events == first.events
        assert silence.connections == 0
