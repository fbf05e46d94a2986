"""One recorded request from outside, as bytes over a connection of its own, and what answers it."""

from __future__ import annotations

from base64 import b64decode
from io import BufferedReader
from typing import TYPE_CHECKING, Any

from lctl.session import ownports
from lctl.session.concurrency import ownrequests

if TYPE_CHECKING:
    from socket import socket


def connect(client: Any, port: int) -> socket:
    """For the program, from where the recorded client came: from that very port if the system has it free."""
    import socket

    made = socket.socket()
    if ownports.is_here(str(client[0])):
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind(("127.0.0.1", int(client[1])))
            made.connect(("127.0.0.1", port))
            ownrequests.asking.add(made.getsockname()[1])
            return made
        except OSError:
            made.close()
            made = socket.socket()
    made.bind(("127.0.0.1", 0))
    ownrequests.stands_for[made.getsockname()[1]] = tuple(client)
    ownrequests.asking.add(made.getsockname()[1])
    made.connect(("127.0.0.1", port))
    return made


def opens_websocket(value: Any) -> bool:
    """Whether a request (the value of its event) asks for that."""
    last = _messages(value)[-1]
    return any(name.lower() == "upgrade" and "websocket" in text.lower() for name, text in last["headers"])


def bytes_of(value: Any) -> bytes:
    """As the client sent it, with what it sent behind it (pipelined), or up to where it was cut."""
    *whole, last = _messages(value)
    return b"".join([*(_bytes_of_one(each) for each in whole), _bytes_of_one(last, bool(value.get("cut")))])


def read_answers(connection: socket, value: Any) -> None:
    """Read and throw away what the server answers to all that was sent, until it is over or cut off."""
    from http.client import HTTPResponse

    try:
        answers: Any = _Answers(connection)
        for each in _messages(value):
            response = HTTPResponse(answers, method=str(each["method"]))
            response.begin()
            response.read()
    except Exception:
        pass  # cut off, or no HTTP


class _Answers(BufferedReader):
    """What comes over one connection, answer behind answer: each takes it for a file of its own."""

    def __init__(self, connection: socket) -> None:
        super().__init__(connection.makefile("rb", buffering=0))

    def makefile(self, mode: str) -> BufferedReader:
        return self

    def close(self) -> None:
        """The next one goes on with it."""


def _messages(value: Any) -> list[Any]:
    return [value, *(value.get("more") or ())]


def _bytes_of_one(value: Any, cut: bool = False) -> bytes:
    body = value["body"]
    sent = b64decode(body["base64"]) if isinstance(body, dict) else str(body).encode()
    rows, length = [f"{value['method']} {value['target']} {value['version']}"], len(sent)
    for name, text in value["headers"]:
        if name.lower() == "transfer-encoding" and "chunked" in text.lower():
            sent = _chunks(sent, cut)
        counts = name.lower() == "content-length" and not cut  # a body in which secrets are no more
        rows.append(f"{name}: {length if counts else text}")
    return "\r\n".join([*rows, "", ""]).encode("latin-1") + sent


def _chunks(body: bytes, cut: bool) -> bytes:
    one = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
    return one if cut else one + b"0\r\n\r\n"
