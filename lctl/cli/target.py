"""From what a user types (`last`, a path, a chain id, `-`) to an open log."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lctl.elsewhere import is_elsewhere
from lctl.errors import LogLocked, LogNotFound, UsageError

if TYPE_CHECKING:
    from lctl.cli.runs import Run
    from lctl.codec import Log

_LAST = re.compile(r"last(?:~(\d{0,9}))?")
#: Logs up to this size are checked as a whole when opened, so that what is wrong in them is said.
_CHECKED = 64_000_000
#: Runs of a folder among which those are looked for that a run started.
_NEWEST = 100


def opened(
    target: str, *, problems: bool = True, reruns: bool = True, local: bool = False, store: str | None = None
) -> Log:
    """The log `target` names. What had to be recovered is said on stderr, and, unless the command says it
    itself (`problems=False`), what is wrong in it; `reruns` as in `resolve`.

    Args:
        local: of a run in a store, a file of it: it is to be run again.
        store: of the --store option.

    Raises:
        LogNotFound: nothing of that name.
        UsageError: a prefix that fits more than one chain.
        LogError: it cannot be read.
    """
    is_whole = target.endswith("+") and not local and not Path(target).exists()
    log = _opened(target[:-1] or "last" if is_whole else target, problems, reruns, local, store)
    if is_whole:
        return _whole(log)
    _say_others(target, log)
    return log


def _opened(target: str, problems: bool, reruns: bool, local: bool, store: str | None) -> Log:
    from lctl.codec import open_log

    stored = None if local else _stored(target, reruns, store)
    if stored is not None:
        return stored
    log = open_log("-") if target == "-" else open_log(resolve(target, reruns=reruns))
    report(log, problems)
    return log


def _say_others(target: str, log: Log) -> None:
    """That a run started others: whoever sums it up may want them with it."""
    started = _started(log)
    if started:
        from lctl.cli.text import plain, plural

        name, others = plain(log.id, 60), plural(started, "other run")
        sys.stderr.write(f"lctl: {name} started {others}; {plain(target, 200)}+ is all of it\n")


def _started(log: Log) -> int:
    """How many runs it started: in its store, or among the newest of its folder."""
    from lctl.stores.source import StoredEvents

    if isinstance(log.source, StoredEvents):
        from lctl.stores.contract import started_by

        store = log.source.store
        return len(started_by(store, store.entry(log.source.chain_id)))
    if log.path in (None, "-") or not log.id:
        return 0
    from lctl.kinship import family

    run, newest = _beside(log, _NEWEST)
    return sum(not parent for _, parent in family(run.born, [one.born for one in newest]))


def _beside(log: Log, newest: int | None = None) -> tuple[Run, list[Run]]:
    """The run of a log in a file, and those in its folder, or the newest of them."""
    from lctl.cli.runs import Run, files, read_run

    path = Path(str(log.path))
    known = [read_run(one) for _, one in files(str(path.parent))[:newest]]
    own = next((run for run in known if run.path.name == path.name), None)
    return own or Run(path, log.chain, path.stat().st_mtime, 0, len(log), {}, log.open), known


def _whole(root: Log) -> Log:
    """The run with all that it started: chains in the same store, or the same folder."""
    from lctl.analysis.merging import merged, parts_of, with_all
    from lctl.stores.source import StoredEvents, log_of

    if isinstance(root.source, StoredEvents):
        from lctl.stores.contract import descendants

        store = root.source.store
        found = descendants(store, store.entry(root.source.chain_id))
        return merged(parts_of(root, [(log_of(store, entry), parent) for entry, parent in found]))
    if root.path in (None, "-"):
        return merged(parts_of(root, []))
    return with_all(root, *_beside(root))


def _stored(target: str, reruns: bool, store: str | None) -> Log | None:
    """The log of a target that is in a store."""
    if store is None and not os.environ.get("LCTL_STORE") and not is_elsewhere(target):
        return None
    from lctl.cli import stored
    from lctl.stores.source import log_of

    address = stored.target_in(target, store)
    if address is None:
        return None
    return log_of(stored.opened(address), stored.entry_of(address, reruns=reruns))


def resolve(target: str, *, reruns: bool = True) -> Path:
    """The path of the log that `target` names; `reruns=False`: `last` passes over logs of reruns. One in a
    store is written to a file."""
    if is_elsewhere(target) or os.environ.get("LCTL_STORE"):
        from lctl.cli import stored

        address = stored.target_in(target)
        if address is not None:
            return stored.local(address, reruns=reruns)
        target = _path_of(target)
    path = Path(target)
    if target and path.exists():
        return path
    last = _LAST.fullmatch(target)
    if last is not None:
        return _newest(int(last[1] or (1 if target.endswith("~") else 0)), reruns)
    if target.endswith("+"):
        raise one_of_them(target)
    if target == "-":
        raise UsageError("standard input ('-') cannot be used here; give a path")
    if "/" in target or os.sep in target or path.suffix.lower() in _SUFFIXES:
        raise LogNotFound(f"{target}: no such file")
    return _by_id(target)


def one_of_them(target: str) -> UsageError:
    """`RUN+` where a command takes one log."""
    return UsageError(
        f"'{target}': a run with all that it started is to be read; this is done with one of them: give "
        f"'{target[:-1] or 'last'}', or one that 'lctl ls' shows below it"
    )


def _path_of(target: str) -> str:
    """`file:run.lctl.json` is that file."""
    if not is_elsewhere(target):
        return target
    from lctl.stores.address import parse

    return parse(target).place


def output(name: str, *read: str, chain: str = "") -> Path:
    """The path of a file to be written, which replaces one that is there.

    Args:
        read: names of what it is made of.
        chain: id of the log that is written, where it is one.

    Raises:
        LogLocked: a running program records into it.
        UsageError: it is a folder, one of those that are read, or another recording.
    """
    from lctl.cli.runs import is_live
    from lctl.codec.wholefile import spare

    path = Path(name)
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; give a file")
    if is_live(path):
        raise LogLocked(f"{path}: a running program is writing it; choose another file")
    return spare(path, *read, chain=chain)


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

    seen = passed = 0
    children = []
    for run in runs():
        if run.is_child:
            children.append(run.path)
            continue
        if "rerun" in run.chain and not reruns:
            passed += 1
            continue
        if seen == back:
            return run.path
        seen += 1
    if not seen and children and back < len(children):
        return children[back]
    if seen or children:
        raise LogNotFound(f"last~{back}: {_too_few(seen, len(children), passed)}")
    where = " or ".join(str(folder) for folder in folders()) or os.environ.get("LCTL_DIR") or ".lctl"
    raise LogNotFound(f"no recorded runs in {where}; record one with: lctl run agent.py (or try: lctl demo)")


def _too_few(seen: int, children: int, reruns: int) -> str:
    """How many runs there are to be counted back, and that 'lctl ls' lists others, too."""
    from lctl.cli.text import plural

    others = [
        *([f"{plural(children, 'run')} of child processes"] if children else []),
        *([plural(reruns, "rerun")] if reruns else []),
    ]
    if not seen:
        few = (
            "is only 1 run, of a child process"
            if children == 1
            else f"are only {children} runs, of child processes"
        )
        return f"there {few}; 'lctl ls' lists {'it' if children == 1 else 'them'}"
    there = "is only 1 run" if seen == 1 else f"are only {seen} runs"
    if not others:
        return f"there {there}; 'lctl ls' lists {'it' if seen == 1 else 'them'}"
    return f"there {there} to count back, without {' and '.join(others)}; 'lctl ls' lists them all"


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


def report(log: Log, also_problems: bool = True) -> None:
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
        name, where = plain(log.name), ("FILE" if log.path == "-" else plain(log.name))
        sys.stderr.write(
            f"lctl: {name}: {plain(str(problems[0]))}{more}; 'lctl validate {where}' lists every problem\n"
        )


_SUFFIXES = {".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".gz", ".zst", ".lctl"}
