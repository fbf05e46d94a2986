"""The id of a call in what it gave, where the call is made again under another."""

from __future__ import annotations

from typing import Any

import pytest

from lctl.session.tooling.callids import with_id_of
from lctl.session.tooling.toolcalls import ToolCall

NOW = "call_new"


def given(recorded: str | None, now: str | None = NOW, **result: Any) -> Any:
    return with_id_of({"tool": "find", "call_id": recorded, **result}, ToolCall("find", {}, now))


@pytest.mark.parametrize(
    ("recorded", "output", "expected"),
    [
        ("call_old1", {"of": ["call_old1"]}, {"of": [NOW]}),
        ("call_old1", {"call_old1": 1}, {NOW: 1}),
        ("call_old1", '{"tool_call_id": "call_old1"}', f'{{"tool_call_id": "{NOW}"}}'),
        ("call_old1", "call_old12 call_old1-2", "call_old12 call_old1-2"),
        # What may well mean something else is an id only where a field says so.
        ("1", {"tool_call_id": "1", "id": "1"}, {"tool_call_id": NOW, "id": "1"}),
        ("find", {"toolUseId": "find", "text": "find"}, {"toolUseId": NOW, "text": "find"}),
        (None, {"tool_call_id": None}, {"tool_call_id": None}),
    ],
)  # fmt: skip
def test_the_running_calls_id_stands_for_the_recorded_one(
    recorded: str | None, output: Any, expected: Any
) -> None:
    assert given(recorded, output=output)["output"] == expected
    assert given(recorded, None, output=output)["output"] == output


def test_what_is_no_result_stays() -> None:
    beside = {"wrote": [["stdout", 0, "call_old1"]], "inside": [[1, 2]]}
    found = given("call_old1", tape={"output": {"v": "call_old1"}, **beside})
    assert found["tape"] == {"output": {"v": NOW}, **beside}
