"""How the command line is run in tests: in this process for speed, as a process where that matters."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from lctl.cli import main
from tests.warm.starting import warmth


class Result(NamedTuple):
    code: int
    out: str
    err: str


class _Stream(io.TextIOWrapper):
    """Bytes behind text, as the real streams have; a terminal when asked to be."""

    def __init__(self, terminal: bool = False, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode(self.encoding)


Cli = Callable[..., Result]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and an environment without settings of ours."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("LCTL_") or name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def lctl(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    """`lctl("ls", "--json")`: exit code and both streams. `stdin=` bytes, `terminal=True`, `encoding=`."""

    def run(*words: object, stdin: bytes = b"", terminal: bool = False, encoding: str = "utf-8") -> Result:
        out, err = _Stream(terminal, encoding), _Stream()
        given = io.TextIOWrapper(io.BytesIO(stdin))
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            patch.setattr(sys, "stdin", given)
            code = main([str(word) for word in words])
        return Result(code, out.text(), err.text())

    yield run


def process(*words: object, cwd: Path, stdin: str = "", **environment: str | None) -> Result:
    """`python -m lctl WORDS` as a process of its own. Without a variable that is None. Where
    programs are warm the seed of hashes is set, unless something else is said."""
    python = ("PYTHONPATH", "PYTHONHASHSEED")
    inner = {k: v for k, v in os.environ.items() if not k.startswith("LCTL_") and k not in python}
    told: dict[str, str | None] = {**inner, **warmth(), **environment}
    done = subprocess.run(
        [sys.executable, "-m", "lctl", *map(str, words)],
        cwd=cwd,
        env={name: value for name, value in told.items() if value is not None},
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)
