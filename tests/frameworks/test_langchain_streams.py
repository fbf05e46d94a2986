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


def test_tools_dispatch_their_events_again_and_keep_what_they_count(tmp_path: Path) -> None:
    """A rerun does not run their bodies; callbacks hear the same, and their attributes are the same."""
    for name in ("langchain", "langchain_openai"):
        pytest.importorskip(name, reason="needs: pip install langchain langchain-openai")
    played = play("langchain_events.py", tmp_path)
    played.check()
    heard = played.again.out.splitlines()
    assert heard.count("heard looking {'city': 'Rome', 'part': 1} True") == 1
    assert heard.count("heard around {'city': 'Rome'} False") == 1
    assert heard[-1].startswith("4 ['Rome', 'Atlantis'")
