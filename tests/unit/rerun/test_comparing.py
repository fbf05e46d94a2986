"""What of two event lines is the same."""

from __future__ import annotations

from typing import Any

import orjson

from lctl.rerun.comparing import difference


def _resumed(*value: Any) -> bytes:
    data = {"source": "resumed", "key": "seq", "value": value}
    return orjson.dumps({"seq": 9, "type": "ambient", "timestamp": "", "agent": "main", "data": data})


def test_with_what_the_program_went_on_and_not_when() -> None:
    recorded = _resumed([3, 704.775], [5, 705.088])
    assert difference(recorded, _resumed([3, 805.587], [5, 805.587])) is None
    assert difference(recorded, _resumed([3, 704.775])) is not None
