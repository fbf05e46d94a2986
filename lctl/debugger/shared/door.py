"""Stands before a debugger that several people share: who they are, and from where they may ask.

A browser signs in with a name and a password and gets a signed cookie; a program sends a token
(`Authorization: Bearer`). Nothing is said to who has neither; nothing is changed for who has.
"""

from __future__ import annotations

import os
import secrets
import time
from collections import OrderedDict
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import anyio.to_thread

from lctl.debugger.access import (
    Application,
    Receive,
    Scope,
    Send,
    answer,
    cookies_of,
    headers_of,
    with_headers,
)
from lctl.debugger.failing import STATUS, Refused
from lctl.debugger.shared import pages
from lctl.debugger.shared.accounts import Account, Accounts
from lctl.errors import MissingExtra

SECRET = "LCTL_SERVE_SECRET"
#: Seconds a sign-in is good for.
_DAY = 12 * 3600
_LARGEST = 4096  # bytes of a sign-in
#: Wrong passwords of one name from one address before it has to wait; at most so many seconds.
_TRIES, _LONGEST = 5, 300.0
_REMEMBERED = 10_000
_HASHES = 2  # passwords that are checked at once: each takes 32 MB


class Door:
    """Args:
    origins: addresses it is reached by, `https://debug.example.com`; the first is its own name.
    """

    def __init__(self, inner: Application, *, accounts: Accounts, origins: tuple[str, ...]) -> None:
        self._inner = inner
        self._accounts = accounts
        self._origins = frozenset(origin.lower() for origin in origins)
        self._hosts = frozenset(origin.partition("://")[2] for origin in self._origins)
        self._secure = all(origin.startswith("https://") for origin in self._origins)
        self._cookie = _cookie_name(origins[0], self._secure)
        self._seals = _seals()
        self._wrong = Wrong()
        self._hashing: anyio.CapacityLimiter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._inner(scope, receive, send)
            return
        send = with_headers(send, ((b"strict-transport-security", b"max-age=31536000"),) * self._secure)
        headers, path = headers_of(scope), scope["path"]
        if path == "/health":
            await _say(send, 200, b"ok\n", "text/plain; charset=utf-8")
            return
        try:
            self._check(scope, headers)
            if path == "/login":
                await self._login(scope, receive, send, headers)
                return
            if path == "/logout":
                await self._logout(scope, send, headers)
                return
            known = self._known(headers)
            if known is None and path == "/":
                await _go(send, "/login")
                return
            if known is None and path.startswith("/api/"):
                raise Refused("unauthorized", "sign in: /login (a program: Authorization: Bearer TOKEN)")
        except Refused as refused:
            await answer(send, STATUS[refused.code], refused)
            return
        await self._inner(scope, receive, send)

    def _check(self, scope: Scope, headers: dict[str, list[str]]) -> None:
        hosts = headers.get("host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise Refused("misdirected", "this server answers to its own name only (Host; see --url)")
        origins = headers.get("origin", [])
        if any(origin.lower() not in self._origins for origin in origins):
            raise Refused("forbidden", "a page of another origin may not ask (Origin; see --url)")
        method, api = scope["method"], scope["path"].startswith("/api/")
        if method not in ("GET", "HEAD", "POST"):
            raise Refused("forbidden", "this is only to be read")
        if method == "POST" and not api and scope["path"] not in ("/login", "/logout"):
            raise Refused("forbidden", "this is only to be read")
        if not api:
            return
        if headers.get("sec-fetch-site", ["same-origin"])[0] not in ("same-origin", "none"):
            raise Refused("forbidden", "a page of another site may not ask (Sec-Fetch-Site)")
        if method == "POST":
            kind = headers.get("content-type", [""])[0].split(";")[0].strip().lower()
            if kind != "application/json":
                raise Refused("bad_request", "a question in a body is application/json")
            if not origins and headers.get("cookie"):
                raise Refused("forbidden", "a browser says where such a request comes from (Origin)")

    # -- who it is ---------------------------------------------------------------------------

    def _known(self, headers: dict[str, list[str]]) -> Account | None:
        for value in headers.get("authorization", []):
            if value[:7].lower() == "bearer ":
                return self._accounts.of_token(value[7:].strip())
        for line in headers.get("cookie", []):
            for value in cookies_of(line, self._cookie):
                if (found := self._of_cookie(value)) is not None:
                    return found
        return None

    def _of_cookie(self, value: str) -> Account | None:
        from itsdangerous import BadData

        try:
            name, mark = self._seals.loads(value, max_age=_DAY)
        except (BadData, ValueError, TypeError):
            return None
        account = self._accounts.named(str(name))
        return account if account is not None and account.mark == mark else None

    # -- in and out --------------------------------------------------------------------------

    async def _login(self, scope: Scope, receive: Receive, send: Send, headers: dict[str, list[str]]) -> None:
        if scope["method"] != "POST":
            if self._known(headers) is not None:
                await _go(send, "/")
            else:
                await _page(send, 200, pages.login())
            return
        self._from_here(headers)
        form = dict(parse_qsl((await _body(receive)).decode("utf-8", "replace")))
        name, password = form.get("name", "").strip(), form.get("password", "")
        client = str((scope.get("client") or ("",))[0])
        left = self._wrong.left(name, client)
        if left:
            text = f"Too many wrong passwords: try again in {left:.0f} seconds."
            await _page(send, 429, pages.login(text, name), [(b"retry-after", b"%d" % (left + 1))])
            return
        if self._hashing is None:
            self._hashing = anyio.CapacityLimiter(_HASHES)
        account = await anyio.to_thread.run_sync(
            self._accounts.signed_in, name, password, limiter=self._hashing
        )
        self._wrong.tried(name, client, account is not None)
        if account is None:
            await _page(send, 401, pages.login("Name or password is wrong.", name))
            return
        sealed = self._seals.dumps([account.name, account.mark])
        await _go(send, "/", self._set(str(sealed), _DAY))

    async def _logout(self, scope: Scope, send: Send, headers: dict[str, list[str]]) -> None:
        known = self._known(headers)
        if scope["method"] != "POST":
            await (_page(send, 200, pages.logout(known.name)) if known is not None else _go(send, "/login"))
            return
        self._from_here(headers)
        await _go(send, "/login", self._set("", 0))

    def _from_here(self, headers: dict[str, list[str]]) -> None:
        """A form of ours: one of another site must not sign somebody in as another, or out."""
        site = headers.get("sec-fetch-site", [""])[0]
        if not headers.get("origin") and site not in ("same-origin", "none"):
            raise Refused("forbidden", "a browser says where such a request comes from (Origin)")

    def _set(self, value: str, age: int) -> str:
        secure = "; Secure" if self._secure else ""
        return f"{self._cookie}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"


def _cookie_name(origin: str, secure: bool) -> str:
    """One for each port: a browser sends a cookie to every port of its host, so that two servers would sign
    each other's people out. Those that share a secret know each other's, and share the name."""
    port = None if os.environ.get(SECRET) else urlsplit(origin).port
    return ("__Host-lctl" if secure else "lctl-serve") + (f"-{port}" if port else "")


class Wrong:
    """Wrong passwords of late. From one address a name waits ever longer; from another it does not, so that
    nobody can shut somebody else out."""

    def __init__(self) -> None:
        self._tries: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()

    def left(self, name: str, client: str) -> float:
        """Seconds it has to wait."""
        count, last = self._tries.get((name, client), (0, 0.0))
        if count < _TRIES:
            return 0.0
        wait = min(2.0 ** min(count - _TRIES + 1, 16), _LONGEST)
        return max(0.0, last + wait - time.monotonic())

    def tried(self, name: str, client: str, right: bool) -> None:
        count, _ = self._tries.pop((name, client), (0, 0.0))
        if not right:
            self._tries[name, client] = (count + 1, time.monotonic())
        while len(self._tries) > _REMEMBERED:
            self._tries.popitem(last=False)


def _seals() -> Any:
    """What signs cookies: by the secret of the environment, which several servers may share, else by one of
    this start."""
    try:
        from itsdangerous import URLSafeTimedSerializer
    except ImportError:
        raise MissingExtra("lctl serve", "serve") from None
    import hashlib

    key = os.environ.get(SECRET) or secrets.token_urlsafe(32)
    return URLSafeTimedSerializer(
        key, salt="lctl-serve", signer_kwargs={"digest_method": hashlib.sha256, "key_derivation": "hmac"}
    )


async def _body(receive: Receive) -> bytes:
    parts = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return parts
        parts += bytes(message.get("body", b""))
        if len(parts) > _LARGEST:
            raise Refused("bad_request", "that is no name and password")
        if not message.get("more_body"):
            return parts


async def _page(
    send: Send, status: int, html: bytes, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    policies = [
        (b"content-security-policy", pages.POLICY.encode()),
        (b"referrer-policy", b"same-origin"),  # without a referrer a browser sends a form's Origin as null
    ]
    more = [*policies, *(headers or [])]
    await _say(send, status, html, "text/html; charset=utf-8", more)


async def _go(send: Send, where: str, cookie: str = "") -> None:
    more = [(b"location", where.encode())]
    if cookie:
        more.append((b"set-cookie", cookie.encode()))
    await _say(send, 303, b"", "text/plain", more)


async def _say(
    send: Send, status: int, body: bytes, media: str, more: list[tuple[bytes, bytes]] | None = None
) -> None:
    headers = [
        (b"content-type", media.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *(more or []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
