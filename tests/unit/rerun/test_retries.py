"""Requests that a client makes again after a delay of chance, beside other calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing.server import ModelServer
from tests.unit.rerun.commands import Run

pytestmark = [pytest.mark.slow, pytest.mark.interpreter]

_PROGRAM = """
import asyncio, lctl
lctl.auto_instrument()
from {sdk} import Async{name} as Client

async def ask(client, text, **options):
    asked = [{{"role": "user", "content": text}}]
    if "{sdk}" == "openai":
        return (await client.chat.completions.create(model="gpt-4.1", messages=asked, **options)).id
    options = {{**options, "model": "claude-sonnet-4-5", "max_tokens": 9, "messages": asked}}
    return (await client.messages.create(**options)).id

async def refused(client, n):
    faults = {{"x-lctl-fault": "status=429; times=1"}}
    return await ask(client, f"Refused {{n}}", extra_headers=faults), n

async def busy(client):
    for n in range(14):
        await ask(client, f"Busy {{n}}")
    return "", "busy"

async def main():
    async with Client() as client:
        jobs = [busy(client), *(refused(client, n) for n in range(6))]
        print([(await one)[1] for one in asyncio.as_completed(jobs)])

asyncio.run(main())
"""


@pytest.mark.parametrize(("sdk", "name"), [("openai", "OpenAI"), ("anthropic", "Anthropic")])
def test_a_request_is_made_again_when_it_was(
    sdk: str, name: str, python: Run, lctl: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In which order answers come depends on it; what the client draws is not in such a recording."""
    (tmp_path / "agent.py").write_text(_PROGRAM.format(sdk=sdk, name=name))
    with ModelServer(seed=1, latency=(0.03, 0.05)) as server:
        for variable, value in server.environ.items():
            monkeypatch.setenv(variable, value)
        recorded = python("agent.py")
    assert recorded.returncode == 0, recorded.stderr
    (log,) = (tmp_path / ".lctl").glob("*.lctl.json")
    again = lctl("rerun", str(log))
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "log equal" in again.stderr
    assert "another order" not in again.stderr


_NO_TUNNEL = """
import json, socket, sys, threading
import lctl
lctl.auto_instrument()
import requests, urllib3

def refuse(server):
    while True:
        peer, _ = server.accept()
        peer.recv(65536)
        peer.sendall(b"HTTP/1.1 403 Forbidden\\r\\nContent-Length: 0\\r\\n\\r\\n")
        peer.close()

proxy = "http://127.0.0.1:9"
if sys.argv[1] == "refused":
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=refuse, args=(server,), daemon=True).start()
    proxy = f"http://127.0.0.1:{server.getsockname()[1]}"
url = "https://api.openai.com/v1/chat/completions"
asked = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}
try:
    pool = urllib3.ProxyManager(proxy)
    pool.request("POST", url, body=json.dumps(asked), retries=urllib3.Retry(1, backoff_factor=0))
except urllib3.exceptions.MaxRetryError as error:
    print(type(error.reason).__name__)
try:
    requests.post(url, json=asked, proxies={"https": proxy})
except requests.exceptions.ProxyError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize("how", ["closed", "refused"])
def test_a_call_that_gets_no_further_than_the_proxy(how: str, python: Run, lctl: Run, tmp_path: Path) -> None:
    """A call with its attempts, in the log and in a rerun: urllib3 sends nothing where it has no tunnel."""
    pytest.importorskip("requests")
    (tmp_path / "agent.py").write_text(_NO_TUNNEL)
    recorded = python("agent.py", how)
    assert (recorded.returncode, recorded.stdout) == (0, "ProxyError\nProxyError\n"), recorded.stderr
    (log,) = (tmp_path / ".lctl").glob("*.lctl.json")
    events = open_log(log).events()
    told = [
        (e.type, e.data.get("attempt")) for e in events if e.type in ("step_start", "exchange", "step_end")
    ]
    call, end = ("step_start", None), ("step_end", None)
    assert told == [call, ("exchange", 1), ("exchange", 2), end, call, ("exchange", 1), end]
    again = lctl("rerun", str(log))
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "log equal" in again.stderr
