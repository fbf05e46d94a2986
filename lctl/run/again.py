"""Starting a recorded program a second time, on its tape."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from lctl.codec import Log
from lctl.errors import RerunError
from lctl.instrument.provenance import changes_looks, steers_libraries
from lctl.instrument.settings import DISABLED
from lctl.rerun.exactness.certificate import Certificate
from lctl.rerun.exactness.results import certificates
from lctl.rerun.settings import DUMMY_KEY, MAIN, SCRATCH, VARIABLE, Settings
from lctl.run import family
from lctl.run.environment import BOOTSTRAP
from lctl.run.program import is_notebook, of_notebook
from lctl.session.concurrency.pythons import ignores_environment, is_python, opened
from lctl.values import items, mapping, texts

#: What SDKs refuse to start without.
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")


class Program(NamedTuple):
    """What is started: the recorded program, or what the user gives in its place."""

    argv: list[str]
    cwd: Path | None
    environment: dict[str, str]
    warnings: list[str]


def program(
    log: Log, settings: Settings, words: Sequence[str] = (), outer: Mapping[str, str] = os.environ
) -> Program:
    """The command, folder and environment to run `log`'s program again.

    Args:
        words: a command line in place of the recorded one.

    Raises:
        RerunError: the log does not say how its program was started.
    """
    known = log.chain.get("program")
    known = known if isinstance(known, dict) else {}
    argv = list(words) or [str(word) for word in items(known.get("argv"))]
    if words and is_notebook(words[0]):
        argv = of_notebook(words, _interpreter(known, []))
    elif not words and _comes_in_cells(known, argv):
        argv = of_notebook(python=argv[0])
    if not argv:
        raise RerunError(
            f"{log.name}: it does not say how its program was started; "
            "say it after '--': lctl rerun TARGET -- python agent.py"
        )
    if not words and "--multiprocessing-fork" in argv:
        above = mapping(log.chain.get("parent")).get("id")
        whole = f"lctl rerun {above}" if above else "record it by `lctl run`"
        raise RerunError(
            f"{log.name}: it is of a process that multiprocessing started, which does not run alone; "
            f"run the whole program again: {whole}"
        )
    warnings: list[str] = []
    if not words:
        argv[0] = _interpreter(known, warnings)
        if argv[1:] in ([], ["-"]):
            warnings.append("its program came by standard input, and has to come so again (< agent.py)")
    environment = _environment(known, settings, outer)
    if is_python(argv[0]):
        if ignores_environment(argv[1:]):  # the tape comes in by PYTHONPATH; nothing else may
            environment = {
                name: value for name, value in environment.items() if not name.startswith("PYTHON")
            }
            environment["PYTHONPATH"] = str(BOOTSTRAP)
        argv[1:] = opened(argv[1:])
    cwd = Path(known["cwd"]) if isinstance(known.get("cwd"), str) else None
    if cwd is not None and not cwd.is_dir():
        warnings.append(f"its folder {cwd} is not there; it runs in {Path.cwd()}")
        cwd = None
    return Program(argv, cwd, environment, warnings)


def run(started: Program, settings: Settings, *, aside: bool = False) -> tuple[list[Certificate], int]:
    """Run it to its end: its certificate, after it those of its other sessions and of its child processes,
    and its exit code. No certificate if it did not get to write one.

    Args:
        aside: what it writes to its standard output goes to our standard error.

    Raises:
        RerunError: it cannot be started.
    """
    # A process that the program leaves running may still write into the folder while it is removed.
    with tempfile.TemporaryDirectory(prefix=SCRATCH, ignore_cleanup_errors=True) as folder:
        told = replace(settings, result=folder)
        environment = {**started.environment, VARIABLE: told.text()}
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            process = subprocess.Popen(
                started.argv, cwd=started.cwd, env=environment, stdout=sys.stderr if aside else None
            )
        except OSError as error:
            what = (error.strerror or str(error)).lower()
            raise RerunError(f"{started.argv[0]}: cannot be started ({what})") from None
        code = _wait(process, Path(folder))
        return [
            replace(one, log=_from_here(one.log, started.cwd)) for one in certificates(Path(folder))
        ], code


def _from_here(log: str, cwd: Path | None) -> str:
    """The path of a log, as a program in `cwd` says it, for who is here."""
    if not log or cwd is None:
        return log
    path = cwd / log
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _wait(process: subprocess.Popen[bytes], folder: Path) -> int:
    """Ctrl-C reaches the program itself, which decides what it means."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = process.wait() if os.name == "nt" else family.wait(process, folder)
    finally:
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code


def _interpreter(known: dict[str, Any], warnings: list[str]) -> str:
    executable = str(known.get("executable") or known.get("argv", [""])[0])
    if Path(executable).exists():
        return executable
    warnings.append(f"its interpreter {executable} is not there; {sys.executable} is used")
    return sys.executable


def _comes_in_cells(known: dict[str, Any], argv: Sequence[str]) -> bool:
    """Whether its cells were typed, or sent to a kernel: no file has them."""
    return known.get("cells") is True and list(argv[1:3]) != of_notebook()[1:]


def _environment(known: dict[str, Any], settings: Settings, outer: Mapping[str, str]) -> dict[str, str]:
    ours = ("LCTL_RUN", "LCTL_PARENT", DISABLED)
    inner = {key: value for key, value in outer.items() if not key.startswith(ours)}
    here = filter(None, outer.get("PYTHONPATH", "").split(os.pathsep))
    paths = [str(BOOTSTRAP), *texts(known.get("pythonpath")), *here]
    inner["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    inner[MAIN] = "1"
    seed = known.get("hashseed")
    if seed is not None:
        inner["PYTHONHASHSEED"] = str(seed)
    recorded = known.get("env")
    if isinstance(recorded, dict):
        if settings.at is None:
            kept = {*recorded, *texts(known.get("keys"))}
            tells_looks = "packages" in known
            inner = {
                name: value
                for name, value in inner.items()
                if name in kept or not (steers_libraries(name) or (tells_looks and changes_looks(name)))
            }
        for name, value in recorded.items():
            if value is None:
                continue  # it held a secret: what is set now stands
            if settings.at is None:
                inner[str(name)] = str(value)
            else:
                inner.setdefault(str(name), str(value))
    if settings.at is None:
        for name in texts(known.get("keys")):
            if not inner.get(name):  # clients refuse an empty one as they do none
                inner[name] = DUMMY_KEY
        for name in _KEYS:
            inner.setdefault(name, DUMMY_KEY)
    return inner
