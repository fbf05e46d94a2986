"""Model calls made without an SDK: every HTTP library, each attempt a step, each exchange once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.instrument import ensure_installed, settings, traffic, uninstrument
from lctl.instrument.suppress import suppress
from lctl.session import LCTLSession
from tests.integrations.libraries import ASK, LIBRARIES, PATH, Library, by_httpx2


@pytest.mark.parametrize("library", LIBRARIES)
class TestEveryLibrary:
    def test_one_step(self, library: Library, server: Any, log: Any) -> None:
        """A call is recorded once, with prompt and answer, by whichever library it was made."""
        answer = library(server.url + PATH, ASK)
        assert answer["choices"][0]["message"]["content"] == "echo: Hi"
        [(start, end)] = log.steps()
        assert (start["model"], end["outcome"]) == ("m", "success")
        [exchange] = log.of("exchange")
        name = library.__name__.split("_")[1]
        assert exchange["http"] == {"urllib": "http.client"}.get(name, name)
        assert exchange["url"] == server.url + PATH
        assert exchange["headers"]["x-request-id"] == "req_1"
        assert exchange["complete"] is True
        assert log.of("message")[-1]["content"] == "echo: Hi"

    def test_gzip(self, library: Library, server: Any, make: Any, log: Any) -> None:
        """A gzip body is decoded for the host by its library, and for the log by us, once."""
        body = make.gzip(make.chat("Zipped " * 30))
        server.replies = [make.Reply(body, headers={"content-encoding": "gzip"})]
        answer = library(server.url + PATH, ASK)
        assert log.of("message")[-1]["content"] == answer["choices"][0]["message"]["content"]
        assert "content-encoding" not in log.of("exchange")[0]["headers"]

    def test_error_status(self, library: Library, server: Any, make: Any, log: Any) -> None:
        """An error status is an error of the call, whatever the library makes of it."""
        server.replies = [make.Reply({"error": {"message": "slow down"}}, 429)]
        library(server.url + PATH, ASK)
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        assert log.of("error")[0]["type"] == "rate_limited"

    def test_error_in_a_good_status(self, library: Library, server: Any, make: Any, log: Any) -> None:
        """Gateways answer 200 with the error of the provider behind them: an error of the call."""
        server.replies = [make.Reply({"id": "gen-1", "error": {"message": "Provider refused", "code": 502}})]
        library(server.url + PATH, ASK)
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        [error] = log.of("error")
        assert (error["message"], error["context"]["code"]) == ("Provider refused", 502)

    def test_refused(self, library: Library, log: Any) -> None:
        """The library's own exception passes unchanged; the attempt is recorded without a response."""
        with pytest.raises(Exception) as caught:
            library("http://127.0.0.1:9" + PATH, ASK)
        assert not type(caught.value).__module__.startswith("lctl")
        [(_, end)] = log.steps()
        assert end["outcome"] == "error"
        assert log.of("error")[0]["type"] == "connection_failed"
        assert "status" not in log.of("exchange")[0]

    def test_other_traffic(self, library: Library, server: Any, log: Any) -> None:
        """What is no model call is counted by host and not recorded."""
        before = traffic.passed["127.0.0.1"]
        library(server.url + "/api/things", {"x": 1})
        assert log.types == []
        assert traffic.passed["127.0.0.1"] == before + 1

    def test_path_of_another_service(self, library: Library, server: Any, log: Any) -> None:
        """A path that ends as a provider's does, with a body that does not fit, is other traffic."""
        library(server.url + "/channels/1/messages", {"text": "not a prompt"})
        assert log.types == []

    def test_everything(
        self, library: Library, server: Any, log: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With record="full" other exchanges are events too, request body included; telemetry never."""
        monkeypatch.setattr(settings, "full", True)
        library(server.url + "/api/things", {"x": 1})
        library(server.url + "/api/public/ingestion", {"batch": []})
        [exchange] = log.of("exchange")
        assert exchange["kind"] == "http"
        assert json.loads(exchange["request"]["body"]) == {"x": 1}
        assert json.loads(exchange["body"]) == {"ok": True}
        assert exchange["complete"] is True

    def test_telemetry_alone(
        self, library: Library, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It opens no log: exporters send at exit, when the program's is closed, and `last` is that one."""
        monkeypatch.setenv("LCTL_DIR", str(tmp_path))
        lctl.auto_instrument()
        try:
            library(server.url + "/api/public/ingestion", {"batch": []})
            assert list(tmp_path.iterdir()) == []
        finally:
            lctl.uninstrument()

    def test_suppressed(self, library: Library, server: Any, log: Any) -> None:
        """Within suppress() nothing is recorded."""
        with suppress():
            library(server.url + PATH, ASK)
        assert log.types == []


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/v1/completions", {"error": {"message": "refused"}}, "refused"),
        ("/v1/embeddings", {"error": {"message": "refused"}}, "refused"),
        ("/v1/messages", {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, "busy"),
        ("/v2/chat", {"error": "refused"}, "refused"),
        ("/model/m/converse", {"error": "refused"}, "refused"),
        (
            "/v1/chat/completions",
            {"detail": "?"},
            "the body is no answer of a model: 15 bytes, application/json",
        ),
        ("/v1/chat/completions", b"<html>", "the body is no answer of a model: 6 bytes, text/html"),
        ("/v1/messages", b"", "the body is no answer of a model: 0 bytes, text/html"),
        (
            "/v1beta/models/g:generateContent",
            b"<html>",
            "the body is no answer of a model: 6 bytes, text/html",
        ),
    ],
)
def test_good_status_without_an_answer(
    server: Any, make: Any, log: Any, path: str, body: Any, message: str
) -> None:
    """A 200 that holds an error, or nothing that could be read as an answer, is no success."""
    httpx = pytest.importorskip("httpx")
    headers = {"content-type": "text/html"} if isinstance(body, bytes) else {}
    server.replies = [make.Reply(body, headers=headers)]
    ask = {**ASK, "prompt": "Hi", "input": "Hi", "contents": [{"parts": [{"text": "Hi"}]}]}
    assert httpx.post(server.url + path, json=ask).status_code == 200
    [(_, end)] = log.steps()
    assert end["outcome"] == "error"
    [error] = log.of("error")
    assert (error["message"], error["context"]["status"]) == (message, 200)


def test_a_redirect_that_is_not_followed(server: Any, make: Any, log: Any) -> None:
    """The client gets it as its answer, which is none of a model; one that is followed is no failure."""
    httpx = pytest.importorskip("httpx")
    there = make.Reply(b"", status=307, headers={"location": server.url + PATH})
    server.replies = [there, there, make.Reply(make.chat("Hello"))]
    assert httpx.post(server.url + PATH, json=ASK).status_code == 307
    assert httpx.post(server.url + PATH, json=ASK, follow_redirects=True).status_code == 200
    assert [end["outcome"] for _, end in log.steps()] == ["error", "success"]
    [error] = log.of("error")
    assert error["message"] == f"HTTP status 307, sent on to {server.url + PATH}"
    assert error["context"]["status"] == 307


def test_a_number_beyond_floats(server: Any, make: Any, log: Any) -> None:
    """The SDK reads past it; so the call is a success, with its answer."""
    httpx = pytest.importorskip("httpx")
    body = json.dumps(make.chat("Hello")).encode()
    server.replies = [make.Reply(body[:-1] + b',"extra":1e400}')]
    assert httpx.post(server.url + PATH, json=ASK).status_code == 200
    [(_, end)] = log.steps()
    assert (end["outcome"], end["tokens"]["output"]) == ("success", 5)
    assert [m["content"] for m in log.of("message") if m["role"] == "assistant"] == ["Hello"]


def test_a_body_with_a_byte_order_mark(server: Any, make: Any, log: Any) -> None:
    """Some gateways on Windows send one; the SDKs read past it."""
    httpx = pytest.importorskip("httpx")
    server.replies = [make.Reply(b"\xef\xbb\xbf" + json.dumps(make.chat("Hello")).encode())]
    assert httpx.post(server.url + PATH, json=ASK).json()["object"] == "chat.completion"
    [(_, end)] = log.steps()
    assert (end["outcome"], end["tokens"]["output"]) == ("success", 5)
    assert [m["content"] for m in log.of("message") if m["role"] == "assistant"] == ["Hello"]


def test_a_stream_of_another_form_is_no_error(server: Any, make: Any, log: Any) -> None:
    """Writer's completions: the SDK reads each event, in which there is nothing that it knows."""
    httpx = pytest.importorskip("httpx")
    server.replies = [make.Reply(chunks=[b'data: {"value":"Sure"}\n\n', b'data: {"value":"!"}\n\n'])]
    httpx.post(server.url + "/v1/completions", json={"model": "m", "prompt": "Hi", "stream": True})
    [(_, end)] = log.steps()
    assert end["outcome"] == "success"
    assert log.of("error") == []


def test_a_filtered_prompt_is_no_error(server: Any, make: Any, log: Any) -> None:
    """Azure's answer to it has status 200 and no content; the SDK raises nothing."""
    httpx = pytest.importorskip("httpx")
    server.replies = [make.Reply({"error": {"message": "Filtered", "code": "content_filter", "status": 400}})]
    httpx.post(server.url + PATH, json=ASK)
    [(_, end)] = log.steps()
    assert end["outcome"] == "success"
    assert log.of("error") == []


def test_answer_in_an_unknown_encoding(server: Any, make: Any, log: Any) -> None:
    """What nobody here can decode is not called a success; the host gets it as it came."""
    httpx = pytest.importorskip("httpx")
    body = json.dumps(make.chat("hidden")).encode()[::-1]
    server.replies = [make.Reply(body, headers={"content-encoding": "reversed"})]
    assert httpx.post(server.url + PATH, json=ASK).content == body
    [(_, end)] = log.steps()
    assert end["outcome"] == "error"
    assert log.of("error")[0]["message"].endswith(f"{len(body)} bytes, encoded as reversed")


def test_a_log_is_told_of_its_own_traffic_only(tmp_path: Path, server: Any) -> None:
    """Requests counted before a session was opened are not in its log's tail."""
    pytest.importorskip("httpx2")
    tails = []
    ensure_installed()
    try:
        for name in "ab":
            with LCTLSession(name, tmp_path / f"{name}.lctl.json") as session:
                if name == "a":
                    by_httpx2(server.url + "/api/things", {"x": 1})
            tails.append(json.loads(session.path.read_text()))
    finally:
        uninstrument()
    assert tails[0]["recording"]["other_traffic"] == {"127.0.0.1": 1}
    assert "recording" not in tails[1]
