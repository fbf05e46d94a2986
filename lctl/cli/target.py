"""From what a user types (`last`, a path, a chain id, `-`) to an open log."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lctl.errors import LogLocked, LogNotFound, UsageError

if TYPE_CHECKING:
    from lctl.cli.runs import Run
    from lctl.codec import Log

_LAST = re.compile(r"last(?:~(\d{0,9}))?")
#: Logs up to this size are checked as a whole when opened, so that what is wrong in them is said.
_CHECKED = 64_000_000


def opened(target: str, *, problems: bool = True, reruns: bool = True) -> Log:
    """The log `target` names. What had to be recovered is said on stderr, and, unless the command says it
    itself (`problems=False`), what is wrong in it; `reruns` as in `resolve`.

    Raises:
        LogNotFound: nothing of that name.
        UsageError: a prefix that fits more than one chain.
        LogError: it cannot be read.
    """
    from lctl.codec import open_log

    log = open_log("-") if target == "-" else open_log(resolve(target, reruns=reruns))
    _report(log, problems)
    return log


def resolve(target: str, *, reruns: bool = True) -> Path:
    """The path of the log that `target` names; `reruns=False`: `last` passes over logs of reruns."""
    path = Path(target)
    if target and path.exists():
        return path
    last = _LAST.fullmatch(target)
    if last is not None:
        return _newest(int(last[1] or (1 if target.endswith("~") else 0)), reruns)
    if target == "-":
        raise UsageError("standard input ('-') cannot be used here; give a path")
    if "/" in target or os.sep in target or path.suffix.lower() in _SUFFIXES:
        raise LogNotFound(f"{target}: no such file")
    return _by_id(target)


def output(name: str) -> Path:
    """The path of a file to be written, which replaces one that is there.

    Raises:
        LogLocked: a running program records into it.
    """
    from lctl.cli.runs import is_live

    path = Path(name)
    if is_live(path):
        raise LogLocked(f"{path}: a running program is writing it; choose another file")
    return path


def completions(start: str) -> list[str]:
    """Targets that begin with `start`, newest first, for the shell."""
    from lctl.cli.runs import runs

    names = ["last", "last~1"]
    for n, run in enumerate(runs()):
        if n >= 200:
            break
        names.append(run.id)
    return [name for name in names if name.startswith(start)]


def _newest(back: int, reruns: bool) -> Path:
    """The newest run, or the one `back` runs before it; runs of child processes are not counted."""
    from lctl.cli.runs import folders, runs

    seen = 0
    children = []
    for run in runs():
        if run.is_child:
            children.append(run.path)
            continue
        if "rerun" in run.chain and not reruns:
            continue
        if seen == back:
            return run.path
        seen += 1
    if not seen and children and back < len(children):
        return children[back]
    if seen:
        runs_there = "is only 1 run" if seen == 1 else f"are only {seen} runs"
        raise LogNotFound(f"last~{back}: there {runs_there}; 'lctl ls' lists them")
    where = " or ".join(str(folder) for folder in folders()) or os.environ.get("LCTL_DIR") or ".lctl"
    raise LogNotFound(f"no recorded runs in {where}; record one with: lctl run agent.py (or try: lctl demo)")


def _by_id(target: str) -> Path:
    from lctl.cli.runs import folders, runs

    fitting: dict[str, Run] = {}
    for run in runs() if target else ():
        if run.id == target:
            return run.path
        if run.id.startswith(target) or run.path.name.startswith(target):
            fitting.setdefault(run.id, run)
    # A forked child's id begins with its parent's: whoever types the beginning means the parent.
    meant = [run for run in fitting.values() if run.parent.get("id") not in fitting]
    if len(meant) == 1:
        return meant[0].path
    if fitting:
        some = ", ".join(list(fitting)[:4]) + (", ..." if len(fitting) > 4 else "")
        raise UsageError(f"'{target}' fits {len(fitting)} runs: {some}; type more of it")
    where = " or ".join(str(folder) for folder in folders()) or ".lctl"
    raise LogNotFound(f"{target!r}: no such file, and no run of that id in {where}; 'lctl ls' lists the runs")


def _report(log: Log, also_problems: bool) -> None:
    """One line on stderr for each kind of thing the reader should know."""
    from lctl.cli.runs import is_live
    from lctl.cli.text import plain, plural

    if log.open and log.path not in (None, "-") and is_live(Path(str(log.path))):
        sys.stderr.write(
            f"lctl: {plain(log.name)}: {plural(len(log), 'event')} so far, its program still runs\n"
        )
    elif log.recovered is not None:
        sys.stderr.write(f"lctl: {plain(log.name)}: {plain(str(log.recovered))}\n")
    if log.path not in (None, "-") and Path(str(log.path)).stat().st_size > _CHECKED:
        return
    problems = log.problems if also_problems else []
    if problems:
        more = f" (and {plural(len(problems) - 1, 'more problem')})" if len(problems) > 1 else ""
        sys.stderr.write(
            f"lctl: {plain(log.name)}: {plain(str(problems[0]))}{more}; "
            f"'lctl validate {plain(log.name)}' lists every problem\n"
        )


_SUFFIXES = {".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".gz", ".zst", ".lctl"}
