"""Streams of LangChain and LangGraph, run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.clients import play

pytestmark = pytest.mark.frameworks


def test_streams_run_again_with_the_events_of_their_tools(tmp_path: Path) -> None:
    """What waits for a stream's pieces is no lane, and callbacks hear of tools that are served."""
    for name in ("langchain", "langchain_openai"):
        pytest.importorskip(name, reason="needs: pip install langchain langchain-openai")
    played = play("langchain_streams.py", tmp_path)
    played.check()
    assert played.again.out.splitlines()[-1] == "2 2"
