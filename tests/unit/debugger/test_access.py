"""Who may ask, and that nothing a log holds can run in the page or reach beyond the folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.unit.debugger.conftest import Debugger
from tests.unit.debugger.logs import Writing, review, save

Start = Callable[..., Debugger]

XSS = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    '"><svg onload=alert(1)>',
    "{{constructor.constructor('alert(1)')()}}",
    "<!--<script>",
    "\u2028alert(1)\u2029",
    "data:text/html,<script>alert(1)</script>",
    "\U0001f600\u202e\x1b[31m",
)


@pytest.fixture
def server(debug: Start, tmp_path: Path) -> Debugger:
    return debug(save(tmp_path / "run.lctl.json", review()))


def test_without_the_token_nothing_is_said(server: Debugger) -> None:
    """Not of the API, whatever the path; the page itself holds no data."""
    for path in ("/api/session", "/api/run", "/api/event/1", "/api/openapi.json", "/api/nothing"):
        answer = server.ask(path, token=False)
        assert (answer.status, answer.error) == (401, "unauthorized"), path
        assert b"planner" not in answer.body
    wrong = {"Authorization": "Bearer " + "x" * 32}
    assert server.ask("/api/session", token=False, headers=wrong).status == 401


def test_the_link_becomes_a_cookie(server: Debugger) -> None:
    """The token goes out of the address at once, into a cookie that scripts and other sites do not get."""
    entered = server.ask(f"/?token={server.app.token}&x=1", token=False)
    assert entered.status == 303 and entered.headers["location"] == "/?x=1"
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    said = {"Cookie": cookie.split(";")[0]}
    assert server.ask("/api/session", token=False, headers=said).status == 200
    # Those of other servers of this machine come with it.
    for others in ('seen={"a": 1}', "[x]=1", "=", "a b=c", 'q="open', "plain"):
        both = {"Cookie": f"{others}; {said['Cookie']}; last=1"}
        assert server.ask("/api/session", token=False, headers=both).status == 200, others
    assert server.ask("/?token=wrong", token=False).status == 401
    for forged in ("", "=", "lctl-1=x", f"lctl-{server.port}=", "\x80"):
        assert server.ask("/api/session", token=False, headers={"Cookie": forged}).status == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}", ""]
)
def test_a_forged_host_is_refused(server: Debugger, host: str) -> None:
    """A name that someone points at this machine is not ours: DNS rebinding ends here."""
    answer = server.ask("/api/session", headers={"Host": host.format(port=server.port)})
    assert (answer.status, answer.error) == (421, "misdirected")
    assert server.ask("/", headers={"Host": host.format(port=server.port)}).status == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"]
)
def test_a_forged_origin_is_refused(server: Debugger, origin: str) -> None:
    said = {"Origin": origin.format(port=server.port)}
    for method, body in (("GET", None), ("POST", {"at": 1})):
        path = "/api/session" if body is None else "/api/whatif"
        answer = server.ask(path, method=method, headers=said, body=body)
        assert (answer.status, answer.error) == (403, "forbidden")
    assert server.ask("/api/session", headers={"Sec-Fetch-Site": "cross-site"}).status == 403


def test_a_form_of_another_page_changes_nothing(server: Debugger) -> None:
    """What a browser sends without asking first (a form, a beacon) is no JSON, or has no Origin."""
    cookie = {"Cookie": f"lctl-{server.port}={server.app.token}"}
    form = {**cookie, "Content-Type": "text/plain"}
    assert server.ask("/api/whatif", method="POST", token=False, headers=form, body={"at": 1}).status == 400
    assert server.ask("/api/whatif", method="POST", token=False, headers=cookie, body={"at": 1}).status == 403
    own = {**cookie, "Origin": f"http://127.0.0.1:{server.port}"}
    asked = {"at": 13, "set": ["data.confidence=0.3"]}
    assert server.ask("/api/whatif", method="POST", token=False, headers=own, body=asked).status == 200
    for method in ("PUT", "DELETE", "PATCH"):
        assert server.ask("/api/session", method=method).status in (404, 405)
    assert server.ask("/", method="POST", body={}).status == 403


def test_every_answer_says_what_a_browser_may_do_with_it(server: Debugger) -> None:
    for path in ("/", "/api/session", "/api/nothing", "/api/raw/1", "/nothing.html"):
        headers = server.ask(path).headers
        assert headers["x-content-type-options"] == "nosniff", path
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        scripts = policy.split("script-src")[1].split(";")[0]
        assert scripts.strip() == "'self'"
        assert headers["referrer-policy"] == "no-referrer"
    assert server.ask("/api/session").headers["cache-control"] == "no-store"


def test_whatever_a_log_holds_is_data(debug: Start, tmp_path: Path) -> None:
    """Every field with every text of the corpus: JSON that says the same, of a type no browser runs."""
    log = Writing()
    for text in XSS:
        log.add("step_start", text, kind=text, intent=text, model=text)
        log.add("fact_added", text, id=text, text=text, confidence=0.5, source=text)
        log.add("tool_call", text, tool=text, input={text: text}, output=text, error=text)
        log.add("error", text, category=text, type=text, message=text)
        log.add("message", text, message_id=text, role=text, content=[{"type": "text", "text": text}])
        log.add("handoff", text, **{"from": text, "to": text})
        log.add(text, text, anything=text)
    server = debug(save(tmp_path / "<b>.lctl.json", log.events, id=XSS[0], name=XSS[1]))
    paths = [
        "run",
        "runs",
        "timeline",
        "events?limit=500",
        "state",
        "facts",
        "flow",
        "steps",
        "conversations",
        "costs",
        "search?q=alert",
        "search/help",
        "state/diff?at=0",
        "lineage",
        "trend",
    ]
    for path in [*paths, *(f"event/{seq}" for seq in range(1, len(log.events) + 1))]:
        answer = server.ask(f"/api/{path}")
        assert answer.status == 200, answer.body
        assert answer.headers["content-type"] == "application/json"
        json.loads(answer.body)
    facts = {one["id"]: one["text"] for one in server.get("/api/facts")["facts"]}
    assert facts == {text: text for text in XSS}


def test_only_images_that_cannot_run_are_given_as_images(debug: Start, tmp_path: Path) -> None:
    """An SVG or HTML that calls itself an image is none; a remote one is named and not fetched."""
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    svg = "PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+"
    urls = [
        f"data:image/png;base64,{png}",
        f"data:image/svg+xml;base64,{svg}",
        f"data:image/png;base64,{svg}",
        "https://evil.example/a.png",
    ]
    log = Writing()
    log.add(
        "message",
        message_id="m1",
        role="user",
        content=[{"type": "image_url", "image_url": {"url": url}} for url in urls],
    )
    server = debug(save(tmp_path / "run.lctl.json", log.events))
    parts = server.get("/api/conversation")["messages"][0]["parts"]
    assert [part["kind"] for part in parts] == ["image"] * 4
    assert parts[0]["src"] == urls[0] and "src" not in parts[1] and "src" not in parts[3]
    assert parts[3]["url"] == urls[3]
    image = server.ask("/api/blob", seq=1, part=0)
    assert (image.status, image.headers["content-type"]) == (200, "image/png")
    assert "sandbox" in image.headers["content-security-policy"]
    assert [server.ask("/api/blob", seq=1, part=n).status for n in (1, 2, 3, 4)] == [404] * 4


def test_nothing_outside_the_folder_can_be_opened(debug: Start, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    save(tmp_path / "secret.lctl.json", review(), id="secret")
    server = debug(save(folder / "run.lctl.json", review()))
    for key in (
        "../secret.lctl.json",
        str(tmp_path / "secret.lctl.json"),
        "secret.lctl.json",
        "%2e%2e/secret",
    ):
        assert server.ask("/api/run", run=key).status == 404
    for path in (
        "/../application.py",
        "/..%2f..%2fapplication.py",
        "/static/../table.py",
        "/%2e%2e/table.py",
        "//etc/passwd",
    ):
        answer = server.ask(quote(path, safe="/%"))
        assert answer.status == 404 and b"import" not in answer.body
