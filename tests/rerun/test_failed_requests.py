"""Requests from outside that a server answers with 500: the log, a rerun's too, has what they failed by."""

from __future__ import annotations

import http.client
import os
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from lctl.analysis.failures import failures
from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.rerun.harness import PROGRAMS, rerun
from tests.rerun.served import served

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM")

_NEEDS = {"aiohttp": "aiohttp", "uvicorn": "starlette", "uvloop": "uvloop"}
_PATHS = ("/one", "/tea?key=secret", "/coffee", "/refused", "/two")


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.slow) for kind in ("threads", "wsgiref", "aiohttp", "uvloop")]
    + ["uvicorn"],
)
def test_what_they_failed_by_is_told_once(kind: str, tmp_path: Path) -> None:
    pytest.importorskip(_NEEDS.get(kind, "socket"), reason="needs: lctl[test], uvloop")
    log = tmp_path / "served.lctl.json"
    with ModelServer() as models:
        out = _record(kind, log, models.environ)
    events = [event.to_dict() for event in open_log(log).events()]
    errors = [event["data"] for event in events if event["type"] == "error"]
    told = [error for error in errors if error["context"].get("ends") == "request"]
    assert [error["context"]["request"] for error in told] == ["GET /tea", "GET /refused"]
    assert (told[0]["type"], told[0]["message"]) == ("ValueError", "no tea")
    assert told[0]["context"]["traceback"][-1].endswith("in answer")
    found = failures(open_log(log))
    assert [one.count for one in found] == [1, 1]  # a model's refusal, which its call has told of, too
    again = rerun(log, tmp_path)
    assert (again.code, again.out, again.events) == (0, out, events), again.err


def _record(kind: str, log: Path, environ: dict[str, str]) -> str:
    """What the server printed."""
    with served([str(PROGRAMS / "requests_that_fail.py"), kind, "PORT"], log, environ) as server:
        for path in _PATHS:
            with suppress(urllib.error.HTTPError, http.client.RemoteDisconnected):
                urllib.request.urlopen(f"http://127.0.0.1:{server.port}{path}").read()
        return server.end()
