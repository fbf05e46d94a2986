"""Programs that stop to read what their agents stream: steps nest, and say that they were left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.clients import play
from tests.frameworks.outlines import outline, unnested

pytestmark = pytest.mark.frameworks


def test_chains_of_langchain(tmp_path: Path) -> None:
    for name in ("langchain_core", "langchain_openai"):
        pytest.importorskip(name, reason="needs: pip install langchain langchain-openai")
    played = play("left_langchain.py", tmp_path)
    played.check()
    events = played.first.events
    assert unnested(events) == []
    chains = [line for line in outline(events) if line.startswith("chain")]
    assert chains == [
        "chain main: RunnableSequence",
        *["chain main: RunnableSequence [aborted]"] * 4,
        "chain numbers: numbers",
        "chain numbers: numbers [aborted]",
    ]


def test_agents_of_four_frameworks(tmp_path: Path) -> None:
    for name in ("strands", "semantic_kernel", "agno", "agent_framework"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    played = play("left_agents.py", tmp_path)
    played.check()
    events = played.first.events
    assert unnested(events) == []
    agents = [line for line in outline(events) if line.startswith("agent")]
    assert agents == [f"agent {name}: run [aborted]" for name in ("agno", "framework", "kernel", "strands")]
