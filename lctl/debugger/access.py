"""Who may ask the server, and what a browser may do with an answer.

The server is on this machine, and so is every page of the web that the browser has open. A page elsewhere
must not be able to ask (token in a strict cookie, Origin), a name that someone points at 127.0.0.1 must not
be taken for ours (Host), and nothing in a log may run in our page (content policy, no sniffing).
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec

from lctl.debugger.failing import STATUS, Refused
from lctl.debugger.shapes.common import Failed, Failure

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_LOCAL = ("localhost", "127.0.0.1", "[::1]")


class Access:
    """Stands before the application.

    Args:
        port: the server's own.
        hosts: names it may be asked by, beside those of the local machine.
        token: by which its user is known; made anew for each launch.
    """

    def __init__(
        self, inner: Application, *, port: int, hosts: tuple[str, ...] = (), token: str | None = None
    ) -> None:
        self.token = token or secrets.token_urlsafe(24)
        self._once: list[str] = []
        self._inner = inner
        self._cookie = f"lctl-{port}"
        names = {*_LOCAL, *(f"[{host}]" if ":" in host else host.lower() for host in hosts)}
        self._hosts = {f"{name}:{port}" for name in names} | ({*names} if port == 80 else set())

    def once(self) -> str:
        """A token that opens a link, once. A browser is started with its link, and what programs are started
        with is read by every user of the machine."""
        made = secrets.token_urlsafe(24)
        self._once.append(made)
        return made

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._inner(scope, receive, send)
            return
        send = with_headers(send)
        headers = headers_of(scope)
        try:
            self._check(scope, headers)
        except Refused as refused:
            await answer(send, STATUS[refused.code], refused)
            return
        token = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token")
        if scope["path"] == "/" and token is not None:
            await self._enter(send, scope, token)
            return
        await self._inner(scope, receive, send)

    def _check(self, scope: Scope, headers: dict[str, list[str]]) -> None:
        hosts = headers.get("host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise Refused("misdirected", "this server answers to its own name only (Host)")
        origins = headers.get("origin", [])
        if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
            raise Refused("forbidden", "a page of another origin may not ask (Origin)")
        if not scope["path"].startswith("/api/"):
            if scope["method"] not in ("GET", "HEAD"):
                raise Refused("forbidden", "this is only to be read")
            return
        if headers.get("sec-fetch-site", ["same-origin"])[0] not in ("same-origin", "none"):
            raise Refused("forbidden", "a page of another site may not ask (Sec-Fetch-Site)")
        if not self._known(headers):
            raise Refused(
                "unauthorized", "open the link that 'lctl debug' printed: it has this launch's token"
            )
        if scope["method"] == "POST":
            kind = headers.get("content-type", [""])[0].split(";")[0].strip().lower()
            if kind != "application/json":
                raise Refused("bad_request", "a request that changes something is application/json")
            if not origins and headers.get("cookie"):
                raise Refused("forbidden", "a browser says where such a request comes from (Origin)")

    def _known(self, headers: dict[str, list[str]]) -> bool:
        given = [
            value[7:].strip() for value in headers.get("authorization", []) if value[:7].lower() == "bearer "
        ]
        for line in headers.get("cookie", []):
            given += cookies_of(line, self._cookie)
        return any(self._same(one) for one in given)

    def _same(self, token: str) -> bool:
        return _equal(token, self.token)

    def _spent(self, token: str) -> bool:
        """Whether it was one of `once`, which it then is no longer."""
        found = next((one for one in self._once if _equal(token, one)), None)
        if found is not None:
            self._once.remove(found)
        return found is not None

    async def _enter(self, send: Send, scope: Scope, token: str) -> None:
        """The link with the token becomes a cookie and a link without."""
        if not self._same(token) and not self._spent(token):
            said = "this link was used, or is of another launch; open the one that 'lctl debug' printed"
            await answer(send, 401, Refused("unauthorized", said))
            return
        rest = [
            pair
            for pair in parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            if pair[0] != "token"
        ]
        where = "/" + (f"?{urlencode(rest)}" if rest else "")
        cookie = f"{self._cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        await send(
            {
                "type": "http.response.start",
                "status": 303,
                "headers": [
                    (b"location", where.encode("latin-1")),
                    (b"set-cookie", cookie.encode()),
                    (b"cache-control", b"no-store"),
                    (b"content-length", b"0"),
                ],
            }
        )
        await send({"type": "http.response.body", "body": b""})


def _equal(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())


async def answer(send: Send, status: int, refused: Refused) -> None:
    """A refusal as a whole response."""
    failure = Failure(code=refused.code, message=refused.message, position=refused.position)
    body = msgspec.json.encode(Failed(error=failure))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def headers_of(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def cookies_of(line: str, name: str) -> list[str]:
    """The values of our cookie in a Cookie header. A browser sends with it those of every server of this
    machine, whatever their port, and some are no cookies by the letter: http.cookies gives up at those."""
    pairs = (pair.partition("=") for pair in line.split(";"))
    return [value.strip() for key, _, value in pairs if key.strip() == name]


def with_headers(send: Send, more: tuple[tuple[bytes, bytes], ...] = ()) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            names = {name.lower() for name, _ in given}  # an answer may have a stricter policy of its own
            message["headers"] = [
                *given,
                *(header for header in (*_HEADERS, *more) if header[0] not in names),
            ]
        await send(message)

    return sending
