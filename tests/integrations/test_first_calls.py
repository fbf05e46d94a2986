"""The first request of a program opens its log, if it is a model call, wherever that goes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import lctl
from lctl.codec import open_log
from lctl.session import ending


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which what this program does is recorded by one line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LCTL_DIR", str(tmp_path))
    monkeypatch.setenv("LCTL_QUIET", "1")
    lctl.auto_instrument()
    yield tmp_path
    lctl.uninstrument()


@pytest.mark.parametrize(
    "url",
    [
        "https://api.inference.wandb.ai/v1/chat/completions",
        "https://api.braintrust.dev/v1/proxy/chat/completions",
    ],
)
def test_a_model_behind_a_host_that_takes_telemetry(recorded: Path, make: Any, url: str) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=make.chat("Hello")))
    with httpx.Client(transport=transport) as client:
        client.post(url, json={"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
    lctl.uninstrument()
    [path] = recorded.glob("*.lctl.json")
    events = list(open_log(path).events())
    assert [e.data.get("model") for e in events if e.type == "step_start"] == ["m"]
    assert [e.data["url"] for e in events if e.type == "exchange"] == [url]


def test_an_upload_opens_no_log(recorded: Path) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200))
    with httpx.Client(transport=transport) as client:
        client.post("https://api.braintrust.dev/logs3", json={"rows": []})
    lctl.uninstrument()
    assert list(recorded.glob("*.lctl.json")) == []


def test_what_is_sent_after_the_end_opens_no_other_log(
    recorded: Path, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit functions of tools come after the log was closed: a second one would be `last`, and empty."""

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=make.chat("Hello"))

    monkeypatch.setattr(ending, "is_over", True)
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        client.post("https://tools.example/report", json={"events": []})
        assert list(recorded.glob("*.lctl.json")) == []
        ask = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        client.post("https://models.example/v1/chat/completions", json=ask)
    assert len(list(recorded.glob("*.lctl.json"))) == 1
