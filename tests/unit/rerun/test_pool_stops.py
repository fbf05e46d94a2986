"""A rerun that ends in a worker of a pool of processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import multiprocessing, sys
from pathlib import Path
import lctl

@lctl.tool
def look(city):
    return f"Sunny in {city}"

def job(city):
    return look(city)

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        for city in Path("cities").read_text().split():
            print(pool.map(job, [city]), flush=True)
        pool.close()
        pool.join()
"""


def lctl(*words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
    return subprocess.run(
        [sys.executable, "-m", "lctl", *words], env=kept, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_who_waits_for_the_worker_is_told(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would wait for ever: the worker is replaced, and its job is nobody's."""
    if sys.platform != "linux" and method == "fork":
        pytest.skip("needs fork")
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(PROGRAM)
    Path("cities").write_text("Rome")
    assert lctl("run", "program.py", method).returncode == 0
    Path("cities").write_text("Rome Oslo")
    again = lctl("rerun", "last", "--files", "now")
    assert (again.returncode, again.stdout) == (1, "['Sunny in Rome']\n"), again.stderr
    assert "Traceback" not in again.stderr
    assert "lctl: rerun not exact: " in again.stderr, again.stderr
    assert "lctl: rerun stopped: the tape holds no such tool call" in again.stderr, again.stderr
