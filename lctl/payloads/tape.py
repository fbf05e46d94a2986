"""Payloads of the tape: what entered the program from outside, for running it again."""

from __future__ import annotations

from typing import Any

from lctl.payloads.fields import Count, Milliseconds, Payload


class Request(Payload, frozen=True):
    """The request of an exchange; its content is in the messages of the step.

    Attributes:
        hash: "sha256:" and the hex digest of the body.
        size: bytes of the body.
    """

    hash: str | None = None
    size: Count | None = None
    headers: dict[str, Any] | None = None


class TransportError(Payload, frozen=True):
    """The exception that took the place of a response: class name, module and text."""

    type: str | None = None
    module: str | None = None
    message: str | None = None


class Exchange(Payload, frozen=True):
    """One request and its response on the wire: one attempt of a model call.

    Attributes:
        attempt: 1, 2, ... within its step.
        http: the client library: httpx, httpx2, requests, aiohttp, ...
        status: HTTP status, absent when no response came.
        headers: the response headers an SDK reads; never a secret.
        body: the response's text, {"base64": ...} or {"blob": hash}; or a list of texts and references
            {"$content": message id, "at"?: path, "as"?: encoding} to values of a message that are not
            stored twice: joined, they are the exact bytes.
        around: what every chunk given as [ms, [text]] begins and ends with.
        chunks: of a stream instead of `body`: [milliseconds since the request, text] each; [ms, [text]]
            where the text stands between the two of `around`.
        complete: the response was read to its end.
        closed_early: the program left the stream before its end.
    """

    attempt: Count | None = None
    method: str | None = None
    url: str | None = None
    http: str | None = None
    request: Request | None = None
    status: Count | None = None
    headers: dict[str, Any] | None = None
    body: str | dict[str, Any] | list[Any] | None = None
    around: list[str] | None = None
    chunks: list[Any] | None = None
    error: TransportError | None = None
    complete: bool | None = None
    closed_early: bool | None = None
    duration_ms: Milliseconds | None = None


class Ambient(Payload, frozen=True):
    """A value the program read from its surroundings.

    Attributes:
        source: clock, random, uuid, environment, ...
        key: which one: the function's or the variable's name.
        value: what it gave.
    """

    source: str | None = None
    key: str | None = None
    value: Any = None


class Blob(Payload, frozen=True):
    """Large or binary content, once per hash; elsewhere {"$blob": hash} stands for it.

    Attributes:
        hash: "sha256:" and the hex digest of the content's bytes.
        encoding: "utf8" or "base64".
        size: bytes of the content.
    """

    hash: str
    content: str
    encoding: str | None = None
    media_type: str | None = None
    size: Count | None = None
