"""A debugger over real HTTP, for logs a test writes."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette", reason="the debugger needs: pip install 'lctl[debug]'")
uvicorn = pytest.importorskip("uvicorn", reason="the debugger needs: pip install 'lctl[debug]'")

from lctl.debugger.catalogue import of_target  # noqa: E402
from lctl.debugger.serving import Server, application, bind  # noqa: E402


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        return str(self.json["error"]["code"])


_leaving: list[threading.Thread] = []


class Debugger:
    """A server that runs in a thread, and its user's browser."""

    def __init__(self, target: Path, *, allow_run: bool = False) -> None:
        self.server = Server(of_target(target, []), allow_run=allow_run)
        listening = bind("127.0.0.1", 0)
        self.port = listening.getsockname()[1]
        self.app = application(self.server, self.port)
        config = uvicorn.Config(self.app, log_level="error", lifespan="off", ws="none")
        self._uvicorn = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._uvicorn.run, kwargs={"sockets": [listening]})
        self._thread.start()

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        headers: dict[str, str] | None = None,
        body: Any = None,
        token: bool = True,
        **query: Any,
    ) -> Answer:
        if query:
            path += "?" + urlencode(query, doseq=True)
        said = {"Host": f"127.0.0.1:{self.port}"}
        if token:
            said["Authorization"] = f"Bearer {self.app.token}"
        if body is not None:
            said["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            content = None if body is None else json.dumps(body)
            connection.putrequest(method, path, skip_host=True)
            for name, value in {**said, **(headers or {})}.items():
                connection.putheader(name, value)
            if content is not None:
                connection.putheader("Content-Length", str(len(content.encode())))
            connection.endheaders(None if content is None else content.encode())
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def get(self, path: str, **query: Any) -> Any:
        answer = self.ask(path, **query)
        assert answer.status == 200, answer.body
        return answer.json

    def post(self, path: str, body: Any) -> Answer:
        return self.ask(path, method="POST", body=body)

    def stream(self, path: str, *, method: str = "GET", body: Any = None) -> Stream:
        return Stream(self, path, method, body)

    def stop(self) -> None:
        """It looks ten times a second whether it is to: the test after the next one waits for it."""
        self._uvicorn.should_exit = True
        _leaving.append(self._thread)
        while len(_leaving) > 1:
            _leaving.pop(0).join(10)


class Stream:
    """Server-sent events, one by one: (event, data)."""

    def __init__(self, debugger: Debugger, path: str, method: str, body: Any) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", debugger.port, timeout=20)
        headers = {"Authorization": f"Bearer {debugger.app.token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        content = None if body is None else json.dumps(body)
        self._connection.request(method, path, content, headers)
        self.response = self._connection.getresponse()

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        event = ""
        while line := self.response.readline():
            text = line.decode().rstrip("\n")
            if text.startswith("event: "):
                event = text[7:]
            elif text.startswith("data: "):
                yield event, json.loads(text[6:])
        self.close()

    def close(self) -> None:
        self.response.close()
        self._connection.close()


@pytest.fixture
def debug() -> Iterator[Callable[..., Debugger]]:
    """Start a debugger for a path."""
    running: list[Debugger] = []

    def start(target: Path, **options: Any) -> Debugger:
        made = Debugger(target, **options)
        running.append(made)
        return made

    yield start
    for one in running:
        one.stop()
