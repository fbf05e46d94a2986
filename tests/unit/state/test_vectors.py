"""The conformance vectors of the specification: logs with the state expected at each seq."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

from lctl.codec import open_log
from lctl.state.reducer import fold
from lctl.state.timeline import Timeline

FOLDER = Path(__file__).parents[3] / "spec" / "vectors"
VECTORS = sorted(FOLDER.glob("*.json"))


def test_there_are_vectors() -> None:
    """Each names itself as its file does."""
    assert VECTORS
    for path in VECTORS:
        assert json.loads(path.read_bytes())["name"] == path.stem


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_a_vector(path: Path) -> None:
    """Folded and by random access, every key a vector names has the value it names."""
    vector = orjson.loads(path.read_bytes())
    log = open_log(orjson.dumps(vector["log"]))
    timeline = Timeline(log, every=2)
    assert vector["expect"], "a vector that expects nothing tests nothing"
    for expected in vector["expect"]:
        seq = expected["seq"]
        for state in (fold(log.events(stop=seq + 1)), timeline.at(seq)):
            for key, value in expected.items():
                agree(value, getattr(state, key), f"{path.stem} at {seq}: {key}")


def agree(expected: Any, got: Any, where: str) -> None:
    """Compare the keys that are expected; mappings by id or seq have exactly the expected ones."""
    if isinstance(expected, dict) and isinstance(got, msgspec.Struct):
        for key, value in expected.items():
            agree(value, getattr(got, key), f"{where}.{key}")
    elif isinstance(expected, dict) and isinstance(got, Mapping):
        by_text = {str(key): value for key, value in got.items()}
        assert list(expected) == list(by_text), where
        for key, value in expected.items():
            agree(value, by_text[key], f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(got, Sequence) and not isinstance(got, str):
        assert len(expected) == len(got), where
        for n, value in enumerate(expected):
            agree(value, got[n], f"{where}[{n}]")
    else:
        assert expected == got, where
