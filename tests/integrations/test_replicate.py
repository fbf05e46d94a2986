"""Replicate's predictions of texts: waited for, polled, streamed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integrations.rerunning import Rerun

ID = "gm3qorzdhgbfurvjtvhg6dckhu"
INPUT = {"prompt": "Rome?", "system_prompt": "Be brief.", "max_tokens": 20}
AT = "/v1/models/meta/llama-3-8b/predictions"
COUNTS = {"input_token_count": 9, "output_token_count": 4, "predict_time": 0.2}
SAID = ["It is ", "sunny."]


def prediction(status: str, url: str = "", **more: Any) -> dict[str, Any]:
    urls = {"get": f"{url}/v1/predictions/{ID}", "cancel": "", "stream": f"{url}/v1/files/abc"}
    whole = {"id": ID, "model": "meta/llama-3-8b", "version": "v", "status": status, "input": INPUT}
    times = {"created_at": "2026-01-01T00:00:00Z", "started_at": None, "completed_at": None}
    return {**whole, "output": None, "error": None, "logs": "", "metrics": {}, "urls": urls, **times, **more}


DONE = prediction("succeeded", output=SAID, metrics=COUNTS)


def polled(url: str) -> str:
    got = httpx.post(url + AT, json={"input": INPUT}).json()
    while got["status"] in ("starting", "processing"):
        got = httpx.get(f"{url}/v1/predictions/{ID}").json()
    return "".join(got["output"] or [])


def by_sdk(url: str) -> str:
    """The SDK waits first, then polls."""
    replicate = pytest.importorskip("replicate")
    client = replicate.Client(api_token="test", base_url=url)
    client.poll_interval = 0.01
    try:
        return "".join(client.run("meta/llama-3-8b", input=INPUT))
    finally:
        client._client.close()  # nothing of its own does


def replies(make: Any) -> list[Any]:
    return [make.Reply(prediction(status)) for status in ("starting", "processing")] + [make.Reply(DONE)]


@pytest.mark.parametrize("ask", [polled, by_sdk])
def test_a_prediction_is_polled(server: Any, make: Any, log: Any, ask: Callable[[str], str]) -> None:
    server.replies = replies(make)
    assert ask(server.url) == "It is sunny."
    [(start, begun), (_, done)] = log.steps()
    assert (start["provider"], start["operation"]) == ("replicate", "predictions")
    assert (start["model"], start["params"]) == ("meta/llama-3-8b", {"max_tokens": 20})
    assert (begun["finish_reason"], done["finish_reason"]) == ("starting", "succeeded")
    assert (done["response_id"], done["tokens"]) == (ID, {"input": 9, "output": 4})
    told = log.of("message")
    assert [one["content"] for one in told] == ["Be brief.", "Rome?", "It is sunny."]
    assert told[2]["parent_id"] == told[1]["message_id"]


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("ask", [polled, by_sdk])
def test_rerun(server: Any, make: Any, tmp_path: Path, ask: Callable[[str], str], full: bool) -> None:
    server.replies = replies(make)
    assert Rerun(tmp_path)(ask, server.url, full=full) == "It is sunny."


def streamed(url: str) -> str:
    got = httpx.post(url + AT, json={"input": INPUT, "stream": True}).json()
    return httpx.get(got["urls"]["stream"], headers={"accept": "text/event-stream"}).text


def streams(server: Any, make: Any) -> list[Any]:
    pieces = [f"event: output\nid: {n}\ndata: {piece}\n\n".encode() for n, piece in enumerate(SAID)]
    begun = make.Reply(prediction("starting", server.url))
    return [begun, make.Reply(chunks=[*pieces, b"event: done\ndata: {}\n\n"])]


def test_a_prediction_is_streamed(server: Any, make: Any, log: Any) -> None:
    """From another address, which the prediction has said. Who asks for it again gets no second answer."""
    server.replies = [*streams(server, make), make.Reply(DONE)]
    assert "sunny." in streamed(server.url)
    httpx.get(f"{server.url}/v1/predictions/{ID}")
    [_, (start, done)] = log.steps()
    assert (start["stream"], done["finish_reason"], done["response_id"]) == (True, "succeeded", ID)
    assert log.of("message")[-1]["content"] == "It is sunny."


@pytest.mark.parametrize("full", [False, True])
def test_rerun_of_a_stream(server: Any, make: Any, tmp_path: Path, full: bool) -> None:
    server.replies = streams(server, make)
    assert "sunny." in Rerun(tmp_path)(streamed, server.url, full=full)


def test_what_failed(server: Any, make: Any, log: Any) -> None:
    server.replies = [make.Reply(prediction("starting")), make.Reply(prediction("failed", error="No GPU."))]
    polled(server.url)
    assert [end["outcome"] for _, end in log.steps()] == ["success", "error"]
    [error] = log.of("error")
    assert error["message"] == "No GPU."


def test_pictures_are_no_model_calls(server: Any, make: Any, log: Any) -> None:
    server.replies = [make.Reply(prediction("succeeded", output=["https://x/y.png"]))]
    at = f"{server.url}/v1/models/black-forest-labs/flux-dev/predictions"
    httpx.post(at, json={"input": {"prompt": "A cat", "aspect_ratio": "1:1"}})
    assert not log.steps()
