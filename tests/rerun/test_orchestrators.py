"""Libraries that run a program's functions as a graph of tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rerun.harness import World, record, rerun

pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")

pytestmark = pytest.mark.slow


def test_delayed_calls_of_dask(tmp_path: Path) -> None:
    pytest.importorskip("dask", reason="needs: pip install dask")
    with World() as world:
        first = record("delayed_calls.py", tmp_path, world.environ)
    assert first.code == 0, first.err
    for _ in range(3):
        again = rerun(first.log, tmp_path)
        assert again.code == 0, again.err
        assert again.out == first.out
