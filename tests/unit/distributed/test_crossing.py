"""Runs that cross processes: linked by what crosses, shown as one."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.cli import main
from lctl.cli.target import opened
from lctl.distributed import (
    ASGIMiddleware,
    Origin,
    WSGIMiddleware,
    carried,
    continued,
    extract,
    inject,
    propagate,
)
from lctl.distributed import hosts as told_hosts
from lctl.kinship import link_to, mark_of
from lctl.session import LCTLSession
from lctl.stores.opening import close_stores, open_store
from lctl.testing import FixedClock


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in ("LCTL_STORE", "LCTL_PARENT", "LCTL_PROPAGATE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("LCTL_QUIET", "1")
    monkeypatch.setattr(told_hosts, "_named", set())
    yield tmp_path
    close_stores()


def test_what_crosses_names_chain_and_event() -> None:
    """In W3C headers; whatever stands in the chain's id comes back."""
    with LCTLSession("my run, é=1", store="memory:") as session:
        session.add_fact("F1", "one", 0.5)
        carrier = inject({})
        again = inject({})
    assert set(carrier) == {"traceparent", "tracestate"}
    assert carrier["tracestate"].isascii()
    origin = extract({name.title(): value for name, value in carrier.items()})
    assert (origin.chain_id, origin.seq) == ("my run, é=1", 1)
    assert carrier["traceparent"] == again["traceparent"] == f"00-{origin.trace_id}-{origin.span_id}-01"
    assert inject({}) == {}


def test_what_others_trace_stays() -> None:
    """Their traceparent, and their members of the tracestate, after ours."""
    theirs = {
        "traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01",
        "tracestate": "vendor=1,lctl=old@3,x=2",
    }
    with LCTLSession("run", store="memory:") as session:
        carrier = inject(dict(theirs))
    assert carrier["traceparent"] == theirs["traceparent"]
    assert carrier["tracestate"] == f"lctl=run@0@{mark_of(session.store.chain)},vendor=1,x=2"


@pytest.mark.parametrize(
    "carrier",
    [
        None,
        {},
        {"traceparent": "nonsense", "tracestate": "lctl=,=,@@,lctl=x"},
        7,
        {"traceparent": "00-" + "0" * 32},
        {"traceparent": f"00-{'0' * 32}-{'b' * 16}-01"},
        {"traceparent": f"00-{'a' * 32}-{'0' * 16}-01"},
        {"traceparent": f"ff-{'a' * 32}-{'b' * 16}-01"},
        {"tracestate": "lctl=a%00b@1"},  # no store has such an id
    ],
)
def test_what_says_nothing(carrier: Any) -> None:
    """Gives no origin, and no error."""
    assert extract(carrier) == Origin("", 0, "", "")


def test_a_continued_session_is_a_child() -> None:
    """Its header names the parent; the trace is the same over three of them."""
    with LCTLSession("one", store="memory:") as first:
        first.add_fact("F1", "one", 0.5)
        carrier = inject({})
    with continued(carrier, "two", store="memory:") as second:
        second.add_fact("F1", "two", 0.5)
        further = inject({})
    with continued(further, "three", store="memory:") as third:
        assert extract(inject({})).trace_id == extract(carrier).trace_id
    assert second.parent == link_to(first.store.chain, "one", 1)
    assert third.parent == link_to(second.store.chain, "two", 1)
    assert [one.id for one in open_store("memory:").children("one")] == ["two"]


def work(n: int) -> int:
    session = lctl.get_session()
    if session is not None:
        session.add_fact("F", f"work {n}", 0.5)
    return n * 2


def test_a_function_in_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Started anew, as by ray or on another host: the environment says nothing there."""
    place = f"sqlite:///{tmp_path}/runs.db"
    with LCTLSession("one", store=place) as session:
        session.add_fact("F1", "one", 0.5)
        sent = carried(work)
    monkeypatch.setenv("LCTL_STORE", place)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(sent, [1, 2]) == [2, 4]
    children = open_store(place).children("one")
    texts = [lctl.load(f"{place}#{one.id}").state.facts["F"].text for one in children]
    assert sorted(texts) == ["work 1", "work 2"]
    assert [one.chain["parent"] for one in children] == [link_to(session.store.chain, "one", 1)] * 2


def test_a_carried_function_at_home() -> None:
    """Records into the session it was sent from; without one it is the function itself."""
    assert carried(work) is work
    with LCTLSession("one", store="memory:"):
        assert carried(work)(4) == 8
    assert open_store("memory:").entry("one").last_seq == 1
    assert open_store("memory:").children("one") == []


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        said = json.dumps({key.lower(): value for key, value in self.headers.items()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *args: Any) -> None:
        return None


@pytest.fixture
def server() -> Iterator[str]:
    """Answers with the headers it was sent."""
    made = HTTPServer(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=made.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}/x"
    made.shutdown()
    thread.join()
    made.server_close()


def _httpx(url: str) -> dict[str, str]:
    import httpx

    return dict(httpx.get(url).json())


def _requests(url: str) -> dict[str, str]:
    import requests

    return dict(requests.get(url, timeout=10).json())


def _aiohttp(url: str) -> dict[str, str]:
    import aiohttp

    async def get() -> dict[str, str]:
        async with aiohttp.ClientSession() as client, client.get(url) as response:
            return dict(await response.json(content_type=None))

    return asyncio.run(get())


@pytest.mark.parametrize("get", [_httpx, _requests, _aiohttp])
def test_hosts_that_are_told(server: str, get: Any) -> None:
    """With every request of the usual clients; no other host is."""
    lctl.auto_instrument()
    try:
        with LCTLSession("run", store="memory:"):
            assert "tracestate" not in get(server)
            propagate("127.0.0.*")
            assert extract(get(server)).chain_id == "run"
    finally:
        lctl.uninstrument()


@pytest.mark.parametrize(
    ("pattern", "url", "told"),
    [
        ("api.internal", "https://api.internal/x", True),
        ("*.internal", "https://u:p@api.internal:8080/x", True),
        ("api.internal:8080", "https://api.internal:8080", True),
        ("api.internal:8080", "https://api.internal/x", False),
        ("*.internal", "https://api.openai.com/internal", False),
    ],
)
def test_which_hosts(pattern: str, url: str, told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, with * and perhaps a port."""
    monkeypatch.setenv("LCTL_PROPAGATE", f"other, {pattern}")
    assert told_hosts.is_told(url) is told


def test_a_request_that_is_served(tmp_path: Path) -> None:
    """Is a chain of its own, linked to the run that sent it; one of nobody's run is not recorded."""
    place = f"sqlite:///{tmp_path}/runs.db"

    async def app(scope: Any, receive: Any, send: Any) -> None:
        lctl.get_session()
        work(21)

    def wsgi(environ: Any, start_response: Any) -> Iterator[bytes]:
        work(22)
        yield b"done"

    with LCTLSession("caller", store=place) as session, session.step("ask"):
        headers = inject({})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LCTL_STORE", place)
        scope = {"type": "http", "method": "GET", "path": "/pay"}
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        asyncio.run(ASGIMiddleware(app)({**scope, "headers": pairs}, None, None))  # type: ignore[arg-type]
        asyncio.run(ASGIMiddleware(app)({**scope, "headers": []}, None, None))  # type: ignore[arg-type]
        environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/buy"}
        environ |= {f"HTTP_{name.upper()}": value for name, value in headers.items()}
        assert list(WSGIMiddleware(wsgi)(environ, None)) == [b"done"]
    store = open_store(place)
    found = [lctl.load(f"{place}#{one.id}") for one in store.children("caller")]
    assert [[event.type for event in one.events] for one in found] == [
        ["step_start", "fact_added", "step_end"]
    ] * 2
    assert len(list(store.entries())) == 3


def test_what_a_wsgi_application_gives_is_the_servers(tmp_path: Path) -> None:
    """Its length and its `close`, where nothing is recorded; where something is, it is closed as well."""

    class Body(list[bytes]):
        closed = 0

        def close(self) -> None:
            self.closed += 1

    body = Body([b"done"])
    served = WSGIMiddleware(lambda environ, start_response: body)
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/"}
    assert served(environ, None) is body and body.closed == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LCTL_STORE", f"sqlite:///{tmp_path}/runs.db")
        told = {**environ, "HTTP_TRACESTATE": "lctl=caller@1"}
        assert list(served(told, None)) == [b"done"] and body.closed == 1


def test_the_tree_is_shown_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`TARGET+`: chains in order, in the steps they were started in, names told apart."""
    for place in (f"sqlite:///{tmp_path}/runs.db", f"file:{tmp_path}/runs"):
        with LCTLSession("root", store=place) as root:
            root.step_start("planner", "plan")
            root.add_fact("F1", "of the root", 0.5)
            carrier = inject({})
            with continued(carrier, "child", store=place) as child:
                child.step_start("worker", "work")
                child.add_fact("F1", "of the child", 0.5)
                child.step_end()
            root.step_end()
        assert main(["replay", f"{place}#root+", "--json"]) == 0
        events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        if len(events) == 1:
            events = events[0]["events"]
        told = [(one["seq"], one["type"], one["agent"], one.get("step")) for one in events]
        assert told == [
            (1, "step_start", "planner", None),
            (2, "fact_added", "planner", 1),
            (3, "step_start", "worker", 1),
            (4, "fact_added", "worker", 3),
            (5, "step_end", "worker", 3),
            (6, "step_end", "planner", 1),
        ]
        assert [one["data"]["id"] for one in events if one["type"] == "fact_added"] == ["F1", "1:F1"]
        assert main(["stats", f"{place}#root+"]) == 0
        assert main(["ls", "--store", place]) == 0
        assert "└ child" in capsys.readouterr().out


def test_a_clock_that_is_behind(tmp_path: Path) -> None:
    """Nothing begins before it was asked for: its times are moved, in the tree only."""
    place = f"sqlite:///{tmp_path}/runs.db"
    with LCTLSession("root", store=place, clock=FixedClock(start="2026-01-01T00:10:00Z")) as root:
        root.step_start("planner", "plan")
        slow = FixedClock(start="2026-01-01T00:03:00Z")
        with continued(inject({}), "child", store=place, clock=slow) as child, child.step("worker", "work"):
            child.add_fact("F1", "found", 0.5)
        root.step_end()
    whole = opened(f"{place}#root+").events()
    times = {event.agent: event.timestamp for event in whole}
    assert min(times.values()) >= "2026-01-01T00:10:00"
    assert lctl.load(f"{place}#child").events[0].timestamp.startswith("2026-01-01T00:03:00")
