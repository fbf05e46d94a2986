"""Every recorded call, made again by the real SDKs with lctl on: the log says what was on the wire."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus.recorded import SHARED
from tests.seeds import some

ROOT = Path(__file__).parents[2]
DRIVER = SHARED / "tools" / "driver.py"
CASSETTES = SHARED / "corpus" / "cassettes"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.slow,
    pytest.mark.skipif(not DRIVER.exists(), reason=f"no recorded traffic at {SHARED}"),
]

RUNS = [
    f"--mode {mode} --surface {surface}{' --concurrency 16' if mode == 'async' else ''}"
    for mode in ("sync", "async")
    for surface in ("create", "raw", "streaming", "helper")
] + ["--break-after 2", "--mode async --concurrency 16 --break-after 2"]


@pytest.mark.parametrize("options", some(RUNS, "LCTL_SURFACES"))
def test_the_log_equals_the_wire(options: str) -> None:
    """Model, prompt, tools, text, reasoning, tool calls, usage, ids and errors, one step a call."""
    pytest.importorskip("uvicorn", reason="the server of recorded traffic needs uvicorn")
    command = [sys.executable, "-W", "ignore", str(DRIVER), str(CASSETTES)]
    command += ["--plugin", str(Path(__file__).with_name("plugin.py")), *options.split()]
    done = subprocess.run(
        command, cwd=DRIVER.parent, capture_output=True, text=True, env={**os.environ, "LCTL_STRICT": "1"}
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert re.search(r"^calls 550, .*differences 0$", done.stdout, re.M), done.stdout[-4000:]
