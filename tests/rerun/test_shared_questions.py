"""What libraries ask for the whole process, in whichever threads come to it before they know."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.testing import ModelServer
from tests.rerun.harness import record, rerun

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("askers", ["A", "C", "ABC"])
def test_another_thread_may_ask_what_a_model_is_and_more_of_them(askers: str, tmp_path: Path) -> None:
    with ModelServer(seed=1) as server:
        first = record("shared_question.py", tmp_path, {**server.environ, "ASKERS": "AB"})
    assert first.code == 0, first.err
    asked = [event for event in first.events if str(event["data"].get("url")).endswith("/api/show")]
    assert [event["data"]["lane"] for event in asked] == ["0.0.0"]
    again = rerun(first.log, tmp_path, environ={"ASKERS": askers})
    assert again.out == first.out
    assert again.code == 0, again.err
    assert again.events == first.events
