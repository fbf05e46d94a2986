"""Served answers for http.client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lctl.instrument.serving.errors import revive
from lctl.instrument.serving.message import Socket, frame
from lctl.session.border import Answer


def refuse(answer: Answer) -> None:
    """In place of sending: raises the recorded error of a request that never left."""
    if answer.status is None and answer.error is not None and answer.error.sent is False:
        answer.wait()
        raise _error(answer)


def responding(getresponse: Callable[[], Any], conn: Any, answer: Answer) -> Callable[[], Any]:
    """`getresponse` of `conn`, reading `answer` instead of the network."""

    def respond() -> Any:
        answer.wait()
        if answer.status is None:
            raise _error(answer)
        socket = Socket(answer, lambda: _error(answer))
        conn.sock = socket
        try:
            response = getresponse()
        finally:
            conn.sock = None
        frame(socket, response, answer)
        return response

    return respond


def _error(answer: Answer) -> BaseException:
    assert answer.error is not None
    return revive(answer.error, OSError)
