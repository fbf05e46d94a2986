"""Names of recordings that are begun at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lctl.session import naming


def test_of_many_one_gets_a_name(tmp_path: Path) -> None:
    """And an empty file is there, in a folder that may have to be made."""
    place = tmp_path / "new" / "run.lctl.json"
    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(naming.claim, [place] * 40)) == [False] * 39 + [True]
    assert place.read_bytes() == b""
