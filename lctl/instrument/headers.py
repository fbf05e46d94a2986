"""What is kept of the headers and addresses of requests and responses: nothing that holds a credential."""

from __future__ import annotations

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

#: Headers that an SDK, a person asking the provider, or a rerun reads. Nothing else is kept, so no
#: credential can be.
_KEPT_HEADERS = frozenset(
    {
        "apim-request-id",
        "cf-ray",
        "content-encoding",
        "content-type",
        "idempotency-key",
        "location",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "user-agent",
        "x-groq-region",
        "x-ms-client-request-id",
        "x-ms-region",
        "x-request-id",
        "x-should-retry",
    }
)
_KEPT_PREFIXES = ("anthropic-", "openai-", "x-ratelimit-", "x-stainless-retry")

#: What botocore was used for, written in the order of a set.
_FEATURES = re.compile(r" m/\S+")

_names: dict[Any, str | None] = {}


def kept_headers(pairs: Iterable[tuple[Any, Any]]) -> dict[str, str]:
    """The headers worth keeping, names in lower case."""
    kept = {}
    for name, value in pairs:
        try:
            known = _names[name]
        except KeyError:
            known = _remember(name)
        if known is not None:
            kept[known] = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    return kept


def sent_headers(pairs: Iterable[tuple[Any, Any]]) -> dict[str, str]:
    """`kept_headers` of a request, the same in every run."""
    kept = kept_headers(pairs)
    agent = kept.get("user-agent", "")
    if "Botocore" in agent:
        kept["user-agent"] = _FEATURES.sub("", agent)
    return kept


#: What a response says of the connection, or to a browser: no program acts on it.
_IDLE_HEADERS = frozenset(
    {
        "alt-svc",
        "connection",
        "content-security-policy",
        "keep-alive",
        "nel",
        "permissions-policy",
        "report-to",
        "server-timing",
        "strict-transport-security",
    }
)


def all_headers(pairs: Iterable[tuple[Any, Any]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Every header a program may read, names in lower case; one sent several times is a list. And of names
    that have other letters, how they were sent.

    Cookies and the like are taken out with the other secrets, when the event is written.
    """
    kept: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for name, value in pairs:
        sent = name.decode("latin-1") if isinstance(name, bytes) else str(name)
        known = sent.lower()
        if known in _IDLE_HEADERS:
            continue
        if sent != known:
            spelled.setdefault(known, sent)
        text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
        if known not in kept:
            kept[known] = text
        elif isinstance(kept[known], list):
            kept[known].append(text)
        else:
            kept[known] = [kept[known], text]
    return kept, spelled


def phrase(status: int) -> str:
    """The reason that goes with a status; "" for one nobody knows."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _remember(name: Any) -> str | None:
    text = (name.decode("latin-1") if isinstance(name, bytes) else str(name)).lower()
    known = text if text in _KEPT_HEADERS or text.startswith(_KEPT_PREFIXES) else None
    if len(_names) < 2000:  # a server may invent names without end
        _names[name] = known
    return known


_SECRET_PARAMETERS = frozenset(
    {"key", "api_key", "api-key", "apikey", "access_token", "token", "sig", "signature", "code", "password"}
)


def without_secrets(url: str) -> str:
    """`url` without user and password, and with the values of credential parameters replaced."""
    if "@" not in url and "?" not in url:
        return url
    from urllib.parse import parse_qsl, urlencode, urlsplit

    parts = urlsplit(url)
    netloc = parts.netloc.rpartition("@")[2]
    query = parts.query
    pairs = parse_qsl(query, keep_blank_values=True)
    if any(name.lower() in _SECRET_PARAMETERS for name, _ in pairs):
        query = urlencode(
            [(n, "[redacted]" if n.lower() in _SECRET_PARAMETERS else v) for n, v in pairs], safe="[]"
        )
    return parts._replace(netloc=netloc, query=query).geturl()
