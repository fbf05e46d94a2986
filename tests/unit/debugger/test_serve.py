"""`lctl serve`: who comes in, and what they can do, which is to read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lctl.debugger.catalogue import Catalogue, of_target
from lctl.debugger.shared import accounts as book
from tests.unit.debugger.logs import review, save
from tests.unit.debugger.shared import Shared


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """To hash a password takes a tenth of a second, on purpose."""
    path = tmp_path_factory.mktemp("users") / "users"
    book.add_user(path, "ann", "correct horse")
    return path.read_bytes()


@pytest.fixture
def users(tmp_path: Path, written: bytes) -> Path:
    path = tmp_path / "users"
    path.write_bytes(written)
    return path


@pytest.fixture
def shared(users: Path) -> Iterator[Callable[..., Shared]]:
    running: list[Shared] = []

    def start(runs: Catalogue, **options: Any) -> Shared:
        made = Shared(runs, users, **options)
        running.append(made)
        return made

    yield start
    for one in running:
        one.stop()


@pytest.fixture
def server(shared: Callable[..., Shared], tmp_path: Path) -> Shared:
    (tmp_path / "runs").mkdir()
    save(tmp_path / "runs" / "run.lctl.json", review())
    return shared(of_target(tmp_path / "runs", []))


def test_who_has_not_signed_in_is_told_nothing(server: Shared) -> None:
    """Of the API not even what there is; the page leads to where one signs in."""
    for path in ("/api/session", "/api/runs", "/api/event/1", "/api/openapi.json", "/api/live", "/api/no"):
        answer = server.ask(path)
        assert (answer.status, answer.error) == (401, "unauthorized"), path
    assert (server.ask("/").status, server.ask("/").headers["location"]) == (303, "/login")
    page = server.ask("/login")
    assert page.status == 200 and "script" not in page.headers["content-security-policy"]
    assert server.ask("/health").body == b"ok\n"


def test_a_password_becomes_a_cookie(server: Shared) -> None:
    """Signed, for scripts and other sites not to have; the password itself goes nowhere."""
    wrong = server.form("/login", name="ann", password="wrong")
    assert wrong.status == 401 and b"wrong" in wrong.body and "set-cookie" not in wrong.headers
    assert server.form("/login", name="bob", password="correct horse").status == 401
    entered = server.form("/login", name="ann", password="correct horse")
    cookie = entered.headers["set-cookie"]
    assert (entered.status, entered.headers["location"]) == (303, "/")
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "horse" not in cookie
    said = cookie.split(";")[0]
    assert server.ask("/api/session", Cookie=said).json["allow_run"] is False
    assert server.ask("/", Cookie=said).body.startswith(b"<!doctype html>")
    assert server.ask("/api/session", Cookie=f'seen={{"a": 1}}; =; {said}').status == 200
    name = said.partition("=")[0]
    for forged in (said[:-2] + "xx", said.replace("=", "=a", 1), f"{name}=", "\x80", f"{name}=a.b.c"):
        assert server.ask("/api/session", Cookie=forged).status == 401


def test_a_cookie_of_another_server_is_none(server: Shared, shared: Any, users: Path, tmp_path: Path) -> None:
    """Each start signs with a secret of its own, unless LCTL_SERVE_SECRET gives them one."""
    sealed = server.cookie("ann", "correct horse").partition("=")[2]
    other = shared(of_target(tmp_path / "runs", []))
    name = other.cookie("ann", "correct horse").partition("=")[0]
    assert other.ask("/api/session", Cookie=f"{name}={sealed}").status == 401


def test_servers_with_one_secret_know_each_others_cookies(
    shared: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LCTL_SERVE_SECRET", "a secret of several servers")
    one, other = shared(Catalogue([tmp_path])), shared(Catalogue([tmp_path]))
    assert other.ask("/api/session", Cookie=one.cookie("ann", "correct horse")).status == 200


def test_who_is_taken_out_is_out(server: Shared, users: Path) -> None:
    """At once, with the cookie that was good; so is everybody else's after a new password."""
    book.add_user(users, "bob", "first")
    ann, bob = server.cookie("ann", "correct horse"), server.cookie("bob", "first")
    book.add_user(users, "ann", "another one")
    assert server.ask("/api/session", Cookie=ann).status == 401
    assert server.ask("/api/session", Cookie=bob).status == 200
    assert book.remove(users, "bob") and not book.remove(users, "bob")
    assert server.ask("/api/session", Cookie=bob).status == 401
    again = server.cookie("ann", "another one")
    users.unlink()
    assert server.ask("/api/session", Cookie=again).status == 401


def test_signing_out(server: Shared) -> None:
    said = server.cookie("ann", "correct horse")
    assert b"ann" in server.ask("/logout", Cookie=said).body
    gone = server.form("/logout", cookie=said)
    assert gone.status == 303 and "Max-Age=0" in gone.headers["set-cookie"]


def test_a_program_has_a_token(server: Shared, users: Path) -> None:
    """Its hash is in the file; without a browser there is no Origin to ask for."""
    token = book.add_token(users, "ci")
    assert token not in users.read_text() and users.stat().st_mode & 0o077 == 0
    assert server.get("/api/runs", token)["total"] == 1
    asked = {"run": "run.lctl.json", "drop": [5]}
    answer = server.ask(
        "/api/whatif",
        method="POST",
        body=json.dumps(asked),
        Authorization=f"Bearer {token}",
        Content_Type="application/json",
    )
    assert answer.status == 200, answer.body
    assert server.ask("/api/runs", Authorization="Bearer " + token[:-1]).status == 401
    assert server.ask("/api/runs", Authorization="Bearer").status == 401


def test_names_and_pages_that_are_not_ours(server: Shared) -> None:
    """A name that leads here (DNS rebinding), and a page elsewhere that asks with the browser's cookie."""
    said = server.cookie("ann", "correct horse")
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", ""):
        assert server.ask("/api/session", Host=host, Cookie=said).status == 421
    for elsewhere in ("https://evil.example", "null", server.origin + ".evil.example"):
        assert server.ask("/api/session", Origin=elsewhere, Cookie=said).status == 403
        assert server.form("/login", origin=elsewhere, name="ann", password="correct horse").status == 403
    assert server.ask("/api/session", Cookie=said, Sec_Fetch_Site="cross-site").status == 403
    assert server.form("/login", origin="", name="ann", password="correct horse").status == 403
    assert server.form("/logout", origin="", cookie=said).status == 403


def test_nothing_can_be_changed(server: Shared, users: Path, tmp_path: Path) -> None:
    """There is no route that runs a fork, and none that writes."""
    token = book.add_token(users, "ci")
    before = sorted(tmp_path.rglob("*"))
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert server.ask("/api/runs", method=method, Authorization=f"Bearer {token}").status == 403
    for path in ("/api/fork/run", "/api/fork/stop", "/api/runs"):
        answer = server.ask(
            path,
            method="POST",
            body='{"confirm":"x","job":"j"}',
            Authorization=f"Bearer {token}",
            Content_Type="application/json",
        )
        assert (answer.status, answer.error) == (404, "not_found"), path
    assert server.ask("/", method="POST", body="x").status == 403
    assert sorted(tmp_path.rglob("*")) == before


def test_guessing_takes_ever_longer(server: Shared) -> None:
    """For that name, from there; another name is not kept waiting by it."""
    for _ in range(5):
        assert server.form("/login", name="bob", password="guess").status == 401
    waiting = server.form("/login", name="bob", password="guess")
    assert waiting.status == 429 and int(waiting.headers["retry-after"]) >= 1
    assert server.form("/login", name="ann", password="correct horse").status == 303
    assert server.form("/login", name="a", password="x" * 5000).status == 400


def test_two_servers_of_one_host_keep_their_people_apart(shared: Any, tmp_path: Path) -> None:
    """A browser has one jar for all ports of a host: what it got last under a name, it sends to both."""
    servers = [shared(Catalogue([tmp_path])) for _ in range(2)]
    jar = dict(one.cookie("ann", "correct horse").split("=", 1) for one in servers)
    sent = "; ".join(f"{name}={value}" for name, value in jar.items())
    assert [one.ask("/api/session", Cookie=sent).status for one in servers] == [200, 200]
    left = servers[0].form("/logout", cookie=sent).headers["set-cookie"]
    jar.pop(left.partition("=")[0])
    sent = "; ".join(f"{name}={value}" for name, value in jar.items())
    assert [one.ask("/api/session", Cookie=sent).status for one in servers] == [401, 200]


def test_behind_https_the_cookie_is_for_https(shared: Any, tmp_path: Path) -> None:
    far = shared(Catalogue([tmp_path]), url="https://debug.example.com")
    entered = far.form("/login", name="ann", password="correct horse")
    assert (
        entered.headers["set-cookie"].startswith("__Host-lctl=") and "Secure" in entered.headers["set-cookie"]
    )
    assert "strict-transport-security" in entered.headers
    assert far.ask("/login", Host=f"127.0.0.1:{far.port}").status == 421
