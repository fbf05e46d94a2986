"""A shared debugger over real HTTP."""

from __future__ import annotations

import http.client
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette", reason="lctl serve needs: pip install 'lctl[serve]'")
pytest.importorskip("itsdangerous", reason="lctl serve needs: pip install 'lctl[serve]'")
uvicorn = pytest.importorskip("uvicorn", reason="lctl serve needs: pip install 'lctl[serve]'")

from lctl.debugger.catalogue import Catalogue  # noqa: E402
from lctl.debugger.serving import Server, bind, rooms  # noqa: E402
from lctl.debugger.shared.accounts import Accounts  # noqa: E402
from lctl.debugger.shared.door import Door  # noqa: E402
from tests.unit.debugger.conftest import Answer  # noqa: E402


class Shared:
    """A shared debugger that runs in a thread."""

    def __init__(self, runs: Catalogue, users: Path, *, url: str = "") -> None:
        listening = bind("127.0.0.1", 0)
        self.port = listening.getsockname()[1]
        self.origin = url or f"http://127.0.0.1:{self.port}"
        door = Door(rooms(Server(runs, shared=True)), accounts=Accounts(users), origins=(self.origin,))
        config = uvicorn.Config(door, log_level="error", lifespan="off", ws="none")
        self._uvicorn = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._uvicorn.run, kwargs={"sockets": [listening]})
        self._thread.start()

    def ask(self, path: str, *, method: str = "GET", body: str = "", **headers: str) -> Answer:
        said = {"Host": self.origin.partition("://")[2], **headers}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(
                method, path, body.encode() or None, {k.replace("_", "-"): v for k, v in said.items()}
            )
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def form(self, path: str, *, origin: str | None = None, cookie: str = "", **fields: str) -> Answer:
        said = {"Content-Type": "application/x-www-form-urlencoded"}
        said |= {"Cookie": cookie} if cookie else {}
        said |= {"Origin": self.origin if origin is None else origin} if origin != "" else {}
        return self.ask(path, method="POST", body=urlencode(fields) or "x=", **said)

    def cookie(self, name: str, password: str) -> str:
        entered = self.form("/login", name=name, password=password)
        assert entered.status == 303, entered
        return entered.headers["set-cookie"].split(";")[0]

    def get(self, path: str, token: str) -> Any:
        answer = self.ask(path, Authorization=f"Bearer {token}")
        assert answer.status == 200, answer.body
        return answer.json

    def stop(self) -> None:
        self._uvicorn.should_exit = True
        self._thread.join(10)
