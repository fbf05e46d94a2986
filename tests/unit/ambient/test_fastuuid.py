"""Ids that LiteLLM draws by `fastuuid`."""

from __future__ import annotations

import pytest

from lctl.instrument.ambient import identifiers


def test_ids_by_fastuuid_are_told_of_and_are_its_own() -> None:
    fastuuid = pytest.importorskip("fastuuid")
    told: list[str] = []
    identifiers.watch(lambda id: told.append(id.hex))
    try:
        drawn = fastuuid.uuid4()
    finally:
        identifiers.unwatch()
    assert told == [drawn.hex] and isinstance(drawn, fastuuid.UUID)
    fastuuid.uuid4()
    assert len(told) == 1
