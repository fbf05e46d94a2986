"""Integers that JSON has and 64 bits have not."""

from __future__ import annotations

from pathlib import Path

import pytest

import lctl
from lctl.codec import open_log
from lctl.state.messages import tool_calls_of
from lctl.testing import ModelServer, Reply

openai = pytest.importorskip("openai", reason="needs: pip install 'lctl[test]'")

_BIG = 123456789012345678901234567890
_SAID = f'{{"to": {_BIG}, "from": -{_BIG}, "id": {2**64 - 1}, "part": 0.5}}'
_KEPT = {"to": {"$int": str(_BIG)}, "from": {"$int": str(-_BIG)}, "id": 2**64 - 1, "part": 0.5}


def test_a_tools_arguments_are_exact(tmp_path: Path) -> None:
    """As a call of the tool is told, and as readers of the message have it: no digit is lost."""
    path = tmp_path / "run.lctl.json"
    with ModelServer() as server:
        server.reply(Reply(tool_calls=[("pay", _SAID)]))
        server.reply("paid")
        with lctl.LCTLSession(path=path), openai.OpenAI(base_url=server.openai_url, api_key="k") as client:
            asked = [{"role": "user", "content": "Pay."}]
            called = client.chat.completions.create(model="gpt-4o", messages=asked).choices[0].message
            told = {"role": "tool", "tool_call_id": called.tool_calls[0].id, "content": "paid"}
            messages = [*asked, called.model_dump(exclude_none=True), told]
            client.chat.completions.create(model="gpt-4o", messages=messages)
    events = [event.to_dict() for event in open_log(path).events()]
    (call,) = [event["data"] for event in events if event["type"] == "tool_call"]
    assert call["input"] == _KEPT
    sampled, *_ = [e["data"] for e in events if e["type"] == "message" and e["data"].get("tool_calls")]
    assert [one["arguments"] for one in tool_calls_of(sampled)] == [_KEPT]
