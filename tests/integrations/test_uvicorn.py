"""A server that is ended by SIGTERM, and raises it again when it has shut down."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs: pip install 'lctl[test]'")

PROGRAM = """
import os, signal, sys

def begin():
    import lctl
    lctl.auto_instrument()
    lctl.tool(lambda: 1, name="look")()

async def app(scope, receive, send):
    await receive()
    begin()
    await send({"type": "lifespan.startup.complete"})
    os.kill(os.getpid(), signal.SIGTERM)
    await receive()
    await send({"type": "lifespan.shutdown.complete"})

def handled(number, frame):
    print("handled")

if "handles" in sys.argv:
    signal.signal(signal.SIGTERM, handled)
if "before" in sys.argv:
    import lctl
    lctl.auto_instrument()

import uvicorn
uvicorn.run(app, port=0, log_level="critical")
lctl.tool(lambda: 2, name="look")()
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM")
@pytest.mark.parametrize("words", [(), ("before",), ("before", "handles")], ids=" ".join)
def test_its_log_is_closed_before_the_process_is_gone(words: tuple[str, ...], tmp_path: Path) -> None:
    """Also where recording begins in the server. One that handles the signal itself goes on in its log."""
    (tmp_path / "program.py").write_text(PROGRAM)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
    environment = {**kept, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "program.py", *words], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == (0 if "handles" in words else -15), done.stderr
    (log,) = (tmp_path / ".lctl").iterdir()
    events = json.loads(log.read_text())["events"]
    assert len(events) == (2 if "handles" in words else 1)
    said = f"lctl: {len(events)} event{'s'[: len(events) - 1]} in .lctl/{log.name}  (lctl replay last)\n"
    assert done.stderr == said
