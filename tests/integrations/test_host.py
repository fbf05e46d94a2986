"""The host is not changed: types, results, exceptions and classes are as without lctl, whatever fails."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lctl.guard import guard
from lctl.instrument import (
    attempts,
    bodies,
    calls,
    codecs,
    concluding,
    ensure_installed,
    hooks,
    uninstrument,
    wire,
)
from lctl.instrument.conversation import Conversations
from lctl.instrument.digests import BodyDigests
from lctl.session import LCTLSession

openai = pytest.importorskip("openai")
# At once, because openai looks into a half imported httpx when it drops a stream during that import.
anthropic, httpx, httpx2, aiohttp, requests, urllib3 = map(
    pytest.importorskip, ("anthropic", "httpx", "httpx2", "aiohttp", "requests", "urllib3")
)

MESSAGES: list[Any] = [{"role": "user", "content": "Hi"}]


def use_everything(server: Any, make: Any) -> list[Any]:
    """What a program sees of one call of each kind: results by type and value, exceptions by class."""
    seen: list[Any] = []
    failure = {"error": {"message": "no", "type": "bad"}}
    cut = make.chat_chunks("one two", done=False)
    with openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=1) as client:
        client._calculate_retry_timeout = lambda *args, **kwargs: 0.0
        create = client.chat.completions.create
        server.replies = [make.Reply(failure, 500)]
        answer = create(model="m", messages=MESSAGES)
        seen += [type(answer), answer.to_dict(), answer._request_id]
        raw = client.chat.completions.with_raw_response.create(model="m", messages=MESSAGES)
        seen += [
            type(raw),
            type(raw.parse()),
            raw.status_code,
            type(raw.http_response.stream),
            raw.retries_taken,
        ]
        assert raw.elapsed.total_seconds() > 0
        stream = create(model="m", messages=MESSAGES, stream=True)
        seen += [type(stream), type(stream.response.stream), [chunk.to_dict() for chunk in stream]]
        seen += [stream.response.is_closed, stream.response.is_stream_consumed]
        server.replies = [make.Reply(failure, 400)]
        seen.append(_raised(lambda: create(model="m", messages=MESSAGES)))
        server.replies = [make.Reply(chunks=cut, cut=True)]
        seen.append(_raised(lambda: list(create(model="m", messages=MESSAGES, stream=True))))
        seen.append(_raised(lambda: create(model="m", messages=[{"role": "user", "content": object()}])))
        with create(model="m", messages=MESSAGES, stream=True) as early:
            next(iter(early))
        seen.append(early.response.is_closed)

    async def main() -> None:
        async with openai.AsyncOpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0) as client:
            answer = await client.chat.completions.create(model="m", messages=MESSAGES)
            stream = await client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
            seen.extend([type(answer), type(stream), [chunk.to_dict() async for chunk in stream]])

    asyncio.run(main())
    return seen


def _raised(call: Callable[[], Any]) -> Any:
    with pytest.raises(Exception) as caught:
        call()
    return type(caught.value), str(caught.value), type(caught.value.__cause__), type(caught.value.__context__)


def test_same_with_and_without(server: Any, make: Any, log: Any) -> None:
    """Everything a program can see is the same, instrumented or not."""
    with_lctl = use_everything(server, make)
    uninstrument()
    assert with_lctl == use_everything(server, make)
    assert len(log.steps()) == 8


#: Everything of ours that runs inside a user's call, as (owner, attribute).
INSIDE: list[tuple[Any, str]] = [
    (wire, "session_here"),
    (codecs, "find"),
    (calls, "recording_of"),
    (calls, "start_data"),
    (concluding, "outcome_of"),
    (concluding, "add_answer"),
    (calls.Call, "__init__"),
    (calls.Call, "takes"),
    (calls.Call, "begin"),
    (calls.Call, "ended"),
    (calls.Call, "_conclude"),
    (calls.Call, "_write_end"),
    (calls.Call, "_write_success"),
    (calls.Call, "_write_failure"),
    (calls.Call, "_end_draft"),
    (calls.Call, "_start_drafts"),
    (calls.Call, "_exchange"),
    (attempts.Attempt, "__init__"),
    (attempts.Attempt, "_over"),
    (attempts.Attempt, "data"),
    (attempts, "kept_headers"),
    (calls, "without_secrets"),
    (bodies, "store_body"),
    (bodies, "store_chunks"),
    (BodyDigests, "digest"),
    (Conversations, "read_request"),
    (Conversations, "plan_request"),
    (Conversations, "plan_answer"),
    (LCTLSession, "emit_many"),
    (LCTLSession, "frame"),
]


@pytest.fixture(scope="module")
def plain(shared_server: Any, make: Any) -> list[Any]:
    """What a program sees without lctl. Comes before `log`, which instruments."""
    return use_everything(shared_server, make)


@pytest.mark.parametrize(("owner", "name"), INSIDE, ids=lambda value: getattr(value, "__name__", value))
def test_our_failures_stay_ours(
    owner: Any, name: str, plain: Any, server: Any, make: Any, log: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever of ours raises, the program sees nothing of it, and it is counted."""

    def fails(*args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError(f"injected into {name}")

    monkeypatch.setattr(owner, name, fails)
    monkeypatch.setattr(guard, "policy", "report")
    monkeypatch.setattr(guard, "_report", lambda place: None)
    before = guard.total()
    assert use_everything(server, make) == plain
    gc.collect()  # what was left open is told, and fails, here and not in another test
    assert guard.total() > before


def test_a_log_that_takes_nothing(server: Any, make: Any, log: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that refuses every event changes nothing for the program."""
    log.session.close()
    monkeypatch.setattr(guard, "policy", "report")
    monkeypatch.setattr(guard, "_report", lambda place: None)
    seen = use_everything(server, make)
    uninstrument()
    assert seen == use_everything(server, make)


def test_uninstrument_leaves_no_trace(log: Any) -> None:
    """Class dictionaries are what they were, object for object and in the same order."""
    classes: list[type] = [
        httpx.Client,
        httpx.AsyncClient,
        httpx2.Client,
        httpx2.AsyncClient,
        openai._base_client.SyncAPIClient,
        openai._base_client.AsyncAPIClient,
        anthropic._base_client.SyncAPIClient,
        anthropic._base_client.AsyncAPIClient,
        aiohttp.ClientSession,
        aiohttp.ClientResponse,
        requests.adapters.HTTPAdapter,
        urllib3.HTTPConnectionPool,
        urllib3.HTTPResponse,
    ]

    def contents() -> list[list[tuple[str, int]]]:
        # By identity: a wrapper says it equals what it wraps.
        return [[(name, id(value)) for name, value in vars(cls).items()] for cls in classes]

    finders = len(sys.meta_path)
    uninstrument()
    bare = contents()
    # Tools that other tests have named are waited for all the same.
    assert all(name.startswith("wrap") for name in hooks._hooks), hooks._hooks
    assert len(sys.meta_path) == (finders if hooks._hooks else finders - 1)
    ensure_installed()
    patched = contents()
    assert all(a != b for a, b in zip(bare, patched, strict=True))
    ensure_installed()
    assert contents() == patched
    uninstrument()
    assert contents() == bare


def test_a_body_that_is_recorded_says_that_it_is_the_library_s(server: Any, make: Any, log: Any) -> None:
    looked = threading.Event()

    def pieces() -> Iterator[bytes]:
        first, *others = make.chat_chunks("one two")
        yield first
        looked.wait(10)
        yield from others

    async def body() -> list[str]:
        async with aiohttp.ClientSession() as session:
            ask = {"model": "m", "messages": MESSAGES, "stream": True}
            async with session.post(f"{server.url}/v1/chat/completions", json=ask) as response:
                kind = type(response.content)
                looked.set()
                await response.read()
        return [kind.__module__, kind.__name__, kind.__qualname__]

    server.replies = [make.Reply(chunks=pieces())]
    assert asyncio.run(body()) == ["aiohttp.streams", "StreamReader", "StreamReader"]
    assert len(log.steps()) == 1


def test_nothing_is_recorded_outside_a_session(server: Any, log: Any) -> None:
    """Hooks installed for one context record nothing in another."""
    import contextvars

    def call() -> None:
        with openai.OpenAI(api_key="k", base_url=f"{server.url}/v1") as client:
            client.chat.completions.create(model="m", messages=MESSAGES)

    contextvars.Context().run(call)
    assert log.types == []


def test_a_stream_taken_before_uninstrument_is_recorded_to_its_end(server: Any, log: Any) -> None:
    """Undoing the patches does not tear an open stream."""
    with openai.OpenAI(api_key="k", base_url=f"{server.url}/v1") as client:
        stream = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
        uninstrument()
        list(stream)
    assert log.steps()[0][1]["outcome"] == "success"


HANGING = """
    import socket, sys, threading
    import lctl
    from lctl.session import LCTLSession
    from lctl.instrument import ensure_installed
    ensure_installed()
    import openai
    silent = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
    def receive():
        global connection
        connection = silent.accept()[0]
        connection.recv(1)
        print("received", flush=True)
    with LCTLSession("hang", sys.argv[1]):
        client = openai.OpenAI(api_key="k", base_url=url)
        threading.Thread(target=receive, daemon=True).start()
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "never answered"}])
"""


def test_a_killed_process_leaves_its_hanging_call_in_the_log(tmp_path: Path) -> None:
    """Killed as the server receives its first byte, prompt and step_start are in the file, the step open."""
    path = tmp_path / "hang.lctl.json"
    script = [sys.executable, "-c", textwrap.dedent(HANGING), str(path)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "received\n"
        process.send_signal(signal.SIGKILL)
    lines = path.read_text().split("\n")
    assert '"content":"never answered"' in lines[1]
    assert '"type":"step_start"' in lines[2]
    assert len(lines) == 3


def test_set_up_imports_no_library() -> None:
    """auto_instrument() in a bare program loads neither wrapt nor any SDK, nor asyncio."""
    code = (
        "import sys, lctl.instrument as i; i.auto_instrument();"
        "print([m for m in ('wrapt', 'openai', 'httpx', 'httpx2', 'aiohttp', 'asyncio', 'importlib.metadata')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
