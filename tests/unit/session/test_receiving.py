"""What comes from outside while a tool call is under way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lctl.session import LCTLSession
from lctl.session.tooling import receiving
from lctl.session.tooling.receiving import Incoming, messages


async def _nobody(content: Any) -> None: ...


def test_a_call_keeps_so_many_messages_and_says_when_it_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiving, "MOST", 2)
    incoming = Incoming(_nobody)
    assert incoming.note("unheard")  # no recording: nothing to keep it in
    assert incoming.tape() is None
    with LCTLSession("c", tmp_path / "c.lctl.json") as session:
        incoming.begin(session.clock, session.under_way.begin(), False)
        assert [incoming.note(n) for n in range(3)] == [True, True, False]
    assert [message.content for message in messages({"received": incoming.tape()})] == [0, 1]


@pytest.mark.parametrize(
    "tape", [{}, {"received": 3}, {"received": [[1.0, None]]}, {"received": [["soon", 1, {}]]}]
)
def test_what_is_no_message_is_none(tape: dict[str, Any]) -> None:
    assert list(messages(tape)) == []
