"""When the pieces of calls under way at once came: by one clock, and one reading of it, for all."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from lctl import LCTLSession
from lctl.session.concurrency import turns

STREAM = b'data: {"id":"x","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n'


def answer(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=iter([STREAM]))


def test_a_machine_that_is_busy_as_a_call_begins_moves_no_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a rerun would give the pieces of two streams in another order."""
    asked = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hello"}]}
    url = "http://models.test/v1/chat/completions"
    with (
        LCTLSession("c", path=tmp_path / "run.lctl.json") as session,
        httpx.Client(transport=httpx.MockTransport(answer)) as client,
        client.stream("POST", url, json=asked) as first,
    ):
        monkeypatch.setattr(turns, "is_first", lambda: time.sleep(0.05))  # in the midst of its beginning
        with client.stream("POST", url, json=asked) as second:
            before = session.under_way.now()
            second.read()
        first.read()
    found: list[dict[str, Any]] = [one["data"] for one in session.to_dict()["events"]]
    second_of = next(data for data in found if "chunks" in data)
    assert second_of["at"] + second_of["chunks"][0][0] >= before
