"""Secrets in lines of headers and in URLs: in a text, in JSON in a string, in an object."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from lctl.session import LCTLSession, Redactor

Events = Callable[[LCTLSession], list[dict[str, Any]]]


def _everywhere(session: LCTLSession, text: str) -> str:
    """What a log has of a text that was in it in every way."""
    values: list[Any] = [text, f"{'lorem ipsum ' * 40}{text}\nHost: x", {"said": [text]}]
    values += [
        json.dumps({"said": text}),
        json.dumps({"in": json.dumps([text])}),
        f"so: {json.dumps([text])}",
    ]
    for value in values:
        session.emit("t", {"value": value})
    return session.path.read_text().replace("\\", "")


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("Authorization: Token 9f8e7d6c5b4a39281706", "9f8e7d6c5b4a39281706"),
        ("curl -H 'Authorization: Token 9f8e7d' http://x/", "9f8e7d"),
        ("authorization=ApiKey abc123:def456", "abc123 def456"),
        ("Authorization: Custom-Scheme 0123456789abcdefg", "0123456789abcdefg"),
        ("Cookie: session=9f8e7d6c5b4a; other=7777aaaabbbb", "9f8e7d6c5b4a 7777aaaabbbb"),
        ("Cookie: a=11aa 22bb; b=33cc", "11aa 22bb 33cc"),
        ("curl -H 'Cookie: a=11aa; b=33cc' http://x/", "11aa 33cc"),
        ("Set-Cookie: a=11aa; Path=/; Expires=Wed, 21 Oct 2015 07:28:00 GMT, b=33cc; HttpOnly", "11aa 33cc"),
        ("postgresql://admin:Sup3r@S3cr3t!@db/x", "Sup3r S3cr3t"),
        ("postgresql://admin:Sup3r/S3cr3t!@db/x", "Sup3r S3cr3t"),
        ("postgresql://admin:#Sup3r?S3cr3t!@db/x?a=1", "Sup3r S3cr3t"),
        ("mysql://root:it'sS3cr3t@db/x", "S3cr3t"),
        ("smtp://me@example.org:pa55word@mail.example.org", "pa55word"),
    ],
)
def test_secrets_in_headers_and_urls(session: LCTLSession, text: str, secrets: str) -> None:
    """Whatever the scheme, every cookie, and passwords with the signs of a URL in them."""
    content = _everywhere(session, text)
    assert not [secret for secret in secrets.split() if secret in content]


def test_what_stands_around_them_stays() -> None:
    """Scheme, names of cookies, attributes, user, host and path."""

    def told(text: str) -> str:
        return re.sub(r"\[redacted:[^\]]*\]", "-", Redactor().text(text))

    assert told("Authorization: Token 9f8e7d6c5b4a39281706") == "Authorization: Token -"
    assert told("> Cookie: a=11aa; b=22bb and\nHost: x") == "> Cookie: a=-; b=- and\nHost: x"
    assert told("Set-Cookie: a=11aa; Path=/; Secure, b=22bb") == "Set-Cookie: a=-; Path=/; Secure, b=-"
    assert told("postgresql://u:Sup3r@S3cr3t/@db/x?m=a@b.c") == "postgresql://u:-@S3cr3t/@db/x?m=a@b.c"
    assert told("see https://u:pw1234@host/@scope?m=a@b.c") == "see https://u:-@host/@scope?m=a@b.c"


def test_headers_of_cookies_as_values() -> None:
    """All cookies of one that is an object's value; names and attributes stay."""
    value = {"Cookie": "a=11aa; b=22bb", "Set-Cookie": ["a=11aa; Path=/, b=22bb; HttpOnly"]}
    made = Redactor().value(value)
    assert not re.search("11aa|22bb", str(made))
    assert re.fullmatch(r"a=\[.*?\]; b=\[.*?\]", made["Cookie"])
    assert re.fullmatch(r"a=\[.*?\]; Path=/, b=\[.*?\]; HttpOnly", made["Set-Cookie"][0])


@pytest.mark.parametrize(
    "text",
    [
        "https://host/path?mail=a@b.c",
        "see http://x/ or mail me@y.org",
        "https://host:8080/path?mail=a@b.c and https://host:8080?mail=a@b.c",
        "{'url': 'http://host:6379','mail':'a@b.c'}",
        "fetch('http://host:'+port+'/x'),mail='a@b.c'",
        "https://example.com:{port}/users/@me",
        "git+ssh://git@host:org/repo@v1",
        "http://[::1]:8080/x?mail=a@b.c",
        "Authorization: token expired; authorization: see section 4.2.1",
        "Cookie: a small text file. cookie = SimpleCookie(a=b)",
    ],
)
def test_prose_and_addresses_stay(text: str) -> None:
    """An `@`, a `:` or a word for a scheme makes no secret."""
    assert Redactor().text(text) == text
    assert Redactor().value({"said": json.dumps([text])}) == {"said": json.dumps([text])}
