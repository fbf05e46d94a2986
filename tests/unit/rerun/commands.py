"""Programs recorded and run again by the commands, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.payloads.tape import reads_of
from tests.warm.starting import warmth

Ran = subprocess.CompletedProcess[str]
Run = Callable[..., Ran]
Twice = Callable[..., tuple[Ran, Ran]]

# A model call over plain HTTP: where no SDK is what a test is about, the second that importing one takes is
# saved in each of its processes.
ASKING = """
import os, httpx
client = httpx.Client(base_url=os.environ["OPENAI_BASE_URL"], headers={"authorization": "Bearer k"})

def answer(messages):
    asked = {"model": "gpt-4.1", "messages": messages}
    return client.post("/chat/completions", json=asked).json()["choices"][0]["message"]["content"]
"""


@pytest.fixture
def python(tmp_path: Path) -> Run:
    """Python itself in the test's folder."""

    def run(*words: str) -> Ran:
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("LCTL", "PYTHON"))} | warmth()
        command = [sys.executable, *words]
        return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60)

    return run


@pytest.fixture(name="lctl")
def command(python: Run) -> Run:
    return partial(python, "-m", "lctl")


@pytest.fixture
def twice(lctl: Run, tmp_path: Path) -> Twice:
    """Record a program, into run.lctl.json, and run it again. (Its modules by name.)"""

    def twice(program: str, **modules: str) -> tuple[Ran, Ran]:
        for name, text in {"agent": program, **modules}.items():
            (tmp_path / f"{name}.py").write_text(text)
        recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
        assert recorded.returncode == 0, recorded.stderr
        return recorded, lctl("rerun", "run.lctl.json")

    return twice


def found(log: Path, source: str) -> list[tuple[str, object]]:
    """(key, value) of each read of one source."""
    reads = [each for e in open_log(log).events() if e.type == "ambient" for each in reads_of(e.data)]
    return [(key, value) for kind, key, value, _ in reads if kind == source]


def again_aside(lctl: Run, runs: list[Ran]) -> None:
    """Each of the two runs writes aside, and is as it was."""
    for name, run in zip(("first", "second"), runs, strict=True):
        again = lctl("rerun", f"{name}.lctl.json", "--writes", "aside")
        assert (again.returncode, again.stdout) == (0, run.stdout), again.stderr
        assert "rerun exact" in again.stderr
