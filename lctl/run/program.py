"""From the words after `lctl run` to the command that is started."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from lctl.errors import UsageError


def program(words: Sequence[str], *, module: str | None = None, command: bool = False) -> list[str]:
    """The command line that starts it.

    Args:
        words: the program and its arguments; only arguments when `module` is given.
        module: run it as `python -m` does.
        command: `words` is a command line as a shell would take it, whatever its first word looks like.

    Raises:
        UsageError: nothing to run, or no such file or command.
    """
    if module is not None:
        return [sys.executable, "-m", module, *words]
    if not words:
        raise UsageError("nothing to run; give a script, -m MODULE, or -- COMMAND")
    first = words[0]
    if is_notebook(first) and (not command or shutil.which(first) is None):
        return of_notebook(words)
    if not command and _is_python(Path(first)):
        return [sys.executable, *words]
    found = shutil.which(first)
    if found is None:
        raise UsageError(f"{first}: no such {'command' if command else 'file or command'}")
    return [found, *words[1:]]


def is_notebook(word: str) -> bool:
    """Whether this is the name of a Jupyter notebook that is there."""
    return word.endswith(".ipynb") and Path(word).is_file()


def of_notebook(words: Sequence[str] = (), python: str = sys.executable) -> list[str]:
    """The command line that runs the cells of a notebook, `words[0]`; without one, those that a rerun's
    recording says."""
    return [python, "-m", "lctl.run.notebook", *words]


def unrecordable(argv: Sequence[str]) -> str | None:
    """The option of a Python's command line that keeps it from being recorded; None if there is none."""
    from lctl.session.concurrency.pythons import closed_by, is_python

    return closed_by(argv[1:]) if is_python(argv[0]) else None


def _is_python(path: Path) -> bool:
    """A script, or a folder or archive with a `__main__`: what `python PATH` takes. A file that says by
    itself how it is run (an executable of another language) is a command."""
    if path.suffix in (".py", ".pyw", ".pyz"):
        return path.exists()
    if path.is_dir():
        return (path / "__main__.py").exists()
    return path.is_file() and not os.access(path, os.X_OK)
