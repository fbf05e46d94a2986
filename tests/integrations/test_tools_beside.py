"""Tools of observability beside us: what they send is no part of a recording, wherever it goes, and what the
program asks them for is."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import lctl
from lctl.codec import open_log
from tests.integrations.rerunning import Rerun, events, recording

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
#: The thread of an error tracker, which sends to a server of the program's owners.
WORKER = """
def begin(send):
    thread = Thread(target=send)
    thread.start()
    return thread
"""


@pytest.fixture(autouse=True)
def put_back() -> Iterator[None]:
    yield
    lctl.uninstrument()


def begin(send: Any) -> threading.Thread:
    names: dict[str, Any] = {"__name__": "sentry_sdk.worker", "Thread": threading.Thread}
    exec(compile(WORKER, "sentry_sdk/worker.py", "exec"), names)
    made: threading.Thread = names["begin"](send)
    return made


def test_what_a_tool_s_own_thread_sends(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says something else in each run, and comes whenever it comes."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run.lctl.json"

    def send() -> None:
        with httpx.Client() as client:
            client.post(server.url + "/store", content=uuid.uuid4().bytes)
            client.get(server.url + "/settings")

    def program() -> list[str]:
        said = []

        def ask() -> None:
            with httpx.Client() as client:
                said.append(client.get(server.url + "/own").text)

        sending = begin(send)
        with httpx.Client() as client:
            answer = client.post(server.url + "/v1/chat/completions", json=ASK).json()
        own = threading.Thread(target=ask)
        own.start()
        own.join()
        sending.join()
        return [answer["choices"][0]["message"]["content"], *said]

    with recording(path, full=True):
        first = program()
    paths = [e["data"]["url"].rpartition("/")[2] for e in events(path) if e["type"] == "exchange"]
    assert paths == ["completions", "own"]
    server.requests.clear()
    with lctl.rerun(path) as block:
        assert program() == first
    assert block.certificate.exact
    assert server.requests == []


def kept_prompt(_: str) -> str:
    """What the program asks for where its telemetry goes."""
    answer = httpx.Response(200, text="Be brief.")
    with httpx.Client(transport=httpx.MockTransport(lambda request: answer)) as client:
        return str(client.get("https://cloud.langfuse.com/api/public/v2/prompts/brief").text)


def test_a_prompt_that_is_kept_with_the_telemetry(rerun: Rerun) -> None:
    assert rerun(kept_prompt, "", full=True) == "Be brief."
    assert [e["type"] for e in events(rerun.tape)] == ["exchange"]


def test_what_is_asked_there_and_not_on_the_tape(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recording of model calls alone does not hold it: it is answered with nothing, and stops no rerun."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run.lctl.json"

    def program() -> list[str]:
        said = [kept_prompt("")]
        with httpx.Client() as client:
            answer = client.post(server.url + "/v1/chat/completions", json=ASK).json()
        return [*said, answer["choices"][0]["message"]["content"]]

    with lctl.LCTLSession(path=path):
        assert program() == ["Be brief.", "echo: Hi"]
    assert sum(event.type == "exchange" for event in open_log(path).events()) == 1
    with lctl.rerun(path) as block:
        assert program() == ["{}", "echo: Hi"]
    assert block.certificate.exact


def test_a_service_whose_path_is_one_of_telemetry(rerun: Rerun, server: Any, make: Any) -> None:
    """An agent that looks through logs: what it is told is recorded, and told again."""

    def program(url: str) -> Any:
        with httpx.Client() as client:
            return client.post(f"{url}/v1/logs", json={"query": "errors"}).json()

    server.replies = [make.Reply({"found": "disk full"})]
    assert rerun(program, server.url, full=True) == {"found": "disk full"}
