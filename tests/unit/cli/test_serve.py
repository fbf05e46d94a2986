"""`lctl serve` as a user starts it."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.debugger.shared import accounts
from tests.unit.cli.conftest import Cli
from tests.unit.debugger.logs import review, save

pytest.importorskip("uvicorn", reason="lctl serve needs: pip install 'lctl[serve]'")
pytest.importorskip("itsdangerous", reason="lctl serve needs: pip install 'lctl[serve]'")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--host 0.0.0.0", "beyond this machine (0.0.0.0) the logs are for those who may read them"),
        ("--url https://debug.example.com", "beyond this machine (https://debug.example.com)"),
        ("--users none", "none: no such file or directory; make it with: lctl serve --users none"),
        ("--users empty", "nobody may come in"),
        ("--users bad", "bad, line 1: not an account"),
        ("--users ok --host 0.0.0.0", "by which address do people reach it? give --url"),
        ("--users ok --host 192.0.2.1", "would cross the network readable"),
        ("--users ok --url http://debug.example.com", "would cross the network readable"),
        ("--users ok --url debug.example.com", "--url debug.example.com: an address is https://NAME"),
        ("--users ok --cert none.pem", "none.pem: no such file"),
        ("--users ok --key ok", "--key goes with --cert"),
        ("nothing --users ok", "nothing: no such folder or log"),
        ("sqlite:///none.db --users ok", "none.db: no such file"),
        ("--store gopher://x --users ok", "not a store"),
        ("--add-user ann", "which file? give --users FILE"),
        ("--users ok --add-user a:b", "'a:b': a name has"),
        ("--users ok --remove-user bob", "there is no 'bob' in it"),
    ],
)
def test_what_would_be_unsafe_is_refused(place: Path, lctl: Cli, words: str, said: str) -> None:
    """Beyond loopback there is no serving without people's names, and none that could be listened to."""
    accounts.add_token(place / "ok", "ci")
    (place / "empty").write_text("# nobody yet\n")
    (place / "bad").write_text("ann:geheim\n")
    found = lctl("serve", *words.split(), stdin=b"pw\n")
    assert found.code == 2 or "none.db" in said, found
    assert said in found.err and "Traceback" not in found.err and len(found.err.splitlines()) == 1


def test_a_token_of_the_environment_is_no_short_word(
    place: Path, lctl: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LCTL_SERVE_TOKEN", "admin")
    assert "LCTL_SERVE_TOKEN is shorter than 12 characters" in lctl("serve").err


@pytest.mark.skipif(os.name == "nt" or shutil.which("openssl") is None, reason="needs openssl")
def test_over_tls_to_who_has_the_token(place: Path) -> None:
    """A certificate of one's own, the token of the environment; Ctrl-C is the end of it."""
    request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    request += " -keyout key.pem -out cert.pem"
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(["openssl", *request.split(), *names], cwd=place, check=True, capture_output=True)
    (place / ".lctl").mkdir()
    save(place / ".lctl" / "a.lctl.json", review())
    words = ["serve", "--host", "localhost", "--port", "0", "--cert", "cert.pem", "--key", "key.pem"]
    environment = {key: value for key, value in os.environ.items() if key not in ("LCTL_DIR", "LCTL_STORE")}
    process = subprocess.Popen(
        [sys.executable, "-m", "lctl", *words],
        cwd=place,
        env={**environment, "LCTL_SERVE_TOKEN": "long enough a token"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    link = process.stdout.readline().strip()
    assert link.startswith("https://localhost:")
    trusted = ssl.create_default_context(cafile=str(place / "cert.pem"))
    port = int(link.rstrip("/").rpartition(":")[2])
    connection = http.client.HTTPSConnection("localhost", port, context=trusted, timeout=30)
    statuses = []
    for headers in ({}, {"Authorization": "Bearer long enough a token"}):
        connection.request("GET", "/api/runs", headers=headers)
        answer = connection.getresponse()
        statuses.append((answer.status, b"a.lctl.json" in answer.read()))
    connection.close()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert statuses == [(401, False), (200, True)]
    assert err.strip() == "lctl: Ctrl-C ends the server"
