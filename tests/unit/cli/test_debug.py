"""`lctl debug` as a user starts it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.trace import write_trace
from tests.unit.cli.conftest import Cli
from tests.unit.debugger.logs import review, save

pytest.importorskip("uvicorn", reason="the debugger needs: pip install 'lctl[debug]'")


def start(place: Path, *words: str, browser: str | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lctl", "debug", *words, "--port", "0"]
    command += ["--no-browser"] if browser is None else []
    environment = {key: value for key, value in os.environ.items() if key != "LCTL_DIR"}
    environment |= {} if browser is None else {"BROWSER": browser}
    return subprocess.Popen(
        command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ask(link: str, path: str) -> tuple[int, bytes]:
    port, token = re.search(r":(\d+)/", link), re.search(r"token=([\w-]+)", link)
    assert port is not None and token is not None
    connection = http.client.HTTPConnection("127.0.0.1", int(port[1]), timeout=30)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token[1]}"})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


def enter(link: str) -> tuple[int, str | None]:
    """Status and cookie of a link that is followed."""
    place, _, path = link.removeprefix("http://").partition("#")[0].partition("/")
    connection = http.client.HTTPConnection(place, timeout=30)
    connection.request("GET", f"/{path}")
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.headers["Set-Cookie"]


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is a signal")
def test_the_link_is_the_first_line_and_ctrl_c_the_end(place: Path) -> None:
    """The link leads to the run and the event asked for; Ctrl-C ends it without a word."""
    save(place / "run.lctl.json", review())
    process = start(place, "run.lctl.json", "--at", "13")
    assert process.stdout is not None
    link = process.stdout.readline()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]+#run=run\.lctl\.json&seq=13\n", link)
    status, body = ask(link, "/api/session")
    assert (status, json.loads(body)["run"], json.loads(body)["allow_run"]) == (200, "run.lctl.json", False)
    assert ask(link, "/")[1].startswith(b"<!doctype html>")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (out, err.strip()) == ("", "lctl: Ctrl-C ends the debugger")


@pytest.mark.skipif(os.name == "nt", reason="BROWSER is a command")
def test_the_browser_s_own_link_is_good_once(place: Path) -> None:
    """What it was started with is in the list of processes; the printed link stays good."""
    save(place / "run.lctl.json", review())
    told = place / "told"
    os.mkfifo(told)
    browser = place / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {told}\n')
    browser.chmod(0o755)
    process = start(place, "run.lctl.json", "--at", "13", browser=str(browser))
    try:
        assert process.stdout is not None
        printed, opened = process.stdout.readline().strip(), told.read_text().strip()
        assert printed != opened
        assert re.sub("token=[^#]+", "", printed) == re.sub("token=[^#]+", "", opened)
        assert ask(opened, "/api/session")[0] == 401
        statuses = [enter(link) for link in (opened, opened, printed, printed)]
        assert [status for status, _ in statuses] == [303, 401, 303, 303]
        cookies = {cookie for _, cookie in statuses if cookie}
        assert len(cookies) == 1 and re.search(r"token=([\w-]+)", opened)[1] not in cookies.pop()  # type: ignore[index]
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_a_folder_and_no_runs_yet(place: Path) -> None:
    """A folder has no run of its own; `last` without runs waits for the first."""
    (place / "runs").mkdir()
    save(place / "runs" / "a.lctl.json", review())
    for words, total in ((("runs",), 1), ((), 0)):
        process = start(place, *words)
        assert process.stdout is not None
        link = process.stdout.readline()
        assert "#" not in link
        assert json.loads(ask(link, "/api/runs")[1])["total"] == total
        process.terminate()
        process.communicate(timeout=20)


def test_what_cannot_be_opened_is_one_line(lctl: Cli, place: Path) -> None:
    (place / "x.lctl.json").write_text("<html>")
    for words in (
        ("missing.lctl.json",),
        ("x.lctl.json",),
        ("x", "--port", "70000"),
        ("--host", "no.such.host.invalid"),
    ):
        result = lctl("debug", *words, "--no-browser")
        assert result.code in (2, 3), words
        assert "Traceback" not in result.err and len(result.err.strip().splitlines()) <= 4


def test_last_is_the_newest_recording_and_no_rerun(place: Path) -> None:
    """A rerun's log is opened by its name."""
    (place / ".lctl").mkdir()
    save(place / ".lctl" / "20260101-100000-first.lctl.json", review(), "first")
    save(place / ".lctl" / "20260101-110000-again.lctl.json", review(), "again", rerun={"of": "first"})
    for target, name in (("last", "first"), ("again", "again")):
        process = start(place, target)
        try:
            assert process.stdout is not None
            assert f"-{name}.lctl.json" in process.stdout.readline()
        finally:
            process.kill()
            process.communicate()


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is a signal")
@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM])
def test_what_its_end_cuts_off_is_no_error(place: Path, number: int) -> None:
    """A question that is under way then; each was a traceback of seventy lines."""
    save(place / "run.lctl.json", review())
    process = start(place, "run.lctl.json")
    assert process.stdout is not None
    link = process.stdout.readline()
    port, token = re.search(r":(\d+)/", link), re.search(r"token=([\w-]+)", link)
    assert port is not None and token is not None
    with socket.create_connection(("127.0.0.1", int(port[1]))) as asking:
        head = [
            "POST /api/whatif HTTP/1.1",
            f"Host: 127.0.0.1:{port[1]}",
            f"Authorization: Bearer {token[1]}",
            "Content-Type: application/json",
            "Content-Length: 9",
        ]
        asking.sendall("\r\n".join([*head, "", "half"]).encode())
        assert ask(link, "/api/session")[0] == 200  # that has been read by now
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (out, err.strip()) == ("", "lctl: Ctrl-C ends the debugger")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="SIGTERM is a signal")
def test_a_debugger_that_is_stopped_leaves_no_files(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has read of a long log is in a temporary folder, which goes with it."""
    temporary = place / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    write_trace(place / "long.lctl.json", 201_000)
    process = start(place, "long.lctl.json")
    assert process.stdout is not None
    assert ask(process.stdout.readline(), "/api/run")[0] == 200
    assert list(temporary.glob("lctl-debug-*"))
    process.terminate()
    process.communicate(timeout=30)
    assert not list(temporary.glob("lctl-debug-*"))
