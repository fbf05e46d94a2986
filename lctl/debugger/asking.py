"""Routes: a path, what a request to it says, what it is answered, and who answers.

A view is a plain function of an opened run (or of the server) and its question. It runs in a thread, knows
nothing of HTTP, and raises what it cannot answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import msgspec


class Question(msgspec.Struct, kw_only=True):
    """What a request says in its query."""


class OfRun(Question, kw_only=True):
    """A question about one run; `run` is its key, left out: the run the server was started for."""

    run: str | None = None


class Route(NamedTuple):
    """One route of the API.

    Attributes:
        path: `{name}` is a part of it that the question has, too.
        asked: type of the question: of the query and the path, or of a POST's body.
        answer: type of the answer; None: the view gives a `Response`.
        view: of (run, question) if `of` is "run", else of (server, question).
    """

    method: Literal["GET", "POST"]
    path: str
    asked: type[msgspec.Struct]
    answer: Any
    view: Callable[[Any, Any], Any]
    of: Literal["run", "server"]
    summary: str


class Bytes(NamedTuple):
    """An answer that is no JSON. `attachment`: a browser saves it and never shows it."""

    content: bytes
    media_type: str
    attachment: str | None = None
